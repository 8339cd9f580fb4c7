//! `approve`: an administrator approves a skill in its current state, or a user approves its hooks.

use crate::catalog::Entry;
use crate::cli::named::installed;
use crate::cli::options::Common;
use crate::cli::outcome::Outcomes;
use crate::cli::{Caller, Failure};
use crate::error::{Error, Result};
use crate::policy::{Event, approval_digest};
use crate::run_context::RunContext;
use crate::skill::{Hooks, Skill, SkillPath, visible};

/// Approve skills as they are now, where the policy requires that
#[derive(Debug, clap::Args)]
pub struct Approve {
    /// The skills' names
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,
}

impl Approve {
    /// Records the skills' digests.
    pub fn run(&self, ctx: &RunContext, common: Common, caller: Caller) -> Result<String, Failure> {
        Outcomes::of_each(common, caller, &self.names, |name| {
            approve(ctx, common, name)
        })
    }
}

fn approve(ctx: &RunContext, common: Common, written: &str) -> Result<String> {
    let catalog = ctx.catalog_naming(written);
    let entry = installed(ctx, &catalog, written)?;
    let skill = Skill::load(&entry.dir)
        .map_err(|diagnostic| Error::new(diagnostic.to_string()).hint("repair it first"))?;
    let digest = approval_digest(&skill);
    let digest = digest.map_err(|source| Error::io("read", &entry.dir, &source))?;
    let (name, hooks) = (entry.name(), hooks(entry));
    if common.dry_run {
        return Ok(format!("would approve `{name}` as it is now\n{hooks}"));
    }
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
