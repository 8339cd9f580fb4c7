//! Makes skills active: what the model is handed, which hooks run, and what restricts its calls
//! from then on. It does not know how a host calls or is answered. Open `load.rs` first.

mod enforcement;
mod hooks;
mod instructions;
mod load;
mod prelude;

pub use enforcement::{
    added_entries, begin_in, policy_denials, scope_of, why_none_is_added, why_not_added,
};
pub use hooks::{
    has_post_hooks, hooks_ahead, hooks_wait, may_have_post_hooks, owner, run_limits,
    run_post_hooks, run_pre_hooks, with_outcome,
};
pub use instructions::{Instructions, required_line, to_read, unmet};
pub use load::{handed, load, meant_skill, offered_by_names, put_in_force, restricted_to};
