//! `on_start`: a host process begins, so nothing is active in it.

use std::time::Instant;

use crate::app::{App, run_post_hooks};
use crate::response::Response;
use crate::sys::remark;

/// Forgets what this session had active, and sessions that ended. What their skills wanted run at
/// the end runs now, if it has not.
pub fn on_start(app: &App) -> Response {
    match app.store().begin(&app.session()) {
        Ok(ended) => app.record_ends(ended),
        // The answer is the same: what could not be forgotten stays restricted, which is safe.
        Err(error) => remark(format_args!("could not reset the active skills: {error}")),
    }
    run_post_hooks(app, false, Instant::now());
    Response::nothing()
}
