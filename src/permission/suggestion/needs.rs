//! What a refused call needs: which entries might grant the first part of it that nothing grants, or
//! why none should.

use std::path::Path;

use super::commands;
use crate::host::alias::Capability;
use crate::host::tools::{self, Argument, Effect, HostTool, Named};
use crate::permission::call::{Call, OurTool};
use crate::permission::decide::{Decision, Outcome};
use crate::permission::list::is_name;
use crate::permission::places::Places;
use crate::permission::refusal::Reason;

/// Why nothing is proposed for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Obstacle {
    /// A denial covers it, which no entry overrules.
    Denied,
    /// It would change a protected place.
    Protected,
    /// It cannot be read as commands, or not within the limits.
    Unreadable,
    /// It is for people.
    ForPeople,
    /// Only an entry that grants nearly everything would let it pass.
    TooWide,
}

/// A call for which entries are wanted.
pub struct Wanted<'a> {
    /// The call.
    pub call: Call<'a>,
    /// What authors call its tool, if it is neither the host's nor ours.
    pub tool: &'a str,
    /// Where it is decided.
    pub places: &'a Places,
    /// Names the skill's own directory in an entry, as its author would write it.
    pub skill_dir: &'a str,
}

/// What a decision leaves open.
pub enum Need {
    /// Nothing: the call passes.
    Nothing,
    /// One of these sets of entries.
    Entries(Vec<Vec<String>>),
}

/// The capabilities that entries name, as authors write them, with those that a tool belongs to first.
const NAMES: [(Capability, &str); 11] = [
    (Capability::ReadFile, "Read"),
    (Capability::SearchContent, "Grep"),
    (Capability::FindFiles, "Glob"),
    (Capability::ListDirectory, "LS"),
    (Capability::WriteFile, "Write"),
    (Capability::EditFile, "Edit"),
    (Capability::Fetch, "WebFetch"),
    (Capability::SubAgent, "Task"),
    (Capability::Todo, "TodoWrite"),
    (Capability::AskUser, "AskUserQuestion"),
    (Capability::WebSearch, "WebSearch"),
];

/// The index of the first part that is refused.
pub fn refused_at(decision: &Decision) -> Option<usize> {
    decision.parts.iter().position(|part| part.outcome.is_err())
}

/// Whether the call passes, or is refused for lack of an entry.
pub fn lacks_entry(decision: &Decision) -> bool {
    match &decision.outcome {
        Outcome::Warned(refusal) | Outcome::Blocked(refusal) => {
            matches!(refusal.reason(), Reason::NotGranted { .. })
        }
        _ => false,
    }
}

/// What the decision about a call leaves open.
///
/// # Errors
/// Why no entry should be proposed.
pub fn of(wanted: &Wanted, decision: &Decision) -> Result<Need, Obstacle> {
    let (call, places) = (&wanted.call, wanted.places);
    let refusal = match &decision.outcome {
        Outcome::Warned(refusal) | Outcome::Blocked(refusal) => refusal,
        Outcome::Unrestricted | Outcome::Baseline | Outcome::Granted => return Ok(Need::Nothing),
    };
    match refusal.reason() {
        Reason::Denied(_) => {
            // What cannot be read might be what is denied.
            let part = refusal.denied_part();
            let is_unclear = part.is_some_and(|part| part.kind.starts_with("unclear"));
            return Err(if is_unclear {
                Obstacle::Unreadable
            } else {
                Obstacle::Denied
            });
        }
        Reason::Protected { .. } => return Err(Obstacle::Protected),
        Reason::Unclear { .. } | Reason::TooMuchWork | Reason::UnreadableState => {
            return Err(Obstacle::Unreadable);
        }
        Reason::OurProgram | Reason::ForPeople => return Err(Obstacle::ForPeople),
        Reason::NotGranted { .. } => {}
    }
    let is_shell = call
        .host_tool()
        .is_some_and(|tool| tool.keys(&[Argument::Command]).next().is_some());
    let sets = if is_shell {
        of_command(decision, places)?
    } else {
        of_tool(wanted)
    };
    if sets.is_empty() {
        return Err(Obstacle::TooWide);
    }
    Ok(Need::Entries(sets))
}

fn of_command(decision: &Decision, places: &Places) -> Result<Vec<Vec<String>>, Obstacle> {
    let refused = refused_at(decision).and_then(|at| decision.parts.get(at));
    // Without any entry for the shell, not even harmless commands pass.
    let part = refused.or_else(|| decision.parts.iter().find(|part| part.kind == "command"));
    let part = part.ok_or(Obstacle::Unreadable)?;
    match part.kind {
        "syntax" => Err(Obstacle::Unreadable),
        "redirection" => {
            let path = part.text.trim_matches(['"', '\'']);
            let (writes, reads) = (
                of_path("Write", path, places),
                of_path("Read", path, places),
            );
            Ok([writes, reads].concat())
        }
        _ => Ok(commands::entries(&part.text)),
    }
}

fn of_tool(wanted: &Wanted) -> Vec<Vec<String>> {
    let (call, places) = (&wanted.call, wanted.places);
    match call.ours {
        Some(OurTool::Skill { name, .. }) => return vec![vec![format!("Skill({name})")]],
        Some(_) => return Vec::new(),
        None => {}
    }
    let Some(tool) = tools::find(call.tool) else {
        let is_tool = is_name(wanted.tool) && !wanted.tool.contains('*');
        // Another client's name for a shell would grant the shell.
        let named = Capability::named(wanted.tool);
        return if is_tool && named.is_none_or(|named| named == Capability::WebSearch) {
            vec![vec![wanted.tool.to_owned()]]
        } else {
            Vec::new()
        };
    };
    if tool.effect == Effect::Execute {
        return Vec::new();
    }
    let name = name_of(tool);
    let meanings = [Argument::Path, Argument::Url, Argument::Source];
    let given = tool.arguments.iter();
    let given = given.filter(|(_, meaning)| meanings.contains(meaning));
    let given = given.filter_map(|(key, meaning)| Some((meaning, call.text(key)?)));
    let given: Vec<_> = given.collect();
    let Some((meaning, text)) = given.first() else {
        return vec![vec![name.to_owned()]];
    };
    match meaning.names(text) {
        Named::Address => {
            let domain = domain(text).map(|domain| vec![format!("{name}(domain:{domain})")]);
            domain.into_iter().collect()
        }
        Named::Virtual => vec![vec![format!("{name}({text})")]],
        Named::File => {
            let path = places.for_tool(call.tool, text);
            let path = path.to_str().unwrap_or_default();
            of_path(name, path, places)
        }
    }
}

/// What authors call the tool; its own name if they have none for it.
fn name_of(tool: &HostTool) -> &'static str {
    let own =
        |(capability, _): &&(Capability, &str)| capability.tools().first() == Some(&tool.name);
    let any = |(capability, _): &&(Capability, &str)| capability.tools().contains(&tool.name);
    let known = NAMES.iter().find(own).or_else(|| NAMES.iter().find(any));
    let known = known.filter(|_| !tools::only_by_own_name(tool.name));
    known.map_or(tool.name, |(_, name)| name)
}

/// The host of a URL.
fn domain(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let host = rest.split(['/', '?', '#', ':']).next()?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-".contains(c);
    (!host.is_empty() && host.chars().all(is_plain)).then_some(host)
}

/// Entries for a file: its directory, or only itself where that would be a whole project, home or
/// file system.
fn of_path(name: &str, path: &str, places: &Places) -> Vec<Vec<String>> {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./@+~ ".contains(c);
    let climbs = path.split('/').any(|part| part == "..");
    if path.is_empty() || climbs || !path.chars().all(is_plain) {
        return Vec::new();
    }
    let below = |dir: &Path| Some(Path::new(path).strip_prefix(dir).ok()?.to_str()?.to_owned());
    let in_project = below(&places.project_root).filter(|rest| !rest.is_empty());
    let in_home = places.home.as_deref().and_then(below);
    let (base, rest) = match (in_project, in_home) {
        (Some(rest), _) => ("", rest),
        (None, Some(rest)) => ("~/", rest),
        (None, None) => match (path.strip_prefix('/'), path.strip_prefix("~/")) {
            (Some(rest), _) => ("//", rest.to_owned()),
            (None, Some(rest)) => ("~/", rest.to_owned()),
            (None, None) => ("", path.trim_start_matches("./").to_owned()),
        },
    };
    let depth = rest.matches('/').count();
    let entry = |pattern: String| vec![format!("{name}({pattern})")];
    match rest.rsplit_once('/') {
        Some((dir, _)) if base != "//" || depth > 1 => vec![entry(format!("{base}{dir}/**"))],
        None if base.is_empty() => vec![entry(format!("/{rest}")), entry(rest)],
        _ => vec![entry(format!("{base}{rest}"))],
    }
}
