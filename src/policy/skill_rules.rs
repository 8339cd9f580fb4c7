//! What the policies say about one skill: each rule that speaks of it, with what it says. The same
//! findings decide and explain the decision.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::policies::{ApprovalReason, Missing, Policies, Policy, RequiredPresence, RequiredSkill};
use super::skill_names::SkillGlob;
use super::source_address::{SourceAddress, SourceGlob};
use crate::skill::SkillName;

/// What one rule says about one skill.
#[derive(Debug, Clone, Serialize)]
pub struct RuleResult {
    /// The rule, as `table.key` of a policy or the configuration; `precedence` between skills of one
    /// name.
    pub rule: &'static str,
    /// The policy that has it, if it is one's.
    pub file: Option<PathBuf>,
    /// Whether the skill keeps it.
    pub outcome: RuleOutcome,
    /// What shows that, or the whole reason against it.
    pub why: String,
}

/// Whether a skill keeps a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuleOutcome {
    /// It does.
    Holds,
    /// It does not, and is not offered.
    Fails,
    /// The rule is not about it.
    DoesNotApply,
}

impl RuleResult {
    /// What the rule says, which this policy has if it is one's.
    pub fn new(rule: &'static str, file: Option<&Path>, outcome: RuleOutcome, why: String) -> Self {
        let file = file.map(Path::to_owned);
        Self {
            rule,
            file,
            outcome,
            why,
        }
    }
}

/// A skill as the rules about names, versions and requirements look at it.
#[derive(Debug, Clone, Copy)]
pub struct RuleSubject<'a> {
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

impl<'a> RuleSubject<'a> {
    /// One in the administrator's directory, which has its name.
    fn administrators(name: &'a str, version: Option<&'a str>) -> Self {
        Self {
            name,
            directory: name,
            version,
            is_administrators: true,
            is_projects: false,
        }
    }
}

/// The first reason against a skill.
pub fn refusal(findings: Vec<RuleResult>) -> Option<String> {
    let mut against = findings.into_iter();
    let first = against.find(|finding| finding.outcome == RuleOutcome::Fails);
    first.map(|finding| finding.why)
}

impl Policies {
    /// What the rules about names, versions and required skills say of a skill.
    pub fn about_skill(&self, subject: RuleSubject) -> Vec<RuleResult> {
        let each = self.deciding(subject.name).flat_map(|policy| {
            let names = policy.about_name(subject).into_iter();
            let required = policy.requiring(subject.name);
            let required = required.map(|one| policy.about_required(one, subject));
            names.chain(policy.about_version(subject)).chain(required)
        });
        each.collect()
    }

    /// The files whose rules can speak against a skill of this name. Where root's policy requires it,
    /// one that a variable names cannot: whoever sets variables would lift the requirement.
    fn deciding(&self, name: &str) -> impl Iterator<Item = &Policy> {
        let requires = |policy: &Policy| policy.requiring(name).next().is_some();
        let mut each = self.each().iter();
        let is_firm = each.any(|policy| !policy.is_named && requires(policy));
        let each = self.each().iter();
        each.filter(move |policy| !(is_firm && policy.is_named))
    }

    /// Where a policy requires a skill that another of the same rank lets nobody use, if so.
    pub(super) fn contradiction(&self) -> Option<String> {
        self.each().iter().find_map(|policy| {
            policy.skills.require.iter().find_map(|one| {
                let subject = RuleSubject::administrators(one.name.as_str(), None);
                let others = self.each().iter();
                let others = others.filter(|other| other.is_named == policy.is_named);
                let why = refusal(others.flat_map(|other| other.about_name(subject)).collect())?;
                let (file, name) = (policy.file.display(), &one.name);
                Some(format!("`{file}` requires the skill `{name}`, and {why}"))
            })
        })
    }

    /// What makes a skill of this name need an approval.
    pub fn needs_approval_of(&self, name: &str) -> BTreeSet<ApprovalReason> {
        let each = self.deciding(name);
        each.flat_map(|policy| &policy.approval.require)
            .copied()
            .collect()
    }

    /// Whether the signature of a skill of this name may be what it is not used for. Of a required
    /// one only policies can say so.
    pub fn may_withhold_for_signature(&self, name: &str) -> bool {
        let mut deciding = self.deciding(name);
        self.requires(name).is_none() || deciding.any(|policy| policy.signing.require_anything())
    }

    /// Why a skill may not be used; `None` if it may.
    pub fn refuses_skill(&self, subject: RuleSubject) -> Option<String> {
        refusal(self.about_skill(subject))
    }

    /// What the rules about sources say of a skill of this name from a source, which may be unknown,
    /// and of the address that git uses for it, if that is another.
    pub fn about_origin(
        &self,
        name: &str,
        source: Option<&str>,
        address: Option<&str>,
    ) -> Vec<RuleResult> {
        let each = |source: Option<&str>| -> Vec<RuleResult> {
            let all: Vec<_> = source.into_iter().flat_map(SourceAddress::all).collect();
            let each = self.deciding(name);
            each.flat_map(|policy| policy.about_source(name, source, &all))
                .collect()
        };
        let mut found = each(source);
        // One that git reaches elsewhere has to be allowed there, too.
        let by_address = address.map_or_else(Vec::new, |address| each(Some(address)));
        found.extend(
            by_address
                .into_iter()
                .filter(|one| one.outcome == RuleOutcome::Fails),
        );
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
        let mut about = self.about_skill(RuleSubject::administrators(name, version));
        about.retain(|one| ["skills.versions", "skills.require"].contains(&one.rule));
        refusal(about)
    }

    /// Every skill that a policy requires, with the policy.
    pub fn required(&self) -> impl Iterator<Item = (&Path, &RequiredSkill)> {
        let each = self.each().iter();
        each.flat_map(|policy| policy.skills.require.iter().map(|one| (&*policy.file, one)))
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
        let each = self.each().iter();
        let each =
            each.filter(move |policy| !only_blocking || policy.skills.missing == Missing::Block);
        let required = each.flat_map(|policy| &policy.skills.require);
        let always = required.filter(|one| one.in_force == RequiredPresence::Always);
        always.map(|one| &one.name)
    }

    /// What happens while a skill is missing that the policy `file` requires.
    pub fn if_missing(&self, file: &Path) -> Missing {
        let policy = self.each().iter().find(|policy| policy.file == file);
        policy.map_or(Missing::Tell, |policy| policy.skills.missing)
    }

    /// Whether a missing skill lets no other be offered.
    pub fn may_block(&self) -> bool {
        let mut each = self.each().iter();
        each.any(|policy| policy.skills.missing == Missing::Block)
    }
}

impl Policy {
    /// What a rule of it says: what shows that the skill keeps it, or the whole reason against it.
    fn finding(&self, rule: &'static str, said: Result<String, String>) -> RuleResult {
        let outcome = if said.is_ok() {
            RuleOutcome::Holds
        } else {
            RuleOutcome::Fails
        };
        let (Ok(why) | Err(why)) = said;
        RuleResult::new(rule, Some(&self.file), outcome, why)
    }

    /// Its requirements of a skill of this name.
    fn requiring(&self, name: &str) -> impl Iterator<Item = &RequiredSkill> {
        let all = self.skills.require.iter();
        all.filter(move |one| one.is_named(name))
    }

    fn about_name(
        &self,
        RuleSubject {
            name, directory, ..
        }: RuleSubject,
    ) -> Vec<RuleResult> {
        let (skills, shown) = (&self.skills, self.file.display());
        let matches_skill = |glob: &&SkillGlob| glob.matches(name) || glob.matches(directory);
        let mut found = Vec::new();
        if !skills.block.is_empty() {
            let said = match skills.block.iter().find(matches_skill) {
                Some(glob) => Err(format!("the policy `{shown}` blocks skills named `{glob}`")),
                None => Ok("no glob matches its name".to_owned()),
            };
            found.push(self.finding("skills.block", said));
        }
        if let Some(allow) = &skills.allow {
            let said = match allow.iter().find(|glob| glob.matches(name)) {
                Some(glob) => Ok(format!("`{glob}` matches its name")),
                None => Err(format!(
                    "the policy `{shown}` does not allow a skill of this name"
                )),
            };
            found.push(self.finding("skills.allow", said));
        }
        found
    }

    fn about_version(&self, subject: RuleSubject) -> Option<RuleResult> {
        let name = SkillName::from_written(subject.name)?;
        let version = subject.version.unwrap_or("not known");
        let said = match self.skills.versions.get(&name)?.unmet(subject.version) {
            Some(why) => Err(format!("{why} by the policy `{}`", self.file.display())),
            None => Ok(format!("its version is {version}")),
        };
        Some(self.finding("skills.versions", said))
    }

    /// Whether a skill that bears the name of a required one is that.
    fn about_required(&self, required: &RequiredSkill, subject: RuleSubject) -> RuleResult {
        let why = if subject.is_projects {
            Some("; a project's skill cannot replace it".to_owned())
        } else if !subject.is_administrators && !required.needs_source() {
            let only = ": only one in the administrator's directory counts, because the policy";
            Some(format!("{only} names no `source`"))
        } else {
            let least = required.version.as_ref();
            let lacks = least.and_then(|least| least.unmet(subject.version));
            lacks.map(|why| format!(": {why}"))
        };
        let said = match (why, subject.version) {
            (Some(why), _) => {
                let (file, name) = (self.file.display(), &required.name);
                Err(format!("the policy `{file}` requires `{name}`{why}"))
            }
            _ if subject.is_administrators => Ok("it is the administrator's".to_owned()),
            (None, Some(version)) => Ok(format!("it is the one, version {version}")),
            (None, None) => Ok("it is the one".to_owned()),
        };
        self.finding("skills.require", said)
    }

    fn about_source(
        &self,
        name: &str,
        source: Option<&str>,
        all: &[SourceAddress],
    ) -> Vec<RuleResult> {
        let (sources, shown) = (&self.sources, self.file.display());
        let is_from = match source {
            Some(source) => format!("it is from `{source}`"),
            None => "its source is not known".to_owned(),
        };
        let mut found = Vec::new();
        if !sources.block.is_empty() {
            let blocks = |glob: &&SourceGlob| all.iter().any(|source| glob.blocks(source));
            let said = match sources.block.iter().find(blocks) {
                Some(glob) => Err(format!("the policy `{shown}` blocks the source `{glob}`")),
                None => Ok(is_from.clone()),
            };
            found.push(self.finding("sources.block", said));
        }
        if let Some(allow) = &sources.allow {
            let allows = |source| allow.iter().any(|glob| glob.allows(source));
            let said = match source {
                Some(_) if all.iter().all(allows) => Ok(is_from.clone()),
                Some(source) => Err(format!(
                    "the policy `{shown}` does not allow the source `{source}`"
                )),
                None => Err(format!(
                    "the policy `{shown}` allows skills of listed sources only, and where this one came from is not known"
                )),
            };
            found.push(self.finding("sources.allow", said));
        }
        for one in self.requiring(name).filter(|one| one.needs_source()) {
            let why = one.lacks_source(source);
            let refused = |why| format!("the policy `{shown}` requires `{}`: {why}", one.name);
            let said = why.map_or_else(|| Ok(is_from.clone()), |why| Err(refused(why)));
            found.push(self.finding("skills.require", said));
        }
        found
    }
}

#[cfg(test)]
mod tests;
