//! `policy.toml`: the administrator's requirements. Several files apply independently of each
//! other, so one can add to another but never relax it. Defines the format; what it says about one
//! skill is in `skill_rules.rs`. Does not know tools, modes or skills.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};

use super::config::Floors;
use super::enterprise::Enterprise;
use super::file::{denials, read_toml};
use super::required_signatures::SigningRules;
use super::skill_names::{BySkill, SkillGlob, by_skill, name_of_skill};
use super::source_address::{SourceAddress, SourceGlob};
use crate::error::{Error, Result};
use crate::skill::{Severity, SkillName};
use skill_permission::settings::Enforce;

/// Every policy that applies.
#[derive(Debug, Clone, Default)]
pub struct Policies(Vec<Policy>);

/// One policy file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Policy {
    pub(super) skills: SkillRules,
    pub(super) sources: SourceRules,
    pub(super) approval: ApprovalRules,
    tools: ToolRules,
    pub(super) enforce: Floors,
    scan: ScanRules,
    project: ProjectRules,
    audit: AuditRules,
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
pub(super) struct SourceRules {
    pub(super) allow: Option<Vec<SourceGlob>>,
    pub(super) block: Vec<SourceGlob>,
}

/// Which skills may be used, and which have to be there.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SkillRules {
    pub(super) allow: Option<Vec<SkillGlob>>,
    pub(super) block: Vec<SkillGlob>,
    pub(super) require: Vec<RequiredSkill>,
    pub(super) missing: Missing,
    #[serde(deserialize_with = "by_skill")]
    pub(super) versions: BySkill<MinimumVersion>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ApprovalRules {
    pub(super) require: BTreeSet<ApprovalReason>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ToolRules {
    #[serde(deserialize_with = "denials")]
    deny: Vec<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ScanRules {
    block: Option<Severity>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ProjectRules {
    trust: ProjectTrust,
}

/// The destinations of events.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct AuditRules {
    path: Option<PathBuf>,
}

/// What makes a skill need an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalReason {
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
            let text = format!("the {what} `{shown}` that {variable} names does not exist");
            Error::new(text).hint("create it, or unset the variable")
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
        let speaks = |all: &SourceRules| all.allow.is_some() || !all.block.is_empty();
        self.0.iter().any(|policy| speaks(&policy.sources))
    }

    /// What makes a skill need an approval.
    pub fn needs_approval(&self) -> BTreeSet<ApprovalReason> {
        let each = self.0.iter().map(|policy| &policy.approval.require);
        each.flatten().copied().collect()
    }

    /// What each file denies, in the grammar of `allowed-tools`.
    pub fn denied_tools(&self) -> impl Iterator<Item = (&Path, &[String])> {
        let denying = self.0.iter().filter(|policy| !policy.tools.deny.is_empty());
        denying.map(|policy| (&*policy.file, &*policy.tools.deny))
    }

    /// Whether one of them says that restrictions restrict.
    pub fn demands_restriction(&self) -> bool {
        let mut each = self.0.iter();
        each.any(|policy| policy.enforce.mode == Some(Enforce::Restrict))
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

    /// The policy file that forbids skills from projects, if any.
    pub fn forbids_projects(&self) -> Option<&Path> {
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

/// A skill that a policy requires.
#[derive(Debug, Clone, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct RequiredSkill {
    /// Its name.
    #[serde(deserialize_with = "skill_name")]
    pub name: SkillName,
    /// Where.
    #[serde(default)]
    pub in_force: RequiredPresence,
    pub(super) version: Option<MinimumVersion>,
    source: Option<SourceGlob>,
}

/// What a required skill has to be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequiredPresence {
    /// Offered in every conversation.
    #[default]
    Offered,
    /// In force in every conversation from its start.
    Always,
}

/// What happens while a required skill is missing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// People are told.
    #[default]
    Tell,
    /// No other skill is offered.
    Block,
}

/// The lowest version of a skill that counts: `>=1.2`, or the same without `>=`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct MinimumVersion(String);

/// A required skill that is missing, for people and for the audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingSkill {
    /// Its name.
    pub name: SkillName,
    /// The policy that requires it.
    pub file: PathBuf,
    /// What happens now.
    pub missing: Missing,
    /// Why it does not count, or that there is none.
    pub why: String,
}

impl fmt::Display for MissingSkill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name, file, why, ..
        } = self;
        let file = file.display();
        write!(f, "the policy `{file}` requires the skill `{name}`: {why}")
    }
}

/// A table, or a name alone. Not an untagged enum, which would hide what is wrong.
impl<'de> Deserialize<'de> for RequiredSkill {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let table = match toml::Value::deserialize(deserializer)? {
            name @ toml::Value::String(_) => {
                toml::Table::from_iter([("name".to_owned(), name)]).into()
            }
            table => table,
        };
        Self::deserialize(table).map_err(|error: toml::de::Error| {
            let why = error.message();
            D::Error::custom(format!("an entry of `require` has a mistake: {why}"))
        })
    }
}

fn skill_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SkillName, D::Error> {
    name_of_skill(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

impl RequiredSkill {
    /// Whether a name in any spelling is its name.
    pub fn is_named(&self, written: &str) -> bool {
        SkillName::from_written(written).as_ref() == Some(&self.name)
    }

    /// Whether it has to be from one source. Without one, only a skill in the administrator's
    /// directory is it.
    pub fn needs_source(&self) -> bool {
        self.source.is_some()
    }

    /// Whether a skill of its name is what is required, whatever else it lacks: by where it is, and
    /// for one of a user, by its source.
    pub fn means(&self, is_administrators: bool, source: Option<&str>) -> bool {
        is_administrators || self.needs_source() && self.lacks_source(source).is_none()
    }

    /// What a skill of its name lacks of the source.
    pub fn lacks_source(&self, source: Option<&str>) -> Option<String> {
        let glob = self.source.as_ref()?;
        let Some(source) = source else {
            return Some(format!(
                "it has to be from `{glob}`, and its source is not known"
            ));
        };
        let all = SourceAddress::all(source);
        let meant = all.iter().all(|address| glob.allows(address));
        (!meant).then(|| format!("it has to be from `{glob}`, and it is from `{source}`"))
    }
}

impl MinimumVersion {
    /// Why a skill of this version is not new enough; `None` if it is.
    pub fn unmet(&self, version: Option<&str>) -> Option<String> {
        let least = &self.0;
        match version {
            // One that is no version is before all others.
            Some(version) if version_order(version) >= version_order(least) => None,
            Some(version) => Some(format!(
                "its version is {version}, and at least {least} is required"
            )),
            None => Some(format!(
                "it has no version, but at least {least} is required"
            )),
        }
    }
}

impl TryFrom<String> for MinimumVersion {
    type Error = String;

    fn try_from(written: String) -> Result<Self, String> {
        let version = written.trim();
        let version = version.strip_prefix(">=").unwrap_or(version).trim();
        match version_order(version) {
            Some(_) => Ok(Self(version.to_owned())),
            None => Err(format!(
                "`{written}` is not a lowest version: write `>=1.2`"
            )),
        }
    }
}

/// A version in the order of semver.org, with any number of parts; zeros at the end do not count. One
/// with a pre-release comes before that without; what follows `+` does not count.
fn version_order(version: &str) -> Option<impl PartialOrd> {
    let version = version.trim();
    let version = version.strip_prefix(['v', 'V']).unwrap_or(version);
    let version = version.split_once('+').map_or(version, |(front, _)| front);
    let (plain, pre) = match version.split_once('-') {
        Some((plain, pre)) => (plain, Some(pre)),
        None => (version, None),
    };
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let number = |part: &str| part.parse().ok().filter(|_| is_digits(part));
    let parts = plain.split('.').map(number);
    let mut parts: Vec<u64> = parts.collect::<Option<_>>()?;
    while parts.len() > 1 && parts.last() == Some(&0) {
        parts.pop();
    }
    let of_pre = pre.iter().flat_map(|pre| pre.split('.'));
    // As semver has it, but for what looks like the rest of a date.
    let is_named = |part: &str| {
        let is_zero_first = part.len() > 1 && part.starts_with('0');
        let mut letters = part.bytes();
        let has_letter = letters.any(|byte| byte.is_ascii_alphabetic());
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        let is_number = is_digits(part) && !is_zero_first;
        !part.is_empty() && part.bytes().all(is_plain) && (has_letter || is_number)
    };
    if !of_pre.clone().all(is_named) {
        return None;
    }
    // Numbers come before words.
    let rank = |part: &str| {
        let number = part.parse::<u64>();
        (number.is_err(), number.unwrap_or(0), part.to_owned())
    };
    let of_pre: Vec<_> = of_pre.map(rank).collect();
    Some((parts, pre.is_none(), of_pre))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct File {
        require: Vec<RequiredSkill>,
    }

    fn read(entry: &str) -> Result<RequiredSkill, String> {
        let file: Result<File, _> = toml::from_str(&format!("require = [{entry}]"));
        file.map_err(|error| error.to_string())
            .map(|mut file| file.require.remove(0))
    }

    #[test]
    fn a_requirement_is_a_name_or_a_table() {
        let plain = read("'Data Handling'").unwrap();
        assert_eq!(plain.name.as_str(), "data-handling");
        assert_eq!(plain.in_force, RequiredPresence::Offered);
        let long =
            "{name = 'x', in_force = 'always', version = '>=1.2', source = 'github.com/a/*'}";
        let long = read(long).unwrap();
        assert_eq!(long.in_force, RequiredPresence::Always);
        assert!(long.needs_source() && !plain.needs_source());
        assert!(long.lacks_source(None).is_some());
        assert_eq!(long.lacks_source(Some("https://github.com/a/b")), None);
        assert!(long.lacks_source(Some("https://github.com/b/b")).is_some());
        for (bad, part) in [
            ("{name = 'x', versoin = '1'}", "versoin"),
            ("{version = '1'}", "name"),
            ("'a/b'", "without layer"),
            ("{name = 'x', version = 'new'}", "write `>=1.2`"),
            ("{name = 'x', in_force = 'now'}", "now"),
            ("7", "mistake"),
        ] {
            let error = read(bad).unwrap_err();
            assert!(error.contains(part), "{bad}: {error}");
        }
    }

    #[test]
    fn versions_are_in_the_order_of_semver() {
        let ordered = [
            "0.9",
            "1-alpha",
            "1-alpha.1",
            "1-alpha.b",
            "1-beta.2",
            "1-beta.11",
            "1",
            "1.0.1",
            "1.2",
            "1.10",
            "2",
        ];
        for (at, least) in ordered.iter().enumerate() {
            let rule = MinimumVersion::try_from(format!(">= {least}")).unwrap();
            for (other, version) in ordered.iter().enumerate() {
                let unmet = rule.unmet(Some(version)).is_some();
                assert_eq!(unmet, other < at, "{version} for {least}");
            }
        }
        let one = MinimumVersion::try_from("1.2".to_owned()).unwrap();
        for same in ["v1.2", "1.2.0", " 1.2.0+build", "1.2.0.0"] {
            assert_eq!(one.unmet(Some(same)), None, "{same}");
        }
        for none in [
            "latest",
            "",
            "1.x",
            "1.2.0.",
            "99999999999999999999",
            "2024-01-01",
            "1e9",
            "0x10",
            "vv2",
            "+2",
            "2.0-",
            "2.0-01",
            "2.0-rc 1",
        ] {
            assert!(one.unmet(Some(none)).is_some(), "{none}");
        }
        assert!(one.unmet(None).is_some());
    }
}
