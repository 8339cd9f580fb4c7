//! What runs: a skill's script or one of our own commands. Everything is checked and prepared
//! before anything is started. It resolves no skill and checks no permission.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use super::environment::{self, Place};
use super::job::{JobId, Origin, Scratch};
use super::needs::Needs;
use super::pass_env::PassEnv;
use super::report::Failure;
use super::sandbox::{self, Built, Confinement, Kernel, Mode, Places};
use super::spec::ProcessSpec;
use super::task::{NotRun, Ran, RunLimits, Task, carry_out};
use super::{interpreter, missing};
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
    /// Its working directory, absolute; `None` for an empty directory of its own.
    pub workdir: Option<&'a Path>,
    /// Its arguments, passed unchanged.
    pub args: &'a [String],
    /// Its standard input; empty means none.
    pub stdin: &'a [u8],
    /// Variables added to its environment.
    pub env: &'a [(String, String)],
    /// What its skill declares as needed.
    pub needs: &'a Needs,
    /// Which of the host's variables it gets.
    pub pass_env: &'a PassEnv,
    /// How it is confined.
    pub confinement: &'a Confinement,
    /// How long it may run and be waited for, and its owner.
    pub terms: RunLimits<'a>,
    /// The environment of this process.
    pub base: &'a Env,
}

/// Runs a script until it ends, reaches its limit, or becomes a job. Unless it became one, nothing
/// it started remains when this returns.
///
/// # Errors
/// When it cannot be started: no interpreter, a bad argument or variable, a missing working
/// directory, not a regular file. A script that fails is an outcome, not an error.
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

/// A command line of our own that may take longer than a call.
#[derive(Debug, Clone, Copy)]
pub struct Command<'a> {
    /// The words after the program's name.
    pub args: &'a [String],
    /// Variables added to our environment.
    pub env: &'a [(String, String)],
    /// How long it may run and be waited for, and its owner.
    pub terms: RunLimits<'a>,
    /// The environment of this process.
    pub base: &'a Env,
}

/// Runs one of our own commands as a person would, but without a terminal.
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
    let image = ProcessSpec::new(program, args, env, &command.base.cwd)?;
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
fn prepare(
    request: &Request,
    workdir: &Path,
    temp: Option<&Path>,
) -> Result<(ProcessSpec, Vec<String>)> {
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
    let built = match temp {
        Some(temp) => {
            let places = Places {
                skill_dir,
                project_dir: request.project_dir,
                temp,
                interpreter: &interpreter.program,
                allowed_paths: &request.confinement.allowed_paths,
                base,
            };
            sandbox::build(request.confinement, label, &places, Kernel::at_hand())?
        }
        None => Built::default(),
    };
    notes.extend(built.notes);
    // The user's configuration is inaccessible in the sandbox, which git reports as an error.
    if built.sandbox.is_some() && base.os("GIT_CONFIG_GLOBAL").is_none() {
        env.push(("GIT_CONFIG_GLOBAL".into(), "/dev/null".into()));
    }
    let args = request.args.iter().map(OsString::from);
    let args = interpreter.args.into_iter().chain(args);
    let image = ProcessSpec::new(&interpreter.program, args, env, workdir)?;
    Ok((image.confined(built.sandbox), notes))
}

fn not_a_workdir(workdir: &Path, reason: &str) -> Error {
    Error::new(format!("could not enter `{}`: {reason}", workdir.display()))
        .hint("choose another workdir: skill, project or temp")
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
        Failure::NotExecuted(libc::ENOEXEC) => {
            let text = format!("`{label}` is a program for another system or processor");
            Error::new(text).hint("tell the user: its skill needs a build for this machine")
        }
        Failure::NotConfined(errno) => Error::io("confine", Path::new(label), &reason(errno))
            .hint("tell the user: the setting `sandbox` decides whether it may run unconfined"),
        Failure::HostGone => Error::io(
            "run",
            Path::new(label),
            &io::Error::other("the host is gone"),
        ),
        Failure::NotExecuted(errno) | Failure::NoProcess(errno) => {
            Error::io("run", Path::new(label), &reason(errno))
        }
    }
}

#[cfg(test)]
mod tests;
