//! `policy.toml`: the administrator's requirements. Several files apply independently of each
//! other, so one can add to another but never relax it. Defines the format; what it says about one
//! skill is in `skill_rules.rs`. Does not know tools, modes or skills.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::config::Floors;
use super::enterprise::Enterprise;
use super::file::{denials, read_toml};
use super::required_skills::{AtLeast, Missing, RequiredSkill};
use super::signing::SigningRules;
use super::skill_names::{BySkill, SkillGlob, by_skill};
use super::source_address::SourceGlob;
use crate::error::{Error, Result};
use crate::permission::Enforce;
use crate::skill::Severity;

/// Every policy that applies.
#[derive(Debug, Clone, Default)]
pub struct Policies(Vec<Policy>);

/// One policy file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Policy {
    pub(super) skills: Skills,
    pub(super) sources: Sources,
    pub(super) approval: Approval,
    tools: Tools,
    pub(super) enforce: Floors,
    scan: Scan,
    project: Project,
    audit: AuditTo,
    pub(super) signing: SigningRules,
    /// Where it is written.
    #[serde(skip)]
    pub(super) file: PathBuf,
    /// Whether a variable says where its file is.
    #[serde(skip)]
    pub(super) is_named: bool,
}

/// Globs of sources that may be used. Without `allow`, every one is allowed; `block` always wins.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Sources {
    pub(super) allow: Option<Vec<SourceGlob>>,
    pub(super) block: Vec<SourceGlob>,
}

/// Which skills may be used, and which have to be there.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Skills {
    pub(super) allow: Option<Vec<SkillGlob>>,
    pub(super) block: Vec<SkillGlob>,
    pub(super) require: Vec<RequiredSkill>,
    pub(super) missing: Missing,
    #[serde(deserialize_with = "by_skill")]
    pub(super) versions: BySkill<AtLeast>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Approval {
    pub(super) require: BTreeSet<Need>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Tools {
    #[serde(deserialize_with = "denials")]
    deny: Vec<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Scan {
    block: Option<Severity>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Project {
    trust: ProjectTrust,
}

/// The destinations of events.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct AuditTo {
    path: Option<PathBuf>,
}

/// What makes a skill need an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// It has scripts.
    Scripts,
    /// It may use the network.
    Network,
    /// It may write files.
    Write,
    /// Every skill.
    All,
}

/// Whether skills from projects may be used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProjectTrust {
    /// If the user trusts the project.
    #[default]
    Ask,
    /// Never.
    Never,
}

impl Policies {
    /// Reads every existing policy file.
    ///
    /// # Errors
    /// If one cannot be read or contains an invalid value. What it forbids is then unknown, so only
    /// reads are allowed.
    pub fn read(enterprise: &Enterprise) -> Result<Self> {
        let not_there = |what: &str, path: &Path, variable: &str| {
            let shown = path.display();
            let text = format!("the {what} `{shown}` that {variable} names is not there");
            Error::new(text).hint("put it there, or unset the variable")
        };
        if let Some(dir) = enterprise.missing() {
            return Err(not_there("directory", dir, "AGENT_SKILLS_ENTERPRISE_DIR"));
        }
        enterprise.readable()?;
        let mut found = Vec::new();
        for file in enterprise.policy_files() {
            let closes = "correct it; until then only reading is allowed";
            let there = enterprise.has(&file.path)?;
            let read = there.then(|| read_toml::<Policy>(&file.path));
            let read = read.transpose().map_err(|error| error.hint(closes))?;
            match read.flatten() {
                Some(mut policy) => {
                    (policy.file, policy.is_named) = (file.path, file.is_named);
                    found.push(policy);
                }
                None if file.must_exist => {
                    return Err(not_there("policy", &file.path, "AGENT_SKILLS_POLICY"));
                }
                None => {}
            }
        }
        let all = Self(found);
        match all.contradiction() {
            Some(why) => {
                let error = Error::new(format!("the policies contradict each other: {why}"));
                Err(error.hint("correct one of them; until then only reading is allowed"))
            }
            None => Ok(all),
        }
    }

    /// Those of these files.
    #[cfg(test)]
    pub(super) fn of(files: Vec<Policy>) -> Self {
        Self(files)
    }

    /// Whether a policy has rules about sources.
    pub fn has_source_rules(&self) -> bool {
        let speaks = |all: &Sources| all.allow.is_some() || !all.block.is_empty();
        self.0.iter().any(|policy| speaks(&policy.sources))
    }

    /// What makes a skill need an approval.
    pub fn needs_approval(&self) -> BTreeSet<Need> {
        let each = self.0.iter().map(|policy| &policy.approval.require);
        each.flatten().copied().collect()
    }

    /// What each file denies, in the grammar of `allowed-tools`.
    pub fn denied_tools(&self) -> impl Iterator<Item = (&Path, &[String])> {
        let denying = self.0.iter().filter(|policy| !policy.tools.deny.is_empty());
        denying.map(|policy| (&*policy.file, &*policy.tools.deny))
    }

    /// Whether one of them says that restrictions restrict.
    pub fn demand_restrict(&self) -> bool {
        self.first(|policy| policy.enforce.mode == Some(Enforce::Restrict))
            .is_some()
    }

    /// The policy file that forbids adding entries to a skill's own list, if any.
    pub fn forbids_added_entries(&self) -> Option<String> {
        let file = self.first(|policy| !policy.enforce.permits_added_entries());
        file.map(|file| format!("`{}`", file.display()))
    }

    /// The lowest severity of a finding that is refused, and the policy that says so.
    pub fn scan_block(&self) -> Option<(&Path, Severity)> {
        let each = self.0.iter();
        let each = each.filter_map(|policy| Some((&*policy.file, policy.scan.block?)));
        each.min_by_key(|(_, least)| *least)
    }

    /// The policy file that forbids skills from projects, if any, for a message.
    pub fn forbids_projects(&self) -> Option<String> {
        let file = self.project_file();
        file.map(|file| format!("`{}`", file.display()))
    }

    /// The policy that says whether projects may be trusted, if any.
    pub fn project_file(&self) -> Option<&Path> {
        self.first(|policy| policy.project.trust == ProjectTrust::Never)
    }

    /// The policy that requires approvals, if any.
    pub fn approval_file(&self) -> Option<&Path> {
        self.first(|policy| !policy.approval.require.is_empty())
    }

    /// What each file says about signatures.
    pub fn signing(&self) -> impl Iterator<Item = (&Path, &SigningRules)> {
        let each = self.0.iter();
        each.map(|policy| (&*policy.file, &policy.signing))
    }

    /// The files that policies add as destinations of events.
    pub fn audit_copies(&self) -> Vec<PathBuf> {
        let each = self.0.iter();
        each.filter_map(|policy| policy.audit.path.clone())
            .collect()
    }

    /// The first file that says so.
    fn first(&self, says: impl Fn(&Policy) -> bool) -> Option<&Path> {
        let first = self.0.iter().find(|policy| says(policy));
        first.map(|policy| &*policy.file)
    }

    /// Each policy.
    pub(super) fn each(&self) -> &[Policy] {
        &self.0
    }
}
