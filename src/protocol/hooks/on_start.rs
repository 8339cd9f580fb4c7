//! `on_start`: a host process begins, in which nothing is active; `on_end`: it ends.

use crate::protocol::prelude::*;
use crate::sys::text::distinct;

/// Forgets what this session had active, and sessions that ended. Runs their skills' end hooks that
/// have not run.
pub fn on_start(facts: &Facts) -> Response {
    match facts.store().begin(facts.key()) {
        Ok(ended) => {
            let restricted = ended.iter().filter(|end| end.restricted);
            let names = distinct(restricted.map(|end| format!("`{}`", end.skill)));
            if !names.is_empty() {
                warn(format_args!(
                    "no longer restricted by {}: the prompt is over",
                    listed(&names, 3)
                ));
            }
            facts.record_ends(ended);
        }
        // The answer is the same: what could not be forgotten stays restricted, which is safe.
        Err(error) => warn(format_args!("could not reset the active skills: {error}")),
    }
    tell_contested(facts);
    run_post_hooks(facts, false, Instant::now());
    Response::nothing()
}

/// Tells the user about names that several skills share: the model gets only one of them.
fn tell_contested(facts: &Facts) {
    let catalog = Catalog::of(facts);
    let names = catalog.contested();
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    if !names.is_empty() {
        warn(format_args!(
            "several skills are named {}; `agent-skills info NAME` shows which one is used and how to name the others",
            listed(&names, 3)
        ));
    }
}

/// Runs the skills' end hooks. The next `on_start` forgets the session.
pub fn on_end(facts: &Facts) -> Response {
    run_post_hooks(facts, true, Instant::now());
    Response::nothing()
}
