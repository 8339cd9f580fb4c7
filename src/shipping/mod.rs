//! Sends the audit log to collectors, behind the hooks: for `audit ship`, which a timer runs. What is
//! to be sent, and how far a collector has taken it, `policy` knows. Open `run.rs` first.

mod otlp;
mod run;
mod syslog;
mod untaken;

pub use run::{Shipment, ship};
