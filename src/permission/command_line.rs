//! Connects the rules to the shell module: which rules grant a simple command or a redirection to a
//! file, and which denials cover the command.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::Path;

use super::arg_matcher::ArgMatcher;
use super::command::{Canonical, CommandPattern};
use super::evidence::{CitedRule, Grant, Part};
use super::list::Purpose;
use super::path::Located;
use super::path_context::PathContext;
use super::places::Places;
use super::refusal::Refusal;
use super::rule::Rule;
use super::shell::{self, Guard, Readings, Touched, Variables};
use super::stacking::{Denials, Group, InForce};
use super::tool_matcher::Tool;
use crate::host::shell::Language;

/// The shell command of a call. Facts that several checks need are computed once.
pub struct CommandLine<'a> {
    text: &'a str,
    tool: Tool<'a>,
    own: Vec<&'a Path>,
    context: PathContext<'a>,
    readings: Readings<'a>,
    touched: OnceCell<Touched>,
}

impl<'a> CommandLine<'a> {
    /// A command that `tool` runs; `own` are the skills' own directories.
    pub fn new(
        text: &'a str,
        tool: Tool<'a>,
        own: Vec<&'a Path>,
        context: PathContext<'a>,
    ) -> Self {
        Self {
            text,
            tool,
            own,
            context,
            readings: Readings::new(context.steps, context.places, variables(context.places)),
            touched: OnceCell::new(),
        }
    }

    /// What it touches besides running programs, regardless of the rules.
    pub fn touched(&self) -> &Touched {
        self.touched.get_or_init(|| {
            let guard = Guard {
                context: self.context,
                begin: &self.context.places.for_tool(self.tool.name, ""),
                own: &self.own,
                readings: &self.readings,
            };
            shell::touched(self.text, guard)
        })
    }

    /// What a group's rules say about each part of it.
    pub fn parts(&self, group: &Group, in_force: &InForce) -> Vec<Part> {
        let rules = Rules {
            line: self,
            group,
            in_force,
        };
        shell::check(self.text, &rules, &self.readings)
    }

    /// Refuses it if a denial covers any part of it.
    ///
    /// # Errors
    /// The refusal. If there are denials of commands, an unreadable command is refused too.
    pub fn undenied(&self, denials: &Denials) -> Result<(), Refusal> {
        let refuse = |source: &str, rule: &Rule| Refusal::denied(self.tool.name, source, rule);
        let of_commands: Vec<_> = command_denials(denials, &self.tool).collect();
        if let Some((source, rule, _)) = of_commands.first() {
            let home = self.context.places.home.as_deref().and_then(Path::to_str);
            let denies = |command: &Canonical| {
                let forms = command.forms(home);
                let covers =
                    |pattern: &CommandPattern| forms.iter().any(|form| pattern.may_match(form));
                of_commands
                    .iter()
                    .position(|(.., patterns)| patterns.iter().any(covers))
            };
            match shell::denied(self.text, &denies, &self.readings) {
                Ok(None) => {}
                Ok(Some((part, at))) => {
                    let (source, rule, _) = of_commands[at];
                    return Err(refuse(source, rule).part("subcommand", &part));
                }
                Err(fault) => {
                    let part = fault.part_of(self.text);
                    return Err(refuse(source, rule).part("unclear command", part));
                }
            }
        }
        let denial = |writes| {
            denials
                .iter()
                .find(|(_, rule)| speaks_of_files(rule, writes))
        };
        if denial(true).or_else(|| denial(false)).is_none() {
            return Ok(());
        }
        let touched = self.touched();
        for (part, writes) in &touched.unclear {
            if let Some((source, rule)) = denial(*writes) {
                return Err(refuse(source, rule).part("unclear redirection", part));
            }
        }
        for (path, writes) in &touched.files {
            if let Some((source, rule)) = self.denied_file(denials, path, *writes) {
                return Err(refuse(source, rule).part("redirection", path));
            }
        }
        Ok(())
    }

    fn locate(&self, path: &str) -> Located {
        self.context.locate_for(self.tool.name, path)
    }

    /// The first denial that covers a file, with its source.
    fn denied_file<'r>(
        &self,
        denials: &Denials<'r>,
        path: &str,
        writes: bool,
    ) -> Option<(&'r str, &'r Rule)> {
        let located = self.locate(path);
        let mut denials = denials.iter();
        denials.find(|(_, rule)| self.covers_file(rule, &located, writes, Purpose::Deny))
    }

    /// Whether a rule covers a redirection to or from a file.
    fn covers_file(&self, rule: &Rule, file: &Located, writes: bool, purpose: Purpose) -> bool {
        redirecting(writes).any(|tool| match rule.test_of(&tool) {
            Some(ArgMatcher::Any) => true,
            Some(ArgMatcher::Path(pattern)) => pattern.covers(file, purpose, &self.context),
            _ => false,
        })
    }
}

/// The denials of commands that `tool` may run, with their sources.
pub fn command_denials<'a>(
    denials: &Denials<'a>,
    tool: &Tool,
) -> impl Iterator<Item = (&'a str, &'a Rule, &'a [CommandPattern])> {
    denials
        .iter()
        .filter_map(|(source, rule)| match rule.test_of(tool) {
            Some(ArgMatcher::Command(patterns)) => Some((source, rule, patterns.as_slice())),
            _ => None,
        })
}

/// What is known about the variables of the host's shell. `$HOME` equals `~` only if `HOME` is set.
fn variables(places: &Places) -> Variables<'_> {
    let environment = places.environment.as_ref();
    let is_set = environment.is_some_and(|names| names.contains("HOME"));
    let home = places.home.as_deref().and_then(Path::to_str);
    Variables {
        inherited: environment,
        home: home.filter(|home| is_set && home.starts_with('/') && !home.ends_with('/')),
        zsh: places.shell.language == Language::BashOrZsh,
    }
}

/// The host tools that do what a redirection does.
fn redirecting(writes: bool) -> impl Iterator<Item = Tool<'static>> {
    let names: &[&str] = if writes {
        &["write_file", "file_edit"]
    } else {
        &["file_head"]
    };
    names.iter().map(|name| Tool::host(name))
}

/// Whether a rule covers some redirection that writes or reads.
fn speaks_of_files(rule: &Rule, writes: bool) -> bool {
    redirecting(writes).any(|tool| rule.test_of(&tool).is_some())
}

/// The rules of one group, as the shell module queries them.
struct Rules<'a> {
    line: &'a CommandLine<'a>,
    group: &'a Group<'a>,
    in_force: &'a InForce<'a>,
}

impl Rules<'_> {
    /// The project and the skills' own directories.
    fn homes(&self) -> impl Iterator<Item = &Path> {
        let project = std::iter::once(self.line.context.places.project_root.as_path());
        project.chain(self.group.members.iter().map(|one| one.directory.as_path()))
    }
}

impl shell::Rules for Rules<'_> {
    fn grants(&self, command: &Canonical, spelled: &[&str], home: bool) -> Option<CitedRule> {
        let forms = command.forms(self.line.readings.variables.home);
        let grants = |(_, rule): &(&str, &Rule)| match rule.test_of(&self.line.tool) {
            Some(ArgMatcher::Command(patterns)) => patterns.iter().any(|pattern| {
                forms.iter().any(|form| pattern.matches(form))
                    && spelled.iter().all(|word| pattern.spells(word))
                    && (home || !pattern.holds_relative_path())
            }),
            _ => false,
        };
        let granting = self.group.rules().find(grants);
        granting.map(|(source, rule)| CitedRule::new(source, rule))
    }

    fn file(&self, path: &str, writes: bool) -> Result<Grant, String> {
        if let Some((source, rule)) = self.line.denied_file(&self.in_force.denials, path, writes) {
            return Err(CitedRule::new(source, rule).denies());
        }
        let located = self.line.locate(path);
        let mut rules = self.group.rules();
        let granting = rules.find(|(_, rule)| {
            self.line
                .covers_file(rule, &located, writes, Purpose::Allow)
        });
        match granting {
            Some((source, rule)) => Ok(Grant::Rule(CitedRule::new(source, rule))),
            None if writes => Err("writing a file needs a `Write` or `Edit` entry".to_owned()),
            None => Err("reading a file needs a `Read` entry".to_owned()),
        }
    }

    fn is_home_ground(&self, directory: &str) -> bool {
        let located = self.line.locate(directory);
        self.homes()
            .any(|home| located.stays_in(home, self.line.context.resolve))
    }

    fn is_home(&self, directory: &str) -> bool {
        let located = self.line.locate(directory);
        self.homes()
            .any(|home| located == self.line.context.locate(home))
    }

    fn is_toplevel(&self) -> bool {
        let PathContext {
            places, resolve, ..
        } = self.line.context;
        let steers_git =
            |names: &BTreeSet<String>| names.iter().any(|name| name.starts_with("GIT_"));
        let environment = places.environment.as_ref();
        environment.is_some_and(|names| !steers_git(names))
            && resolve.is_repository(&places.project_root)
    }

    fn pipe_filters(&self) -> bool {
        self.in_force.settings.pipe_filters
    }
}
