//! `post_system_prompt`: tells the model which skills exist and which are active, and the user which
//! ones await a decision, hands over the always-on skills, and records which conversation this is.

use std::collections::BTreeMap;

use crate::catalog::{CatalogText, Disclosure, PROMPT, told};
use crate::proposal::Proposals;
use crate::protocol::hooks::always_on;
use crate::protocol::prelude::*;
use crate::skill::Diagnostic;
use crate::sys::text::counted;

/// What the user was told about skills that were cut.
const TOLD: EntryName = EntryName::from_static("told");

/// How many names of skills that were cut are listed.
const LISTED: usize = 8;

/// The catalog block and the always-on instructions, or nothing if there are no skills.
pub fn post_system_prompt(facts: &Facts, context: Option<&str>) -> Response {
    let is_first = enter(facts, context);
    // First, because listing what a project has may take until the deadline.
    let always_on = always_on::instructions(facts, context, is_first);
    let session = facts.session().ok();
    let over = session.as_ref().and_then(|it| over(it, context));
    if let Some(session) = session.as_ref().filter(|it| is_first && it.kept) {
        let lists = |it: &ActiveSkill| it.is_active() && it.allowed.is_some();
        let restricted = session.activated.iter();
        let restricted = restricted.filter(|it| lists(it) || !it.denied.is_empty());
        let names: Vec<String> = restricted.map(|it| format!("`{}`", it.name)).collect();
        if !names.is_empty() {
            warn(format_args!("still restricted by {}", listed(&names, 3)));
        }
    }
    if let Some(error) = session.and_then(|session| missing_always_on(facts, &session)) {
        warn(format_args!(
            "only reading is allowed, because skills that are always on are not in force: {}",
            error.with_next_step()
        ));
    }
    let told = told(facts, PROMPT, |catalog| {
        let remarks = remarks(catalog, facts.config().err().as_ref());
        let disclosure = Disclosure::new(catalog);
        tell_of_cuts(facts, &disclosure.cut);
        CatalogText {
            text: disclosure.block,
            remarks: remarks.join("\n"),
            is_never_stored: false,
        }
    });
    for line in told.remarks.lines() {
        warn(format_args!("{line}"));
    }
    if is_first {
        record_missing(facts);
    }
    tell_of_proposals(facts);
    let disclosed = Some(told.text).filter(|text| !text.is_empty());
    let blocks = [disclosed, always_on, active_block(facts), over];
    let blocks: Vec<String> = blocks.into_iter().flatten().collect();
    if blocks.is_empty() {
        return Response::nothing();
    }
    Response::json(&json!({"inject": blocks.join("\n\n")}))
}

/// What the model still takes for restricted, since an earlier prompt of this conversation was.
fn over(session: &Session, context: Option<&str>) -> Option<String> {
    let here = session.over.iter().filter(|(of, _)| Some(&**of) == context);
    // It may have become active again since.
    let is_active = |name: &str| session.active().any(|skill| skill.name == name);
    let gone = here.filter(|(_, skill)| !is_active(skill));
    let names: Vec<String> = gone.map(|(_, skill)| format!("`{skill}`")).collect();
    let names = (!names.is_empty()).then(|| listed(&names, LISTED))?;
    Some(format!(
        "No longer active, and no longer restricting your tools: {names}."
    ))
}

/// Restores what was active in this conversation, if the user configured that or the configuration
/// is unreadable. Returns whether this is its first prompt in this run of the host.
fn enter(facts: &Facts, context: Option<&str>) -> bool {
    let former = facts.context().ok().flatten();
    let is_other = former.as_deref() != context;
    if is_other {
        match facts.store().keep_always_on(facts.key(), None) {
            Ok(kept) => facts.record_ends(kept.ended),
            // They stay active, which is safe.
            Err(error) => warn(format_args!("{error}")),
        }
    }
    if let Some(context) = context {
        facts.remember_context(context);
        let config = facts.config();
        let keep = config.map_or(true, |config| config.scope == Lifetime::Context);
        match facts.store().enter(facts.key(), context, keep) {
            Ok(ended) => facts.record_ends(ended),
            // Later calls of this session know the context all the same.
            Err(error) => warn(format_args!("{error}")),
        }
    }
    former.is_none() || is_other
}

/// One line, shown once after something was proposed.
fn tell_of_proposals(facts: &Facts) {
    let proposals = Proposals::at(facts.state());
    if !proposals.take_untold() {
        return;
    }
    let waiting = proposals.list().0.len();
    if waiting > 0 {
        let waiting = counted(waiting, "proposal waits", "proposals wait");
        let next = "agent-skills proposals list";
        warn(format_args!("{waiting} for your decision: {next}"));
    }
}

/// One line for each directory awaiting the user's trust, and for any error that hides all.
fn remarks(catalog: &Catalog, hides_all: Option<&Error>) -> Vec<String> {
    let mut remarks = Vec::new();
    let mut untrusted: BTreeMap<_, usize> = BTreeMap::new();
    for entry in catalog.entries() {
        if entry.withheld() == Some(WithheldReason::Untrusted) {
            *untrusted.entry(entry.holder()).or_default() += 1;
        }
    }
    for (holder, count) in untrusted {
        let holder = one_line(&holder.display().to_string());
        remarks.push(format!(
            "{} of `{holder}` not offered: check, then run agent-skills trust {holder}",
            counted(count, "untrusted skill is", "untrusted skills are")
        ));
    }
    remarks.extend(catalog.missing.iter().map(|one| one_line(&one.to_string())));
    if let Some(error) = hides_all {
        remarks.push(one_line(&format!("no skill is offered: {error}")));
    }
    remarks
}

/// One line about the skills that were cut, unless it was shown before.
fn tell_of_cuts(facts: &Facts, cut: &BTreeMap<&SkillName, Diagnostic>) {
    let set = cut.iter().map(|(name, why)| format!("{name} {why:?}\n"));
    if cut.is_empty() || seen::before(facts.state(), &TOLD, &set.collect::<String>()) {
        return;
    }
    let told = |is_named: bool, what: &str| {
        let is_told = |why: &Diagnostic| (*why != Diagnostic::NameOmitted) == is_named;
        let cut = cut.iter().filter(|(_, why)| is_told(why));
        let names: Vec<&str> = cut.map(|(name, _)| name.as_str()).collect();
        match names.len() {
            0 => String::new(),
            _ => format!("; {what}: {}", listed(&names, LISTED)),
        }
    };
    warn(format_args!(
        "the prompt has no room for every skill's description{}{}; `agent-skills list \
         --long` shows all",
        told(true, "shortened"),
        told(false, "not named"),
    ));
}

/// All instructions of active skills that are repeated in the system prompt.
const REINJECTED: usize = 256 * 1024;

/// The block; `None` if nothing is active.
pub fn active_block(facts: &Facts) -> Option<String> {
    let session = facts.session().ok()?;
    // Always-on skills are in the prompt already.
    activated(&session).next()?;
    let mut block = reminder(&session);
    if facts.run.protocol == Some(Protocol::Environment) {
        block.push_str("\n\n<active_skills>");
        let catalog = Catalog::of(facts);
        let mut room = REINJECTED;
        let mut given: Vec<(&Skill, Option<&str>)> = Vec::new();
        for active in activated(&session) {
            let entry = catalog.in_dir(Path::new(&active.dir));
            let skill = entry.and_then(Entry::usable);
            let text = current_instructions(facts, skill, active);
            let text = if text.len() > room {
                let left_out = "Its instructions are too long to be repeated here.";
                let left_out = format!("{left_out} {}", how_to_read(&active.name, "SKILL.md"));
                wrapped(SKILL, &active.name, &left_out)
            } else {
                room -= text.len();
                given.extend(skill.map(|skill| (skill, active.arguments.as_deref())));
                text
            };
            block.push('\n');
            block.push_str(&text);
        }
        block.push_str("\n</active_skills>");
        // Arguments too long to store are lost after the call; calling the skill's tool with them
        // again returns its instructions again.
        handed(facts, &given);
    } else if let Some(last) = activated(&session).next_back()
        && is_there(last)
    {
        let read = how_to_read(&last.name, "SKILL.md");
        block = format!("{block} If they are no longer there: {read}");
        if let Some(arguments) = last.arguments.as_deref() {
            let text = "Its arguments, which replace $ARGUMENTS there:";
            let text = format!("{text}\n\n{}", guarded(arguments));
            block = format!("{block}\n\n{}", wrapped(SKILL, &last.name, &text));
        }
    }
    Some(block)
}

fn activated(session: &Session) -> impl DoubleEndedIterator<Item = &ActiveSkill> {
    let besides = |skill: &&ActiveSkill| !session.always.contains(&skill.dir);
    session.active().filter(besides)
}

fn reminder(session: &Session) -> String {
    let restricts = |active: &ActiveSkill| {
        let note = " (restricts which tools may be used)";
        let note = if active.is_restricted() { note } else { "" };
        let gone = " (its files are gone: tell the user)";
        let gone = if is_there(active) { "" } else { gone };
        format!("`{}`{note}{gone}", active.name)
    };
    let names: Vec<String> = activated(session).map(restricts).collect();
    format!(
        "## Active Skills\n\nActive now, the most recently loaded last: {}. Keep following their \
         instructions; later ones take precedence.",
        names.join(", ")
    )
}

/// A skill's current instructions. Its restriction stays as it was at activation.
fn current_instructions(facts: &Facts, skill: Option<&Skill>, active: &ActiveSkill) -> String {
    let Some(skill) = skill else {
        let gone = "This skill is gone or no longer offered. Its restrictions stay in force. \
                    Tell the user.";
        return wrapped(SKILL, &active.name, gone);
    };
    let changed = (skill.digest != active.digest).then(|| {
        format!(
            "It has changed since it was loaded, but its restrictions have not. To load it as it \
             is now: {} {}",
            ours::SESSION,
            json!({"action": "load", "names": [active.name], "mode": "add"})
        )
    });
    let name = skill.name.as_str();
    let instructions = Instructions {
        skill,
        reference: name,
        arguments: active.arguments.as_deref(),
        more: changed.into_iter().collect(),
        wrapper: SKILL,
    }
    .text(facts);
    instructions.unwrap_or_else(|why| {
        let unread = format!("Its instructions cannot be read: {why}. Tell the user.");
        wrapped(SKILL, name, &unread)
    })
}

fn is_there(active: &ActiveSkill) -> bool {
    Path::new(&active.dir).is_dir()
}
