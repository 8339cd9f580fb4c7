//! What nearly every verb's file uses.

pub use super::caller::{Answer, Failure};
pub use super::consent::Consenting;
pub use super::describe::ToolNames;
pub(super) use super::json;
pub use super::json::with;
pub use super::market::{market, market_for, note, watched};
pub use super::options::{Call, Caller, Common, Findings, Scope, pasted};
pub use super::outcome::{Outcomes, look_at};
pub use super::screen::{Paint, Screen};
pub use super::table::{Cell, Table};
pub use crate::catalog::{Catalog, Layer};
pub use crate::error::{Error, Result};
pub use crate::facts::Facts;
pub use crate::skill::{brief, one_line};
pub use serde_json::{Value, json};
