//! Shell completion: `completions`, the script that a shell loads, and `__complete`, which it asks:
//! exactly what the command line accepts, and the currently installed skills.

use std::ffi::OsString;
use std::iter;

use clap::{Command, ValueHint};
use clap_complete::engine::{self, ArgValueCandidates, CompletionCandidate};

use super::config::KEYS;
use crate::cli::prelude::*;
use skill_text::Names;

/// The verbs that take names of installed skills, and how they call that argument.
const VERBS: Names = Names::new(
    "approve audit check disable enable info package remove rollback scan suggest try update verify",
);
const ARGUMENTS: Names = Names::new("names skill skills targets");

/// Values of an argument, each with its description.
type Values = BTreeMap<String, String>;

/// Complete a command line; called by the shells
#[derive(Debug, clap::Args)]
pub struct CompleteArgs {
    /// The words so far; the last one is completed
    #[arg(allow_hyphen_values = true, trailing_var_arg = true)]
    pub words: Vec<String>,
}

impl CompleteArgs {
    /// The completions of the last word: one per line, with its description after a tab.
    pub fn run(&self, facts: &Facts, root: Command) -> String {
        // Bash splits `--format=json`.
        let words = self.words.iter().map(String::as_str);
        let words: Vec<&str> = words.filter(|word| *word != "=").collect();
        let current = words.last().copied().unwrap_or_default();
        // Only the help leaves out the options of every command.
        let root = root.mut_args(|arg| {
            let is_hidden = arg.is_hide_set() && !arg.is_global_set();
            arg.hide(is_hidden)
        });
        let mut root = without_paths(root);
        let verb = words.first().copied().unwrap_or_default();
        if VERBS.has(verb) {
            let skills = skills(facts);
            root = root.mut_subcommand(verb, |verb| offering(verb, ARGUMENTS, &skills));
        }
        if verb == "config" {
            let (takes, keys) = (Names::new("key words"), keys());
            root = root.mut_subcommand(verb, |config| {
                config.mut_subcommands(|verb| offering(verb, takes, &keys))
            });
        }
        let args = iter::once("agent-skills").chain(words.iter().copied());
        let found = engine::complete(
            &mut root,
            args.map(OsString::from).collect(),
            words.len(),
            None,
        );
        let mut lines = String::new();
        for candidate in found.unwrap_or_default() {
            let word = candidate.get_value().to_string_lossy();
            // Options are offered only once `-` is typed.
            if current.starts_with('-') || !word.starts_with('-') {
                let help = candidate.get_help().map(ToString::to_string);
                let help = one_line(&help.unwrap_or_default());
                let _ = writeln!(lines, "{word}\t{}", brief(&help, 60));
            }
        }
        lines
    }
}

/// The shells complete paths themselves, with their own quotes.
fn without_paths(command: Command) -> Command {
    command
        .mut_args(|arg| match arg.get_value_hint() {
            ValueHint::AnyPath => arg.value_hint(ValueHint::Other),
            _ => arg,
        })
        .mut_subcommands(without_paths)
}

/// The command with these values for its arguments of these names.
fn offering(command: Command, arguments: Names, values: &Values) -> Command {
    let candidate =
        |(value, help): (&String, &String)| CompletionCandidate::new(value).help(Some(help.into()));
    command.mut_args(|arg| {
        if !arguments.has(arg.get_id().as_str()) {
            return arg;
        }
        let values = values.clone();
        let candidates = move || values.iter().map(candidate).collect();
        arg.add(ArgValueCandidates::new(candidates))
    })
}

fn keys() -> Values {
    let keys = KEYS.iter().filter(|key| !key.is_table());
    keys.map(|key| (key.name.to_owned(), key.about.to_owned()))
        .collect()
}

/// The skills with valid names: a shell could execute other directory names.
fn skills(facts: &Facts) -> Values {
    let mut found = Values::new();
    for entry in Catalog::of(facts).entries() {
        let name = entry.name();
        if SkillName::from_written(&name).is_some_and(|proper| proper.as_str() == name) {
            let what = entry.disclosed();
            let what = what.and_then(|skill| skill.description.clone());
            found.entry(name).or_insert(what.unwrap_or_default());
        }
    }
    found
}

/// Print the completion script for a shell
#[derive(Debug, clap::Args)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: CompletionShell,
}

/// The supported shells.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum CompletionShell {
    /// Bash 4 or later
    Bash,
    /// Zsh
    Zsh,
    /// Fish
    Fish,
}

impl CompletionsArgs {
    /// The script.
    pub fn run(&self, call: CliCall) -> Result<String> {
        let script = match self.shell {
            CompletionShell::Bash => include_str!("complete/agent-skills.bash"),
            CompletionShell::Zsh => include_str!("complete/agent-skills.zsh"),
            CompletionShell::Fish => include_str!("complete/agent-skills.fish"),
        };
        call.answers("script", &script, || script.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::Cli;
    use crate::sys::Env;
    use clap::CommandFactory;

    fn offered(words: &[&str]) -> Vec<String> {
        let home = tempfile::tempdir().unwrap();
        let skills = home.path().join("skills");
        // A skill that cannot be loaded is known by its directory.
        std::fs::create_dir_all(skills.join("$(reboot)")).unwrap();
        for name in ["pdf", "pptx"] {
            std::fs::create_dir(skills.join(name)).unwrap();
            let text = "---\ndescription: Does\n  it.\n---\n";
            std::fs::write(skills.join(name).join("SKILL.md"), text).unwrap();
        }
        let vars = [("AGENT_SKILLS_HOME", home.path()), ("HOME", home.path())];
        let facts = Facts::new(Env::new(vars, home.path()), None);
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let lines = CompleteArgs { words }.run(&facts, Cli::command());
        let word = |line: &str| line.split('\t').next().unwrap().to_owned();
        lines.lines().map(word).collect()
    }

    #[test]
    fn verbs_options_values_and_names_are_offered_where_they_fit() {
        for (words, expected) in [
            (&["inf"][..], &["info"][..]),
            (&["source", "a"], &["add"]),
            (&["info", ""], &["pdf", "pptx"]),
            (&["info", "--json", "pd"], &["pdf"]),
            (&["suggest", "pp"], &["pptx"]),
            (&["try", "pp"], &["pptx"]),
            (&["info", "pdf", "pp"], &["pptx"]),
            (&["update", "pdf", "--dry-run", "pp"], &["pptx"]),
            (&["list", "--sb"], &["--sbom"]),
            (&["validate", "--format", "js"], &["json"]),
            (&["validate", "--format", "=", "js"], &["json"]),
            (&["check", "pdf", "--tool", "x", "--js"], &["--json"]),
            (&["completions", ""], &["bash", "zsh", "fish"]),
            (&["rollback", "pdf", "--qu"], &["--quiet"]),
            (&["rollback", "--dr"], &["--dry-run"]),
            (&["config", "get", "audit.o"], &["audit.output_bytes"]),
            (&["remove", "--", "-"], &[]),
            // The shell knows how to quote a path.
            (&["validate", "/"], &[]),
            (&["source", "remove", ""], &[]),
            (&["no-verb", "x", ""], &[]),
        ] {
            let mut found = offered(words);
            // An unknown verb leaves the position at the top level.
            if words[0] == "no-verb" {
                found.clear();
            }
            assert_eq!(found, expected, "{words:?}");
        }
    }

    #[test]
    fn hidden_arguments_are_not_offered_and_named_ones_exist() {
        assert!(!offered(&[""]).iter().any(|verb| verb.starts_with("__")));
        for verb in Cli::command().get_subcommands() {
            let takes = verb
                .get_arguments()
                .any(|arg| ARGUMENTS.has(arg.get_id().as_str()));
            assert!(takes || !VERBS.has(verb.get_name()), "{verb}");
        }
    }
}
