//! Checks the policy, the configuration, and what the user trusts.

use super::check::Check;
use crate::permission::Enforce;
use crate::policy::{Trust, Trusts};
use crate::run_context::RunContext;

/// The checks of this area.
pub fn checks(ctx: &RunContext) -> Vec<Check> {
    let mut checks = vec![policy(ctx), configuration(ctx)];
    checks.extend(enforcement(ctx));
    checks.extend(not_added(ctx));
    checks.extend(trust(ctx));
    checks.extend(records(ctx));
    checks
}

fn policy(ctx: &RunContext) -> Check {
    if let Err(error) = ctx.policies() {
        return Check::from_error("policy", &error, "ask the administrator of this machine");
    }
    let files = ctx.enterprise().policy_files();
    let there = files.iter().filter(|file| file.path.exists());
    let shown: Vec<String> = there.map(|file| file.path.display().to_string()).collect();
    Check::ok(
        "policy",
        if shown.is_empty() {
            "no policy restricts this machine".to_owned()
        } else {
            format!("the policy is {}", shown.join(", "))
        },
    )
}

fn configuration(ctx: &RunContext) -> Check {
    let remedy = "correct that line; without the file the defaults count";
    if let Err(error) = ctx.own_config() {
        return Check::from_error("configuration", &error, remedy);
    }
    // An unreadable policy is already reported.
    if ctx.policies().is_ok()
        && let Err(error) = ctx.config()
    {
        return Check::from_error("project-configuration", &error, remedy);
    }
    let path = ctx.config_path();
    Check::ok(
        "configuration",
        if path.exists() {
            format!("`{}` is valid", path.display())
        } else {
            "no configuration: every value is the default".to_owned()
        },
    )
}

fn enforcement(ctx: &RunContext) -> Option<Check> {
    let config = ctx.config().ok()?;
    let (word, does) = match config.enforce {
        Enforce::Restrict => return None,
        Enforce::Warn => ("warn", "are let through, with a note"),
        Enforce::Off => ("off", "are let through"),
    };
    let text = format!("`enforce` is `{word}`: calls that the active skill does not allow {does}");
    let remedy = "agent-skills config set enforce restrict";
    Some(Check::warn("enforcement", text, remedy))
}

/// What the configuration adds to the lists of skills, if a policy forbids that.
fn not_added(ctx: &RunContext) -> Option<Check> {
    let file = ctx.policies().ok()?.forbids_added_entries()?;
    let own = ctx.own_config().ok()?;
    let adds = own.0.skills.keys();
    let mut adds = adds.filter(|name| !own.0.added_entries(name.as_str()).is_empty());
    let name = adds.next()?;
    let more = match adds.count() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let text = format!(
        "`skills.{name}.allow`{more} in the configuration does not count: the policy {file} \
         forbids it"
    );
    let remedy =
        "ask the administrator for `overrides = true`, or take it out of the configuration";
    Some(Check::warn("entries-not-added", text, remedy))
}

/// What is approved, and where skills come from, if that cannot be read.
fn records(ctx: &RunContext) -> impl Iterator<Item = Check> {
    let base = ctx.base(&ctx.dirs.plugin);
    let approvals = ctx.approved().entries().err();
    let sources = ctx.market_at(&base).sources().err();
    let found = approvals.map(|error| ("approvals", error)).into_iter();
    let found = found.chain(sources.map(|error| ("sources", error)));
    found.map(|(code, error)| Check::from_error(code, &error, "check its permissions"))
}

fn trust(ctx: &RunContext) -> Vec<Check> {
    if let Err(error) = ctx.trusted().entries() {
        let remedy = format!(
            "remove `{}` and trust again",
            ctx.trusted().file().display()
        );
        return vec![Check::from_error("trust", &error, &remedy)];
    }
    let trusts = Trusts::default();
    let holders = ctx.project_holders(&ctx.env.cwd).into_iter();
    let own = ctx.dirs.plugin.canonicalize().ok();
    let told = holders
        // In the home directory, ~/.chibi belongs to the user.
        .filter(|holder| !own.as_ref().is_some_and(|own| own.starts_with(holder)))
        .filter_map(|holder| {
            let shown = holder.display();
            let (mut is_new, mut is_changed) = (false, false);
            for part in RunContext::parts_of(&holder) {
                if RunContext::is_place(&part) && RunContext::is_empty_place(&part) {
                    continue;
                }
                let state = trusts.of_part(ctx, &holder, &part);
                is_new |= state == Trust::Missing;
                is_changed |= matches!(state, Trust::Outdated(_));
            }
            let why = match (is_new, is_changed) {
                (false, false) => return None,
                (true, false) => "has skills or a configuration that you do not trust so far",
                (false, true) => "has changed since you trusted it",
                (true, true) => "has changed since you trusted it, and has more than it had",
            };
            let text = format!("`{shown}` {why}");
            let remedy = format!(
                "look at it, then: agent-skills trust {shown} (`trust --list` shows what changed)"
            );
            Some(Check::warn("project-untrusted", text, remedy))
        });
    told.collect()
}
