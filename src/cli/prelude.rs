//! What most files of this room use.

pub use super::caller::{Answer, Failure};
pub use super::consent::Consent;
pub use super::describe::{ToolNames, printable};
pub(super) use super::json;
pub use super::json::with;
pub use super::lookup::installed;
pub use super::market::{market, market_for, note, watched};
pub use super::options::{Call, Caller, CommonOptions, FindingsOption, LayerOption, shell_command};
pub use super::outcome::{OutcomeNote, Outcomes, answer_each};
pub use super::screen::{Paint, Screen};
pub use super::table::{Cell, Table};
pub use crate::catalog::{Catalog, Entry, Layer, market_at};
pub use crate::error::{Error, Result};
pub use crate::facts::Facts;
pub use crate::host::agent::Agent;
pub use crate::marketplace::{Difference, Market, Plan, ScanFinding, Severity, State, listed_name};
pub use crate::policy::Event;
pub use crate::run_context::{RunContext, real};
pub use crate::skill::{Level, Skill, SkillName, brief, one_line, shown_name};
pub use crate::sys::text::{count, counted, quoted};
pub use crate::sys::{EntryName, UnixMillis, files, limits, tell};
pub use clap::{Subcommand, ValueEnum};
pub use serde::Serialize;
pub use serde_json::{Value, json};
pub use std::fmt::Write as _;
pub use std::path::{Path, PathBuf};
