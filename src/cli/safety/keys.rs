//! `keys`: who may sign skills, as files of signers list it and as first signatures made it known.

use clap::{Args, Subcommand};

use super::keys_changed::{self, Added, Removed, Revoked};
use super::keys_listed;
use crate::cli::{Answer, Call, Outcomes};

/// Show or change whose signatures count
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Keys {
    /// What to do; without it, keys are shown
    #[command(subcommand)]
    pub change: Option<Keying>,
}

/// What `keys` can change.
#[derive(Debug, Subcommand)]
pub enum Keying {
    /// List a key: what it signs is by PRINCIPAL
    Add(Added),
    /// List keys no longer
    Remove(Removed),
    /// Refuse whatever a key signed or will sign
    Revoke(Revoked),
}

impl Keys {
    /// Shows the keys, or changes one file of them.
    pub fn run(&self, call: Call) -> Answer {
        let (name, changed) = match &self.change {
            None => return keys_listed::show(call),
            Some(Keying::Add(added)) => (&added.principal, keys_changed::add(call, added)),
            Some(Keying::Remove(key)) => (&key.which, keys_changed::remove(call, key)),
            Some(Keying::Revoke(key)) => (&key.which, keys_changed::revoke(call, key)),
        };
        Outcomes::of_one(call, name, changed)
    }
}
