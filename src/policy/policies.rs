//! `policy.toml`: the administrator's requirements. Several files apply independently of each
//! other, so one can add to another but never relax it. Defines the format; what it says about one
//! skill is in `skill_rules.rs`. Does not know tools, modes or skills.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::config_floors::ConfigFloors;
use super::file::denials;
use super::policy_source::PolicySource;
use super::required_skills::{AtLeast, Missing, RequiredSkill};
use super::signing::SigningRules;
use super::skill_names::{BySkill, SkillGlob, by_skill};
use super::source_address::SourceGlob;
use crate::permission::{Enforce, Stacking};
use crate::script::Mode;
use crate::skill::Severity;

/// Every policy that applies.
#[derive(Debug, Clone, Default)]
pub struct Policies(Vec<(PathBuf, Policy)>);

/// One policy file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Policy {
    pub(super) skills: Skills,
    pub(super) sources: Lists<SourceGlob>,
    pub(super) approval: Approval,
    tools: Tools,
    enforce: Floors,
    scan: Scan,
    project: Project,
    audit: AuditTo,
    pub(super) signing: SigningRules,
    pub(super) config: ConfigFloors,
    /// Another policy, which counts as well.
    pub(super) from: Option<PolicySource>,
    /// Of a fetched policy, a number that each change raises.
    pub(super) serial: Option<u64>,
    /// Whether a variable says where its file is.
    #[serde(skip)]
    pub(super) is_named: bool,
}

/// Globs of what may be used. Without `allow`, everything is allowed; `block` always wins.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Lists<Glob> {
    pub(super) allow: Option<Vec<Glob>>,
    #[serde(default = "Vec::new")]
    pub(super) block: Vec<Glob>,
}

/// Which skills may be used, and which have to be there.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Skills {
    allow: Option<Vec<SkillGlob>>,
    block: Vec<SkillGlob>,
    require: Vec<RequiredSkill>,
    pub(super) missing: Missing,
    #[serde(deserialize_with = "by_skill")]
    pub(super) versions: BySkill<AtLeast>,
}

impl Skills {
    /// The globs of names.
    pub(super) fn lists(&self) -> (Option<&[SkillGlob]>, &[SkillGlob]) {
        (self.allow.as_deref(), &self.block)
    }
}

impl Policy {
    /// What is fetched may not lead to yet another place.
    pub(super) fn must_be_last(&self) -> Result<(), String> {
        match self.from {
            None => Ok(()),
            Some(_) => Err("a fetched policy cannot point to another".to_owned()),
        }
    }

    /// The skills that it requires.
    pub(super) fn required(&self) -> impl Iterator<Item = &RequiredSkill> {
        self.skills.require.iter()
    }
}

impl<Glob> Default for Lists<Glob> {
    fn default() -> Self {
        let (allow, block) = (None, Vec::new());
        Self { allow, block }
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Approval {
    pub(super) require: BTreeSet<Need>,
    /// Who may sign approvals, in the form of `ssh-keygen`'s `allowed_signers`.
    signers: Option<PathBuf>,
    /// The keys of those who may no longer.
    revoked: Option<PathBuf>,
    /// The directory of signed approvals that `approve --accept` takes.
    from: Option<PathBuf>,
}

/// The files that say whose signed approvals count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalSigners {
    /// Who may sign.
    pub signers: PathBuf,
    /// Whose keys count no longer.
    pub revoked: Option<PathBuf>,
    /// The policy that names them.
    pub stated_in: PathBuf,
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

/// Minimum settings, which no configuration can loosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Floors {
    /// For `enforce`.
    pub mode: Option<Enforce>,
    /// For `stacking`.
    pub stacking: Option<Stacking>,
    /// For `sandbox`.
    pub sandbox: Option<Mode>,
    /// Whether a user may add entries to a skill's own list (`skills.NAME.allow`).
    pub overrides: Option<bool>,
}

impl Floors {
    /// Whether the entries that a user adds to a skill's list count. Unless the policy says so, not
    /// where it enforces: restrictions then restrict as their authors wrote them.
    pub fn permits_added_entries(&self) -> bool {
        let enforces = self.mode.is_some_and(|mode| mode > Enforce::Off);
        self.overrides.unwrap_or(!enforces)
    }
}

impl Policies {
    /// Those of these files.
    pub(super) fn of(files: Vec<(PathBuf, Policy)>) -> Self {
        Self(files)
    }

    /// Whether a policy has rules about sources.
    pub fn has_source_rules(&self) -> bool {
        let speaks = |lists: &Lists<_>| lists.allow.is_some() || !lists.block.is_empty();
        self.0.iter().any(|(_, policy)| speaks(&policy.sources))
    }

    /// What makes a skill need an approval.
    pub fn needs_approval(&self) -> BTreeSet<Need> {
        let each = self.0.iter().map(|(_, policy)| &policy.approval.require);
        each.flatten().copied().collect()
    }

    /// Whose signed approvals count: every file that names signers has its say. Paths are relative
    /// to the policy's directory.
    pub fn approval_signers(&self) -> impl Iterator<Item = ApprovalSigners> {
        self.0.iter().filter_map(|(file, policy)| {
            let beside = file.parent().unwrap_or(file);
            let revoked = policy.approval.revoked.as_ref();
            Some(ApprovalSigners {
                signers: beside.join(policy.approval.signers.as_ref()?),
                revoked: revoked.map(|path| beside.join(path)),
                stated_in: file.clone(),
            })
        })
    }

    /// The directories of signed approvals.
    pub fn approval_dirs(&self) -> impl Iterator<Item = PathBuf> {
        self.0.iter().filter_map(|(file, policy)| {
            let beside = file.parent().unwrap_or(file);
            Some(beside.join(policy.approval.from.as_ref()?))
        })
    }

    /// What each file denies, in the grammar of `allowed-tools`.
    pub fn denied_tools(&self) -> impl Iterator<Item = (&Path, &[String])> {
        let each = self.0.iter();
        each.map(|(file, policy)| (file.as_path(), policy.tools.deny.as_slice()))
            .filter(|(_, denied)| !denied.is_empty())
    }

    /// The minimum settings: the strictest of all files.
    pub fn floors(&self) -> Floors {
        let each = || self.0.iter().map(|(_, policy)| policy.enforce);
        Floors {
            mode: each().filter_map(|floors| floors.mode).max(),
            stacking: each().filter_map(|floors| floors.stacking).max(),
            sandbox: each().filter_map(|floors| floors.sandbox).max(),
            overrides: Some(each().all(|floors| floors.permits_added_entries())),
        }
    }

    /// The policy file that forbids adding entries to a skill's own list, if any.
    pub fn forbids_added_entries(&self) -> Option<String> {
        let mut each = self.each();
        let found = each.find(|(_, policy)| !policy.enforce.permits_added_entries());
        found.map(|(file, _)| file)
    }

    /// The lowest severity of a finding that blocks an installation.
    pub fn scan_block(&self) -> Option<Severity> {
        let each = self.0.iter();
        each.filter_map(|(_, policy)| policy.scan.block).min()
    }

    /// The policy file that forbids skills from projects, if any.
    pub fn forbids_projects(&self) -> Option<String> {
        let mut each = self.each();
        let found = each.find(|(_, policy)| policy.project.trust == ProjectTrust::Never);
        found.map(|(file, _)| file)
    }

    /// The policy that says whether projects may be trusted, if any.
    pub fn project_file(&self) -> Option<PathBuf> {
        let mut each = self.0.iter();
        let never = |policy: &Policy| policy.project.trust == ProjectTrust::Never;
        let found = each.find(|(_, policy)| never(policy));
        found.map(|(file, _)| file.clone())
    }

    /// The policy that requires approvals, if any.
    pub fn approval_file(&self) -> Option<PathBuf> {
        let mut each = self.0.iter();
        let found = each.find(|(_, policy)| !policy.approval.require.is_empty());
        found.map(|(file, _)| file.clone())
    }

    /// What each file says about signatures.
    pub fn signing(&self) -> impl Iterator<Item = (&Path, &SigningRules)> {
        let each = self.0.iter();
        each.map(|(file, policy)| (file.as_path(), &policy.signing))
    }

    /// The files that policies add as destinations of events.
    pub fn audit_copies(&self) -> Vec<PathBuf> {
        let each = self.0.iter();
        each.filter_map(|(_, policy)| policy.audit.path.clone())
            .collect()
    }

    /// Each policy with its file.
    pub(super) fn each_file(&self) -> impl Iterator<Item = (&Path, &Policy)> {
        let each = self.0.iter();
        each.map(|(file, policy)| (file.as_path(), policy))
    }

    fn each(&self) -> impl Iterator<Item = (String, &Policy)> {
        let each = self.0.iter();
        each.map(|(file, policy)| (format!("`{}`", file.display()), policy))
    }
}
