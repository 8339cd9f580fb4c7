//! `trust` and `untrust`: whether a project's skills and configuration take effect.

use std::ffi::OsStr;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::policy::{Event, Trust, Trusts};
use crate::run_context::RunContext;
use crate::skill::one_line;

/// Which parts of a project.
#[derive(Debug, clap::Args)]
pub struct Meant {
    /// A directory of the project; the working directory if omitted
    pub dir: Option<PathBuf>,
    /// Only this skill, by its directory's name; repeatable
    #[arg(long, value_name = "NAME")]
    pub skill: Vec<String>,
}

/// Arguments of `trust`.
#[derive(Debug, clap::Args)]
pub struct TrustOf {
    #[command(flatten)]
    pub meant: Meant,
    /// Stay trusted after changes
    #[arg(long, conflicts_with = "skill")]
    pub always: bool,
    /// Only list what is trusted, and what has changed since
    #[arg(long, conflicts_with_all = ["dir", "always", "skill"])]
    pub list: bool,
}

/// Trusts every directory from the given one up to the project's root that contributes something,
/// or only the given skills in them. Reports for each part what has changed since it was trusted.
pub fn trust(ctx: &RunContext, of: &TrustOf) -> Result<String> {
    if let Some(file) = ctx.policies()?.forbids_projects() {
        let text = format!("the policy {file} forbids skills that come with a project");
        return Err(Error::new(text).hint("ask the administrator of this machine"));
    }
    let mut text = String::new();
    for (holder, parts) in meant(ctx, &of.meant)? {
        let shown = one_line(&holder.display().to_string());
        if of.always {
            ctx.trust_always(&holder)?;
            let _ = writeln!(text, "`{shown}` is trusted, whatever becomes of it");
        } else {
            let before = Trusts::default();
            let changes = parts
                .iter()
                .map(|part| told(ctx, &before, &holder, part, "as before"));
            let changes: String = changes.collect();
            let unread = ctx.trust(&holder, &parts, !of.meant.skill.is_empty())?;
            let _ = writeln!(text, "`{shown}` is trusted, as it is now:\n{changes}");
            for error in unread {
                let _ = writeln!(text, "  not trusted: {}", one_line(&error.to_string()));
            }
        }
        let event = Event::new("trust")
            .with("path", holder.display().to_string())
            .with("always", of.always);
        ctx.record(event.with("skill", named(&of.meant)));
    }
    Ok(text)
}

/// Revokes trust.
pub fn untrust(ctx: &RunContext, of: &Meant) -> Result<String> {
    let from = absolute(ctx, of.dir.as_deref());
    let mut text = String::new();
    for holder in ctx.project_holders(&from) {
        let mut parts = parts(&holder, &of.skill);
        // The other skills there stay trusted, together with the files next to them.
        parts.retain(|part| !RunContext::is_place(part));
        let only = (!of.skill.is_empty()).then_some(&*parts);
        if ctx.distrust(&holder, only)? {
            let shown = one_line(&holder.display().to_string());
            let event = Event::new("untrust").with("path", holder.display().to_string());
            ctx.record(event.with("skill", named(of)));
            let what = match named(of) {
                Some(names) => format!("{} in `{shown}`", one_line(&names)),
                None => format!("`{shown}`"),
            };
            let _ = writeln!(text, "{what} is no longer trusted");
        }
    }
    if text.is_empty() {
        let text = format!("`{}` was not trusted", from.display());
        return Err(Error::new(text).hint("`agent-skills trust --list` shows what is"));
    }
    Ok(text)
}

/// Every trusted directory with its current state.
pub fn list(ctx: &RunContext) -> Result<String> {
    let entries = ctx.trusted().entries()?;
    if entries.is_empty() {
        return Ok("No project is trusted.\n".to_owned());
    }
    let mut text = String::new();
    for (path, recorded) in &entries {
        let holder = Path::new(path);
        let always = if recorded.is_always() { "  always" } else { "" };
        let _ = writeln!(text, "{}{always}", one_line(path));
        let trusts = Trusts::default();
        for part in RunContext::parts_of(holder) {
            text += &told(ctx, &trusts, holder, &part, "");
        }
    }
    Ok(text)
}

/// One line about a part; empty if the part is unchanged and `same` is empty.
fn told(ctx: &RunContext, trusts: &Trusts, holder: &Path, part: &Path, same: &str) -> String {
    let path = part.strip_prefix(holder).unwrap_or(part);
    let beside = RunContext::is_place(part) && RunContext::is_empty_place(part);
    let state = match trusts.of_part(ctx, holder, part) {
        _ if beside => return String::new(),
        Trust::Given if same.is_empty() => return String::new(),
        Trust::Given => same.to_owned(),
        Trust::Missing if same.is_empty() => "not trusted".to_owned(),
        Trust::Missing => "new".to_owned(),
        Trust::Outdated(changed) if changed.is_empty() => "changed since".to_owned(),
        Trust::Outdated(changed) => format!("changed since: {}", changed.join(", ")),
    };
    let what = if RunContext::is_place(part) {
        "/ (beside the skills)"
    } else {
        ""
    };
    format!(
        "  {}{what}: {}\n",
        one_line(&path.display().to_string()),
        one_line(&state)
    )
}

fn named(of: &Meant) -> Option<String> {
    (!of.skill.is_empty()).then(|| of.skill.join(", "))
}

fn absolute(ctx: &RunContext, dir: Option<&Path>) -> PathBuf {
    dir.map_or_else(|| ctx.env.cwd.clone(), |dir| ctx.env.cwd.join(dir))
}

/// The requested parts of `holder`; with a skill, also the files next to it.
fn parts(holder: &Path, skills: &[String]) -> Vec<PathBuf> {
    let all = RunContext::parts_of(holder);
    if skills.is_empty() {
        return all;
    }
    let is_named = |part: &&PathBuf| {
        let name = part.file_name().and_then(OsStr::to_str).unwrap_or_default();
        !RunContext::is_place(part) && skills.iter().any(|skill| skill == name)
    };
    let mut parts: Vec<PathBuf> = all.iter().filter(is_named).cloned().collect();
    let places: Vec<PathBuf> = parts
        .iter()
        .filter_map(|part| part.parent().map(Path::to_owned))
        .collect();
    parts.extend(all.into_iter().filter(|part| places.contains(part)));
    parts
}

fn meant(ctx: &RunContext, of: &Meant) -> Result<Vec<(PathBuf, Vec<PathBuf>)>> {
    let from = absolute(ctx, of.dir.as_deref());
    let from = from
        .canonicalize()
        .map_err(|source| Error::io("look at", &from, &source))?;
    // Another project than that of the working directory has another root.
    let mut found = ctx.project_holders(&from);
    if !found.iter().any(|holder| from.starts_with(holder)) {
        found = vec![from.clone()];
    }
    found.retain(|holder| RunContext::brings_something(holder));
    if found.is_empty() {
        let text = format!("`{}` has no skills and no configuration", from.display());
        return Err(Error::new(text)
            .hint("they belong in .chibi/skills, .agents/skills, .claude/skills and .chibi/agent-skills.toml"));
    }
    let with_parts = found.into_iter().map(|holder| {
        let parts = parts(&holder, &of.skill);
        (holder, parts)
    });
    let mut found: Vec<(PathBuf, Vec<PathBuf>)> = with_parts.collect();
    if !of.skill.is_empty() {
        found.retain(|(_, parts)| !parts.is_empty());
        for name in &of.skill {
            let has = |part: &PathBuf| part.ends_with(name);
            if !found.iter().any(|(_, parts)| parts.iter().any(has)) {
                let text = format!(
                    "no skill of the project lies in a directory `{}`",
                    one_line(name)
                );
                return Err(
                    Error::new(text).hint("`agent-skills list-installed` shows where they lie")
                );
            }
        }
    }
    Ok(found)
}
