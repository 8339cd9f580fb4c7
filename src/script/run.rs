//! What runs: a skill's script or one of our own commands. Everything is checked and prepared
//! before anything is started. It resolves no skill and checks no permission.

use std::ffi::OsString;
use std::path::Path;
use std::time::Instant;

use super::environment::{self, Variables};
use super::interpreter;
use super::job_id::JobId;
use super::jobs::Jobs;
use super::needs::unmet_needs;
use super::sandbox::{Confinement, Kernel, Mode, Places};
use super::settings::Settings;
use super::spec::ProcessSpec;
use super::task::{Ran, RunLimits, Task};
use crate::error::{Error, Result};
use crate::skill::Skill;
use crate::sys::{Env, variables};

/// A script to run.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The skill it is part of; its directory is absolute.
    pub skill: &'a Skill,
    /// Its absolute path, already resolved to a file of the skill.
    pub script: &'a Path,
    /// How the caller wrote it.
    pub label: &'a str,
    /// Its working directory, absolute; `None` for an empty directory of its own.
    pub workdir: Option<&'a Path>,
    /// Its arguments, passed unchanged.
    pub args: &'a [String],
    /// Its standard input; empty means none.
    pub stdin: &'a [u8],
    /// Variables added to its environment.
    pub env: &'a [(String, String)],
    /// What was configured for its skill.
    pub settings: &'a Settings,
    /// How long it may run and be waited for, and its owner.
    pub limits: &'a RunLimits,
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
    let began = Instant::now();
    let RunLimits { jobs, .. } = request.limits;
    let skill = request.skill;
    let confinement = request.settings.confinement.clone();
    let confinement = confinement.tightened_by(&skill.fields);
    let needs_temp = request.workdir.is_none() || confinement.mode != Mode::Off;
    with_id(jobs, |id| {
        let temp = needs_temp.then(|| jobs.temp(id)).transpose()?;
        let temp = temp.as_deref();
        let workdir = request.workdir.or(temp).unwrap_or(&skill.dir);
        let (process, mut notes) = prepare(request, &confinement, workdir, temp)?;
        let task = Task {
            process: &process,
            label: request.label,
            skill: Some(skill.name.as_str()),
            stdin: request.stdin,
            id,
            limits: request.limits,
            began,
        };
        let mut ran = task.run()?;
        ran.outcome.notes.append(&mut notes);
        Ok(ran)
    })
}

/// Runs what may become the job with this new id. If it does not, nothing is left of it.
fn with_id(jobs: &Jobs, run: impl FnOnce(&JobId) -> Result<Ran>) -> Result<Ran> {
    let id = JobId::random()?;
    let ran = run(&id);
    if !matches!(&ran, Ok(ran) if ran.release.is_some()) {
        jobs.remove(&id);
    }
    ran
}

/// Runs one of our own commands, which may take longer than a call, as a person would, but without
/// a terminal: `args` are the words after the program's name, `env` is added to our environment.
///
/// # Errors
/// When it cannot be started. A command that fails is an outcome, not an error.
pub fn run_command(
    base: &Env,
    args: &[String],
    env: &[(String, String)],
    limits: &RunLimits,
) -> Result<Ran> {
    let program = base.exe.as_deref().ok_or_else(|| {
        Error::new("the program agent-skills was not found")
            .hint("tell the user to install it again")
    })?;
    let mut all: Variables = variables::for_others(base).collect();
    all.extend(env.iter().map(|(name, value)| (name.into(), value.into())));
    let process = ProcessSpec::new(program, args.iter().map(OsString::from), all, &base.cwd)?;
    with_id(&limits.jobs, |id| {
        let task = Task {
            process: &process,
            label: args.first().map_or("agent-skills", String::as_str),
            skill: None,
            stdin: &[],
            id,
            limits,
            began: Instant::now(),
        };
        task.run()
    })
}

/// What to execute, and remarks on what the script will lack.
fn prepare(
    request: &Request,
    confinement: &Confinement,
    workdir: &Path,
    temp: Option<&Path>,
) -> Result<(ProcessSpec, Vec<String>)> {
    let (skill, label, base) = (request.skill, request.label, request.base);
    let project_dir = &base.cwd.join(base.project_root());
    let interpreter = interpreter::choose(request.script, &skill.dir, label, base)?;
    let entered = workdir.join(".").metadata();
    let choose = "choose another workdir: skill, project or temp";
    entered.map_err(|source| Error::io("enter", workdir, &source).hint(choose))?;
    let own = [
        ("SKILL_NAME", skill.name.as_str().as_ref()),
        ("SKILL_DIR", skill.dir.as_os_str()),
        ("PROJECT_DIR", project_dir.as_os_str()),
        ("PWD", workdir.as_os_str()),
    ];
    let pass = &request.settings.pass_env;
    let mut env = environment::for_script(base, pass, own, temp, request.env)?;
    let mut notes = unmet_needs(&skill.fields, skill.name.as_str(), base, &env);
    let places = temp.map(|temp| Places {
        skill_dir: &skill.dir,
        project_dir,
        temp,
        interpreter: &interpreter.program,
        confinement,
        base,
    });
    let build = |places: Places| places.sandbox(label, Kernel::at_hand(), &mut notes);
    let sandbox = places.map(build).transpose()?.flatten();
    if sandbox.is_some() {
        environment::without_git_configuration(base, &mut env);
    }
    let args = request.args.iter().map(OsString::from);
    let args = interpreter.args.into_iter().chain(args);
    let mut process = ProcessSpec::new(&interpreter.program, args, env, workdir)?;
    let names = request.env.iter().map(|(name, _)| name.as_str());
    if let Some(name) = environment::first_unnamed(&skill.dir, names) {
        let text = format!("`{name}` cannot be set in `env`: no file of the skill names it");
        return Err(Error::new(text).hint("leave it out, or pass the value as an argument"));
    }
    process.sandbox = sandbox;
    Ok((process, notes))
}

#[cfg(test)]
mod tests;
