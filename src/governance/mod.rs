//! What people decided beforehand and the record of what happened: configuration files, policy,
//! trust and approvals, the audit log. Knows their format, not what other modules do with the
//! values.

mod audit;
mod edit;
mod enterprise;
mod file;
mod glob;
mod ledger;
mod log;
mod masking;
mod policy;

pub use audit::{Audit, Event};
pub use edit::set_key;
pub use enterprise::Enterprise;
pub use file::{parse_toml, read_toml};
pub use glob::{any_matches, matches};
pub use ledger::{Ledger, Record};
pub use log::{Line, last_heard, read_log};
pub use masking::mask;
pub use policy::{Floors, Need, Policies};
