//! What most files of this room use: the helpers of the room itself, and what they are made of.

pub(super) use super::json;
pub use super::{
    agents::*, caller::*, choosing::*, consent::*, describe::*, describe_plan::*, json::with,
    lookup::*, market::*, options::*, outcome::*, policy_checks::*, report::*, screen::*,
    signatures::*, table::*,
};
pub use crate::catalog::{Catalog, Entry, Layer, WithheldReason, base_at, market_at};
pub use crate::error::{Error, Result};
pub use crate::facts::Facts;
pub use crate::host::{Protocol, agent::Agent, program::PROGRAM};
pub use crate::marketplace::{
    CheckedSignature, Difference, InstallState, InstalledName, LockEntry, Market, Origin, Plan,
    Powers, ScanFinding, Severity, SyncedSkill, VerifiedSkill, listed_name, scan_directory,
};
pub use crate::policy::{Config, Event, Ledger, Policies};
pub use crate::run_context::{RunContext, real};
pub use crate::script::find_program;
pub use crate::skill::{Diagnostic, Level, Skill, SkillName, brief, one_line, shown_name};
pub use crate::sys::text::{count, counted, did_you_mean, distinct, quoted, shorten};
pub use crate::sys::{
    Dir, Durable, EntryName, Env, Progress, UnixMillis, eprint, files, limits, tell, warn,
};
pub use clap::{Args, Subcommand, ValueEnum};
pub use serde::Serialize;
pub use serde_json::{Map, Value, json};
pub use skill_permission::{
    explain::*, runtime::*, settings::*, suggest::*, vocabulary::Capability, *,
};
pub use std::collections::{BTreeMap, BTreeSet};
pub use std::fmt::Write as _;
pub use std::io::IsTerminal;
pub use std::path::{Path, PathBuf};
pub use std::rc::Rc;
pub use unicode_width::UnicodeWidthStr;
