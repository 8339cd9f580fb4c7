//! Shared by the handlers and the command line: one run's surroundings, the configuration, and the
//! glue between modules. It has no rules of its own.

mod activation;
mod active;
mod approval;
mod auditing;
mod by_context;
mod calling;
mod config;
mod config_merge;
mod count;
mod effective_config;
mod eligibility;
mod enforcement;
pub mod fork;
mod indexed;
mod layers;
mod on_disk;
mod proposals;
mod protected;
mod required;
mod run_context;
mod script_reads;
mod skill_hooks;
mod trusting;

pub use activation::Instructions;
pub use active::{latest, load, offered_by_names, put_in_force};
pub use approval::{digest as approval_digest, has_scripts, needed as approval_needed};
pub use auditing::{call_summary, decision_of};
pub use by_context::ByContext;
pub use calling::{Called, announce, call_of, called, resolve, script_of, under_denied_name};
pub use config::{AuditConfig, Config, Lifetime, ModelInstalls, ScriptReads, Visibility};
pub use effective_config::Setting;
pub use enforcement::{Enforcement, our_tool, snapshot};
pub use indexed::{PROMPT, Rendered};
pub use on_disk::OnDisk;
pub use proposals::{ChangedFile, apply_diff, proposed_for};
pub use required::{required_line, unmet, unmet_but};
pub use run_context::{RunContext, suggestion, usable};
pub use script_reads::{advice, script_read};
pub use skill_hooks::{hooks_ahead, hooks_wait, run_post_hooks, run_pre_hooks};
pub use trusting::{Trust, Trusts};
