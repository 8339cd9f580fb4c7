//! What nearly every file of this room uses.

pub use std::path::{Path, PathBuf};

pub use serde_json::{Value, json};

pub use crate::catalog::{Catalog, Entry};
pub use crate::error::{Error, Result};
pub use crate::facts::Facts;
pub use crate::host::{Protocol, ours};
pub use crate::policy::{Event, OnDisk};
pub use crate::run_context::real;
pub use crate::session::{ActiveSkill, Session, Unreadable, seen, snapshot};
pub use crate::skill::{Skill, SkillName, one_line};
pub use crate::sys::text::quoted;
pub use crate::sys::{EntryName, files, limits, warn};
