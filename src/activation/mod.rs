//! Makes skills active: what the model is handed, which hooks run, and what restricts its calls
//! from then on. It does not know how a host calls or is answered. Open `load.rs` first.

mod enforcement;
pub mod fork;
mod hooks;
mod instructions;
mod load;
mod protected;
mod required;

pub use enforcement::Enforcement;
pub use hooks::{hooks_ahead, hooks_wait, owner, run_post_hooks, run_pre_hooks, with_outcome};
pub use instructions::{Instructions, to_read};
pub use load::{load, offered_by_names, put_in_force};
pub use required::{required_line, unmet};
