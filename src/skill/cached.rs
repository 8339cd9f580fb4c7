//! A skill as the catalog's index stores it: everything except its instructions, which are read
//! when they are needed.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::load::description;
use super::{Diagnostic, Fields, Skill, SkillName};

/// Only a file of this name is stored. For any other the directory is searched each time.
const FILE: &str = "SKILL.md";

#[derive(Deserialize)]
struct Kept {
    name: String,
    file: String,
    fields: Map<String, Value>,
    digest: String,
    diagnostics: Vec<Diagnostic>,
}

/// As [`Kept`], for serialization.
#[derive(Serialize)]
struct ToKeep<'a> {
    name: &'a SkillName,
    file: &'a str,
    fields: &'a Fields,
    digest: &'a str,
    diagnostics: &'a [Diagnostic],
}

impl Skill {
    /// The data to store, as JSON.
    pub fn kept(&self) -> Vec<u8> {
        let file = self.file.strip_prefix(&self.dir).unwrap_or(&self.file);
        let kept = ToKeep {
            name: &self.name,
            file: &file.to_string_lossy(),
            fields: &self.fields,
            digest: &self.digest,
            diagnostics: &self.diagnostics,
        };
        serde_json::to_vec(&kept).unwrap_or_default()
    }

    /// Whether [`Skill::from_kept`] restores exactly what [`Skill::kept`] stores. JSON may not
    /// restore a float exactly, so a skill that contains one is not stored.
    pub fn can_be_kept(&self) -> bool {
        fn is_exact(value: &Value) -> bool {
            match value {
                Value::Number(number) => !number.is_f64(),
                Value::Array(items) => items.iter().all(is_exact),
                Value::Object(map) => map.values().all(is_exact),
                Value::Null | Value::Bool(_) | Value::String(_) => true,
            }
        }
        self.file == self.dir.join(FILE) && self.fields.values().all(is_exact)
    }

    /// The skill in `SKILL.md` of `dir`, restored from `kept`. `None` for anything that
    /// [`Skill::kept`] did not produce.
    pub fn from_kept(dir: &Path, kept: &[u8]) -> Option<Self> {
        let kept: Kept = serde_json::from_slice(kept).ok()?;
        if kept.file != FILE {
            return None;
        }
        let name = SkillName::from_written(&kept.name).filter(|name| name.as_str() == kept.name)?;
        let fields = Fields::from(kept.fields);
        Some(Self {
            name,
            description: description(&fields),
            dir: dir.to_owned(),
            file: dir.join(FILE),
            fields,
            digest: kept.digest,
            diagnostics: kept.diagnostics,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(file: &str, yaml: &str) -> Skill {
        let dir = Path::new("/skills/x");
        let text = format!("---\nname: x\ndescription: d\n{yaml}\n---\n!`id`\n");
        Skill::parse(dir, dir.join(file), text.as_bytes()).unwrap()
    }

    #[test]
    fn what_can_be_kept_comes_back_as_it_was() {
        for yaml in [
            "",
            "license: \"\\u202e \\0 \\U0001F600\"",
            "metadata: {a: 1, b: -2, c: [true, null, {d: ''}], e: 18446744073709551615}",
            "allowed-tools:\nhooks: {pre: a.sh, Stop: x}",
            "when: 2026-01-02\nname: Y Y",
            "a: b: c\nallowed-tools: Read",
        ] {
            let skill = skill(FILE, yaml);
            assert!(skill.can_be_kept(), "{yaml}");
            let again = Skill::from_kept(&skill.dir, &skill.kept());
            assert_eq!(again, Some(skill), "{yaml}");
        }
    }

    #[test]
    fn fractions_and_files_of_another_name_are_read_again() {
        assert!(!skill(FILE, "metadata: {a: [0.1]}").can_be_kept());
        assert!(!skill("skill.md", "").can_be_kept());
    }
}
