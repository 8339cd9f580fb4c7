//! The single table of what each command decides and who may run it (docs/policy.md shows it). Each
//! verb is destructured down to its last flag, so a new flag does not compile until it is decided
//! here.

use super::args::Verb;
use super::author_args::{New, Pack, Simulate, Try, Validate};
use super::check::Check;
use super::history::HistoryOf;
use super::options::{
    AuditFilter, Catalogue, ConfigVerb, Consent, Doctor, Install, Listing, Scope, Sources, Update,
    Wanted,
};
use super::proposals::ProposalVerb;
use super::trust::{Meant, TrustOf};
use crate::skill::one_line;

/// Who may run a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// Anybody: it only reads, or writes what any editor could.
    Anyone,
    /// It installs or changes skills: anybody outside a host; below a host, only what the model's
    /// tool allows.
    Installer,
    /// It removes a skill: a person, or the model's tool unless the skill restricts something or is
    /// always on.
    Remover,
    /// A person.
    Person,
}

/// The decision about a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Who may run it.
    pub who: Who,
    /// Whether the model's tool offers it, but without flags that give consent or choose a place.
    pub for_models: bool,
    /// Its name in a message.
    pub command: String,
}

impl Decision {
    fn new(who: Who, command: impl Into<String>) -> Self {
        Self {
            who,
            for_models: false,
            command: command.into(),
        }
    }

    fn for_models(mut self, is: bool) -> Self {
        self.for_models = is;
        self
    }
}

/// The decision about `verb` with its flags.
#[allow(clippy::too_many_lines, reason = "it is a table, and whole")]
pub fn decision(verb: &Verb) -> Decision {
    let anyone = |command| Decision::new(Who::Anyone, command);
    let person = |command: &str| Decision::new(Who::Person, command);
    let named = |verb: &str, name: &str| format!("{verb} {}", one_line(name));
    match verb {
        Verb::Install(install) => of_install(install),
        Verb::Remove { name, scope } => {
            let removes = Decision::new(Who::Remover, named("remove", name));
            removes.for_models(is_default(*scope))
        }
        Verb::Update(update) => of_update(update),
        Verb::Outdated {
            names: _,
            scope,
            json: _,
        } => anyone("outdated").for_models(is_default(*scope)),
        Verb::Rollback { name, scope: _ } => person(&named("rollback", name)),
        Verb::History(HistoryOf {
            name: _,
            offline: _,
            json: _,
            scope,
        }) => anyone("history").for_models(is_default(*scope)),
        Verb::Proposals(verb) => of_proposals(verb),
        Verb::Verify {
            names: _,
            scope,
            json: _,
        } => anyone("verify").for_models(is_default(*scope)),
        Verb::Link {
            dir: _,
            name: _,
            scope: _,
        } => Decision::new(Who::Installer, "link"),
        Verb::ImportLock {
            path: _,
            consent,
            scope: _,
        } => consenting("import-lock", *consent),
        Verb::Scan {
            target: _,
            json: _,
            fail_on: _,
            offline: _,
        } => anyone("scan"),
        Verb::Show { wanted, json: _ } => {
            let Wanted {
                reference: _,
                reading: _,
                offline: _,
            } = wanted;
            anyone("show")
        }
        Verb::Cat {
            file: _,
            offline: _,
        } => anyone("cat"),
        Verb::Sources(verb) => match verb {
            Sources::Add {
                reference: _,
                name: _,
            } => person("sources add"),
            Sources::Remove { name } => person(&named("sources remove", name)),
            Sources::List { json: _ } => anyone("sources list"),
            Sources::Update => anyone("sources update"),
        },
        Verb::List(catalogue) => looking("list", catalogue),
        Verb::Search {
            words: _,
            catalogue,
        } => looking("search", catalogue),
        Verb::ListInstalled(Listing {
            sort: _,
            long: _,
            json: _,
        }) => anyone("list-installed").for_models(true),
        Verb::SearchInstalled { words: _, json: _ } => anyone("search-installed").for_models(true),
        Verb::Use { name: _, query: _ } => anyone("use").for_models(true),
        Verb::Info { name: _, json: _ } => anyone("info").for_models(true),
        Verb::Deactivate { context: _ } => person("deactivate"),
        Verb::Trust(TrustOf {
            list,
            always: _,
            meant: Meant { dir: _, skill: _ },
        }) => {
            if *list {
                anyone("trust --list")
            } else {
                person("trust")
            }
        }
        Verb::Untrust(Meant { dir: _, skill: _ }) => person("untrust"),
        Verb::Approve { name } => person(&named("approve", name)),
        Verb::Enable { name, name_only: _ } => person(&named("enable", name)),
        Verb::Disable { name, user: _ } => person(&named("disable", name)),
        Verb::Config { verb } => match verb {
            ConfigVerb::Set { key: _, value: _ } => person("config set"),
            ConfigVerb::Get { key: _ } | ConfigVerb::List { json: _ } | ConfigVerb::Path => {
                anyone("config")
            }
        },
        Verb::New(New {
            name: _,
            description: _,
            script: _,
            restrict: _,
            dir: _,
            layer,
        }) => match layer {
            // In a layer, the new skill is offered at once.
            Some(_) => Decision::new(Who::Installer, "new --layer"),
            None => anyone("new"),
        },
        // This restores trust in a file that others could have written.
        Verb::Doctor(Doctor { fix: true, json: _ }) => person("doctor --fix"),
        Verb::Doctor(Doctor {
            fix: false,
            json: _,
        }) => anyone("doctor"),
        Verb::Validate(Validate {
            paths: _,
            strict: _,
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
            json: _,
        })
        | Verb::Package(Pack {
            skill: _,
            output: _,
        })
        | Verb::Check(Check {
            skill: _,
            tool: _,
            arguments: _,
            json: _,
        })
        | Verb::Audit(AuditFilter {
            since: _,
            skill: _,
            event: _,
            json: _,
        })
        | Verb::ReadProperties { path: _ }
        | Verb::ToPrompt { paths: _ }
        | Verb::Jobs { follow: _, json: _ }
        | Verb::Tree { name: _, json: _ }
        | Verb::Stats { since: _, json: _ }
        | Verb::Completions { shell: _ }
        | Verb::Man
        | Verb::Complete { words: _ } => anyone("look"),
    }
}

/// The decision about an install. Accepting the scan's findings needs a person.
fn of_install(install: &Install) -> Decision {
    let Install {
        reference,
        consent,
        all: _,
        skill: _,
        name: _,
        reading,
        offline: _,
        frozen: _,
        scope,
    } = install;
    let is_plain = is_unconsented(*consent) && reading.is_none() && is_default(*scope);
    let command = match reference {
        Some(reference) => format!("install {}", one_line(reference)),
        None => "install".to_owned(),
    };
    consenting(&command, *consent).for_models(is_plain)
}

fn of_update(update: &Update) -> Decision {
    let Update {
        names: _,
        consent,
        dry_run: _,
        diff: _,
        force,
        allow_downgrade,
        stash: _,
        offline: _,
        scope,
    } = update;
    let is_plain = is_unconsented(*consent) && !force && !allow_downgrade && is_default(*scope);
    consenting("update", *consent).for_models(is_plain)
}

fn of_proposals(verb: &ProposalVerb) -> Decision {
    let on = |verb: &str, id: &str| format!("proposals {verb} {}", one_line(id));
    match verb {
        ProposalVerb::List { json: _ } => Decision::new(Who::Anyone, "proposals list"),
        ProposalVerb::Show { id } => Decision::new(Who::Anyone, on("show", id)),
        // It is stored with its author.
        ProposalVerb::Comment { id, text: _ } => Decision::new(Who::Anyone, on("comment", id)),
        ProposalVerb::Approve { id, consent: _ } => {
            return Decision::new(Who::Person, on("approve", id));
        }
        ProposalVerb::Reject { id, reason: _ } => {
            return Decision::new(Who::Person, on("reject", id));
        }
    }
    .for_models(true)
}

fn looking(command: &str, catalogue: &Catalogue) -> Decision {
    let Catalogue {
        offline: _,
        sort: _,
        long: _,
        json: _,
    } = catalogue;
    Decision::new(Who::Anyone, command).for_models(true)
}

fn consenting(command: &str, consent: Consent) -> Decision {
    let Consent {
        yes: _,
        accept_findings,
    } = consent;
    if accept_findings {
        return Decision::new(Who::Person, format!("{command} --accept-findings"));
    }
    Decision::new(Who::Installer, command)
}

fn is_unconsented(consent: Consent) -> bool {
    let Consent {
        yes,
        accept_findings,
    } = consent;
    !yes && !accept_findings
}

fn is_default(scope: Scope) -> bool {
    scope.is_default()
}

#[cfg(test)]
mod tests {
    use super::super::args::Cli;
    use super::*;
    use clap::{CommandFactory, Parser};

    /// The rows of docs/policy.md: the words, who may run it, and whether models may.
    fn rows() -> Vec<(Vec<&'static str>, Who, bool)> {
        let text = include_str!("../../docs/policy.md");
        let section = text.split("## What only a person decides").nth(1).unwrap();
        let section = section.split("\n## ").next().unwrap();
        let rows = section.lines().filter_map(|line| {
            let cells: Vec<&str> = line.strip_prefix("| `")?.split(" | ").collect();
            let words = cells[0].trim_end_matches('`').split_whitespace().collect();
            let who = match cells[1].split(',').next().unwrap() {
                "anyone" => Who::Anyone,
                "an installer" => Who::Installer,
                "a remover" => Who::Remover,
                "a person" => Who::Person,
                other => panic!("{other}"),
            };
            Some((words, who, cells[2].starts_with("yes")))
        });
        rows.collect()
    }

    #[test]
    fn the_documentation_says_what_holds() {
        for (words, who, for_models) in rows() {
            let line = ["agent-skills"].iter().chain(&words);
            let cli =
                Cli::try_parse_from(line).unwrap_or_else(|error| panic!("{words:?}: {error}"));
            let decided = decision(&cli.verb.unwrap());
            assert_eq!(
                (decided.who, decided.for_models),
                (who, for_models),
                "{words:?}"
            );
        }
    }

    #[test]
    fn every_verb_is_in_the_documentation() {
        let mut missing = Vec::new();
        for verb in Cli::command().get_subcommands() {
            let inner: Vec<&str> = verb
                .get_subcommands()
                .map(clap::Command::get_name)
                .collect();
            let is_there = |words: &[&str]| rows().iter().any(|(row, ..)| row.starts_with(words));
            if inner.is_empty() && !is_there(&[verb.get_name()]) {
                missing.push(verb.get_name().to_owned());
            }
            let lacking = inner
                .iter()
                .filter(|inner| !is_there(&[verb.get_name(), inner]));
            missing.extend(lacking.map(|inner| format!("{} {inner}", verb.get_name())));
        }
        assert!(missing.is_empty(), "{missing:?}");
    }
}
