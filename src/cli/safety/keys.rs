//! `keys`: who may sign skills, as files of signers list it and as first signatures made it known.

use clap::{Args, Subcommand};

use super::keys_changed::{self, Added, Removed, Revoked};
use super::keys_listed;
use crate::cli::options::Common;
use crate::cli::outcome::Outcomes;
use crate::cli::{Answer, Caller, Screen};
use crate::facts::Facts;

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
    pub fn run(&self, facts: &Facts, common: Common, caller: Caller, screen: Screen) -> Answer {
        let (name, changed) = match &self.change {
            None => return keys_listed::show(facts, common, screen),
            Some(Keying::Add(added)) => (
                &added.principal,
                keys_changed::add(facts, common, caller, added),
            ),
            Some(Keying::Remove(key)) => {
                (&key.which, keys_changed::remove(facts, common, caller, key))
            }
            Some(Keying::Revoke(key)) => {
                (&key.which, keys_changed::revoke(facts, common, caller, key))
            }
        };
        Outcomes::of_one(common, caller, name, changed)
    }
}
