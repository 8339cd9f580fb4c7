//! Finds the installed skill that somebody named, or suggests similar names.

use crate::catalog::{Catalog, Entry, suggestion};
use crate::error::{Error, Result};
use crate::run_context::RunContext;
use crate::sys::text::quoted;

/// The entry that `written` means.
///
/// # Errors
/// When there is none. The hint has the nearest names, or says where to find all.
pub fn installed<'a>(ctx: &RunContext, catalog: &'a Catalog, written: &str) -> Result<&'a Entry> {
    let entry = catalog.by_name(written);
    let is_told = |entry: &&Entry| ctx.protocol.is_none() || entry.is_for_models();
    entry.filter(is_told).ok_or_else(|| {
        let text = format!("there is no installed skill `{}`", quoted(written));
        // A model needs a hint that names one of its own tools.
        let asks_the_host = ctx.protocol.is_some();
        let hint = if asks_the_host || !catalog.nearest(written).is_empty() {
            suggestion(catalog, written)
        } else {
            "`agent-skills list-installed` shows what there is".to_owned()
        };
        Error::new(text).hint(hint)
    })
}
