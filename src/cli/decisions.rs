//! What each command does, in one table (tests/decisions.md shows it). Each
//! verb is destructured down to its last flag, so a new flag does not compile until it is decided
//! here.

use super::args::{
    Approve, Audit, Check, Complete, Completions, Config, Confine, Deactivate, Disable, Doctor,
    Enable, Hosts, Info, Install, Jobs, Keys, List, New, Package, Policy, Proposals, Publish,
    Remove, Rollback, Scan, Search, SearchInstalled, Show, Simulate, Sources, Suggest, Sync, Trust,
    Try, Update, Validate, Verb, Verify,
};
use super::options::{CommonOptions, FindingsOption};
use super::safety::keys::KeyAction;
use super::safety::policy::PolicyAction;
use super::set_up::hosts::HostAction;
use crate::host::agent::HookMode;

/// What `verb` does with its flags and those of every command; and whether the model's tool offers it,
/// but without flags that give consent or choose a place. A model says yes to nothing.
pub fn decision(common: CommonOptions, verb: &Verb) -> (AuthorityClass, bool) {
    let (class, for_models) = of_verb(verb);
    (class, for_models && !common.yes)
}

/// The pattern of a verb: any values of these flags, then what others have to be. A flag that is not
/// named does not compile.
macro_rules! flags {
    ($verb:path: $($flags:ident)* $(, $flag:ident: $value:pat)*) => {
        $verb { $($flags: _,)* $($flag: $value,)* }
    };
}

#[allow(clippy::too_many_lines, reason = "it is a table, and whole")]
fn of_verb(verb: &Verb) -> (AuthorityClass, bool) {
    match verb {
        Verb::Install(flags!(Install: references all skill name offline frozen,
            list: false, findings: findings, reading: reading, scope: scope, agents: agents)) => {
            let is_plain = reading.is_none() && scope.is_default() && agents.is_empty();
            accepting(*findings, is_plain)
        }
        Verb::Update(flags!(Update: names to diff stash offline, check: false, accept_signer: false,
            findings: findings, force: force, allow_downgrade: downgrade, scope: scope)) => {
            accepting(*findings, !*force && !*downgrade && scope.is_default())
        }
        Verb::Hosts(flags!(Hosts:, change: Some(
            // It only restricts; `install.sh --for` runs it in a script.
            flags!(HostAction::Add: hosts scope, mode: None | Some(HookMode::Restrict))
            // An agent asks no more after that, so no agent does it.
            | flags!(HostAction::Remove: hosts scope))))
        // In a layer, the new skill is offered at once.
        | Verb::New(flags!(New: name description script restrict dir, layer: Some(_))) => {
            (AuthorityClass::Changes, false)
        }
        Verb::Remove(flags!(Remove: names, scope: scope)) => (AuthorityClass::Changes, scope.is_default()),
        Verb::Rollback(flags!(Rollback: names scope))
        // Others get it, in the name of whoever may write there.
        | Verb::Publish(flags!(Publish: skills to collection sign findings))
        // It also replaces and removes.
        | Verb::Sync(flags!(Sync: list prune findings offline scope))
        // Who may sign is a matter of trust.
        | Verb::Update(flags!(Update: names to diff stash offline findings force allow_downgrade scope,
            check: false, accept_signer: true))
        | Verb::Deactivate(flags!(Deactivate: context))
        | Verb::Trust(flags!(Trust: revoke always dir skill, list: false))
        | Verb::Approve(flags!(Approve: names revoke, list: false))
        | Verb::Enable(flags!(Enable: names name_only))
        | Verb::Disable(flags!(Disable: names user))
        | Verb::Suggest(Suggest { apply: true, .. } | Suggest { local: true, .. })
        // What its user changed is set aside.
        | Verb::Verify(flags!(Verify: names scope, fix: true))
        // This restores trust in a file that others could have written.
        | Verb::Doctor(flags!(Doctor:, fix: true))
        | Verb::Sources(flags!(Sources::Add: references name) | flags!(Sources::Remove: names))
        // Whose signatures count.
        | Verb::Keys(flags!(Keys:, change: Some(
            KeyAction::Add(_) | flags!(KeyAction::Remove: which file) | flags!(KeyAction::Revoke: which file))))
        // A signature vouches for the files, in the name of the key's owner.
        | Verb::Package(flags!(Package: in_place skills output, sign: Some(_)))
        // A mode that allows, or only asks, loosens.
        | Verb::Hosts(flags!(Hosts:, change: Some(flags!(HostAction::Add: hosts scope,
            mode: Some(HookMode::Grant | HookMode::Both | HookMode::Ask)))))
        | Verb::Config(flags!(Config::Set: words) | flags!(Config::Unset: key))
        | Verb::Proposals(flags!(Proposals::Approve: ids findings) | flags!(Proposals::Reject: ids reason))
            => (AuthorityClass::Decides, false),
        Verb::Update(flags!(Update: names to diff stash offline findings force allow_downgrade accept_signer,
            check: true, scope: scope))
        | Verb::Verify(flags!(Verify: names, fix: false, scope: scope)) => {
            (AuthorityClass::Reads, scope.is_default())
        }
        Verb::Proposals(Proposals::List | flags!(Proposals::Show: ids))
        | Verb::Search(flags!(Search: words offline long))
        | Verb::List(flags!(List: long sbom))
        | Verb::ListInstalled
        | Verb::SearchInstalled(flags!(SearchInstalled: words))
        | Verb::Info(flags!(Info: names history offline)) => (AuthorityClass::Reads, true),
        Verb::Trust(flags!(Trust: revoke always dir skill, list: true))
        | Verb::Install(flags!(Install: references all skill name offline frozen findings reading scope agents,
            list: true))
        | Verb::Approve(flags!(Approve: names revoke, list: true))
        | Verb::Sources(Sources::List | Sources::Update)
        | Verb::Config(flags!(Config::Get: key) | Config::List | Config::Path)
        | Verb::New(flags!(New: name description script restrict dir, layer: None))
        | Verb::Doctor(flags!(Doctor:, fix: false))
        | Verb::Scan(flags!(Scan: targets fail_on offline))
        | Verb::Show(flags!(Show: references all skill reading file offline))
        | Verb::Validate(flags!(Validate: paths fix format))
        | Verb::Try(flags!(Try: skill arguments host))
        | Verb::Simulate(flags!(Simulate: files))
        | Verb::Package(flags!(Package: in_place skills output, sign: None))
        | Verb::Check(flags!(Check: skill tool arguments agent))
        | Verb::Suggest(flags!(Suggest: skill since, apply: false, local: false))
        | Verb::Audit(flags!(Audit: since skill event limit all summary))
        | Verb::Jobs(flags!(Jobs: follow))
        | Verb::Policy(flags!(Policy:, ask: None | Some(flags!(PolicyAction::Explain: name))))
        | Verb::Keys(flags!(Keys:, change: None))
        | Verb::Hosts(flags!(Hosts:, change: None))
        | Verb::Completions(flags!(Completions: shell))
        | Verb::Complete(flags!(Complete: words))
        // The command is the caller's own; it can only do less.
        | Verb::Confine(flags!(Confine: skill project command)) => (AuthorityClass::Reads, false),
    }
}

/// What a command does, which says who may run it (docs/administration.md#what-only-a-person-decides).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthorityClass {
    /// It reads, or writes what any editor could: anybody.
    Reads,
    /// It changes what is installed or connected: anybody who is below no agent, by a yes; below one,
    /// only what the model's tool allows.
    Changes,
    /// It loosens, trusts or vouches: a person at a terminal that is below no agent.
    Decides,
}

/// A change, but accepting the scan's findings decides. Models may if it `is_plain`.
fn accepting(findings: FindingsOption, is_plain: bool) -> (AuthorityClass, bool) {
    if findings.accept_findings {
        return (AuthorityClass::Decides, false);
    }
    (AuthorityClass::Changes, is_plain)
}

#[cfg(test)]
mod tests;
