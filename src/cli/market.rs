//! `install`, `remove`, `update` and related verbs of the marketplace: they change what is
//! installed, or compare it with its source.

use std::fmt::Write as _;
use std::path::Path;

use super::caller::{Caller, Failure};
use super::consent::{self, Consenting};
use super::json;
use super::options::{Consent, Install, Scope, Update};
use super::permitted::{deciding, permits_update};
use super::shop::{Shop, note};
use crate::activation::unmet;
use crate::catalog::Layer;
use crate::error::{Error, Result};
use crate::marketplace::{
    Change, Edited, InstallOptions, Installed, State, Status, UpdateOptions, Updated, Verified,
};
use crate::policy::Event;
use crate::run_context::RunContext;
use crate::skill::{Skill, one_line};
use crate::sys::{eprint, warn};

/// Installs what a reference names, after showing it to anyone who can be asked. Without a
/// reference, installs from the lockfile: the project's, otherwise the user's.
pub fn install(ctx: &RunContext, install: Install, caller: Caller) -> Result<String> {
    let command = match &install.reference {
        Some(reference) => format!("install {}", one_line(reference)),
        None => "install".to_owned(),
    };
    let terms = (install.consent, install.scope);
    let mut confirm = deciding(ctx, caller, terms, &command)?;
    let mut shop = Shop::new(ctx, install.scope).offline(install.offline);
    let installed = if let Some(reference) = &install.reference {
        let options = InstallOptions {
            all: install.all,
            skills: install.skill,
            name: install.name,
            reading: install.reading.map(Into::into),
        };
        shop.market(ctx)
            .install(reference, &options, &mut confirm, &mut note)?
    } else {
        let project = Shop::of_project(ctx).offline(install.offline);
        if install.scope.is_default() && project.market(ctx).has_lockfile() {
            shop = project;
        }
        shop.market(ctx)
            .restore(install.frozen, &mut confirm, &mut note)?
    };
    for skill in installed.iter().filter(|skill| skill.status == Status::New) {
        let event = Event::new("install")
            .with("skill", skill.name.as_str())
            .with("source", skill.source.clone())
            .with("commit", skill.commit.clone());
        ctx.record(event.with("layer", install.scope.layer().as_str()));
    }
    let mut text = told(&installed)?;
    text += &unmet_of(ctx, &installed);
    if install.scope.layer() == Layer::Project {
        text.push_str("  it is used once the project is trusted: agent-skills trust\n");
    }
    Ok(text)
}

fn told(installed: &[Installed]) -> Result<String> {
    let declined = |skill: &Installed| skill.status == Status::Declined;
    if !installed.is_empty() && installed.iter().all(declined) {
        return Err(Error::new("nothing was installed: you said no"));
    }
    Ok(installed.iter().map(outcome).collect())
}

fn unmet_of(ctx: &RunContext, installed: &[Installed]) -> String {
    let new = installed.iter().filter(|skill| skill.status == Status::New);
    let requires = |skill: &Installed| {
        let skill = Skill::load(&skill.dir).ok()?;
        skill.fields.value("requires").is_some().then_some(skill)
    };
    let mut text = String::new();
    let mut catalog = None;
    for skill in new.filter_map(requires) {
        let catalog = catalog.get_or_insert_with(|| ctx.catalog());
        for found in unmet(ctx, catalog, &skill) {
            let _ = writeln!(text, "  note: `{}`: {}", skill.name, found.message);
        }
    }
    text
}

fn outcome(skill: &Installed) -> String {
    let mut text = skill.summary() + "\n";
    for remark in skill.dropped.iter().chain(&skill.warnings) {
        let _ = writeln!(text, "  note: {}", one_line(remark));
    }
    if skill.status == Status::New {
        let _ = writeln!(
            text,
            "  the model can use it now: skill_marketplace {{\"action\": \"use\", \"skill_ref\": \
             \"{}\"}}",
            skill.name
        );
    }
    text
}

/// Removes one skill.
pub fn remove(ctx: &RunContext, name: &str, scope: Scope) -> Result<String> {
    let removed = Shop::new(ctx, scope).market(ctx).remove(name)?;
    let event = Event::new("remove")
        .with("skill", removed.name.as_str())
        .with("source", removed.source.clone())
        .with("layer", scope.layer().as_str());
    ctx.record(event);
    Ok(format!("removed `{}`\n", removed.name))
}

/// Links the skill in a directory.
pub fn link(ctx: &RunContext, dir: &Path, name: Option<&str>, scope: Scope) -> Result<String> {
    let linked = Shop::new(ctx, scope).market(ctx).link(dir, name)?;
    let to = linked.source.unwrap_or_default();
    Ok(format!(
        "`{}` is linked to {}\n",
        linked.name,
        one_line(&to)
    ))
}

/// Restores the state before the last update or approved proposal.
pub fn rollback(ctx: &RunContext, name: &str, scope: Scope) -> Result<String> {
    let (name, entry) = Shop::new(ctx, scope).market(ctx).rollback(name)?;
    let commit = entry.and_then(|entry| entry.commit);
    let event = Event::new("rollback")
        .with("skill", name.as_str())
        .with("commit", commit.clone());
    ctx.record(event.with("layer", scope.layer().as_str()));
    let commit = commit
        .map(|commit| format!(" at {commit}"))
        .unwrap_or_default();
    Ok(format!("`{name}` was restored{commit}\n"))
}

/// Installs the skills of a foreign lockfile.
pub fn import_lock(
    ctx: &RunContext,
    path: &Path,
    consent: Consent,
    scope: Scope,
    caller: Caller,
) -> Result<String, Failure> {
    let mut confirm = deciding(ctx, caller, (consent, scope), "import-lock")?;
    let shop = Shop::new(ctx, scope);
    let imported = shop
        .market(ctx)
        .import_lock(path, &mut confirm, &mut note)?;
    let (mut text, mut failed) = (String::new(), false);
    for one in imported {
        match one.outcome.and_then(|installed| told(&installed)) {
            Ok(told) => text += &told,
            Err(error) => {
                failed = true;
                let hint = error
                    .next_step()
                    .map(|hint| format!("; {hint}"))
                    .unwrap_or_default();
                let _ = writeln!(
                    text,
                    "`{}` was left out: {}",
                    one_line(&one.name),
                    one_line(&format!("{error}{hint}"))
                );
            }
        }
    }
    if failed {
        Err(Failure::Answered(text))
    } else {
        Ok(text)
    }
}

/// Updates skills.
pub fn update(ctx: &RunContext, update: &Update, caller: Caller) -> Result<String, Failure> {
    let consenting = Consenting::of(ctx, update.consent, caller);
    let shop = Shop::new(ctx, update.scope).offline(update.offline);
    let options = UpdateOptions {
        dry_run: update.dry_run,
        diff: update.diff,
        edited: match (update.stash, update.force) {
            (true, _) => Edited::Stash,
            (_, true) => Edited::Replace,
            _ => Edited::Keep,
        },
    };
    let policies = ctx.policies()?;
    let mut agree = |difference: &crate::marketplace::Difference| {
        permits_update(&policies, update.scope, difference)?;
        // A difference is shown on request even if no consent is needed.
        let shown =
            difference.needs_consent() || difference.regress().is_some() && !update.allow_downgrade;
        if update.diff && !shown {
            eprint(format_args!("{}", consent::describe_difference(difference)));
        }
        consenting.to_update(difference, update.allow_downgrade)
    };
    let updated = shop
        .market(ctx)
        .update(&update.names, options, &mut agree, &mut note)?;
    for skill in updated.iter().filter(|_| !update.dry_run) {
        if let Change::Updated { from, to, .. } = &skill.change {
            let event = Event::new("update")
                .with("skill", skill.name.as_str())
                .with("from", from.clone())
                .with("commit", to.clone());
            ctx.record(event.with("layer", update.scope.layer().as_str()));
        }
    }
    if updated.is_empty() {
        return Ok("No skill here came from a source that could have a newer one.\n".to_owned());
    }
    unless_failed(&updated, updated.iter().map(what_changed).collect(), caller)
}

/// The answer, unless one of the skills could not be examined or updated. That is reported on
/// standard error, which a model does not see, and the command fails.
fn unless_failed(
    updated: &[Updated],
    mut answer: String,
    caller: Caller,
) -> Result<String, Failure> {
    let mut failed = false;
    for one in updated {
        if let Change::Failed { reason, hint } = &one.change {
            failed = true;
            let error = one_line(&format!("`{}` was left as it is: {reason}", one.name));
            let hint = hint.as_deref().map(one_line).unwrap_or_default();
            if caller == Caller::Host {
                let _ = writeln!(answer, "Error: {error}\n{hint}");
            } else {
                warn(format_args!("{error}"));
                eprint(format_args!("hint: {hint}\n"));
            }
        }
    }
    if failed {
        Err(Failure::Answered(answer))
    } else {
        Ok(answer)
    }
}

/// Reports what `update` would change.
pub fn outdated(
    ctx: &RunContext,
    names: &[String],
    as_json: bool,
    scope: Scope,
    caller: Caller,
) -> Result<String, Failure> {
    let options = UpdateOptions {
        dry_run: true,
        ..UpdateOptions::default()
    };
    let market = Shop::new(ctx, scope);
    let mut updated = market
        .market(ctx)
        .update(names, options, &mut |_| Ok(false), &mut note)?;
    updated.retain(|one| {
        !matches!(one.change, Change::UpToDate | Change::Linked) || !one.newer_tags.is_empty()
    });
    if as_json {
        let failed = updated
            .iter()
            .any(|one| matches!(one.change, Change::Failed { .. }));
        let answer = json::list("skills", &updated)?;
        return if failed {
            Err(Failure::Answered(answer))
        } else {
            Ok(answer)
        };
    }
    if updated.is_empty() {
        return Ok("Everything is up to date.\n".to_owned());
    }
    let with_tags = |one: &Updated| what_changed(one) + &later_tags(one);
    unless_failed(&updated, updated.iter().map(with_tags).collect(), caller)
}

/// The later versions available for a skill pinned to a tag.
fn later_tags(skill: &Updated) -> String {
    if skill.newer_tags.is_empty() {
        return String::new();
    }
    let tags = one_line(&skill.newer_tags.join(", "));
    format!(
        "    it stays at its tag; there are later ones: {tags} (remove it, then `install REF#TAG`)\n"
    )
}

fn what_changed(skill: &Updated) -> String {
    let name = &skill.name;
    match &skill.change {
        Change::UpToDate => format!("`{name}` is up to date\n"),
        Change::Linked => format!("`{name}` is a link to a working copy, and never updated over\n"),
        Change::Failed { .. } => String::new(),
        Change::Available(difference) => consent::describe_difference(difference),
        Change::Updated {
            from,
            to,
            dropped,
            stashed,
        } => {
            let mut text = match consent::from_to(from.as_deref(), to.as_deref()) {
                Some(commits) => format!("`{name}` was updated from {commits}\n"),
                None => format!("`{name}` was updated\n"),
            };
            for remark in dropped {
                let _ = writeln!(text, "  note: {}", one_line(remark));
            }
            if let Some(place) = stashed {
                let _ = writeln!(text, "  your changes are kept in {place}");
            }
            text
        }
        Change::Kept { reason, hint } => {
            let hint = hint
                .as_deref()
                .map(|hint| format!("; {hint}"))
                .unwrap_or_default();
            format!(
                "`{name}` was left as it is: {}\n",
                one_line(&format!("{reason}{hint}"))
            )
        }
    }
}

/// Compares skills with the lockfile; fails if one differs.
pub fn verify(
    ctx: &RunContext,
    names: &[String],
    as_json: bool,
    scope: Scope,
) -> Result<String, Failure> {
    let verified = Shop::new(ctx, scope).market(ctx).verify(names)?;
    let text = if as_json {
        json::list("skills", &verified)?
    } else if verified.is_empty() {
        "The lockfile has no skill.\n".to_owned()
    } else {
        verified.iter().map(how_it_is).collect()
    };
    if verified.iter().all(Verified::is_well) {
        Ok(text)
    } else {
        Err(Failure::Answered(text))
    }
}

fn how_it_is(skill: &Verified) -> String {
    let state = match skill.state {
        State::Intact => "intact",
        State::Changed => "changed",
        State::Missing => "missing",
        State::Linked => "a link, not compared",
    };
    let mut text = format!("{}: {state}\n", skill.name);
    for (label, paths) in [
        ("changed", &skill.changed),
        ("missing", &skill.missing),
        ("extra", &skill.extra),
    ] {
        for path in paths {
            let _ = writeln!(text, "  {label} {}", one_line(path));
        }
    }
    text
}
