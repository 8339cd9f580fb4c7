//! Checks the policy, the configuration, what the user trusts, and that the state file can be written
//! and read. Otherwise every call is refused while a skill may be active
//! (docs/spec/restriction.md#fail-closed).

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

use super::check::Check;
use crate::cli::prelude::*;
use crate::policy::{Trust, TrustChecker, has_no_shared_files, is_skills_directory, parts_of};
use crate::sys::process::effective_user;

/// The checks of this area.
pub fn checks(facts: &Facts) -> Vec<Check> {
    let mut checks = vec![policy(facts), configuration(facts)];
    checks.extend(enforcement(facts));
    checks.extend(trust(facts));
    checks.extend(records(facts));
    checks
}

fn policy(facts: &Facts) -> Check {
    if let Err(error) = facts.policies() {
        return Check::from_error("policy", &error, "ask the administrator of this machine");
    }
    let files = facts.enterprise().policy_files();
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

fn configuration(facts: &Facts) -> Check {
    let remedy = "correct that line; without the file the defaults apply";
    if let Err(error) = facts.own_config() {
        return Check::from_error("configuration", &error, remedy);
    }
    // An unreadable policy is already reported.
    if facts.policies().is_ok()
        && let Err(error) = facts.config()
    {
        return Check::from_error("project-configuration", &error, remedy);
    }
    let path = facts.run.config_path();
    Check::ok(
        "configuration",
        if path.exists() {
            format!("`{}` is valid", path.display())
        } else {
            "no configuration: every value is the default".to_owned()
        },
    )
}

fn enforcement(facts: &Facts) -> Option<Check> {
    let config = facts.config().ok()?;
    let (word, does) = match config.enforce {
        Enforce::Restrict => return None,
        Enforce::Warn => ("warn", "are let through, with a note"),
        Enforce::Off => ("off", "are let through"),
    };
    let text = format!("`enforce` is `{word}`: calls that the active skill does not allow {does}");
    let remedy = "agent-skills config set enforce restrict";
    Some(Check::warn("enforcement", text, remedy))
}

/// What is approved, and where skills come from, if that cannot be read.
fn records(facts: &Facts) -> impl Iterator<Item = Check> {
    let base = Layer::Plugin.base(facts);
    let record = Ledger::approvals(facts.enterprise(), facts.state());
    let approvals = record.entries().err();
    let sources = market_at(facts, &base).sources().err();
    let found = approvals.map(|error| ("approvals", error)).into_iter();
    let found = found.chain(sources.map(|error| ("sources", error)));
    found.map(|(code, error)| Check::from_error(code, &error, "check its permissions"))
}

fn trust(facts: &Facts) -> Vec<Check> {
    let record = Ledger::trusted(facts.state());
    if let Err(error) = record.entries() {
        let remedy = format!("remove `{}` and trust again", record.file().display());
        return vec![Check::from_error("trust", &error, &remedy)];
    }
    let policies = facts.policies().unwrap_or_default();
    let trusts = TrustChecker::new(record, &policies);
    let holders = facts.run.holders().into_iter();
    let own = facts.run.dirs.plugin.canonicalize().ok();
    let told = holders
        // In the home directory, ~/.chibi belongs to the user.
        .filter(|holder| !own.as_ref().is_some_and(|own| own.starts_with(holder)))
        .filter_map(|holder| {
            let shown = holder.display();
            let (mut is_new, mut is_changed) = (false, false);
            for part in parts_of(&holder) {
                if is_skills_directory(&part) && has_no_shared_files(&part) {
                    continue;
                }
                let state = trusts.of_part(&holder, &part);
                is_new |= state == Trust::Missing;
                is_changed |= matches!(state, Trust::Outdated(_));
            }
            let why = match (is_new, is_changed) {
                (false, false) => return None,
                (true, false) => "has skills or a configuration that you have not trusted yet",
                (false, true) => "has changed since you trusted it",
                (true, true) => "has changed since you trusted it, and contains more than before",
            };
            let text = format!("`{shown}` {why}");
            let remedy = format!(
                "check it (`trust --list` shows what changed), then run: agent-skills trust {shown}"
            );
            Some(Check::warn("project-untrusted", text, remedy))
        });
    told.collect()
}

/// The checks of this area.
pub fn state(facts: &Facts) -> Vec<Check> {
    let dir = facts.state().to_owned();
    let mut checks = vec![writing(&facts.run, &dir)];
    checks.push(match facts.store().health() {
        Ok(sessions) => {
            let recorded = counted(sessions, "session is", "sessions are");
            Check::ok("state", format!("{recorded} recorded"))
        }
        Err(why) => unreadable(facts.store().path(), &why.to_string()),
    });
    checks
}

fn writing(run: &RunContext, dir: &Path) -> Check {
    let shown = dir.display();
    if !dir.exists() {
        return Check::ok("state-place", format!("`{shown}` is created when needed"));
    }
    let probe = dir.join(EntryName::from_static("doctor").temporary().as_os_str());
    let written = files::replace(&probe, b"x", 0o600, Durable::No);
    // It does not exist if it could not be written.
    let _ = files::remove(&probe);
    match written {
        Err(error) => {
            let text = format!("the state cannot be written: {error}");
            let remedy = format!("check permissions and free space of {shown}");
            Check::fail("state-place", text, remedy)
        }
        Ok(()) if dir != run.dirs.plugin => {
            let text = format!(
                "the plugin directory cannot be written, so the state is kept in `{shown}`"
            );
            let plugin = run.dirs.plugin.display();
            let remedy = format!("chown or chmod {plugin}, if that is not intended");
            Check::warn("state-place", text, remedy)
        }
        Ok(()) => Check::ok("state-place", format!("the state is kept in `{shown}`")),
    }
}

fn unreadable(file: &Path, why: &str) -> Check {
    let text = format!("{why}; only reading is allowed until the next prompt");
    let is_anothers = |found: &Metadata| ![effective_user(), 0].contains(&found.uid());
    let remedy = if file.metadata().is_ok_and(|found| is_anothers(&found)) {
        let shown = file.display();
        format!("let its owner remove it, or `sudo rm {shown}`")
    } else {
        "`agent-skills deactivate` ends all active skills and begins a new record".to_owned()
    };
    Check::fail("state", text, remedy)
}
