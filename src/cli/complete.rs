//! Shell completion. The shells query this program, so they offer exactly what the command line
//! accepts, and the currently installed skills.

use clap::{Arg, Command, CommandFactory};

use super::args::Cli;
use super::options::Shell;
use crate::run_context::RunContext;
use crate::skill::{SkillName, brief, one_line};

/// Verbs and arguments that take the name of an installed skill.
const SKILLS: [(&str, &str); 13] = [
    ("approve", "name"),
    ("audit", "skill"),
    ("check", "skill"),
    ("disable", "name"),
    ("enable", "name"),
    ("info", "name"),
    ("outdated", "names"),
    ("remove", "name"),
    ("rollback", "name"),
    ("scan", "target"),
    ("tree", "name"),
    ("update", "names"),
    ("verify", "names"),
];

/// Possible words, each with a description.
type Candidates = Vec<(String, String)>;

/// The script that a shell loads.
pub fn script(shell: Shell) -> &'static str {
    match shell {
        Shell::Bash => include_str!("complete/agent-skills.bash"),
        Shell::Zsh => include_str!("complete/agent-skills.zsh"),
        Shell::Fish => include_str!("complete/agent-skills.fish"),
    }
}

/// The completions of the last of `words`: one per line, with its description after a tab.
pub fn complete(app: &RunContext, words: &[String]) -> String {
    // Bash splits `--sort=name`.
    let mut words: Vec<&str> = words
        .iter()
        .map(String::as_str)
        .filter(|w| *w != "=")
        .collect();
    let current = words.pop().unwrap_or_default();
    let mut root = Cli::command();
    root.build();
    let place = Place::after(&root, &words);
    let found = place.candidates(app, current);
    let fitting = found.iter().filter(|(word, _)| word.starts_with(current));
    let line = |(word, what): &(String, String)| format!("{word}\t{}\n", brief(what, 60));
    fitting.map(line).collect()
}

struct Place<'a> {
    command: &'a Command,
    /// The number of verbs that lead to the command.
    depth: usize,
    value_of: Option<&'a Arg>,
    /// The number of the command's operands before it.
    operands: usize,
    /// Whether it follows `--`.
    only_operands: bool,
}

impl<'a> Place<'a> {
    fn after(root: &'a Command, words: &[&str]) -> Self {
        let mut place = Self {
            command: root,
            depth: 0,
            value_of: None,
            operands: 0,
            only_operands: false,
        };
        for word in words {
            if place.value_of.take().is_some() {
                continue;
            }
            if place.only_operands || !word.starts_with('-') {
                match place.command.find_subcommand(word) {
                    Some(verb) if !place.only_operands => {
                        place.command = verb;
                        place.depth += 1;
                    }
                    _ => place.operands += 1,
                }
            } else if *word == "--" {
                place.only_operands = true;
            } else {
                place.value_of = place
                    .option(word)
                    .filter(|arg| arg.get_action().takes_values());
            }
        }
        place
    }

    fn option(&self, word: &str) -> Option<&'a Arg> {
        self.command.get_arguments().find(|arg| {
            let long = arg
                .get_long()
                .is_some_and(|long| word == format!("--{long}"));
            long || arg
                .get_short()
                .is_some_and(|short| word == format!("-{short}"))
        })
    }

    fn candidates(&self, app: &RunContext, current: &str) -> Candidates {
        if let Some(arg) = self.value_of {
            return self.values(app, arg);
        }
        if current.starts_with('-') && !self.only_operands {
            return options(self.command);
        }
        let verbs = self
            .command
            .get_subcommands()
            .filter(|verb| !verb.is_hide_set());
        let mut found: Candidates = verbs
            .map(|verb| (verb.get_name().to_owned(), told(verb.get_about())))
            .collect();
        let operand = self.command.get_positionals().nth(self.operands);
        let last = || self.command.get_positionals().last();
        let operand = operand.or_else(|| last().filter(|arg| takes_several(arg)));
        if let Some(operand) = operand {
            found.extend(self.values(app, operand));
        }
        found
    }

    fn values(&self, app: &RunContext, arg: &Arg) -> Candidates {
        let verb = self.command.get_name();
        // The verb of `sources remove` is a different one.
        if self.depth == 1 && SKILLS.contains(&(verb, arg.get_id().as_str())) {
            return skills(app);
        }
        if arg.get_id() == "key" {
            let settings = app.settings().unwrap_or_default();
            let known = settings.into_iter();
            return known
                .map(|one| (one.key, one_line(&one.value.to_string())))
                .collect();
        }
        let values = arg.get_possible_values();
        let shown = values.iter().filter(|value| !value.is_hide_set());
        shown
            .map(|value| (value.get_name().to_owned(), told(value.get_help())))
            .collect()
    }
}

fn takes_several(operand: &Arg) -> bool {
    let takes = operand.get_num_args();
    takes.is_some_and(|takes| takes.max_values() > 1)
}

fn options(command: &Command) -> Candidates {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
    shown
        .filter_map(|arg| Some((format!("--{}", arg.get_long()?), told(arg.get_help()))))
        .collect()
}

/// The skills with valid names: a shell could execute other directory names.
fn skills(app: &RunContext) -> Candidates {
    let catalog = app.catalog();
    let proper = |name: &String| SkillName::from_written(name).is_some_and(|n| n.as_str() == name);
    let mut found: Candidates = catalog
        .entries()
        .iter()
        .map(|entry| {
            let skill = entry.disclosed();
            let what = skill.and_then(|skill| skill.description.as_deref());
            (entry.name(), one_line(what.unwrap_or_default()))
        })
        .filter(|(name, _)| proper(name))
        .collect();
    found.sort();
    found.dedup_by(|a, b| a.0 == b.0);
    found
}

fn told(text: Option<&clap::builder::StyledStr>) -> String {
    text.map(|text| one_line(&text.to_string()))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::Env;

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
        let app = RunContext::new(Env::new(vars, home.path()), None);
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let lines = complete(&app, &words);
        let word = |line: &str| line.split('\t').next().unwrap().to_owned();
        lines.lines().map(word).collect()
    }

    #[test]
    fn verbs_options_values_and_names_are_offered_where_they_fit() {
        for (words, expected) in [
            (&["inf"][..], &["info"][..]),
            (&["sources", "a"], &["add"]),
            (&["info", ""], &["pdf", "pptx"]),
            (&["info", "--json", "pd"], &["pdf"]),
            (&["info", "pdf", ""], &[]),
            (&["update", "pdf", "--dry-run", "pp"], &["pptx"]),
            (&["list-installed", "--so"], &["--sort"]),
            (&["list-installed", "--sort", "to"], &["tokens"]),
            (&["list-installed", "--sort", "=", "to"], &["tokens"]),
            (&["check", "pdf", "--tool", "x", "--js"], &["--json"]),
            (&["completions", ""], &["bash", "zsh", "fish"]),
            (&["config", "get", "audit.o"], &["audit.output_bytes"]),
            (&["remove", "--", "-"], &[]),
            (&["sources", "remove", ""], &[]),
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
    fn what_is_hidden_is_not_offered_and_every_argument_named_here_exists() {
        assert!(!offered(&[""]).iter().any(|verb| verb.starts_with("__")));
        let root = Cli::command();
        for (verb, argument) in SKILLS {
            let verb = root.find_subcommand(verb).unwrap();
            assert!(verb.get_arguments().any(|arg| arg.get_id() == argument));
        }
    }
}
