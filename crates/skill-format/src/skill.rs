//! One parsed `SKILL.md`: its name, its description, all its fields and what was odd about it.

use std::borrow::Cow;

use serde_json::{Value, json};
use skill_text::SkillName;

use crate::fields::near_misses;
use crate::{Diagnostic, Fields, Hooks, body, mapping, split};

/// A parsed `SKILL.md`. Its author wrote the content, so none of it is safe to show unescaped.
#[derive(Debug, Clone, PartialEq)]
pub struct Skill {
    /// Its key, from the field `name` or else the directory's name.
    pub name: SkillName,
    /// The field `description`, trimmed, otherwise as written. `None` if missing or blank.
    pub description: Option<String>,
    /// Every frontmatter field.
    pub fields: Fields,
    /// Its diagnostics.
    pub diagnostics: Vec<Diagnostic>,
}

impl Skill {
    /// Parses `bytes`, the content of a `SKILL.md`. `directory` is the name of its directory, which is
    /// used if the field `name` is missing and which that should be, as the specification says.
    ///
    /// # Errors
    /// A diagnostic of level error when neither gives a name. All else is forgiven and noted.
    pub fn parse(directory: &str, bytes: &[u8]) -> Result<Self, Diagnostic> {
        let mut diagnostics = Vec::new();
        // Most files are valid UTF-8, and checking is faster than replacing.
        let valid = std::str::from_utf8(bytes).map(Cow::Borrowed);
        let text = valid.unwrap_or_else(|_| String::from_utf8_lossy(bytes));
        if let Cow::Owned(_) = text {
            diagnostics.push(Diagnostic::NotUtf8);
        }
        let split = split(&text);
        let body = split.instructions();
        let is_foreign = matches!(split.diagnostics[..], [Diagnostic::ForeignFence(_)]);
        diagnostics.extend(split.diagnostics);
        let read = split.yaml.map(mapping::read).unwrap_or_default();
        diagnostics.extend(read.diagnostics);
        let mut fields = Fields(read.values);
        let outside = split.outside.into_iter();
        let mut unread = read.unread;
        unread.extend(outside.filter(|key| !fields.has(*key)));
        for key in unread {
            fields.restrict(key);
            // The diagnostic of a foreign fence says it already.
            diagnostics
                .extend((!is_foreign).then(|| Diagnostic::KeyNotRead(key.as_str().to_owned())));
        }
        diagnostics.extend(fields.tool_list_diagnostics());
        let near = near_misses(&fields).into_iter();
        diagnostics.extend(near.map(|(written, meant)| Diagnostic::NearMiss(written, meant)));
        diagnostics.extend(Hooks::diagnostics(&fields));
        let name = name(&fields, directory, &mut diagnostics)?;
        let description = fields.description();
        match description.as_ref().map(|text| text.chars().count()) {
            None => diagnostics.push(Diagnostic::DescriptionMissing),
            Some(length) if length > 1024 => {
                diagnostics.push(Diagnostic::DescriptionTooLong(length));
            }
            Some(_) => {}
        }
        diagnostics.extend(body::diagnostics(body));
        Ok(Self {
            name,
            description,
            fields,
            diagnostics,
        })
    }

    /// The name that its author gives it; without one, the directory's.
    pub fn authors_name(&self) -> String {
        let own = self.fields.text("name");
        own.unwrap_or_else(|| self.name.to_string())
    }

    /// A key that may be meant to restrict it, and does not; with the key that does.
    pub fn near_miss(&self) -> Option<(&str, &str)> {
        self.diagnostics.iter().find_map(|found| match found {
            Diagnostic::NearMiss(written, meant) => Some((&**written, &**meant)),
            _ => None,
        })
    }

    /// Whether what its list says could not be read for certain, so that it allows nothing.
    pub fn restriction_is_uncertain(&self) -> bool {
        self.diagnostics.iter().any(|found| match found {
            Diagnostic::KeyNotRead(key) => key == "allowed-tools",
            other => matches!(other, Diagnostic::ForeignFence(_)),
        })
    }

    /// `name` and `description`, and `license`, `compatibility`, `allowed-tools` and `metadata` if
    /// they are set: the properties that the specification knows.
    pub fn properties(&self) -> Value {
        let mut properties = json!({"name": self.name, "description": self.description});
        for key in ["license", "compatibility", "allowed-tools", "metadata"] {
            if let Some(value) = self.fields.value(key).filter(|value| !value.is_null()) {
                properties[key] = value.clone();
            }
        }
        properties
    }

    /// Whether the model may be told about it. A skill without a description cannot be chosen.
    pub fn is_offered(&self) -> bool {
        self.description.is_some()
    }
}

fn name(
    fields: &Fields,
    directory: &str,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<SkillName, Diagnostic> {
    let from_directory = SkillName::from_written(directory);
    let written = fields.text("name").unwrap_or_default();
    let Some(name) = SkillName::from_written(&written) else {
        diagnostics.push(Diagnostic::NameMissing(directory.to_owned()));
        return from_directory.ok_or_else(|| Diagnostic::NameUnusable(directory.to_owned()));
    };
    if written.chars().count() > SkillName::MAX {
        diagnostics.push(Diagnostic::NameTooLong);
    } else if written != name.as_str() {
        diagnostics.push(Diagnostic::NameAltered(written, name.to_string()));
    }
    if from_directory.as_ref() != Some(&name) {
        diagnostics.push(Diagnostic::NameMismatch(
            name.to_string(),
            directory.to_owned(),
        ));
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;

    fn parsed(text: &str) -> Skill {
        Skill::parse("x", text.as_bytes()).unwrap()
    }

    fn codes(skill: &Skill) -> Vec<String> {
        skill.diagnostics.iter().map(Diagnostic::code).collect()
    }

    #[test]
    fn a_plain_skill_has_no_diagnostics() {
        let skill = parsed("---\nname: x\ndescription: d\n---\n\n# T\n\nb\n");
        assert_eq!(
            (skill.name.as_str(), skill.description.as_deref()),
            ("x", Some("d"))
        );
        assert_eq!(skill.diagnostics, []);
    }

    #[test]
    fn the_name_falls_back_to_the_directory() {
        for text in [
            "---\ndescription: d\n---\n",
            "---\nname:\ndescription: d\n---\n",
        ] {
            let skill = parsed(text);
            assert_eq!(skill.name.as_str(), "x");
            assert_eq!(codes(&skill), ["name-missing"]);
        }
        let none = Skill::parse("--", b"---\nname: '!'\n---\n").unwrap_err();
        assert_eq!(
            (none.code().as_str(), none.level()),
            ("name-unusable", Level::Error)
        );
    }

    #[test]
    fn a_missing_description_is_reported_and_not_offered() {
        for text in [
            "---\nname: x\n---\nb",
            "---\nname: x\ndescription: '  '\n---\nb",
            "---\nname: x\ndescription: \"\u{200b}\"\n---\nb",
            "# only a body",
        ] {
            let skill = parsed(text);
            assert!(!skill.is_offered(), "{text}");
            assert!(
                codes(&skill).contains(&"description-missing".to_owned()),
                "{text}"
            );
        }
    }

    #[test]
    fn an_unquoted_colon_does_not_drop_the_restriction() {
        let skill = parsed("---\nname: x\ndescription: Use when: y\nallowed-tools: Read\n---\n");
        assert_eq!(skill.description.as_deref(), Some("Use when: y"));
        assert_eq!(skill.fields.allowed_tools(), Some(vec!["Read".to_owned()]));
    }

    #[test]
    fn bytes_that_are_not_utf8_are_replaced_and_noted() {
        let skill = Skill::parse("x", b"---\nname: x\ndescription: caf\xe9\n---\n").unwrap();
        assert_eq!(codes(&skill), ["not-utf8"]);
    }

    #[test]
    fn what_is_not_set_is_left_out() {
        assert_eq!(
            parsed("---\nname: x\ndescription: ' d '\nlicense:\nextra: 1\n---\nbody").properties(),
            json!({"name": "x", "description": "d"})
        );
        assert_eq!(
            parsed("---\nname: x\ndescription: d\nlicense: MIT\nallowed-tools: Read\nmetadata:\n  a: b\n---\n")
                .properties(),
            json!({"name": "x", "description": "d", "license": "MIT", "allowed-tools": "Read",
                "metadata": {"a": "b"}})
        );
    }
}
