//! What each command does, in one table (tests/decisions.md shows it). Each
//! verb is destructured down to its last flag, so a new flag does not compile until it is decided
//! here.

use super::args::{
    ApproveArgs, AuditArgs, CheckArgs, CompleteArgs, CompletionsArgs, ConfigCommand, ConfineArgs,
    DeactivateArgs, DisableArgs, DoctorArgs, EnableArgs, HostsArgs, InfoArgs, InstallArgs,
    JobsArgs, KeysArgs, ListArgs, NewArgs, PackageArgs, PolicyArgs, ProposalsCommand, PublishArgs,
    RemoveArgs, RollbackArgs, ScanArgs, SearchArgs, SearchInstalledArgs, ShowArgs, SimulateArgs,
    SourcesCommand, SuggestArgs, SyncArgs, TrustArgs, TryArgs, UpdateArgs, ValidateArgs, Verb,
    VerifyArgs,
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
        Verb::Install(flags!(InstallArgs: references all skill name offline frozen,
            list: false, findings: findings, reading: reading, scope: scope, agents: agents)) => {
            let is_plain = reading.is_none() && scope.is_default() && agents.is_empty();
            accepting(*findings, is_plain)
        }
        Verb::Update(flags!(UpdateArgs: names to diff stash offline, check: false, accept_signer: false,
            findings: findings, force: force, allow_downgrade: downgrade, scope: scope)) => {
            accepting(*findings, !*force && !*downgrade && scope.is_default())
        }
        Verb::Hosts(flags!(HostsArgs:, change: Some(
            // It only restricts; `install.sh --for` runs it in a script.
            flags!(HostAction::Add: hosts scope, mode: None | Some(HookMode::Restrict))
            // An agent asks no more after that, so no agent does it.
            | flags!(HostAction::Remove: hosts scope))))
        // In a layer, the new skill is offered at once.
        | Verb::New(flags!(NewArgs: name description script restrict dir, layer: Some(_))) => {
            (AuthorityClass::Changes, false)
        }
        Verb::Remove(flags!(RemoveArgs: names, scope: scope)) => (AuthorityClass::Changes, scope.is_default()),
        Verb::Rollback(flags!(RollbackArgs: names scope))
        // Others get it, in the name of whoever may write there.
        | Verb::Publish(flags!(PublishArgs: skills to collection sign findings))
        // It also replaces and removes.
        | Verb::Sync(flags!(SyncArgs: list prune findings offline scope))
        // Who may sign is a matter of trust.
        | Verb::Update(flags!(UpdateArgs: names to diff stash offline findings force allow_downgrade scope,
            check: false, accept_signer: true))
        | Verb::Deactivate(flags!(DeactivateArgs: context))
        | Verb::Trust(flags!(TrustArgs: revoke always dir skill, list: false))
        | Verb::Approve(flags!(ApproveArgs: names revoke, list: false))
        | Verb::Enable(flags!(EnableArgs: names name_only))
        | Verb::Disable(flags!(DisableArgs: names user))
        | Verb::Suggest(SuggestArgs { apply: true, .. } | SuggestArgs { local: true, .. })
        // What its user changed is set aside.
        | Verb::Verify(flags!(VerifyArgs: names scope, fix: true))
        // This restores trust in a file that others could have written.
        | Verb::Doctor(flags!(DoctorArgs:, fix: true))
        | Verb::Sources(flags!(SourcesCommand::Add: references name) | flags!(SourcesCommand::Remove: names))
        // Whose signatures count.
        | Verb::Keys(flags!(KeysArgs:, change: Some(
            KeyAction::Add(_) | flags!(KeyAction::Remove: which file) | flags!(KeyAction::Revoke: which file))))
        // A signature vouches for the files, in the name of the key's owner.
        | Verb::Package(flags!(PackageArgs: in_place skills output, sign: Some(_)))
        // A mode that allows, or only asks, loosens.
        | Verb::Hosts(flags!(HostsArgs:, change: Some(flags!(HostAction::Add: hosts scope,
            mode: Some(HookMode::Grant | HookMode::Both | HookMode::Ask)))))
        | Verb::Config(flags!(ConfigCommand::Set: words) | flags!(ConfigCommand::Unset: key))
        | Verb::Proposals(flags!(ProposalsCommand::Approve: ids findings) | flags!(ProposalsCommand::Reject: ids reason))
            => (AuthorityClass::Decides, false),
        Verb::Update(flags!(UpdateArgs: names to diff stash offline findings force allow_downgrade accept_signer,
            check: true, scope: scope))
        | Verb::Verify(flags!(VerifyArgs: names, fix: false, scope: scope)) => {
            (AuthorityClass::Reads, scope.is_default())
        }
        Verb::Proposals(ProposalsCommand::List | flags!(ProposalsCommand::Show: ids))
        | Verb::Search(flags!(SearchArgs: words offline long))
        | Verb::List(flags!(ListArgs: long sbom))
        | Verb::ListInstalled
        | Verb::SearchInstalled(flags!(SearchInstalledArgs: words))
        | Verb::Info(flags!(InfoArgs: names history offline)) => (AuthorityClass::Reads, true),
        Verb::Trust(flags!(TrustArgs: revoke always dir skill, list: true))
        | Verb::Install(flags!(InstallArgs: references all skill name offline frozen findings reading scope agents,
            list: true))
        | Verb::Approve(flags!(ApproveArgs: names revoke, list: true))
        | Verb::Sources(SourcesCommand::List | SourcesCommand::Update)
        | Verb::Config(flags!(ConfigCommand::Get: key) | ConfigCommand::List | ConfigCommand::Path)
        | Verb::New(flags!(NewArgs: name description script restrict dir, layer: None))
        | Verb::Doctor(flags!(DoctorArgs:, fix: false))
        | Verb::Scan(flags!(ScanArgs: targets fail_on offline))
        | Verb::Show(flags!(ShowArgs: references all skill reading file offline))
        | Verb::Validate(flags!(ValidateArgs: paths fix format))
        | Verb::Try(flags!(TryArgs: skill arguments host))
        | Verb::Simulate(flags!(SimulateArgs: files))
        | Verb::Package(flags!(PackageArgs: in_place skills output, sign: None))
        | Verb::Check(flags!(CheckArgs: skill tool arguments agent))
        | Verb::Suggest(flags!(SuggestArgs: skill since, apply: false, local: false))
        | Verb::Audit(flags!(AuditArgs: since skill event limit all summary))
        | Verb::Jobs(flags!(JobsArgs: follow))
        | Verb::Policy(flags!(PolicyArgs:, ask: None | Some(flags!(PolicyAction::Explain: name))))
        | Verb::Keys(flags!(KeysArgs:, change: None))
        | Verb::Hosts(flags!(HostsArgs:, change: None))
        | Verb::Completions(flags!(CompletionsArgs: shell))
        | Verb::Complete(flags!(CompleteArgs: words))
        // The command is the caller's own; it can only do less.
        | Verb::Confine(flags!(ConfineArgs: skill project command)) => (AuthorityClass::Reads, false),
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
