//! `on_start`: a host process begins, so nothing is active in it.

use crate::app::App;
use crate::response::Response;
use crate::sys::remark;

/// Forgets what this session had active, and sessions that ended.
pub fn on_start(app: &App) -> Response {
    match app.store().begin(&app.session()) {
        Ok(ended) => app.record_ends(ended),
        // The answer is the same: what could not be forgotten stays restricted, which is safe.
        Err(error) => remark(format_args!("could not reset the active skills: {error}")),
    }
    Response::nothing()
}
