//! What a command does, and the single table of that for each command (docs/policy.md shows it). Each
//! verb is destructured down to its last flag, so a new flag does not compile until it is decided
//! here.

use super::args::{
    Approve, Audit, Check, Complete, Completions, Config, Confine, Deactivate, Disable, Doctor,
    Enable, Hosts, Info, Install, Jobs, Keys, List, New, Package, Policy, Proposals, Publish,
    Remove, Rollback, Scan, Search, SearchInstalled, Show, Simulate, Sources, Suggest, Sync, Trust,
    Try, Update, Validate, Verb, Verify,
};
use super::options::{Common, Findings};
use super::safety::keys::Keying;
use super::safety::policy::Asking;
use super::set_up::hosts::Connecting;
use crate::host::agent::Mode;

/// The decision about `verb` with its flags and those of every command. A model says yes to nothing.
pub fn decision(common: Common, verb: &Verb) -> Decision {
    let decided = of_verb(verb);
    Decision {
        for_models: decided.for_models && !common.yes,
        ..decided
    }
}

#[allow(clippy::too_many_lines, reason = "it is a table, and whole")]
fn of_verb(verb: &Verb) -> Decision {
    match verb {
        Verb::Install(Install {
            list: false,
            findings,
            reading,
            scope,
            references: _,
            all: _,
            skill: _,
            name: _,
            offline: _,
            frozen: _,
            agents,
        }) => {
            let is_plain = reading.is_none() && scope.is_default() && agents.is_empty();
            Decision::accepting(*findings, is_plain)
        }
        Verb::Update(Update {
            check: false,
            accept_signer: false,
            findings,
            force,
            allow_downgrade,
            scope,
            names: _,
            to: _,
            diff: _,
            stash: _,
            offline: _,
        }) => {
            let is_plain = !*force && !*allow_downgrade && scope.is_default();
            Decision::accepting(*findings, is_plain)
        }
                // It only restricts; `install.sh --for` runs it in a script.
        Verb::Hosts(Hosts {
            change:
                Some(
                    Connecting::Add {
                        hosts: _,
                        scope: _,
                        mode: None | Some(Mode::Restrict),
                    }
                    // An agent asks no more after that, so no agent does it.
                    | Connecting::Remove { hosts: _, scope: _ },
                ),
        })
        // In a layer, the new skill is offered at once.
        | Verb::New(New { layer: Some(_), .. }) => Decision::new(Class::Changes),
        Verb::Remove(Remove { names: _, scope }) => {
            Decision::new(Class::Changes).for_models(scope.is_default())
        }
        Verb::Rollback(Rollback { names: _, scope: _ })
        // Others get it, in the name of whoever may write there.
        | Verb::Publish(Publish {
            skills: _,
            to: _,
            collection: _,
            sign: _,
            findings: _,
        })
        // It also replaces and removes.
        | Verb::Sync(Sync {
            list: _,
            prune: _,
            findings: _,
            offline: _,
            scope: _,
        })
        // Who may sign is a matter of trust.
        | Verb::Update(Update {
            accept_signer: true,
            check: false,
            ..
        })
        | Verb::Deactivate(Deactivate { context: _ })
        | Verb::Trust(Trust {
            list: false,
            revoke: _,
            always: _,
            dir: _,
            skill: _,
        })
        | Verb::Approve(Approve {
            list: false,
            names: _,
            revoke: _,
        })
        | Verb::Enable(Enable {
            names: _,
            name_only: _,
        })
        | Verb::Disable(Disable { names: _, user: _ })
        | Verb::Suggest(Suggest { apply: true, .. } | Suggest { local: true, .. })
        // What its user changed is set aside.
        | Verb::Verify(Verify { fix: true, .. })
        // This restores trust in a file that others could have written.
        | Verb::Doctor(Doctor { fix: true, .. })
        | Verb::Sources(
            Sources::Add {
                references: _,
                name: _,
            }
            | Sources::Remove { names: _ },
        )
        // Whose signatures count.
        | Verb::Keys(Keys {
            change:
                Some(
                    Keying::Add(_)
                    | Keying::Remove(_)
                    | Keying::Revoke(_),
                ),
        })
        // A signature vouches for the files, in the name of the key's owner.
        | Verb::Package(Package { sign: Some(_), .. })
        // A mode that allows, or only asks, loosens.
        | Verb::Hosts(Hosts {
            change:
                Some(Connecting::Add {
                    hosts: _,
                    scope: _,
                    mode: Some(Mode::Grant | Mode::Both | Mode::Ask),
                }),
        })
        | Verb::Config(Config::Set { words: _ } | Config::Unset { key: _ } | Config::Edit)
        | Verb::Proposals(
            Proposals::Approve {
                ids: _,
                findings: _,
            }
            | Proposals::Reject { ids: _, reason: _ },
        ) => Decision::new(Class::Decides),
        Verb::Update(Update {
            check: true, scope, ..
        })
        | Verb::Verify(Verify {
            scope,
            fix: false,
            names: _,
        })
 => Decision::reads().for_models(scope.is_default()),
        Verb::Proposals(
            Proposals::List | Proposals::Show { ids: _ },
        )
        | Verb::Search(Search {
            words: _,
            offline: _,
            long: _,
        })
        | Verb::List(List {
            sort: _,
            long: _,
            sbom: _,
        })
        | Verb::ListInstalled
        | Verb::SearchInstalled(SearchInstalled { words: _ })
        | Verb::Info(Info {
            names: _,
            files: false,
            history: _,
            offline: _,
        }) => Decision::reads().for_models(true),
        Verb::Trust(Trust { list: true, .. })
        | Verb::Install(Install { list: true, .. })
        | Verb::Approve(Approve { list: true, .. })
        | Verb::Sources(Sources::List | Sources::Update)
        | Verb::Config(Config::Get { key: _ } | Config::List | Config::Path)
        | Verb::New(New {
            layer: None,
            name: _,
            description: _,
            script: _,
            restrict: _,
            dir: _,
        })
        | Verb::Doctor(Doctor {
            fix: false,
        })
        | Verb::Scan(Scan {
            targets: _,
            rules: _,
            fail_on: _,
            offline: _,
        })
        | Verb::Show(Show {
            references: _,
            all: _,
            skill: _,
            reading: _,
            file: _,
            offline: _,
        })
        | Verb::Validate(Validate {
            paths: _,
            fix: _,
            format: _,
        })
        | Verb::Try(Try {
            skill: _,
            arguments: _,
            host: _,
        })
        | Verb::Simulate(Simulate {
            files: _,
            record: _,
        })
        | Verb::Package(Package {
            sign: None,
            in_place: _,
            skills: _,
            output: _,
        })
        | Verb::Check(Check {
            skill: _,
            tool: _,
            arguments: _,
            agent: _,
        })
        | Verb::Suggest(Suggest {
            skill: _,
            since: _,
            apply: false,
            local: false,
        })
        | Verb::Audit(Audit {
            since: _,
            skill: _,
            event: _,
            limit: _,
            all: _,
            summary: _,
            by: _,
            html: _,
            log: _,
        })
        | Verb::Jobs(Jobs { follow: _ })
        | Verb::Info(Info { files: true, .. })
        | Verb::Policy(Policy {
            ask: None | Some(Asking::Explain { name: _ }),
        })
        | Verb::Keys(Keys { change: None })
        // A plugin runs nothing until a person has Claude Code load it.
        | Verb::Hosts(Hosts {
            change: None | Some(Connecting::Plugin { dir: _, mode: _ }),
        })
        | Verb::Completions(Completions { shell: _ })
        | Verb::Complete(Complete { words: _ })
        // The command is the caller's own; it can only do less.
        | Verb::Confine(Confine {
            skill: _,
            project: _,
            command: _,
        })
        | Verb::Man => Decision::reads(),
    }
}

/// What a command does, which says who may run it (docs/policy.md#what-only-a-person-decides).
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

/// The decision about a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// What it does.
    pub class: Class,
    /// Whether the model's tool offers it, but without flags that give consent or choose a place.
    pub for_models: bool,
}

impl Decision {
    pub(super) fn new(class: Class) -> Self {
        Self {
            class,
            for_models: false,
        }
    }

    pub(super) fn reads() -> Self {
        Self::new(Class::Reads)
    }

    /// A change, but accepting the scan's findings decides. Models may if it `is_plain`.
    pub(super) fn accepting(findings: Findings, is_plain: bool) -> Self {
        if findings.accept_findings {
            return Self::new(Class::Decides);
        }
        Self::new(Class::Changes).for_models(is_plain)
    }

    pub(super) fn for_models(mut self, is: bool) -> Self {
        self.for_models = is;
        self
    }
}

#[cfg(test)]
mod tests;
