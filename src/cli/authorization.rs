//! The single function that checks whether the caller may run a command (see `decisions`), and what a
//! model may install without its user (docs/spec/restriction.md#always-allowed).

use crate::cli::prelude::*;
use clap::Parser;

use super::args::{Cli, Verb};
use super::decisions::{AuthorityClass, decision};
use crate::marketplace::within_sources;
use crate::policy::ModelInstalls;
use crate::protocol::{ModelInstall, OwnToolCall, Request};
use crate::session::snapshot;

/// Allows the caller to run `verb`, or refuses.
///
/// # Errors
/// When a person has to decide it.
pub fn authorize(call: CliCall, verb: &Verb) -> Result<()> {
    let (class, _) = decision(call.common, verb);
    if class == AuthorityClass::Reads {
        return Ok(());
    }
    let agent = ancestor_agent(call);
    let is_persons = call.caller != Caller::Host && agent.is_none();
    let in_force = |name: &String| is_in_force(call.facts, name);
    match (class, verb) {
        // Nothing is decided by it, and it shows a user's own program what that user may read.
        (AuthorityClass::Decides, _) if call.common.dry_run && is_persons => Ok(()),
        (AuthorityClass::Decides, _) => require_person(call),
        // It asks nobody, so without a terminal somebody has to have said yes.
        (_, Verb::Remove(_)) if is_persons && !call.common.yes && !call.common.dry_run => {
            require_person(call)
                .map_err(|error| error.hint("run it in a terminal; in a script add `--yes`"))
        }
        _ if is_persons => Ok(()),
        (_, Verb::Remove(remove)) if remove.names.iter().any(in_force) => {
            Err(people_only(agent.as_ref(), call))
        }
        // `pre_tool` has decided on a model's request; a direct call comes from the user.
        _ if agent.is_none() => Ok(()),
        _ => match authorize_model(call.facts, call.words) {
            ModelInstall::Allowed => Ok(()),
            ModelInstall::AllowedAs(reference) => {
                let words = one_line(&call.words.join(" "));
                let text = format!("`{words}` is ambiguous");
                Err(Error::new(text).hint(format!("write `agent-skills install {reference}`")))
            }
            ModelInstall::Refused(_) => Err(people_only(agent.as_ref(), call)),
        },
    }
}

/// Whether the skill `written` restricts something or is always on: its removal would allow what it
/// denies.
fn is_in_force(facts: &Facts, written: &str) -> bool {
    let catalog = Catalog::naming(facts, written);
    let is_meant = |entry: &&Entry| {
        entry.name() == written || entry.dir.file_name().is_some_and(|dir| dir == written)
    };
    let named = catalog.by_name(written).into_iter();
    let mut meant = catalog.entries().iter().filter(is_meant).chain(named);
    meant.any(|entry| {
        let skill = entry.disclosed();
        let restricts = skill.is_some_and(|skill| snapshot(skill, "").is_restricted());
        restricts || is_always_on(facts, entry)
    })
}

/// Whether it is always on in any context, even one invisible from this one. Doubt counts as yes.
fn is_always_on(facts: &Facts, entry: &Entry) -> bool {
    facts.config().map_or(true, |config| {
        let names_skill = |name: &str| {
            let catalog = Catalog::naming(facts, name);
            let qualified = catalog.by_qualified_name(name);
            let named = qualified.or_else(|| catalog.by_name(name));
            named.is_some_and(|named| named.dir == entry.dir)
        };
        config.uses_skills.names().any(names_skill)
    })
}

const DECIDED_BY_PEOPLE: &str = "Only the user decides on proposals; a model may list and show them. Tell the user: agent-skills proposals list";

/// Decides on a call of `skill_marketplace`.
pub fn model_install(facts: &Facts, request: &Request) -> ModelInstall {
    // An invalid call installs nothing, and the tool itself reports the error.
    let Some(OwnToolCall::Command(words)) = request.our_call() else {
        return ModelInstall::Allowed;
    };
    match authorize_model(facts, words) {
        // The reference can only be replaced where it is a separate argument.
        ModelInstall::AllowedAs(_) if request.arguments.get("action").is_none() => {
            refused(&facts.run, &words.join(" "), SOURCES)
        }
        decided => decided,
    }
}

/// Decides on a command line as if a model requested it: only commands of its tool, and installs
/// only from configured sources.
pub fn authorize_model(facts: &Facts, words: &[String]) -> ModelInstall {
    let line = std::iter::once("agent-skills").chain(words.iter().map(String::as_str));
    // An invalid command does nothing, and reports the error itself.
    let Ok(Cli {
        common,
        verb: Some(verb),
    }) = Cli::try_parse_from(line)
    else {
        return ModelInstall::Allowed;
    };
    let (_, for_models) = decision(common, &verb);
    if !for_models {
        return ModelInstall::Refused(match verb {
            Verb::Proposals(_) => DECIDED_BY_PEOPLE.to_owned(),
            _ => for_people(words),
        });
    }
    let Verb::Install(install) = verb else {
        return ModelInstall::Allowed;
    };
    let [reference] = &*install.references else {
        let words = match &*install.references {
            [] => "install REFERENCE".to_owned(),
            _ => words.join(" "),
        };
        return refused(&facts.run, &words, "one skill at a time");
    };
    let install = format!("install {reference}");
    match facts.config().map(|config| config.model_installs) {
        Ok(ModelInstalls::Any) => ModelInstall::Allowed,
        Ok(ModelInstalls::Sources) => match within_sources(&facts.run.dirs.plugin, reference) {
            Some(spelled) if spelled == *reference => ModelInstall::Allowed,
            Some(spelled) => ModelInstall::AllowedAs(spelled),
            None => refused(&facts.run, &install, SOURCES),
        },
        Ok(ModelInstalls::Off) | Err(_) => refused(&facts.run, &install, "nothing"),
    }
}

const SOURCES: &str = "a skill of a configured source";

/// The message to a model for a command that only the user may run.
fn for_people(words: &[String]) -> String {
    format!(
        "This is not allowed without the user, who decides it. Tell the user to check it and run in a terminal: agent-skills {}",
        shell_command(words)
    )
}

fn refused(run: &RunContext, command: &str, permitted: &str) -> ModelInstall {
    let command = host_command(run, command);
    ModelInstall::Refused(format!(
        "This is not allowed without the user: a model may install only {permitted}. Tell the user to check it and run: {command}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Protocol;
    use crate::host::ours;
    use crate::protocol::ToolUse;
    use crate::sys::Env;
    use serde_json::{Value, json};
    use std::path::Path;

    fn decided(arguments: &Value) -> ModelInstall {
        let home = tempfile::tempdir().unwrap();
        let env = Env::new([("AGENT_SKILLS_HOME", home.path())], Path::new("/"));
        let facts = Facts::new(env, Some(Protocol::Stdin));
        let used = ToolUse {
            tool: ours::MARKETPLACE.to_owned(),
            arguments: arguments.clone(),
        };
        model_install(&facts, &Request::of_chibi(&facts, used))
    }

    fn install(reference: &str) -> ModelInstall {
        decided(&json!({"action": "install", "skill_ref": reference}))
    }

    #[test]
    fn a_model_installs_from_configured_sources_only() {
        assert_eq!(install("anthropics/skills@pdf"), ModelInstall::Allowed);
        assert_eq!(
            install("https://github.com/anthropics/skills"),
            ModelInstall::Allowed
        );
        let spelled = ModelInstall::AllowedAs("github:anthropics/skills@pdf".to_owned());
        assert_eq!(install("anthropics/pdf"), spelled);
    }

    #[test]
    fn anything_else_is_the_users_to_install() {
        for reference in [
            "evil/skills@pdf",
            "./here",
            "/etc",
            "https://evil.example/x.git",
            "anthropics-x/pdf",
        ] {
            let ModelInstall::Refused(message) = install(reference) else {
                panic!("{reference}")
            };
            assert!(
                message.contains(&format!("\"install {reference}\"")),
                "{message}"
            );
        }
        for second in ["evil/x", "anthropics/skills@csv"] {
            let two = decided(&json!({"args": ["install", "anthropics/skills@pdf", second]}));
            assert!(matches!(two, ModelInstall::Refused(_)), "{second}");
        }
        let words = decided(&json!({"args": ["install", "--yes", "evil/x"]}));
        assert!(matches!(words, ModelInstall::Refused(_)));
        let accepting = json!({"args": ["install", "--accept-findings", "anthropics/skills@pdf"]});
        assert!(matches!(decided(&accepting), ModelInstall::Refused(_)));
    }

    #[test]
    fn what_a_user_is_to_copy_runs_one_command() {
        let reference = "evil/x\"; $(touch a) `touch b` | sh & ' \\ > c";
        let ModelInstall::Refused(message) = install(reference) else {
            panic!()
        };
        let command = message.split("and run: ").nth(1).unwrap();
        assert!(
            !command.contains(['$', '`', ';', '|', '&', '\\', '>', '\'']),
            "{command}"
        );
        assert_eq!(command.matches('"').count(), 2, "{command}");
    }

    #[test]
    fn only_the_user_widens_what_a_model_may_install() {
        for words in [
            &["source", "add", "evil/x"][..],
            &["sync", "./x"],
            &["install"],
            &["install", "--reading=path", "anthropics/skills@pdf"],
            &["update", "--yes"],
            &["install", "--layer=personal", "anthropics/skills@pdf"],
            &["remove", "--layer", "personal", "x"],
            &["trust", "--always"],
            &["approve", "x"],
            &["enable", "x"],
            &["config", "set", "enforce", "off"],
            &["update", "-y", "pdf"],
            &["update", "--allow-downgrade"],
            &["rollback", "pdf"],
            &["deactivate"],
            &["remove", "--yes", "x"],
            &["list", "--yes"],
        ] {
            let ModelInstall::Refused(message) = decided(&json!({"args": words})) else {
                panic!("{words:?}")
            };
            // Through the host, most of these are refused.
            let shell = words[0] != "install" || words.contains(&"--yes");
            let said = !shell || !message.contains("chibi") && !message.contains("may install");
            assert!(said, "{message}");
        }
    }

    #[test]
    fn other_actions_and_nonsense_pass() {
        for arguments in [
            json!({"action": "search", "query": "x"}),
            json!({"action": "remove", "skill_ref": "x"}),
            json!({"args": ["list_installed"]}),
            json!(3),
            json!({}),
        ] {
            assert_eq!(decided(&arguments), ModelInstall::Allowed);
        }
    }
}
