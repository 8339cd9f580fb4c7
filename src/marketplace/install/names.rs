//! No change takes a skill's name: a replacement is offered under the name of what it replaces, and
//! a new skill under one that no other in `skills/` has. Configuration, policy and always-on skills
//! mean skills by these names.

use std::collections::BTreeMap;
use std::path::Path;

use crate::marketplace::lock::{InstalledName, named_by_directory, offered_name};
use crate::marketplace::prelude::*;

/// Directories in `skills/` by the names of their skills.
pub type OfferedNames = BTreeMap<SkillName, InstalledName>;

/// Those in `skills`.
pub fn offers(skills: &Path) -> OfferedNames {
    let offered = |name: InstalledName| Some((offered_as(&name, &skills.join(&*name))?, name));
    let all = directories(skills).into_iter();
    all.filter_map(offered).collect()
}

/// The valid names of directories in `skills`, sorted.
pub fn directories(skills: &Path) -> Vec<InstalledName> {
    let entries = files::entries(skills).into_iter().flatten();
    let names = entries.filter_map(|(name, _)| InstalledName::parse(name.as_str()?).ok());
    let mut names: Vec<InstalledName> = names.collect();
    names.sort();
    names
}

/// The name under which the skill that is now at `dir` is or would be offered in the directory
/// `name`.
pub fn offered_as(name: &str, dir: &Path) -> Option<SkillName> {
    let skill = Skill::load(dir).ok();
    let readable = skill.map(|skill| offered_name(Path::new(name), &skill));
    readable.or_else(|| named_by_directory(Path::new(name)))
}

/// Checks that an edited skill is still the same one and can be offered.
///
/// # Errors
/// When its name has changed or its description is gone.
pub fn check_same_skill(before: &Skill, after: &Skill) -> Result<()> {
    let name = |skill: &Skill| Some(offered_name(&skill.dir, skill));
    check_names(name(before), name(after))?;
    if after.description.is_some() || before.description.is_none() {
        return Ok(());
    }
    let text = "the skill would not be the same one: it would have no description";
    Err(Error::new(text).hint("leave `description` in the frontmatter"))
}

/// Checks that the skill at `after` is offered in the directory `name` as the one at `before` is.
///
/// # Errors
/// When its name has changed.
pub fn check_same_name(name: &str, before: &Path, after: &Path) -> Result<()> {
    check_names(offered_as(name, before), offered_as(name, after))
}

fn check_names(before: Option<SkillName>, after: Option<SkillName>) -> Result<()> {
    if before == after {
        return Ok(());
    }
    let [old, new] = [before, after].map(|name| name.map_or_else(String::new, |n| n.to_string()));
    let text =
        format!("the skill would not be the same one: it would be called `{new}`, not `{old}`");
    Err(Error::new(text).hint(format!(
        "its author can keep `name: {old}`; for `{new}`, remove the skill and install it again"
    )))
}
