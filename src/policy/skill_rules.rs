//! What the policies say about one skill: each rule that speaks of it, with what it says. The same
//! findings decide and explain the decision.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::policies::{Need, Policies, Policy, Skills, Sources};
use super::required_skills::{Missing, Presence, RequiredSkill};
use super::skill_names::SkillGlob;
use super::source_address::{SourceAddress, SourceGlob};
use crate::skill::SkillName;

/// What one rule says about one skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The policy that has the rule.
    pub file: PathBuf,
    /// `table.key` of the rule.
    pub key: &'static str,
    /// What shows that the skill keeps it, or the whole reason against it.
    pub said: Result<String, String>,
}

impl Finding {
    fn new(file: &Path, key: &'static str, said: Result<String, String>) -> Self {
        let file = file.to_owned();
        Self { file, key, said }
    }
}

/// A skill as the rules about names, versions and requirements look at it.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// Its name, in any spelling.
    pub name: &'a str,
    /// Its directory's.
    pub directory: &'a str,
    /// What its author says.
    pub version: Option<&'a str>,
    /// Whether it is in the administrator's directory.
    pub is_administrators: bool,
    /// Whether a project brings it.
    pub is_projects: bool,
}

/// The first reason against a skill.
pub fn refusal(findings: Vec<Finding>) -> Option<String> {
    findings.into_iter().find_map(|finding| finding.said.err())
}

impl Policies {
    /// What the rules about names, versions and required skills say of a skill.
    pub fn about_skill(&self, subject: Subject) -> Vec<Finding> {
        self.deciding(subject.name)
            .flat_map(|(file, policy)| {
                let names = about_name(file, policy, subject);
                let versions = about_version(file, policy, subject);
                let required = policy
                    .skills
                    .require
                    .iter()
                    .filter(|one| one.is_named(subject.name));
                let required = required.map(|one| about_required(file, one, subject));
                names.into_iter().chain(versions).chain(required)
            })
            .collect()
    }

    /// The files whose rules can speak against a skill of this name. Where root's policy requires it,
    /// one that a variable names cannot: whoever sets variables would lift the requirement.
    fn deciding(&self, name: &str) -> impl Iterator<Item = (&Path, &Policy)> {
        let requires = |policy: &Policy| policy.skills.require.iter().any(|one| one.is_named(name));
        let is_firm = self
            .each_file()
            .any(|(_, policy)| !policy.is_named && requires(policy));
        let each = self.each_file();
        each.filter(move |(_, policy)| !(is_firm && policy.is_named))
    }

    /// Where a policy requires a skill that another of the same rank lets nobody use, if so.
    pub(super) fn contradiction(&self) -> Option<String> {
        self.each_file().find_map(|(file, policy)| {
            let alike = |(_, other): &(&Path, &Policy)| other.is_named == policy.is_named;
            policy.skills.require.iter().find_map(|one| {
                let subject = Subject {
                    name: one.name.as_str(),
                    directory: one.name.as_str(),
                    version: None,
                    is_administrators: true,
                    is_projects: false,
                };
                let others = self.each_file().filter(alike);
                let about = others
                    .flat_map(|(other, it)| about_name(other, it, subject))
                    .collect();
                let why = refusal(about)?;
                let file = file.display();
                Some(format!(
                    "`{file}` requires the skill `{}`, and {why}",
                    one.name
                ))
            })
        })
    }

    /// What makes a skill of this name need an approval.
    pub fn needs_approval_of(&self, name: &str) -> BTreeSet<Need> {
        let each = self.deciding(name);
        each.flat_map(|(_, policy)| policy.approval.require.iter().copied())
            .collect()
    }

    /// Whether the signature of a skill of this name may be what it is not used for. Of a required
    /// one only policies can say so.
    pub fn may_demand_signature_of(&self, name: &str) -> bool {
        self.requires(name).is_none()
            || self
                .deciding(name)
                .any(|(_, policy)| policy.signing.require_anything())
    }

    /// Why a skill may not be used; `None` if it may.
    pub fn refuses_skill(&self, subject: Subject) -> Option<String> {
        refusal(self.about_skill(subject))
    }

    /// What the rules about sources say of a skill of this name from a source, which may be unknown,
    /// and of the address that git uses for it, if that is another.
    pub fn about_origin(
        &self,
        name: &str,
        source: Option<&str>,
        address: Option<&str>,
    ) -> Vec<Finding> {
        let each = |source: Option<&str>| -> Vec<Finding> {
            let all: Vec<_> = source.into_iter().flat_map(SourceAddress::all).collect();
            let of_file = |(file, policy)| about_source(file, policy, name, source, &all);
            self.deciding(name).flat_map(of_file).collect()
        };
        let mut found = each(source);
        // One that git reaches elsewhere has to be allowed there, too.
        let by_address = address.map_or_else(Vec::new, |address| each(Some(address)));
        found.extend(by_address.into_iter().filter(|one| one.said.is_err()));
        found
    }

    /// Why skills from a source may not be used, or from the address that git uses for it if that is
    /// another; `None` if they may.
    pub fn refuses_origin(&self, source: Option<&str>, address: Option<&str>) -> Option<String> {
        refusal(self.about_origin("", source, address))
    }

    /// Whether a policy has rules about the source of a skill of this name.
    pub fn looks_at_source_of(&self, name: &str) -> bool {
        let mut required = self.required().map(|(_, one)| one);
        self.has_source_rules() || required.any(|one| one.is_named(name) && one.needs_source())
    }

    /// Why a newer version of an installed skill is not new enough.
    pub fn refuses_version(&self, name: &str, version: Option<&str>) -> Option<String> {
        let subject = Subject {
            name,
            directory: name,
            version,
            is_administrators: true,
            is_projects: false,
        };
        let mut about = self.about_skill(subject);
        about.retain(|one| ["skills.versions", "skills.require"].contains(&one.key));
        refusal(about)
    }

    /// Every skill that a policy requires, with the policy.
    pub fn required(&self) -> impl Iterator<Item = (&Path, &RequiredSkill)> {
        let each = self.each_file();
        each.flat_map(|(file, policy)| policy.skills.require.iter().map(move |one| (file, one)))
    }

    /// Whether a policy requires any skill.
    pub fn require_any(&self) -> bool {
        self.required().next().is_some()
    }

    /// The policy that requires a skill of this name, if any.
    pub fn requires(&self, name: &str) -> Option<&Path> {
        let mut required = self.required();
        required
            .find(|(_, one)| one.is_named(name))
            .map(|(file, _)| file)
    }

    /// The names of skills that are in force in every conversation; with those only that `block`
    /// while they are missing, if asked for.
    pub fn always_on(&self, only_blocking: bool) -> impl Iterator<Item = &SkillName> {
        self.each_file()
            .filter(move |(_, policy)| !only_blocking || policy.skills.missing == Missing::Block)
            .flat_map(|(_, policy)| policy.skills.require.iter())
            .filter(|one| one.in_force == Presence::Always)
            .map(|one| &one.name)
    }

    /// What happens while a skill is missing that the policy `file` requires.
    pub fn if_missing(&self, file: &Path) -> Missing {
        let mut each = self.each_file();
        let policy = each.find(|(of, _)| *of == file);
        policy.map_or(Missing::Tell, |(_, policy)| policy.skills.missing)
    }

    /// Whether a missing skill lets no other be offered.
    pub fn may_block(&self) -> bool {
        let blocks = |policy: &Policy| policy.skills.missing == Missing::Block;
        self.each_file().any(|(_, policy)| blocks(policy))
    }
}

fn about_name(file: &Path, policy: &Policy, subject: Subject) -> Vec<Finding> {
    let Skills { allow, block, .. } = &policy.skills;
    let shown = file.display();
    let (name, directory) = (subject.name, subject.directory);
    let is_it = |glob: &&SkillGlob| glob.matches(name) || glob.matches(directory);
    let mut found = Vec::new();
    if !block.is_empty() {
        let said = match block.iter().find(is_it) {
            Some(glob) => Err(format!("the policy `{shown}` blocks skills named `{glob}`")),
            None => Ok("no glob matches its name".to_owned()),
        };
        found.push(Finding::new(file, "skills.block", said));
    }
    if let Some(allow) = allow {
        let allowing = allow.iter().find(|glob| glob.matches(name));
        let said = allowing.map(|glob| format!("`{glob}` matches its name"));
        let refused = || format!("the policy `{shown}` does not allow a skill of this name");
        found.push(Finding::new(file, "skills.allow", said.ok_or_else(refused)));
    }
    found
}

fn about_version(file: &Path, policy: &Policy, subject: Subject) -> Option<Finding> {
    let name = SkillName::from_written(subject.name)?;
    let least = policy.skills.versions.get(&name)?;
    let version = subject.version.unwrap_or("not known");
    let said = match least.unmet(subject.version) {
        Some(why) => Err(format!("{why} by the policy `{}`", file.display())),
        None => Ok(format!("its version is {version}")),
    };
    Some(Finding::new(file, "skills.versions", said))
}

/// Whether a skill that bears the name of a required one is that.
fn about_required(file: &Path, required: &RequiredSkill, subject: Subject) -> Finding {
    let by = format!(
        "the policy `{}` requires `{}`",
        file.display(),
        required.name
    );
    let said = if subject.is_projects {
        Err(format!(
            "{by}, and a project's skill cannot stand in for it"
        ))
    } else if !subject.is_administrators && !required.needs_source() {
        Err(format!(
            "{by}: only one in the administrator's directory counts, because the policy names \
             no `source`"
        ))
    } else if let Some(why) = required.lacks_version(subject.version) {
        Err(format!("{by}: {why}"))
    } else if subject.is_administrators {
        Ok("it is the administrator's".to_owned())
    } else {
        let version = subject.version.map(|it| format!(", version {it}"));
        Ok(format!("it is the one{}", version.unwrap_or_default()))
    };
    Finding::new(file, "skills.require", said)
}

fn about_source(
    file: &Path,
    policy: &Policy,
    name: &str,
    source: Option<&str>,
    all: &[SourceAddress],
) -> Vec<Finding> {
    let Sources { allow, block } = &policy.sources;
    let shown = file.display();
    let is_from = || match source {
        Some(source) => format!("it is from `{source}`"),
        None => "where it is from is not known".to_owned(),
    };
    let mut found = Vec::new();
    if !block.is_empty() {
        let blocks = |glob: &&SourceGlob| all.iter().any(|source| glob.blocks(source));
        let said = match block.iter().find(blocks) {
            Some(glob) => Err(format!("the policy `{shown}` blocks the source `{glob}`")),
            None => Ok(is_from()),
        };
        found.push(Finding::new(file, "sources.block", said));
    }
    if let Some(allow) = allow {
        let allows = |source| allow.iter().any(|glob| glob.allows(source));
        let said = match source {
            Some(_) if all.iter().all(allows) => Ok(is_from()),
            Some(source) => Err(format!(
                "the policy `{shown}` does not allow the source `{source}`"
            )),
            None => Err(format!(
                "the policy `{shown}` allows skills of listed sources only, and where this one came from is not known"
            )),
        };
        found.push(Finding::new(file, "sources.allow", said));
    }
    let required = policy
        .skills
        .require
        .iter()
        .filter(|one| one.is_named(name));
    for one in required.filter(|one| one.needs_source()) {
        let said = match one.lacks_source(source) {
            Some(why) => Err(format!(
                "the policy `{shown}` requires `{}`: {why}",
                one.name
            )),
            None => Ok(is_from()),
        };
        found.push(Finding::new(file, "skills.require", said));
    }
    found
}

#[cfg(test)]
mod tests;
