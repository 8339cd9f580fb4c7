//! `suggest`: the entries that a skill's list lacks, and applying them for a person: as an
//! addition to the user's configuration, or as a proposal against the skill.

use std::fmt::Write as _;
use std::path::Path;

use super::audit::since;
use super::suggest_entries::{Suggested, Suggestions, Why};
use crate::activation::why_none_is_added;
use crate::author::with_entries;
use crate::cli::prelude::*;
use crate::cli::report::restriction_of;
use crate::cli::set_up::config::set;
use crate::cli::write::try_skill;
use crate::policy::{Line, audit_file, last_events};
use crate::protocol::ProposeSkillUpdate;
use crate::protocol::tools::propose_change;
use crate::skill::{Skill, SkillName, unified_diff};
use crate::sys::text::{count, counted, distinct, shorten};
use crate::sys::{files, limits};

/// Suggest the entries that a skill's list of tools lacks
#[derive(Debug, clap::Args)]
pub struct Suggest {
    /// The skill's name, or its directory
    #[arg(value_name = "NAME")]
    pub skill: String,
    /// Start of the period for refused calls: 2h, 7d, 2026-11-21
    #[arg(long)]
    pub since: Option<String>,
    /// Propose them for the skill itself
    #[arg(long, conflicts_with = "local")]
    pub apply: bool,
    /// Add them to your configuration, which an update keeps
    #[arg(long)]
    pub local: bool,
}

/// Characters of an example that are shown.
const EXAMPLE: usize = 100;

impl Suggest {
    /// Shows the entries, and applies them if a person asks for it.
    pub fn run(&self, call: Call) -> Answer {
        let skill = try_skill::find(call.facts, &self.skill)
            .or_else(|error| self.last_activated(call.facts).ok_or(error))?;
        let since = since(self.since.as_deref())?;
        let (_, restriction) = restriction_of(&call.facts.run, &skill);
        let is_restricted = restriction.allowed().is_some();
        let found = if is_restricted {
            Suggestions::new(call.facts, &skill, since)?
        } else {
            Suggestions::default()
        };
        let (name, is_empty) = (skill.name.as_str(), found.entries.is_empty());
        let why = match (is_restricted, found.left_out.is_empty()) {
            (false, _) => "no list of tools restricts it",
            (true, true) => "its refused calls and the commands in its text pass today",
            (true, false) => "no narrow entry would let the refused calls pass",
        };
        let none = is_empty.then(|| format!("nothing to suggest for `{name}`: {why}"));
        let shown = shown(name, &found, none.as_deref(), call.screen);
        if self.apply || self.local {
            let applied = match none {
                Some(none) => Ok(none + "\n"),
                None => self.applied(call, &skill, &found, &shown),
            };
            return Outcomes::of_one(call, name, applied);
        }
        let policies = call.facts.policies();
        let counts = policies.is_ok_and(|all| all.forbids_added_entries().is_none());
        let mut ways = vec![
            ("--local", "adds them to your configuration"),
            ("--apply", "proposes them for the skill"),
        ];
        ways.retain(|(flag, _)| !is_empty && (counts || *flag != "--local"));
        let command = |(flag, _): &(&str, &str)| format!("agent-skills {}", self.command(flag));
        let next: Vec<String> = ways.iter().map(command).collect();
        let left = |(why, (calls, example)): (&Why, &(usize, String))| {
            let (reason, message) = why.told();
            json!({"reason": reason, "message": message, "calls": calls, "example": example})
        };
        let value = json!({
            "name": name,
            "path": skill.dir.display().to_string(),
            "entries": found.entries,
            "left_out": found.left_out.iter().map(left).collect::<Vec<_>>(),
            "recorded": found.recorded,
            "documented": found.documented,
            // Why nothing is suggested.
            "message": none,
            // The commands that apply them.
            "next": next,
        });
        let next = next.iter().zip(ways).map(|(command, (_, meaning))| {
            let line = format!("`{command}` {meaning}");
            call.screen.hanging("next: ", &line, 6)
        });
        Ok(call.answer(&value, || shown + &next.collect::<String>())?)
    }

    /// The skill of this name that was last activated: other agents find skills where the catalog
    /// does not look.
    fn last_activated(&self, facts: &Facts) -> Option<Skill> {
        let name = SkillName::from_written(&self.skill)?;
        let is_its =
            |line: &Line| line.text("event") == "activate" && line.text("skill") == name.as_str();
        let (lines, _) = last_events(&audit_file(facts.state()), 1, is_its).ok()?;
        let skill = Skill::load(Path::new(lines.first()?.text("path"))).ok()?;
        (skill.name == name).then_some(skill)
    }

    fn applied(
        &self,
        call: Call,
        skill: &Skill,
        found: &Suggestions,
        shown: &str,
    ) -> Result<String> {
        type Apply = fn(Call, &Skill, &Suggestions) -> Result<String>;
        let (apply, question): (Apply, _) = if self.local {
            (add_to_configuration, "Add them to the configuration?")
        } else {
            (propose, "Propose them?")
        };
        // Whether it is possible is known before anybody is asked.
        let common = Common {
            dry_run: true,
            ..call.common
        };
        let would = apply(Call { common, ..call }, skill, found)?;
        if call.common.dry_run {
            return Ok(format!("{shown}{would}"));
        }
        if !call.to_decide(shown, question)? {
            return Ok("nothing was changed\n".to_owned());
        }
        apply(call, skill, found)
    }

    /// This command with a flag, to be copied.
    fn command(&self, flag: &str) -> String {
        let since = self.since.iter().flat_map(|since| ["--since", since]);
        let words = ["suggest", self.skill.as_str()].into_iter().chain(since);
        pasted(&words.chain([flag]).collect::<Vec<_>>())
    }
}

impl Suggested {
    /// By how many calls it is needed.
    pub fn needed(&self) -> String {
        let recorded = (self.recorded > 0).then(|| count(self.recorded, "refused call"));
        let documented = (self.documented > 0)
            .then(|| counted(self.documented, "command", "commands") + " in its text");
        let both: Vec<String> = recorded.into_iter().chain(documented).collect();
        both.join(", ")
    }
}

/// The entries for people, or why there are `none`; then what was left out, and what they change.
fn shown(name: &str, found: &Suggestions, none: Option<&str>, screen: Screen) -> String {
    let mut text = if let Some(none) = none {
        screen.hanging("", &one_line(none), 0)
    } else {
        let entries = counted(found.entries.len(), "entry", "entries");
        format!("{entries} would let `{name}` do what was refused:\n")
    };
    for one in &found.entries {
        let entry = screen.paint(&one_line(&one.entry), Paint::Bold);
        let _ = writeln!(text, "  {entry}");
        for (label, value) in [
            ("needed by", one.needed()),
            ("opens", one.opens.clone()),
            ("example", brief(&one.example, EXAMPLE)),
        ] {
            let first = format!("    {label:11}");
            text += &screen.hanging(&first, &one_line(&value), first.len());
        }
    }
    for (why, (calls, example)) in &found.left_out {
        let calls = counted(*calls, "call is", "calls are");
        let (why, example) = (why.told().1, brief(example, EXAMPLE));
        let line = format!("{calls} left out: {why} (`{example}`)");
        text += &screen.hanging("", &one_line(&line), 2);
    }
    let of = &found.documented;
    if of.calls > 0 && none.is_none() {
        let commands = counted(of.calls, "command", "commands");
        let (passing, with) = (counted(of.pass, "passes", "pass"), of.pass_with);
        let line = format!("Of {commands} in its text {passing} now, {with} with this.");
        text += &screen.hanging("", &line, 2);
    }
    text
}

/// Adds the entries to the user's configuration.
///
/// # Errors
/// When they would not count there, or it cannot be written.
fn add_to_configuration(call: Call, skill: &Skill, found: &Suggestions) -> Result<String> {
    let name = skill.name.as_str();
    if let Some(why) = why_none_is_added(call.facts, &skill.dir) {
        let text = format!("an addition for `{name}` would not count: {why}");
        return Err(Error::new(text).hint("`--apply` proposes the entries for the skill itself"));
    }
    let own = call.facts.own_config()?.added_entries(name).to_vec();
    let entries = distinct(own.into_iter().chain(found.written()));
    let value = entries.iter().collect::<toml_edit::Array>().to_string();
    let key = ["skills", name, "allow"].map(str::to_owned);
    set(call.facts, &key, &value, call.common.dry_run)?;
    let key = format!("skills.{name}.allow");
    let entries = counted(found.entries.len(), "entry", "entries");
    if call.common.dry_run {
        return Ok(format!(
            "would add {entries} to `{key}` in the configuration\n"
        ));
    }
    Ok(format!(
        "added {entries} to `{key}` in the configuration; `agent-skills config unset {key}` takes all of \
         them back\n"
    ))
}

/// Proposes to add the entries to the skill's own list.
///
/// # Errors
/// When it cannot be changed with certainty, or by a proposal.
fn propose(call: Call, skill: &Skill, found: &Suggestions) -> Result<String> {
    let diff = diff(skill, &found.written())?;
    let entries = counted(found.entries.len(), "entry", "entries");
    if call.common.dry_run {
        return Ok(format!("would propose {entries} for `{}`\n", skill.name));
    }
    let reasons = found.entries.iter().map(|one| {
        let (entry, opens) = (&one.entry, &one.opens);
        format!("{entry}: needed by {}; {opens}", one.needed())
    });
    let reasons = reasons.collect::<Vec<_>>().join("\n");
    let proposed = json!({
        "skill": skill.name,
        "diff": diff,
        "justification": format!("`agent-skills suggest`: its list lacks {entries} that its calls need"),
        "evidence": shorten(&reasons, limits::PROPOSAL_TEXT / 4),
    });
    let proposed: ProposeSkillUpdate = serde_json::from_value(proposed)
        .map_err(|error| Error::caused("the proposal cannot be written", error))?;
    propose_change(call.facts, &proposed).map(|text| text + "\n")
}

/// The change to the skill's file as a diff.
fn diff(skill: &Skill, entries: &[String]) -> Result<String> {
    let by_hand = || {
        let entries = entries.join(", ");
        format!("add by hand: {entries}; or use `--local`")
    };
    let bytes = files::read_capped(&skill.file, limits::SKILL_FILE);
    let bytes = bytes.map_err(|error| Error::io("read", &skill.file, &error))?;
    // A diff leaves line ends as they are.
    let text = String::from_utf8(bytes).map(|text| text.replace("\r\n", "\n"));
    let text = text.ok().filter(|text| !text.contains('\r'));
    let changed = text
        .as_deref()
        .and_then(|text| with_entries(&skill.dir, text, entries));
    let (Some(before), Some(after)) = (text.as_deref(), changed) else {
        let file = skill.file.display().to_string();
        let text = format!("the list in `{}` has an unusual form", one_line(&file));
        return Err(Error::new(text).hint(by_hand()));
    };
    let file = skill.file.file_name().unwrap_or_default().to_string_lossy();
    let names = (format!("a/{file}"), format!("b/{file}"));
    Ok(unified_diff((&names.0, &names.1), before, &after))
}
