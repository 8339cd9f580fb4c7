//! A skill as the catalog's index stores it: everything except its instructions, which are read
//! when they are needed.

use std::path::Path;

use serde_json::Value;

use super::load::description;
use super::{Diagnostic, Fields, Skill, SkillName};

/// Only a file of this name is stored. For any other the directory is searched each time.
const FILE: &str = "SKILL.md";

/// Name, file name, fields, digest and diagnostics.
type Cached = (String, String, Fields, String, Vec<Diagnostic>);

impl Skill {
    /// The data to store, as JSON.
    pub fn to_cached(&self) -> Vec<u8> {
        let file = self.file.strip_prefix(&self.dir).unwrap_or(&self.file);
        let (file, fields) = (file.to_string_lossy(), &self.fields);
        let cached = (&self.name, file, fields, &self.digest, &self.diagnostics);
        serde_json::to_vec(&cached).unwrap_or_default()
    }

    /// Whether [`Skill::from_cached`] restores exactly what [`Skill::to_cached`] stores. JSON may not
    /// restore a float exactly, so a skill that contains one is not stored.
    pub fn can_be_cached(&self) -> bool {
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

    /// The skill in `SKILL.md` of `dir`, restored from `cached`. `None` for anything that
    /// [`Skill::to_cached`] did not produce.
    pub fn from_cached(dir: &Path, cached: &[u8]) -> Option<Self> {
        let cached: Cached = serde_json::from_slice(cached).ok()?;
        let (written, file, fields, digest, diagnostics) = cached;
        let name = SkillName::from_written(&written)?;
        (file == FILE && name.as_str() == written).then(|| Self {
            name,
            description: description(&fields),
            dir: dir.to_owned(),
            file: dir.join(FILE),
            fields,
            digest,
            diagnostics,
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
    fn what_can_be_cached_comes_back_as_it_was() {
        for yaml in [
            "",
            "license: \"\\u202e \\0 \\U0001F600\"",
            "metadata: {a: 1, b: -2, c: [true, null, {d: ''}], e: 18446744073709551615}",
            "allowed-tools:\nhooks: {pre: a.sh, Stop: x}",
            "when: 2026-01-02\nname: Y Y",
            "a: b: c\nallowed-tools: Read",
        ] {
            let skill = skill(FILE, yaml);
            assert!(skill.can_be_cached(), "{yaml}");
            let again = Skill::from_cached(&skill.dir, &skill.to_cached());
            assert_eq!(again, Some(skill), "{yaml}");
        }
    }

    #[test]
    fn fractions_and_files_of_another_name_are_read_again() {
        assert!(!skill(FILE, "metadata: {a: [0.1]}").can_be_cached());
        assert!(!skill("skill.md", "").can_be_cached());
    }
}
