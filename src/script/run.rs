//! What runs: a skill's script or one of our own commands. Everything is checked and prepared
//! here, before anything is started. It resolves no skill and asks no permission.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use super::environment::{self, Place};
use super::image::Image;
use super::interpreter;
use super::job::{JobId, Origin, Scratch};
use super::missing;
use super::needs::Needs;
use super::pass_env::PassEnv;
use super::report::Failure;
use super::sandbox::{self, Built, Confinement, Mode, Places};
use super::task::{NotRun, Ran, Task, Terms, carry_out};
use crate::error::{Error, Result};
use crate::sys::Env;

/// A script to run.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// Its absolute path, already resolved to a file of the skill.
    pub script: &'a Path,
    /// How the caller wrote it.
    pub label: &'a str,
    /// The skill's name.
    pub skill_name: &'a str,
    /// The skill's directory, absolute.
    pub skill_dir: &'a Path,
    /// The user's project, absolute.
    pub project_dir: &'a Path,
    /// Where it runs, absolute; `None` for an empty directory of its own.
    pub workdir: Option<&'a Path>,
    /// Its arguments, passed as they are.
    pub args: &'a [String],
    /// Its standard input; empty means none.
    pub stdin: &'a [u8],
    /// Variables added to its environment.
    pub env: &'a [(String, String)],
    /// What its skill declares that it needs.
    pub needs: &'a Needs,
    /// Which of the host's variables it gets.
    pub pass_env: &'a PassEnv,
    /// How far it is trusted.
    pub confinement: &'a Confinement,
    /// For how long, and what then.
    pub terms: Terms<'a>,
    /// What this process was given.
    pub base: &'a Env,
}

/// Runs a script until it ends, its limit is over, or it becomes a job. Unless it became one,
/// nothing it started is left when this returns.
///
/// # Errors
/// When it cannot be started: no interpreter, a bad argument or variable, a missing working
/// directory, a file that is not a regular one. A script that fails is an outcome, not an error.
pub fn run(request: &Request) -> Result<Ran> {
    let id = JobId::random()?;
    let needs_temp = request.workdir.is_none() || request.confinement.mode != Mode::Off;
    let scratch = if needs_temp {
        Some(Scratch::make(request.terms.jobs, &id)?)
    } else {
        None
    };
    let temp = scratch.as_ref().map(Scratch::path);
    let workdir = request.workdir.or(temp).unwrap_or(request.skill_dir);
    let (image, mut notes) = prepare(request, workdir, temp)?;
    let origin = Origin {
        skill: request.skill_name.to_owned(),
        skill_dir: request.skill_dir.to_owned(),
        script: request.script.to_owned(),
    };
    let task = Task {
        image: &image,
        label: request.label,
        origin: Some(&origin),
        stdin: request.stdin,
        id: &id,
        terms: request.terms,
    };
    let mut ran = carry_out(&task).map_err(|reason| never_ran(reason, request.label, workdir))?;
    if ran.release.is_some()
        && let Some(scratch) = scratch
    {
        scratch.keep();
    }
    ran.outcome.notes.append(&mut notes);
    missing::add_notes(&mut ran.outcome, &origin);
    Ok(ran)
}

/// A command line of our own, for what may take longer than a call.
#[derive(Debug, Clone, Copy)]
pub struct Command<'a> {
    /// The words after the program's name.
    pub args: &'a [String],
    /// Variables added to our environment.
    pub env: &'a [(String, String)],
    /// For how long, and what then.
    pub terms: Terms<'a>,
    /// What this process was given.
    pub base: &'a Env,
}

/// Runs one of our own commands as a person would, with nobody at the terminal.
///
/// # Errors
/// When it cannot be started. A command that fails is an outcome, not an error.
pub fn run_command(command: &Command) -> Result<Ran> {
    let label = command.args.first().map_or("agent-skills", String::as_str);
    let program = command.base.exe.as_deref().ok_or_else(|| {
        Error::new("our own program was not found").hint("tell the user to install it again")
    })?;
    let env = environment::of_command(command.base, command.env);
    let args = command.args.iter().map(OsString::from);
    let image = Image::new(program, args, env, &command.base.cwd)?;
    let task = Task {
        image: &image,
        label,
        origin: None,
        stdin: &[],
        id: &JobId::random()?,
        terms: command.terms,
    };
    carry_out(&task).map_err(|reason| never_ran(reason, label, &command.base.cwd))
}

/// What to execute, and remarks on what the script will lack.
fn prepare(request: &Request, workdir: &Path, temp: Option<&Path>) -> Result<(Image, Vec<String>)> {
    let Request {
        script,
        skill_dir,
        label,
        base,
        pass_env,
        ..
    } = *request;
    let interpreter = interpreter::choose(script, skill_dir, label, base)?;
    match workdir.metadata() {
        Ok(meta) if meta.is_dir() => {}
        Ok(_) => return Err(not_a_workdir(workdir, "it is not a directory")),
        Err(source) => return Err(Error::io("enter", workdir, &source)),
    }
    let place = Place {
        skill_name: request.skill_name,
        skill_dir,
        project_dir: request.project_dir,
        workdir,
        temp,
    };
    let mut env = environment::of(base, pass_env, &place, request.env)?;
    let mut notes = request.needs.unmet(request.skill_name, base, &env);
    let sandbox = match temp {
        Some(temp) => {
            let places = Places {
                skill_dir,
                project_dir: request.project_dir,
                temp,
                interpreter: &interpreter.program,
                allowed_paths: &request.confinement.allowed_paths,
                base,
            };
            sandbox::build(request.confinement, label, &places)?
        }
        None => Built::default(),
    };
    notes.extend(sandbox.notes);
    // The user's configuration is out of reach, which git takes for an error.
    if sandbox.ruleset.is_some() && base.os("GIT_CONFIG_GLOBAL").is_none() {
        env.push(("GIT_CONFIG_GLOBAL".into(), "/dev/null".into()));
    }
    // An absolute path: a file named `--help` is no option of its interpreter.
    let script = [script.as_os_str().to_owned()];
    let args = request.args.iter().map(OsString::from);
    let args = interpreter.args.into_iter().chain(script).chain(args);
    let image = Image::new(&interpreter.program, args, env, workdir)?;
    Ok((image.confined(sandbox.ruleset), notes))
}

fn not_a_workdir(workdir: &Path, reason: &str) -> Error {
    Error::new(format!("could not enter `{}`: {reason}", workdir.display()))
}

fn never_ran(reason: NotRun, label: &str, workdir: &Path) -> Error {
    let failure = match reason {
        NotRun::Failed(failure) => failure,
        NotRun::Error(error) => return error,
    };
    let reason = |errno| io::Error::from_raw_os_error(errno);
    match failure {
        Failure::NoWorkdir(errno) => Error::io("enter", workdir, &reason(errno)),
        Failure::NotExecuted(libc::E2BIG) => {
            Error::new(format!("the arguments of `{label}` are too long"))
                .hint("pass large data through `stdin` or a file")
        }
        Failure::NotConfined(errno) => Error::io("confine", Path::new(label), &reason(errno))
            .hint("tell the user: the setting `sandbox` decides whether it may run without"),
        Failure::NotExecuted(errno) | Failure::NoProcess(errno) => {
            Error::io("run", Path::new(label), &reason(errno))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use std::path::Path;

    fn text(script: &Fixture) -> String {
        script.run().unwrap().text()
    }

    fn error(script: &Fixture) -> String {
        script.run().unwrap_err().to_string()
    }

    #[test]
    fn arguments_and_variables_arrive_as_they_are() {
        let script = Fixture::bash(r#"printf '<%s>' "$@" "$NAME" "$SKILL_NAME"; pwd"#)
            .args(&["-x", "a  b", "", "*", "$HOME", "é\n"])
            .env("NAME", "a=b c");
        let expected = "<-x><a  b><><*><$HOME><é\n><a=b c><fixture>";
        assert!(text(&script).starts_with(expected), "{}", text(&script));
        let pwd = script.path("").canonicalize().unwrap();
        assert!(text(&script).trim_end().ends_with(pwd.to_str().unwrap()));
    }

    #[test]
    fn exit_codes_and_signals_are_told() {
        let outcome = Fixture::bash("echo out; echo err >&2; exit 42")
            .run()
            .unwrap();
        assert_eq!((outcome.exit_code(), outcome.signal()), (Some(42), None));
        assert_eq!(outcome.text(), "out\n[stderr]\nerr\n[exit code: 42]");
        let outcome = Fixture::bash("kill -TERM $$").run().unwrap();
        assert_eq!((outcome.exit_code(), outcome.signal()), (None, Some(15)));
        assert_eq!(outcome.text(), "(no output)\n[signal: 15 (SIGTERM)]");
    }

    #[test]
    fn a_script_that_reads_gets_an_end_of_file_when_nothing_was_given() {
        assert_eq!(
            text(&Fixture::bash(
                "read line || echo none; [ -t 0 ] || echo no tty"
            )),
            "none\nno tty\n"
        );
        assert_eq!(
            text(&Fixture::bash("(: < /dev/tty) 2>/dev/null || echo no tty")),
            "no tty\n"
        );
    }

    #[test]
    fn signals_are_as_a_shell_expects_them() {
        let yes = Fixture::bash("yes | head -1; echo ${PIPESTATUS[0]}");
        assert_eq!(text(&yes), "y\n141\n");
        let status = text(&Fixture::bash("grep -E 'Sig(Blk|Ign)' /proc/self/status"));
        for line in status.lines() {
            let set = u64::from_str_radix(line.split_whitespace().last().unwrap(), 16).unwrap();
            // Above 31 are real-time signals, the first of them the C library's own.
            assert_eq!(set & 0x7fff_ffff, 0, "{line}");
        }
    }

    #[test]
    fn only_the_three_standard_descriptors_are_inherited() {
        // `ls` itself opens the fourth.
        assert_eq!(
            text(&Fixture::bash("ls /proc/self/fd | tr '\\n' ' '")),
            "0 1 2 3 "
        );
    }

    #[test]
    fn a_carriage_return_in_the_shebang_does_not_matter() {
        assert_eq!(
            text(&Fixture::file(
                "a",
                "#!/bin/bash\r\necho \"${0##*/}\" #\r\n"
            )),
            "a\n"
        );
    }

    #[test]
    fn a_file_named_like_an_option_is_a_file() {
        for name in ["-o", "--help"] {
            let script = Fixture::file(name, "#!/usr/bin/env bash\necho ran");
            assert_eq!(text(&script), "ran\n");
        }
    }

    #[test]
    fn regression_8_input_is_fed_while_output_is_read() {
        let input = vec![b'x'; 100_000_000];
        let outcome = Fixture::bash("cat").stdin(input).run().unwrap();
        assert_eq!(outcome.exit_code(), Some(0));
        assert_eq!(outcome.stdout.total(), 100_000_000);
    }

    #[test]
    fn input_that_is_not_read_is_no_obstacle() {
        let script = Fixture::bash("exec 0<&-; echo done").stdin(vec![b'x'; 1_000_000]);
        assert_eq!(text(&script), "done\n");
    }

    #[test]
    fn regression_9_output_is_bounded_and_both_streams_are_read() {
        let script =
            "head -c 20000000 /dev/zero | tr '\\0' e >&2; head -c 100000000 /dev/zero | tr '\\0' o";
        let outcome = Fixture::bash(script).run().unwrap();
        assert_eq!(
            (outcome.stdout.total(), outcome.stderr.total()),
            (100_000_000, 20_000_000)
        );
        let text = outcome.text();
        assert_eq!(text.matches("[truncated: ").count(), 2);
        assert!(text.len() < 140_000, "{}", text.len());
    }

    #[test]
    fn regression_10_binary_output_is_shown() {
        assert_eq!(
            text(&Fixture::bash(r"printf 'a\xff\xe9b'")),
            "a\u{fffd}\u{fffd}b"
        );
    }

    #[test]
    fn a_script_with_declared_dependencies_is_handed_to_uv() {
        let block = "# /// script\n# dependencies = []\n# ///\n";
        let mut script = Fixture::file("a.py", block).args(&["one"]);
        let uv = script.path("uv");
        std::fs::write(&uv, "#!/bin/sh\necho uv $1 $2 ${3##*/} $4\n").unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&uv, mode).unwrap();
        let path = format!("{}:/usr/bin:/bin", script.path("").display());
        script.base = crate::sys::Env::new([("PATH", path)], Path::new("/"));
        assert_eq!(text(&script), "uv run --script a.py one\n");
    }

    #[test]
    fn bad_input_starts_nothing() {
        let ran = |script: &Fixture| script.path("ran").exists();
        let touch = "touch ran";
        let script = Fixture::bash(touch).args(&["a\0b"]);
        assert_eq!(error(&script), "an argument contains a NUL byte: `a\\0b`");
        assert!(!ran(&script));
        let script = Fixture::bash(touch).env("A", "\0");
        assert!(error(&script).contains("contains a NUL byte"));
        assert!(!ran(&script));
        let script = Fixture::bash(touch).env("LD_PRELOAD", "x");
        assert!(error(&script).contains("`LD_PRELOAD` cannot be set"));
        assert!(!ran(&script));
        let script = Fixture::bash(touch).args(&[&"x".repeat(3_000_000)]);
        assert_eq!(error(&script), "the arguments of `script.sh` are too long");
        for workdir in ["/no/such/directory", "/dev/null"] {
            let error = script.run_in(Path::new(workdir)).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("could not enter `{workdir}`: ")),
                "{error}"
            );
        }
        assert!(!ran(&script));
    }

    #[test]
    fn what_is_not_a_regular_file_is_refused_and_not_waited_for() {
        let script = Fixture::bash("");
        let file = script.path("script.sh");
        std::fs::remove_file(&file).unwrap();
        std::fs::create_dir(&file).unwrap();
        assert_eq!(
            error(&script),
            "could not run `script.sh`: not a regular file"
        );
        std::fs::remove_dir(&file).unwrap();
        let fifo = std::process::Command::new("mkfifo")
            .arg(&file)
            .status()
            .unwrap();
        assert!(fifo.success());
        assert_eq!(
            error(&script),
            "could not run `script.sh`: not a regular file"
        );
        std::fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
        assert_eq!(
            error(&script),
            "could not run `script.sh`: not a regular file"
        );
        std::fs::remove_file(&file).unwrap();
        assert_eq!(
            error(&script),
            "could not run `script.sh`: no such file or directory"
        );
    }
}
