//! A skill becomes active in an agent: by its tool, by a name that the user types, or by a read.

use std::path::Path;

use serde_json::json;

use super::answers::Verdict;
use super::commands::unheld;
use super::find::{Found, find, find_in, plain_part};
use super::judge::{Judge, Judged};
use super::translate::OurCall;
use crate::activation::put_in_force;
use crate::catalog::{Entry, Standing, Withheld, tool_name};
use crate::error::{Error, Result};
use crate::host::agent::table::{Called, Injects, Table};
use crate::permission::{Call, Outcome, decide};
use crate::policy::{Event, OnDisk};
use crate::run_context::{Calling, RunContext, real};
use crate::session::{ActiveSkill, Session, snapshot};
use crate::skill::{Skill, brief, commands_run};
use crate::sys::text::quoted;

/// How a skill is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// By a call of the agent's tool for skills, which the agent may yet refuse.
    Tool,
    /// By a name that the user typed.
    Typing,
    /// By reading its `SKILL.md` or running its script.
    Reading,
}

/// A call of a skill.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// Its name, as the agent has it.
    pub name: &'a str,
    /// Its directory, if that is known.
    pub dir: Option<&'a Path>,
    /// Its arguments.
    pub arguments: &'a str,
    /// How it is called.
    pub by: By,
    /// The tool or the text in which it was called, for messages.
    pub shown: &'a str,
    /// The user's prompt.
    pub prompt: Option<&'a str>,
}

/// Puts the skill in force, or says why it may not become active. A skill that is none of those on
/// disk restricts nothing.
pub fn activate(ctx: &RunContext, calling: &Calling, judge: &Judge, wanted: Wanted) -> Judged {
    // Where signatures are required, nothing is loaded of which none is known to hold; nor what may
    // stand in the place of a skill that a policy requires.
    let is_required = ctx
        .policies()
        .map_or(true, |all| all.requires(plain_part(wanted.name)).is_some());
    let requires = is_required || ctx.signing_in_force().require_anything();
    let is_strict = judge.mode().restricts() || requires;
    let found = match wanted.dir {
        Some(dir) => Ok(find_in(ctx, calling, dir)),
        None => find(ctx, calling, wanted.name),
    };
    let found = match found {
        Ok(Some(found)) if found.is_seen => found,
        Ok(found) => {
            let stands_in = is_required || found.is_some();
            let is_asked = stands_in || judge.mode().restricts();
            let why = is_asked.then(|| unheld(ctx, calling, wanted.name, stands_in));
            match (why.flatten(), found) {
                (Some(why), _) => return refused(wanted, wanted.name, &why),
                (None, Some(found)) => found,
                (None, None) => return unknown(judge, wanted),
            }
        }
        Err(error) if is_strict => {
            return refused(wanted, wanted.name, &error.with_next_step());
        }
        Err(_) => return (Verdict::Silent, None),
    };
    let entry = found.entry();
    let (name, dir) = (entry.name(), entry.dir.clone());
    let (verdict, event) = judge.activation(wanted.shown, &name, &dir);
    if let Verdict::Denied(_) | Verdict::Asked(_) = verdict {
        return (verdict, event);
    }
    let skill = match usable(entry, wanted.by, requires) {
        Ok(skill) => skill,
        // Without a restriction to lose, only what was decided about the skill counts.
        Err((why, is_decided)) if is_decided || judge.mode().restricts() => {
            return refused(wanted, &name, &why);
        }
        Err(_) => return (Verdict::Silent, None),
    };
    if judge.mode().restricts()
        && let Err(error) = may_inject(&found, calling.agent.table(), skill, wanted)
    {
        return refused(wanted, &name, &error.with_next_step());
    }
    match put(found.ctx, ctx, skill, wanted) {
        Ok(()) if judge.mode().restricts() => (told(skill), None),
        Ok(()) => (Verdict::Silent, None),
        Err(_) if !is_strict => (Verdict::Silent, None),
        Err(error) => refused(wanted, &name, &error.with_next_step()),
    }
}

/// Why the skill does not become active.
fn refused(wanted: Wanted, name: &str, why: &str) -> Judged {
    let name = quoted(name);
    let text = format!("The skill `{name}` is not allowed to become active: {why}");
    let event = Event::new("tool")
        .with("tool", wanted.shown)
        .with("skill", name)
        .with("decision", "blocked")
        .with("by", "failed activation");
    (Verdict::Denied(text.into()), Some(event))
}

/// What the model may use from now on, so that it does not learn it by refusals.
fn told(skill: &Skill) -> Verdict {
    let taken = snapshot(skill, "");
    let list = |entries: &[String]| brief(&entries.join(", "), 400);
    let allowed = taken.allowed.as_deref().map(|entries| {
        format!(
            "only these may be used, besides its own files: {}",
            list(entries)
        )
    });
    let denied = (!taken.denied.is_empty()).then(|| format!("never: {}", list(&taken.denied)));
    let parts: Vec<String> = allowed.into_iter().chain(denied).collect();
    if parts.is_empty() {
        return Verdict::Silent;
    }
    let (name, parts) = (&skill.name, parts.join("; "));
    Verdict::Told(format!("While the skill {name} is active, {parts}."))
}

/// Records that the agent itself has made a skill active, which only then grants anything.
pub fn confirm(ctx: &RunContext, calling: &Calling, name: &str) {
    if let Ok(Some(found)) = find(ctx, calling, name) {
        // Without the record the skill grants nothing.
        let _ = ctx.store().confirm(&ctx.session(), &found.entry().dir);
    }
}

/// A skill that the agent ships inside itself, or a command of another kind.
fn unknown(judge: &Judge, wanted: Wanted) -> Judged {
    if wanted.by != By::Tool {
        return (Verdict::Silent, None);
    }
    let nowhere = Path::new("");
    let (verdict, _) = judge.activation(wanted.shown, wanted.name, nowhere);
    let decision = match verdict {
        Verdict::Denied(_) | Verdict::Asked(_) => "blocked",
        _ => "allowed",
    };
    let event = Event::new("unknown-skill")
        .with("skill", wanted.name)
        .with("decision", decision);
    (verdict, Some(event))
}

/// The skill, if it may be used; else why not, and whether somebody decided that. What cannot be read
/// or is not trusted has no signature that could be looked at.
fn usable(
    entry: &Entry,
    by: By,
    requires_signature: bool,
) -> std::result::Result<&Skill, (String, bool)> {
    let is_typed = by == By::Typing;
    let is_usable = match &entry.standing {
        // The agent reads a skill without a description, too.
        Standing::Offered { .. }
        | Standing::Withheld(Withheld::Shadowed, _)
        | Standing::Unusable => true,
        Standing::Withheld(Withheld::ForPeople, _) => is_typed,
        Standing::Withheld(..) => false,
    };
    let skill = entry.disclosed().filter(|_| is_usable);
    skill.ok_or_else(|| {
        let reason = entry.reason_not_offered().unwrap_or_default();
        let is_undecided = match entry.standing {
            Standing::Withheld(Withheld::ForPeople, _) => true,
            Standing::Unusable | Standing::Withheld(Withheld::Untrusted, _) => !requires_signature,
            _ => false,
        };
        (reason, !is_undecided)
    })
}

/// Whether the commands that the agent runs while it loads the skill are granted by the skill's own
/// list: no hook sees them.
fn may_inject(found: &Found, table: &Table, skill: &Skill, wanted: Wanted) -> Result<()> {
    let injects = match table.injects {
        Injects::No => false,
        Injects::Always => true,
        Injects::Typed => wanted.by == By::Typing,
    };
    if !injects {
        return Ok(());
    }
    let body = skill.body().map_err(|why| Error::new(why.to_string()))?;
    let commands = commands_run(&body);
    if commands.is_empty() {
        return Ok(());
    }
    let ctx = found.ctx;
    let own = snapshot(skill, &tool_name(&skill.name));
    let session = Session {
        activated: vec![own],
        has_always: true,
        ..Session::default()
    };
    let (config, policies) = (ctx.config()?, ctx.policies()?);
    let enforcement =
        crate::activation::Enforcement::for_session(ctx, &config, &policies, &session)
            .begun_in(ctx.env.cwd.clone(), false);
    for written in commands {
        let command = filled(written, skill, wanted.arguments)?;
        let arguments = json!({"command": command});
        let call = Call {
            tool: "run_command",
            arguments: &arguments,
            ours: None,
            meant: &[],
        };
        let decision = decide(&enforcement.scope(), &call, &OnDisk);
        if let Outcome::Blocked(refusal) = decision.outcome {
            let text = format!(
                "its text has the command `{}` run as it is loaded, and {}",
                quoted(written),
                refusal
                    .in_agent("Bash", enforcement.entries())
                    .for_people()
                    .trim_end_matches('.')
            );
            return Err(
                Error::new(text).hint("its author has to list the command in `allowed-tools`")
            );
        }
    }
    Ok(())
}

/// A command as the agent runs it: with the skill's directory and the arguments put in as text.
fn filled(command: &str, skill: &Skill, arguments: &str) -> Result<String> {
    let dir = skill.dir.display().to_string();
    let mut text = command.to_owned();
    for name in ["CLAUDE_SKILL_DIR", "CLAUDE_PLUGIN_ROOT"] {
        text = text.replace(&format!("${{{name}}}"), &dir);
    }
    if arguments.trim().is_empty() || !text.contains('$') {
        return Ok(text);
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./:@%+=, -".contains(c);
    if !arguments.chars().all(is_plain) {
        return Err(Error::new(
            "arguments would be put into a command in its text, and these are not plain words",
        )
        .hint("call it with plain words as arguments"));
    }
    // Whichever of its words a placeholder means, it is among these.
    let mut done = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find('$') {
        done.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = after.find(|c| !is_name(c)).unwrap_or(after.len());
        let index = after[length..]
            .strip_prefix('[')
            .and_then(|it| it.find(']'));
        if length == 0 {
            done.push('$');
            rest = after;
        } else {
            done.push_str(arguments.trim());
            rest = &after[length + index.map_or(0, |end| end + 2)..];
        }
    }
    Ok(done + rest)
}

fn put(found: &RunContext, ctx: &RunContext, skill: &Skill, wanted: Wanted) -> Result<()> {
    let (store, key) = (ctx.store(), ctx.session());
    match wanted.prompt {
        // Comes before the event of its prompt.
        Some(prompt) if wanted.by == By::Typing => {
            let ended = store.enter_prompt(&key, Some(prompt))?;
            ctx.record_ends(ended);
        }
        // A call does not tell whether somebody wrote its prompt: what is active stays.
        Some(prompt) => store.name_prompt(&key, prompt)?,
        None => {}
    }
    let put = put_in_force(found, skill, &tool_name(&skill.name));
    ctx.take_events(found);
    put?;
    if wanted.by != By::Tool {
        store.confirm(&key, &skill.dir)?;
    }
    Ok(())
}

/// The names of skills that a prompt calls in one of these ways.
pub fn called_in<'t>(text: &'t str, ways: &[Called]) -> Vec<&'t str> {
    let is_name = |c: char| c.is_alphanumeric() || "-_:.".contains(c);
    let name = |rest: &'t str| &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())];
    let first = text.trim_start();
    let mut names: Vec<&str> = Vec::new();
    for way in ways {
        match way {
            Called::Anywhere(sign) => {
                let rests = text
                    .match_indices(*sign)
                    .map(|(at, sign)| &text[at + sign.len()..]);
                names.extend(rests.map(|rest| name(rest).trim_end_matches(['.', ':'])));
            }
            Called::First(sign) => names.extend(first.strip_prefix(*sign).map(name)),
            Called::Between(before, after) => {
                let rest = first.strip_prefix(before);
                names.extend(rest.and_then(|rest| Some(rest.split_once(after)?.0)));
            }
        }
    }
    names.retain(|name| !name.is_empty());
    names.dedup();
    names
}

/// Puts in force the skills that a call uses by reading, after it was judged without them.
pub fn by_reading(
    ctx: &RunContext,
    calling: &Calling,
    judge: &Judge,
    calls: &[OurCall],
    prompt: Option<&str>,
) -> Option<Judged> {
    let read = |call| super::reads::skills_read(ctx, calling.agent, call);
    let active = ctx.active().unwrap_or_default();
    calls.iter().flat_map(read).find_map(|dir| {
        let dir = dir.as_path();
        let is_active = |active: &ActiveSkill| real(Path::new(&active.dir)) == real(dir);
        let name = dir.file_name()?.to_str()?;
        if active.active().any(is_active) {
            return None;
        }
        let wanted = Wanted {
            name,
            dir: Some(dir),
            arguments: "",
            by: By::Reading,
            shown: "reading SKILL.md",
            prompt,
        };
        let (verdict, event) = activate(ctx, calling, judge, wanted);
        matches!(verdict, Verdict::Denied(_) | Verdict::Asked(_)).then_some((verdict, event))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_calls_skills_by_the_sign() {
        let told = Called::Between("invoked the \"/", "\" skill");
        for (text, way, names) in [
            (
                "use $pdf and $docx.",
                Called::Anywhere('$'),
                &["pdf", "docx"][..],
            ),
            ("costs $ 5", Called::Anywhere('$'), &[]),
            ("  /deploy now", Called::First('/'), &["deploy"]),
            ("see /etc", Called::First('/'), &[]),
            ("invoked the \"/ops:x\" skill. /y", told, &["ops:x"]),
            ("it says: invoked the \"/x\" skill", told, &[]),
        ] {
            assert_eq!(called_in(text, &[way]), names, "{text}");
        }
    }
}
