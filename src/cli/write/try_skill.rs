//! `try`: exactly what the model would receive, without activating anything. Also finds a skill by
//! name or path.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::activation::fork;
use crate::activation::{Instructions, hooks_ahead, required_line};
use crate::author::strict;
use crate::cli::describe::printable;
use crate::cli::json;
use crate::cli::named::similar;
use crate::cli::options::Common;
use crate::error::{Error, Result};
use crate::host::Protocol;
use crate::protocol::{Place, place};
use crate::run_context::{RunContext, real};
use crate::session::Session;
use crate::skill::{Skill, Wrapper};
use crate::sys::terminal;
use crate::sys::text::quoted;

/// Print what the model receives when it activates a skill
#[derive(Debug, clap::Args)]
pub struct Try {
    /// The name of an installed skill, or a skill's directory
    pub skill: String,
    /// The `arguments` that the model would pass
    #[arg(long, allow_hyphen_values = true)]
    pub arguments: Option<String>,
    /// Act as this generation of the host
    #[arg(long, value_enum, default_value = "stdin")]
    pub host: Protocol,
}

impl Try {
    /// The text of the activation.
    pub fn run(&self, ctx: &RunContext, common: Common) -> Result<String> {
        let skill = find(ctx, &self.skill)?;
        let host = RunContext::new(ctx.env.clone(), Some(self.host));
        let text = text(ctx, &host, &skill, self.arguments.as_deref())?;
        if common.json {
            let name = skill.name.as_str();
            return json::one(&BTreeMap::from([("name", name), ("text", &text)]));
        }
        // The model receives the text unchanged; a terminal must not interpret its control characters.
        if terminal::columns().is_some() {
            return Ok(printable(&text));
        }
        Ok(text + "\n")
    }
}

/// The text that `host` would return with no other skill active.
fn text(
    ctx: &RunContext,
    host: &RunContext,
    skill: &Skill,
    arguments: Option<&str>,
) -> Result<String> {
    let reference = skill.name.as_str();
    let mut more = Vec::new();
    match place(host, skill, &Ok(Session::default())) {
        Place::Here => {}
        Place::HereBecause(why) => more.push(fork::note(why)),
        Place::Apart => return host.handed_over(skill, reference, arguments),
    }
    more.extend(hooks_ahead(ctx, skill));
    more.extend(required_line(ctx, skill));
    host.instructions(Instructions {
        skill,
        reference,
        arguments,
        more,
        wrapper: Wrapper::SkillContent,
    })
}

/// The skill at a path, otherwise the installed one of that name.
///
/// # Errors
/// When there is none.
pub fn find(ctx: &RunContext, written: &str) -> Result<Skill> {
    if let Some(dir) = directory(ctx, written) {
        let dir = real(&dir);
        return Skill::load(&dir).map_err(|diagnostic| {
            let hint = format!("`agent-skills validate {}` says more", dir.display());
            Error::new(diagnostic.to_string()).hint(hint)
        });
    }
    let (catalog, shown) = (ctx.catalog_naming(written), quoted(written));
    let entry = catalog.by_name(written).ok_or_else(|| {
        let text = format!("`{shown}` is neither a directory with a skill nor an installed skill");
        Error::new(text).hint(similar(ctx, &catalog, written))
    })?;
    entry.disclosed().cloned().ok_or_else(|| {
        let reason = entry.reason_not_offered().unwrap_or_default();
        Error::new(format!("the skill `{shown}` cannot be shown: {reason}"))
            .hint("give its directory to look at it all the same")
    })
}

/// The directory that a path means; a bare word is a path only if no skill has that name.
fn directory(ctx: &RunContext, written: &str) -> Option<PathBuf> {
    let path = ctx.env.cwd.join(written);
    if strict::is_skill_file(&path) {
        return path.parent().map(Path::to_owned);
    }
    let is_path =
        written.contains('/') || written.starts_with('.') || path.join("SKILL.md").exists();
    (is_path && path.is_dir()).then_some(path)
}
