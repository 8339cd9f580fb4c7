//! What the files of this room use: its own types, those of the rooms that it brings together, and
//! small helpers.

pub use std::path::{Component, Path, PathBuf};
pub use std::time::{Duration, Instant};

pub use serde_json::{Map, Value, json};

pub use super::judge::*;
pub use super::*;
pub use crate::activation::*;
pub use crate::catalog::{Catalog, Entry, Layer, WithheldReason, suggestion, tool_name, usable};
pub use crate::error::{Error, Result};
pub use crate::facts::Facts;
pub use crate::host::agent::HookMode;
pub use crate::host::{Agent, Protocol, ours};
pub use crate::policy::{Event, Lifetime, OnDisk, activation_event, call_event};
pub use crate::run_context::{CallingAgent, real};
pub use crate::session::{ActiveSkill, Session, StateUnreadable, seen, snapshot};
pub use crate::skill::{
    Runner, SKILL, SKILL_CONTENT, Skill, SkillName, SkillPath, commands_run, guarded, one_line,
    wrapped,
};
pub use crate::sys::text::{has_any, listed, quoted};
pub use crate::sys::{EntryKind, EntryName, Env, files, limits, warn};
pub use skill_permission::{explain::*, runtime::*, settings::*, *};
pub use skill_text::{Names, Words};
