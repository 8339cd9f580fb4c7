//! What most files of this room use.

pub use super::finding::LintFinding;
pub use super::source::{OWN_DIRECTORY, SkillSource, offset_in, other_texts};
pub use crate::error::{Error, Result};
pub use crate::host::Protocol;
pub use crate::skill::{Diagnostic, Level, Resource, Skill, SkillName, SkillPath};
pub use crate::skill::{one_line, unified_diff};
pub use crate::sys::text::{has_any, split_outside};
pub use crate::sys::{Dir, EntryKind, EntryName, EntryPath, Env, files, limits};
pub use serde::{Deserialize, Serialize};
pub use serde_json::{Map, Value, json};
pub use skill_format::{key_offset, place, split as split_frontmatter};
pub use std::collections::{BTreeMap, BTreeSet};
pub use std::fs::File;
pub use std::io::{self, Read};
pub use std::os::unix::fs::PermissionsExt;
pub use std::path::{Path, PathBuf};
