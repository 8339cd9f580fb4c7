//! `on_end`: a host process ends.

use std::time::Instant;

use crate::activation::run_post_hooks;
use crate::protocol::Response;
use crate::run_context::RunContext;

/// Runs the skills' end hooks. The next `on_start` forgets the session.
pub fn on_end(ctx: &RunContext) -> Response {
    run_post_hooks(ctx, true, Instant::now());
    Response::nothing()
}
