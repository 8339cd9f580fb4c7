//! What a command does, and the single table of that for each command (tests/decisions.md shows it). Each
//! verb is destructured down to its last flag, so a new flag does not compile until it is decided
//! here.

use super::args::{
    Approve, Audit, Check, Complete, Completions, Config, Confine, Deactivate, Disable, Doctor,
    Enable, Hosts, Info, Install, Jobs, Keys, List, New, Package, Policy, Proposals, Publish,
    Remove, Rollback, Scan, Search, SearchInstalled, Show, Simulate, Sources, Suggest, Sync, Trust,
    Try, Update, Validate, Verb, Verify,
};
use super::options::{Common, Findings};
use super::safety::keys::KeyAction;
use super::safety::policy::Asking;
use super::set_up::hosts::Connecting;
use crate::host::agent::Mode;

/// What `verb` does with its flags and those of every command; and whether the model's tool offers it,
/// but without flags that give consent or choose a place. A model says yes to nothing.
pub fn decision(common: Common, verb: &Verb) -> (Class, bool) {
    let (class, for_models) = of_verb(verb);
    (class, for_models && !common.yes)
}

/// The pattern of a verb: any values of these flags, then what others have to be. A flag that is not
/// named does not compile.
macro_rules! any {
    ($verb:path: $($any:ident)* $(, $flag:ident: $value:pat)*) => {
        $verb { $($any: _,)* $($flag: $value,)* }
    };
}

#[allow(clippy::too_many_lines, reason = "it is a table, and whole")]
fn of_verb(verb: &Verb) -> (Class, bool) {
    match verb {
        Verb::Install(any!(Install: references all skill name offline frozen,
            list: false, findings: findings, reading: reading, scope: scope, agents: agents)) => {
            let is_plain = reading.is_none() && scope.is_default() && agents.is_empty();
            accepting(*findings, is_plain)
        }
        Verb::Update(any!(Update: names to diff stash offline, check: false, accept_signer: false,
            findings: findings, force: force, allow_downgrade: downgrade, scope: scope)) => {
            accepting(*findings, !*force && !*downgrade && scope.is_default())
        }
        Verb::Hosts(any!(Hosts:, change: Some(
            // It only restricts; `install.sh --for` runs it in a script.
            any!(Connecting::Add: hosts scope, mode: None | Some(Mode::Restrict))
            // An agent asks no more after that, so no agent does it.
            | any!(Connecting::Remove: hosts scope))))
        // In a layer, the new skill is offered at once.
        | Verb::New(any!(New: name description script restrict dir, layer: Some(_))) => {
            (Class::Changes, false)
        }
        Verb::Remove(any!(Remove: names, scope: scope)) => (Class::Changes, scope.is_default()),
        Verb::Rollback(any!(Rollback: names scope))
        // Others get it, in the name of whoever may write there.
        | Verb::Publish(any!(Publish: skills to collection sign findings))
        // It also replaces and removes.
        | Verb::Sync(any!(Sync: list prune findings offline scope))
        // Who may sign is a matter of trust.
        | Verb::Update(any!(Update: names to diff stash offline findings force allow_downgrade scope,
            check: false, accept_signer: true))
        | Verb::Deactivate(any!(Deactivate: context))
        | Verb::Trust(any!(Trust: revoke always dir skill, list: false))
        | Verb::Approve(any!(Approve: names revoke, list: false))
        | Verb::Enable(any!(Enable: names name_only))
        | Verb::Disable(any!(Disable: names user))
        | Verb::Suggest(Suggest { apply: true, .. } | Suggest { local: true, .. })
        // What its user changed is set aside.
        | Verb::Verify(any!(Verify: names scope, fix: true))
        // This restores trust in a file that others could have written.
        | Verb::Doctor(any!(Doctor:, fix: true))
        | Verb::Sources(any!(Sources::Add: references name) | any!(Sources::Remove: names))
        // Whose signatures count.
        | Verb::Keys(any!(Keys:, change: Some(
            KeyAction::Add(_) | any!(KeyAction::Remove: which file) | any!(KeyAction::Revoke: which file))))
        // A signature vouches for the files, in the name of the key's owner.
        | Verb::Package(any!(Package: in_place skills output, sign: Some(_)))
        // A mode that allows, or only asks, loosens.
        | Verb::Hosts(any!(Hosts:, change: Some(any!(Connecting::Add: hosts scope,
            mode: Some(Mode::Grant | Mode::Both | Mode::Ask)))))
        | Verb::Config(any!(Config::Set: words) | any!(Config::Unset: key))
        | Verb::Proposals(any!(Proposals::Approve: ids findings) | any!(Proposals::Reject: ids reason))
            => (Class::Decides, false),
        Verb::Update(any!(Update: names to diff stash offline findings force allow_downgrade accept_signer,
            check: true, scope: scope))
        | Verb::Verify(any!(Verify: names, fix: false, scope: scope)) => {
            (Class::Reads, scope.is_default())
        }
        Verb::Proposals(Proposals::List | any!(Proposals::Show: ids))
        | Verb::Search(any!(Search: words offline long))
        | Verb::List(any!(List: sort long sbom))
        | Verb::ListInstalled
        | Verb::SearchInstalled(any!(SearchInstalled: words))
        | Verb::Info(any!(Info: names history offline)) => (Class::Reads, true),
        Verb::Trust(any!(Trust: revoke always dir skill, list: true))
        | Verb::Install(any!(Install: references all skill name offline frozen findings reading scope agents,
            list: true))
        | Verb::Approve(any!(Approve: names revoke, list: true))
        | Verb::Sources(Sources::List | Sources::Update)
        | Verb::Config(any!(Config::Get: key) | Config::List | Config::Path)
        | Verb::New(any!(New: name description script restrict dir, layer: None))
        | Verb::Doctor(any!(Doctor:, fix: false))
        | Verb::Scan(any!(Scan: targets rules fail_on offline))
        | Verb::Show(any!(Show: references all skill reading file offline))
        | Verb::Validate(any!(Validate: paths fix format))
        | Verb::Try(any!(Try: skill arguments host))
        | Verb::Simulate(any!(Simulate: files))
        | Verb::Package(any!(Package: in_place skills output, sign: None))
        | Verb::Check(any!(Check: skill tool arguments agent))
        | Verb::Suggest(any!(Suggest: skill since, apply: false, local: false))
        | Verb::Audit(any!(Audit: since skill event limit all summary by log))
        | Verb::Jobs(any!(Jobs: follow))
        | Verb::Policy(any!(Policy:, ask: None | Some(any!(Asking::Explain: name))))
        | Verb::Keys(any!(Keys:, change: None))
        // A plugin runs nothing until a person has Claude Code load it.
        | Verb::Hosts(any!(Hosts:, change: None | Some(any!(Connecting::Plugin: dir mode))))
        | Verb::Completions(any!(Completions: shell))
        | Verb::Complete(any!(Complete: words))
        // The command is the caller's own; it can only do less.
        | Verb::Confine(any!(Confine: skill project command))
        | Verb::Man => (Class::Reads, false),
    }
}

/// What a command does, which says who may run it (docs/administration.md#what-only-a-person-decides).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// It reads, or writes what any editor could: anybody.
    Reads,
    /// It changes what is installed or connected: anybody who is below no agent, by a yes; below one,
    /// only what the model's tool allows.
    Changes,
    /// It loosens, trusts or vouches: a person at a terminal that is below no agent.
    Decides,
}

/// A change, but accepting the scan's findings decides. Models may if it `is_plain`.
fn accepting(findings: Findings, is_plain: bool) -> (Class, bool) {
    if findings.accept_findings {
        return (Class::Decides, false);
    }
    (Class::Changes, is_plain)
}

#[cfg(test)]
mod tests;
