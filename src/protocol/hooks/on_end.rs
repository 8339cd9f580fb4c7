//! `on_end`: a host process ends.

use std::time::Instant;

use crate::activation::run_post_hooks;
use crate::facts::Facts;
use crate::protocol::Response;

/// Runs the skills' end hooks. The next `on_start` forgets the session.
pub fn on_end(facts: &Facts) -> Response {
    run_post_hooks(facts, true, Instant::now());
    Response::nothing()
}
