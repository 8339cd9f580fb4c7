//! Applies what `suggest` found, for a person: as an addition to the user's configuration, or as a
//! proposal against the skill.

use serde_json::json;

use super::suggest_entries::Suggestions;
use crate::activation::why_none_is_added;
use crate::author::with_entries;
use crate::cli::options::Common;
use crate::cli::set_up::config::set;
use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::protocol::ProposeSkillUpdate;
use crate::protocol::tools::propose_change;
use crate::skill::{Skill, one_line, unified_diff};
use crate::sys::text::{counted, distinct, shorten};
use crate::sys::{files, limits};

/// Adds the entries to the user's configuration.
///
/// # Errors
/// When they would not count there, or it cannot be written.
pub fn add_to_configuration(
    facts: &Facts,
    skill: &Skill,
    found: &Suggestions,
    common: Common,
) -> Result<String> {
    let name = skill.name.as_str();
    let own = facts.own_config()?.added_entries(name).to_vec();
    let entries = distinct(own.into_iter().chain(found.written()));
    let value = entries.iter().collect::<toml_edit::Array>().to_string();
    let key = ["skills", name, "allow"].map(str::to_owned);
    set(facts, &key, &value, common.dry_run)?;
    let key = format!("skills.{name}.allow");
    let entries = counted(found.entries.len(), "entry", "entries");
    if common.dry_run {
        return Ok(format!(
            "would add {entries} to `{key}` in the configuration\n"
        ));
    }
    Ok(format!(
        "added {entries} to `{key}` in the configuration; `agent-skills config unset {key}` takes all of \
         them back\n"
    ))
}

/// Whether entries in the configuration would count for the skill.
///
/// # Errors
/// Why not.
pub fn check_configurable(facts: &Facts, skill: &Skill) -> Result<()> {
    let Some(why) = why_none_is_added(facts, &skill.dir) else {
        return Ok(());
    };
    let text = format!("an addition for `{}` would not count: {why}", skill.name);
    Err(Error::new(text).hint("`--apply` proposes the entries for the skill itself"))
}

/// Proposes to add the entries to the skill's own list.
///
/// # Errors
/// When it cannot be changed with certainty, or by a proposal.
pub fn propose(
    facts: &Facts,
    skill: &Skill,
    found: &Suggestions,
    common: Common,
) -> Result<String> {
    let diff = diff(skill, &found.written())?;
    let entries = counted(found.entries.len(), "entry", "entries");
    if common.dry_run {
        return Ok(format!("would propose {entries} for `{}`\n", skill.name));
    }
    let reasons = found.entries.iter().map(|one| {
        let (entry, opens) = (&one.entry, &one.opens);
        format!("{entry}: needed by {}; {opens}", one.needed())
    });
    let reasons = reasons.collect::<Vec<_>>().join("\n");
    let call = json!({
        "skill": skill.name,
        "diff": diff,
        "justification": format!("`agent-skills suggest`: its list lacks {entries} that its calls need"),
        "evidence": shorten(&reasons, limits::PROPOSAL_TEXT / 4),
    });
    let call: ProposeSkillUpdate = serde_json::from_value(call)
        .map_err(|error| Error::caused("the proposal cannot be written", error))?;
    propose_change(facts, &call).map(|text| text + "\n")
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
