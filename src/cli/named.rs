//! The installed skill somebody named, or the one they may have meant.

use crate::app::{quoted, suggestion};
use crate::catalog::{Catalog, Entry};
use crate::error::{Error, Result};

/// The entry that `written` means.
///
/// # Errors
/// When there is none: the hint has the nearest names, or says where all are.
pub fn installed<'a>(catalog: &'a Catalog, written: &str) -> Result<&'a Entry> {
    catalog.by_name(written).ok_or_else(|| {
        let text = format!("there is no installed skill `{}`", quoted(written));
        let hint = if catalog.nearest(written).is_empty() {
            "`agent-skills list-installed` shows what there is".to_owned()
        } else {
            suggestion(catalog, written)
        };
        Error::new(text).hint(hint)
    })
}
