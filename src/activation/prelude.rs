//! What the files of this room use.

pub use std::path::{Path, PathBuf};

pub use super::*;
pub use crate::catalog::*;
pub use crate::error::{Error, Result};
pub use crate::facts::Facts;
pub use crate::host::{Protocol, ours, tools};
pub use crate::policy::{
    CONFIGURATION, Config, DigestCache, Event, Ledger, Policies, activation_event, approval_current,
};
pub use crate::session::*;
pub use crate::skill::{
    self, Diagnostic, Hooks, Resource, Runner, Skill, SkillName, SkillPath, brief, one_line,
    wrapped,
};
pub use crate::sys::text::{backticked, quoted, shorten};
pub use crate::sys::{Env, limits, millis, warn};
pub use skill_permission::{runtime::*, settings::*, *};
