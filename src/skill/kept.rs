//! A skill as the catalog's index keeps it: all but its instructions, which are read when they are
//! handed over.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::load::description;
use super::{Diagnostic, Fields, Skill, SkillName};

/// A file of another name is looked for again every time.
const FILE: &str = "SKILL.md";

#[derive(Serialize, Deserialize)]
struct Kept {
    name: String,
    file: String,
    fields: Map<String, Value>,
    digest: String,
    diagnostics: Vec<Diagnostic>,
}

impl Skill {
    /// What to keep of it, as JSON.
    pub fn kept(&self) -> Vec<u8> {
        let file = self.file.strip_prefix(&self.dir).unwrap_or(&self.file);
        let kept = Kept {
            name: self.name.to_string(),
            file: file.to_string_lossy().into_owned(),
            fields: self.fields.clone().into(),
            digest: self.digest.clone(),
            diagnostics: self.diagnostics.clone(),
        };
        serde_json::to_vec(&kept).unwrap_or_default()
    }

    /// The skill in the file `SKILL.md` of `dir` of which `kept` was kept. `None` for anything
    /// else than what [`Skill::kept`] makes.
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
