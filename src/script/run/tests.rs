//! Scripts from start to end: what they receive, what is reported about them, and what is refused.

use super::*;
use crate::script::Jobs;
use crate::script::fixture::Fixture;
use std::time::Duration;

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
fn a_reading_script_without_input_gets_an_end_of_file() {
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
        // Above 31 are real-time signals, the first of them reserved by the C library; the tests may run
        // under `nohup`, which ignores the first signal.
        assert_eq!(set & 0x7fff_fffe, 0, "{line}");
    }
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
    assert_eq!(outcome.stdout.total, 100_000_000);
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
        (outcome.stdout.total, outcome.stderr.total),
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
    // A link, as a program that was just written may be open in a child of another test.
    std::os::unix::fs::symlink("/bin/echo", script.path("uv")).unwrap();
    let path = format!("{}:/usr/bin:/bin", script.path("").display());
    script.base = crate::sys::Env::new([("PATH", path)], Path::new("/"));
    let called = text(&script);
    assert!(called.starts_with("run --quiet --script /"), "{called}");
    assert!(called.ends_with("/a.py one\n"), "{called}");
}

#[test]
fn our_own_command_runs_as_a_script_and_knows_no_call() {
    let dir = tempfile::tempdir().unwrap();
    let jobs = Jobs::new(dir.path().to_owned());
    let vars = [("CHIBI_TOOL_NAME", "x"), ("A_TOKEN", "kept")];
    let mut base = crate::sys::Env::new(vars, dir.path());
    base.exe = Some("/usr/bin/env".into());
    let owner = "session:test".to_owned();
    let run = |args: &[&str], wait| {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        let limits = RunLimits {
            limit: Duration::from_secs(20),
            wait,
            jobs: jobs.clone(),
            owner: owner.clone(),
            host: None,
        };
        run_command(
            &base,
            &args,
            &[("MORE".to_owned(), "1".to_owned())],
            &limits,
        )
    };
    assert_eq!(
        run(&[], None).unwrap().outcome.text(),
        "A_TOKEN=kept\nMORE=1\n"
    );
    let ran = run(&["/bin/sleep", "300"], Some(Duration::ZERO)).unwrap();
    ran.release.unwrap().release();
    let [job] = <[_; 1]>::try_from(jobs.list()).unwrap();
    assert_eq!(
        (job.label.as_str(), job.skill, job.state),
        ("/bin/sleep", None, "running")
    );
    jobs.find(&job.id, &owner).unwrap().stop().unwrap();
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
