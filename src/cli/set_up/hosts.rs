//! `hosts`: which hosts this machine has and how agent-skills is connected to each; connecting them
//! and the undo.

mod connect;
mod rows;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use connect::each;

use crate::author::NewFile;
use crate::cli::prelude::*;
use crate::cli::write::new::{make, paths};
use crate::connection::{Invocation, directory, program};
use crate::host::agent::{Agent, Mode, Scope};
use crate::run_context::RunContext;
use crate::sys::EntryName;

/// Show the hosts on this machine, and connect or disconnect them
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Hosts {
    /// What to do; without it, they are shown
    #[command(subcommand)]
    pub change: Option<Connecting>,
}

/// What `hosts` can change.
#[derive(Debug, Subcommand)]
pub enum Connecting {
    /// Connect agents: each asks agent-skills before every tool call
    Add {
        /// claude-code, codex, copilot, gemini, qwen-code, opencode or cursor
        #[arg(required = true, value_name = "HOST")]
        hosts: Vec<Agent>,
        /// For whom: user (in every project), project (this one) or managed (every user; root)
        #[arg(long, default_value_t = Scope::User)]
        scope: Scope,
        /// restrict, grant, both or ask; without it, the configuration decides
        #[arg(long)]
        mode: Option<Mode>,
    },
    /// Disconnect agents: what `add` wrote goes, and nothing else
    Remove {
        /// Their names
        #[arg(required = true, value_name = "HOST")]
        hosts: Vec<Agent>,
        /// Only for user, project or managed; without it, for the user and this project
        #[arg(long)]
        scope: Option<Scope>,
    },
    /// Write a plugin for Claude Code, for those who install by plugin
    Plugin {
        /// A directory that does not exist yet
        dir: PathBuf,
        /// restrict, grant, both or ask; without it, the configuration decides
        #[arg(long)]
        mode: Option<Mode>,
    },
}

impl Hosts {
    /// Whether the answer may contain lines of a file.
    pub fn shows_files(&self) -> bool {
        matches!(
            self.change,
            Some(Connecting::Add { .. } | Connecting::Remove { .. })
        )
    }

    /// Shows the hosts, or connects or disconnects some.
    pub fn run(&self, call: Call) -> Answer {
        match &self.change {
            None => Ok(rows::show(call)?),
            Some(Connecting::Add { hosts, scope, mode }) => {
                let program = program(&call.facts.run.env)?;
                let wanted = Invocation {
                    program,
                    mode: *mode,
                };
                each(call, hosts, |it, agent| it.add(agent, *scope, &wanted))
            }
            Some(Connecting::Remove { hosts, scope }) => {
                each(call, hosts, |it, agent| it.remove(agent, *scope))
            }
            Some(Connecting::Plugin { dir, mode }) => {
                let dir = call.facts.run.env.cwd.join(dir);
                let written = plugin(&call.facts.run, call.common, &dir, *mode);
                Outcomes::of_one(call, &dir.display().to_string(), written)
            }
        }
    }
}

/// Writes a directory in the format of Claude Code's plugins.
fn plugin(run: &RunContext, common: Common, dir: &Path, mode: Option<Mode>) -> Result<String> {
    let program = program(&run.env)?;
    let files = directory(&Invocation { program, mode }).into_iter();
    let files = files.map(|(path, text)| NewFile {
        path: path.into(),
        text,
        executable: false,
    });
    let files: Vec<NewFile> = files.collect();
    let path = dir.display().to_string();
    let name = dir.file_name().and_then(EntryName::parse);
    let place = dir.parent().zip(name);
    let Some((parent, name)) = place.filter(|_| dir.symlink_metadata().is_err()) else {
        let text = format!("`{path}` exists already");
        return Err(Error::new(text).hint("name a directory that does not exist yet"));
    };
    if common.dry_run {
        return Ok(format!("would write {} into `{path}`\n", paths(&files)));
    }
    make(parent, None, &name, &files)?;
    let (add, once) = (
        pasted(&["claude", "plugin", "marketplace", "add", &path]),
        pasted(&["claude", "--plugin-dir", &path]),
    );
    Ok(format!(
        "wrote a plugin for Claude Code into `{path}`. It runs this program, on this machine.\n\
         Next: `{add}` and `claude plugin install agent-skills@agent-skills`; or, once, `{once}`.\n"
    ))
}
