//! `confine`: runs a command as confined as a skill's scripts. An agent is handed it in place of a
//! command of the skill (docs/guide.md#confined-commands).

use std::ffi::OsString;

use crate::cli::prelude::*;
use crate::script::{Jobs, run_confined};

/// Run a command as confined as a skill's scripts
#[derive(Debug, clap::Args)]
pub struct ConfineArgs {
    /// The directory of the skill whose paths and settings count
    #[arg(long, value_name = "DIR")]
    pub skill: PathBuf,
    /// The project that the command may change (default: the one around the working directory)
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// The program and its arguments
    #[arg(required = true, last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

impl ConfineArgs {
    /// Becomes the command. Returns only if it could not, or in a dry run.
    pub fn run(&self, call: CliCall) -> Result<String> {
        // Here it would be one more shell, and write where the host reads our answer.
        if call.caller == Caller::Host {
            let text = "a command is confined where a shell runs it, not by this tool";
            return Err(Error::new(text).hint("run a script of the skill with `run_skill_script`"));
        }
        let dir = real(&call.facts.run.env.cwd.join(&self.skill));
        let skill = Skill::load(&dir).map_err(|diagnostic| {
            Error::new(format!(
                "the command was not run: its skill cannot be read: {diagnostic}"
            ))
            .hint(format!(
                "`agent-skills validate {}` says more",
                dir.display()
            ))
        })?;
        if call.common.dry_run {
            let words = self.command.iter().map(|word| word.to_string_lossy());
            let shown = shell_command(&words.collect::<Vec<_>>());
            return Ok(format!("would run, confined: {shown}\n"));
        }
        let settings = call.facts.config()?.script(skill.name.as_str());
        let project = self.project.clone();
        let project = project.unwrap_or(call.facts.run.env.project_root());
        let run = &call.facts.run;
        let project = run.env.cwd.join(project);
        let (confinement, jobs) = (&settings.confinement, Jobs::of(run));
        match run_confined(
            &self.command,
            &skill,
            confinement,
            &project,
            &jobs,
            &run.env,
        )? {}
    }
}
