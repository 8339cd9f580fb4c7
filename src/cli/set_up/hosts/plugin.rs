//! `hosts plugin`: a directory in the format of Claude Code's plugins.

use std::path::Path;

use crate::cli::caller::pasted;
use crate::cli::options::Common;
use crate::cli::outcome::Outcomes;
use crate::cli::{Answer, Caller};
use crate::connection::{Invocation, directory, program};
use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::host::agent::Mode;
use crate::run_context::RunContext;
use crate::sys::{Dir, Durable, EntryName, EntryPath};

/// Writes the directory.
pub fn write(
    facts: &Facts,
    common: Common,
    caller: Caller,
    dir: &Path,
    mode: Option<Mode>,
) -> Answer {
    let dir = facts.run.env.cwd.join(dir);
    let written = written(&facts.run, common, &dir, mode);
    Outcomes::of_one(common, caller, &dir.display().to_string(), written)
}

fn written(run: &RunContext, common: Common, dir: &Path, mode: Option<Mode>) -> Result<String> {
    let program = program(&run.env)?;
    let files = directory(&Invocation { program, mode })?;
    let path = dir.display().to_string();
    if dir.symlink_metadata().is_ok() {
        let text = format!("`{path}` exists already");
        return Err(Error::new(text).hint("name a directory that does not exist yet"));
    }
    if common.dry_run {
        let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
        return Ok(format!("would write {} into `{path}`\n", names.join(", ")));
    }
    let base = Dir::make_anchor(dir).map_err(|error| Error::io("make directory", dir, &error))?;
    for (file, text) in &files {
        let (below, name) = file.rsplit_once('/').unwrap_or(("", file));
        let (below, name) = (EntryPath::parse(below), EntryName::parse(name));
        let (Some(below), Some(name)) = (below, name) else {
            continue;
        };
        let written = base
            .make_below(&below)
            .and_then(|dir| dir.replace(&name, text.as_bytes(), 0o644, Durable::Yes));
        written.map_err(|error| Error::io("write", &dir.join(file), &error))?;
    }
    let (add, once) = (
        pasted(&["claude", "plugin", "marketplace", "add", &path]),
        pasted(&["claude", "--plugin-dir", &path]),
    );
    Ok(format!(
        "wrote a plugin for Claude Code into `{path}`. It runs this program, on this machine.\n\
         Next: `{add}` and `claude plugin install agent-skills@agent-skills`; or, once, `{once}`.\n"
    ))
}
