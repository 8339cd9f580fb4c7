//! What the arguments of one of our own tools mean. A rule is compared with what the tool will do,
//! not with one of the ways to write it (docs/spec/restriction.md#argument-patterns).

use super::command_pattern::{CanonicalCommand, CommandPattern};
use super::entry_grammar::Purpose;
use skill_text::SkillName;

/// One value of an argument. Each value of an argument that takes several is one of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArgumentValue {
    /// The argument. What may be given under several keys is there once for each.
    pub key: &'static str,
    /// The texts that mean this value, each certainly nothing else. Without any, no rule grants it.
    pub forms: Vec<String>,
    /// What means it only if no other skill has that name: it counts for denials.
    pub maybe: Option<String>,
    /// Whether it is a skill, whose name rules may spell as freely as calls.
    pub is_skill: bool,
    /// Whether it is not known, or is more than can be named: every denial covers it, and no grant.
    pub is_doubtful: bool,
}

impl ArgumentValue {
    /// A value that is a text.
    pub fn text(key: &'static str, text: impl Into<String>) -> Self {
        Self::any(key, vec![text.into()])
    }

    /// A value that has these forms.
    pub fn any(key: &'static str, forms: Vec<String>) -> Self {
        Self {
            key,
            forms,
            ..Self::default()
        }
    }

    /// What may be any value.
    pub fn doubtful(key: &'static str) -> Self {
        Self {
            is_doubtful: true,
            ..Self::any(key, Vec::new())
        }
    }

    /// A skill that has these names.
    pub fn skill(key: &'static str, names: Vec<String>) -> Self {
        Self {
            is_skill: true,
            ..Self::any(key, names)
        }
    }

    /// Whether `glob` covers this value.
    pub fn is_covered(&self, glob: &str, purpose: Purpose) -> bool {
        let exact = self.forms.iter().any(|form| fits(glob, form));
        let loosely = || self.is_doubtful || self.is_skill && self.is_named(glob);
        exact || purpose == Purpose::Deny && loosely()
    }

    /// Whether a glob of skills in a denial covers this skill. One that can match no name may have
    /// meant any.
    fn is_named(&self, glob: &str) -> bool {
        let Some(glob) = folded(glob) else {
            return true;
        };
        let names = self.forms.iter().chain(&self.maybe);
        names
            .filter_map(|name| folded(name))
            .any(|name| fits(&glob, &name))
    }
}

/// Whether a glob, in which only `*` is special, covers a text.
pub fn fits(glob: &str, text: &str) -> bool {
    let mut canonical = CanonicalCommand::default();
    canonical.literal(text);
    CommandPattern::text(glob).matches(&canonical)
}

/// A skill's name or a glob of names, with its layer or owner, in the form in which they are
/// compared (docs/spec/skills.md#names). `None` if no skill has such a name.
fn folded(written: &str) -> Option<String> {
    let parts = written.split(['/', '@']).filter(|part| !part.is_empty());
    let parts: Result<Vec<_>, _> = parts.map(|part| SkillName::glob(part, "*")).collect();
    let parts = parts.ok().filter(|parts| !parts.is_empty())?;
    Some(parts.join("-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn denials_of_skills_compare_normalised_names() {
        let long = "a".repeat(64);
        for (glob, name, expected) in [
            ("deploy", "deploy", true),
            ("DEPLOY!", "deploy", true),
            ("ｄeploy", "deploy", true),
            ("cafe\u{301}", "caf\u{e9}", true),
            ("ﬁle", "file", true),
            ("plugin/ｄe*", "plugin/deploy", true),
            ("deploy@acme", "deploy@acme", true),
            ("obra/superpowers", "obra-superpowers", true),
            (&"a".repeat(70), &long, true),
            (
                &format!("plugin/{}", "a".repeat(70)),
                &format!("plugin/{long}"),
                true,
            ),
            (&format!("{}*", "a".repeat(70)), &long, true),
            ("!?", "deploy", true),
            ("dep", "deploy", false),
            ("deploy-*", "deploy", false),
        ] {
            let skill = ArgumentValue::skill("skill", vec![name.to_owned()]);
            assert_eq!(skill.is_covered(glob, Purpose::Deny), expected, "{glob}");
            let is_exact = glob == name;
            assert_eq!(skill.is_covered(glob, Purpose::Allow), is_exact, "{glob}");
        }
    }

    #[test]
    fn an_unknown_value_is_denied_and_not_granted() {
        for glob in ["*", "dep"] {
            let any = ArgumentValue::doubtful("skill_ref");
            assert!(any.is_covered(glob, Purpose::Deny), "{glob}");
            assert!(!any.is_covered(glob, Purpose::Allow), "{glob}");
        }
    }
}
