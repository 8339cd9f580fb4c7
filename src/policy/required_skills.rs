//! Skills that a policy requires, and versions below which it lets none be used: what is written, and
//! what a skill lacks of it. Does not know which skills there are.

use std::fmt;
use std::path::PathBuf;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};

use super::skill_names::name_of_skill;
use super::source_address::{SourceAddress, SourceGlob};
use crate::skill::SkillName;

/// A skill that a policy requires.
#[derive(Debug, Clone, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct RequiredSkill {
    /// Its name.
    #[serde(deserialize_with = "skill_name")]
    pub name: SkillName,
    /// Where.
    #[serde(default)]
    pub in_force: Presence,
    version: Option<AtLeast>,
    source: Option<SourceGlob>,
}

/// What a required skill has to be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Presence {
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
pub struct AtLeast(String);

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

    /// What a skill of its name lacks of the version; `None` if nothing.
    pub fn lacks_version(&self, version: Option<&str>) -> Option<String> {
        self.version.as_ref()?.unmet(version)
    }

    /// What a skill of its name lacks of the source.
    pub fn lacks_source(&self, source: Option<&str>) -> Option<String> {
        let glob = self.source.as_ref()?;
        let Some(source) = source else {
            return Some(format!(
                "it has to be from `{glob}`, and where it is from is not known"
            ));
        };
        let all = SourceAddress::all(source);
        let meant = all.iter().all(|address| glob.allows(address));
        (!meant).then(|| format!("it has to be from `{glob}`, and it is from `{source}`"))
    }
}

impl AtLeast {
    /// Why a skill of this version is not new enough; `None` if it is.
    pub fn unmet(&self, version: Option<&str>) -> Option<String> {
        let least = &self.0;
        match version {
            // One that is no version is before all others.
            Some(version) if numbers(version) >= numbers(least) => None,
            Some(version) => Some(format!(
                "its version is {version}, and at least {least} is required"
            )),
            None => Some(format!(
                "it says no version, and at least {least} is required"
            )),
        }
    }
}

impl TryFrom<String> for AtLeast {
    type Error = String;

    fn try_from(written: String) -> Result<Self, String> {
        let version = written.trim();
        let version = version.strip_prefix(">=").unwrap_or(version).trim();
        match numbers(version) {
            Some(_) => Ok(Self(version.to_owned())),
            None => Err(format!(
                "`{written}` is not a lowest version: write `>=1.2`"
            )),
        }
    }
}

/// A version in the order of semver.org, with any number of parts; zeros at the end do not count. One
/// with a pre-release comes before that without; what follows `+` does not count.
fn numbers(version: &str) -> Option<(Vec<u64>, bool, Vec<Part>)> {
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
    Some((parts, pre.is_none(), of_pre.map(Part::new).collect()))
}

/// A part of a pre-release: numbers come before words.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Number(u64),
    Word(String),
}

impl Part {
    fn new(written: &str) -> Self {
        let number = written.parse().map(Self::Number);
        number.unwrap_or_else(|_| Self::Word(written.to_owned()))
    }
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
        assert_eq!(plain.in_force, Presence::Offered);
        let long =
            "{name = 'x', in_force = 'always', version = '>=1.2', source = 'github.com/a/*'}";
        let long = read(long).unwrap();
        assert_eq!(long.in_force, Presence::Always);
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
            let rule = AtLeast::try_from(format!(">= {least}")).unwrap();
            for (other, version) in ordered.iter().enumerate() {
                let unmet = rule.unmet(Some(version)).is_some();
                assert_eq!(unmet, other < at, "{version} for {least}");
            }
        }
        let one = AtLeast::try_from("1.2".to_owned()).unwrap();
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
