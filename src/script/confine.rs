//! A command of an agent, confined as a skill's scripts are (docs/guide.md#confined-commands). It replaces
//! this process: streams, process id, signals and exit status are the command's own.

use std::convert::Infallible;
use std::ffi::OsString;
use std::path::Path;

use super::environment::{self, Variables};
use super::jobs::Jobs;
use super::sandbox::{Confinement, Kernel, Mode, Places, Sandbox};
use super::spec::ProcessSpec;
use super::{exec, interpreter};
use crate::error::{Error, Result};
use crate::skill::Skill;
use crate::sys::{Env, signals, warn};

/// Confines this process and executes a command in it: the program, by name or path, with its arguments,
/// `words`. It may use the paths of `skill`, whose scripts have this confinement, and change the
/// project; both directories are absolute.
///
/// # Errors
/// When it cannot be executed, or not be confined as it has to be.
pub fn run_confined(
    words: &[OsString],
    skill: &Skill,
    confinement: &Confinement,
    project_dir: &Path,
    jobs: &Jobs,
    base: &Env,
) -> Result<Infallible> {
    let label = words.first().cloned().unwrap_or_default();
    let label = label.to_string_lossy();
    let program = interpreter::find(&label, base).ok_or_else(|| {
        let text = format!("`{}` was not found on PATH", label.escape_debug());
        Error::new(text).hint("write its whole path, or install it")
    })?;
    let mut confinement = confinement.clone().tightened_by(&skill.fields);
    // Whoever calls this wants it confined.
    confinement.mode = confinement.mode.max(Mode::Auto);
    let temp = jobs.shared_temp(&skill.dir)?;
    let places = Places {
        skill_dir: &skill.dir,
        project_dir,
        temp: &temp,
        interpreter: &program,
        confinement: &confinement,
        base,
    };
    let mut notes = Vec::new();
    let sandbox = places.sandbox(&label, Kernel::at_hand(), &mut notes)?;
    for note in &notes {
        warn(format_args!("{note}"));
    }
    let mut env: Variables = base
        .vars()
        .map(|(k, v)| (k.to_owned(), v.to_owned()))
        .collect();
    if sandbox.is_some() {
        environment::keep_files_in(&temp, &mut env);
        environment::without_git_configuration(base, &mut env);
    }
    let args = words.iter().skip(1).cloned();
    let process = ProcessSpec::new(&program, args, env, &base.cwd)?;
    let entered = sandbox.as_ref().map_or(Ok(()), Sandbox::enter);
    entered.map_err(|errno| {
        let why = std::io::Error::from_raw_os_error(errno);
        Error::new(format!(
            "`{label}` was not run: it could not be confined: {why}"
        ))
        .hint("tell the user: `agent-skills doctor` says what this system can confine")
    })?;
    signals::restore_pipe();
    let errno = exec::execute(&process.args, &process.env);
    let why = std::io::Error::from_raw_os_error(errno);
    Err(Error::io("execute", &program, &why))
}
