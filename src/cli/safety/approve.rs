//! `approve`: an administrator approves a skill in its current state, or a user approves its hooks.

use crate::catalog::Entry;
use crate::cli::named::installed;
use crate::error::{Error, Result};
use crate::policy::{Event, approval_digest};
use crate::run_context::RunContext;
use crate::skill::{Hooks, Skill, SkillPath, visible};

/// Approve a skill as it is now, where the policy requires that
#[derive(Debug, clap::Args)]
pub struct Approve {
    /// The skill's name
    pub name: String,
}

impl Approve {
    /// Records the skill's digest.
    pub fn run(&self, ctx: &RunContext) -> Result<String> {
        let catalog = ctx.catalog_naming(&self.name);
        let entry = installed(ctx, &catalog, &self.name)?;
        let skill = Skill::load(&entry.dir)
            .map_err(|diagnostic| Error::new(diagnostic.to_string()).hint("repair it first"))?;
        let digest = approval_digest(&skill);
        let digest = digest.map_err(|source| Error::io("read", &entry.dir, &source))?;
        let (name, hooks) = (entry.name(), hooks(entry));
        let approved = ctx.approved();
        let alone = catalog.rivals(entry).next().is_none();
        let put = approved.approve(&name, &entry.dir, digest.clone(), alone);
        put.map_err(|error| {
            let file = approved.file().display();
            error.hint(format!("`{file}` has to be writable: run it as its owner"))
        })?;
        let event = Event::new("approve")
            .with("skill", name.as_str())
            .with("path", entry.dir.display().to_string())
            .with("digest", digest);
        ctx.record(event);
        let unneeded = hooks.is_empty() && ctx.policies()?.needs_approval().is_empty();
        let unneeded = if unneeded {
            " (no policy requires it)"
        } else {
            ""
        };
        Ok(format!(
            "`{name}` is approved as it is now{unneeded}\n{hooks}"
        ))
    }
}

/// The hooks that the approval allows to run, or why they cannot.
fn hooks(entry: &Entry) -> String {
    let Some(skill) = entry.disclosed() else {
        return String::new();
    };
    let Hooks { pre, post } = Hooks::parse(&skill.fields);
    let line = |scripts: Vec<String>, when: &str| {
        let why = |script: &String| {
            let path = SkillPath::parse(script, &skill.dir);
            path.and_then(|path| path.resolve(&skill.dir)).err()
        };
        match scripts.iter().find_map(why) {
            // They run one after the other, until one fails.
            Some(error) => format!("  cannot run {when}: {}\n", visible(&error.to_string())),
            None if scripts.is_empty() => String::new(),
            None => format!("  runs {when}: {}\n", visible(&scripts.join(", "))),
        }
    };
    line(pre, "when it is activated") + &line(post, "when that has ended")
}
