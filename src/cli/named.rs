//! Finds the installed skill that somebody named, or suggests similar names.

use super::layers::layers_with;
use super::report::is_told;
use crate::catalog::{Catalog, Entry, suggestion};
use crate::error::{Error, Result};
use crate::marketplace::Market;
use crate::run_context::RunContext;
use crate::sys::text::quoted;

/// The entry that `written` means.
///
/// # Errors
/// When there is none.
pub fn installed<'a>(ctx: &RunContext, catalog: &'a Catalog, written: &str) -> Result<&'a Entry> {
    let entry = catalog.by_name(written);
    entry.filter(|entry| is_told(ctx, entry)).ok_or_else(|| {
        if entry.is_none() && ctx.protocol.is_none() && !layers_with(ctx, written).is_empty() {
            return Market::is_gone(&quoted(written));
        }
        let text = format!("there is no installed skill `{}`", quoted(written));
        Error::new(text).hint(similar(ctx, catalog, written))
    })
}

/// A hint with the name most similar to `written`, or where to find all.
pub fn similar(ctx: &RunContext, catalog: &Catalog, written: &str) -> String {
    // A model needs a hint that names one of its own tools.
    if ctx.protocol.is_some() || catalog.nearest(written).is_some() {
        return suggestion(catalog, written);
    }
    "`agent-skills list` shows what there is".to_owned()
}
