//! What people decided in advance and the record of what happened: the configuration, the
//! administrator's policy, trust, approvals and the audit log. It does not know which skills exist
//! or what a call does. Open `effective_config.rs` first.

mod approval;
mod audit;
mod config;
mod digest_cache;
mod effective_config;
mod enterprise;
mod events;
mod file;
mod ledger;
mod masking;
mod on_disk;
mod policies;
mod required_signatures;
mod skill_names;
mod skill_rules;
mod source_address;
mod trust;

pub use approval::{Approval, Approvals};
pub use approval::{
    approval_of_content as approval_current, approval_reason as approval_needed,
    content as approval_content, digest as approval_digest, has_scripts,
};
pub use audit::{Audit, Event};
pub use audit::{LoggedEvent, each_event, last_events, last_heard};
pub use config::{CONFIGURATION, Config, Lifetime, ModelInstalls, ScriptReads, Visibility};
pub use digest_cache::{DigestCache, SkillUse};
pub use effective_config::{
    Setting, effective, in_force, may_have_always_on, own_config, script_wait, settings,
};
pub use enterprise::Enterprise;
pub use events::{
    activation_event, audit_file, call_event, decision_of, end_events, user, with_origin,
};
pub use file::{edit_key, parse_toml, read_toml};
pub use ledger::Ledger;
pub use masking::mask;
pub use on_disk::OnDisk;
pub use policies::{
    ApprovalReason, MinimumVersion, Missing, MissingSkill, Policies, RequiredPresence,
    RequiredSkill,
};
pub use required_signatures::{
    OWN_SIGNERS, SignatureRules, SigningFile, SigningRules, SourceSigning,
};
pub use skill_names::{ByContext, BySkill, SkillGlob, joined, matches, parts};
pub use skill_rules::{RuleOutcome, RuleResult, RuleSubject, refusal};
pub use trust::{
    SeenPart, Trust, TrustChecker, has_no_shared_files, is_skills_directory, parts_of,
};
