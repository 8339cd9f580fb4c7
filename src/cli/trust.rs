//! `trust` and `untrust`: whether the skills and the configuration that come with a project count.

use std::fmt::Write;
use std::path::PathBuf;

use crate::app::{App, Trust};
use crate::error::{Error, Result};
use crate::governance::Event;
use crate::skill::one_line;

/// Trusts every directory from `dir` up to the project's root that brings something.
pub fn trust(app: &App, dir: Option<PathBuf>, always: bool) -> Result<String> {
    if let Some(file) = app.policies()?.forbids_projects() {
        let text = format!("the policy {file} forbids skills that come with a project");
        return Err(Error::new(text).hint("ask the administrator of this machine"));
    }
    let mut text = String::new();
    for holder in holders(app, dir)? {
        app.trust(&holder, always)?;
        let holder = holder.display().to_string();
        app.record(
            Event::new("trust")
                .with("path", holder.as_str())
                .with("always", always),
        );
        let until = if always {
            "whatever becomes of it"
        } else {
            "as it is now"
        };
        let _ = writeln!(text, "`{}` is trusted, {until}", one_line(&holder));
    }
    Ok(text)
}

/// Trusts them no longer.
pub fn untrust(app: &App, dir: Option<PathBuf>) -> Result<String> {
    let from = absolute(app, dir);
    let mut text = String::new();
    for holder in app.project_holders(&from) {
        if app.distrust(&holder)? {
            let holder = holder.display().to_string();
            app.record(Event::new("untrust").with("path", holder.as_str()));
            let _ = writeln!(text, "`{}` is no longer trusted", one_line(&holder));
        }
    }
    if text.is_empty() {
        let text = format!("`{}` was not trusted", from.display());
        return Err(Error::new(text).hint("`agent-skills trust --list` shows what is"));
    }
    Ok(text)
}

/// Every trusted directory, with what became of it.
pub fn list(app: &App) -> Result<String> {
    let entries = app.trusted().entries()?;
    if entries.is_empty() {
        return Ok("No project is trusted.\n".to_owned());
    }
    let line = |path: &String| {
        let holder = PathBuf::from(path);
        let state = match App::trust_in(&entries, &holder) {
            Trust::Given if entries[path].starts_with("sha256:") => "",
            Trust::Given => "  always",
            Trust::Outdated | Trust::Missing => "  changed since: trust it again",
        };
        format!("{}{state}\n", one_line(path))
    };
    Ok(entries.keys().map(line).collect())
}

fn absolute(app: &App, dir: Option<PathBuf>) -> PathBuf {
    dir.map_or_else(|| app.env.cwd.clone(), |dir| app.env.cwd.join(dir))
}

fn holders(app: &App, dir: Option<PathBuf>) -> Result<Vec<PathBuf>> {
    let from = absolute(app, dir);
    let from = from
        .canonicalize()
        .map_err(|source| Error::io("look at", &from, &source))?;
    // Another project than the one around the working directory has another root.
    let mut found = app.project_holders(&from);
    if !found.iter().any(|holder| from.starts_with(holder)) {
        found = vec![from.clone()];
    }
    found.retain(|holder| App::brings_something(holder));
    if found.is_empty() {
        let text = format!("`{}` has no skills and no configuration", from.display());
        return Err(Error::new(text)
            .hint("they lie in .chibi/skills, .agents/skills, .claude/skills and .chibi/agent-skills.toml"));
    }
    Ok(found)
}
