//! Connects the rules to the shell module: which rules grant a simple command or a redirection to a
//! file, and which denials cover the command.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::Path;

use super::arg_matcher::ArgMatcher;
use super::argument::PathContext;
use super::command::{Canonical, CommandPattern};
use super::evidence::{CitedRule, Grant, Part};
use super::path::Located;
use super::places::Places;
use super::refusal::{Reason, Refusal};
use super::rule::Rule;
use super::shell::{self, Guard, Readings, Touched, Variables};
use super::stacking::{Group, InForce};
use super::tool_matcher::Tool;
use crate::host::shell::Language;

/// The shell command of a call. Facts that several checks need are computed once.
pub struct CommandLine<'a> {
    text: &'a str,
    tool: Tool<'a>,
    own: Vec<&'a Path>,
    ground: PathContext<'a>,
    readings: Readings<'a>,
    touched: OnceCell<Touched>,
}

impl<'a> CommandLine<'a> {
    /// A command that `tool` runs; `own` are the active skills' own directories.
    pub fn new(text: &'a str, tool: Tool<'a>, own: Vec<&'a Path>, ground: PathContext<'a>) -> Self {
        Self {
            text,
            tool,
            own,
            ground,
            readings: Readings::new(ground.steps, ground.places, variables(ground.places)),
            touched: OnceCell::new(),
        }
    }

    /// What it touches besides running programs, regardless of the rules.
    pub fn touched(&self) -> &Touched {
        self.touched.get_or_init(|| {
            let guard = Guard {
                ground: self.ground,
                begin: &self.ground.places.of_tool(self.tool.name, ""),
                own: &self.own,
                readings: &self.readings,
            };
            shell::touched(self.text, guard)
        })
    }

    /// What a group's rules say about each part of it.
    pub fn parts(&self, group: &Group, in_force: &InForce, pipe_filters: bool) -> Vec<Part> {
        let rules = Rules {
            group,
            in_force,
            tool: &self.tool,
            ground: self.ground,
            pipe_filters,
        };
        shell::check(self.text, &rules, &self.readings)
    }

    /// Refuses it if a denial covers any part of it.
    ///
    /// # Errors
    /// The refusal. If there are denials of commands, an unreadable command is refused too.
    pub fn undenied(&self, in_force: &InForce) -> Result<(), Refusal> {
        let refuse = |source: &str, rule: &Rule| {
            Refusal::new(self.tool.name, Reason::Denied(CitedRule::new(source, rule)))
        };
        let denials: Vec<_> = command_denials(in_force, &self.tool).collect();
        let home = self.ground.places.home.as_deref().and_then(Path::to_str);
        if let Some((source, rule, _)) = denials.first() {
            let denies = |command: &Canonical| {
                let below_home = home.map(|home| command.below_home(home));
                let speaks = |patterns: &[CommandPattern]| {
                    let forms = std::iter::once(command).chain(&below_home);
                    patterns
                        .iter()
                        .any(|one| forms.clone().any(|form| one.may_match(form)))
                };
                denials.iter().position(|(.., patterns)| speaks(patterns))
            };
            match shell::denied(self.text, &denies, &self.readings) {
                Ok(None) => {}
                Ok(Some((part, at))) => {
                    let (source, rule, _) = denials[at];
                    return Err(refuse(source, rule).part("subcommand", &part));
                }
                Err(fault) => {
                    let part = if fault.part.is_empty() {
                        self.text
                    } else {
                        &fault.part
                    };
                    return Err(refuse(source, rule).part("unclear command", part));
                }
            }
        }
        if in_force.denials().any(|(_, rule)| speaks_of_files(rule)) {
            let touched = self.touched();
            for (part, writes) in &touched.unclear {
                let speaks = |rule: &Rule| tools(*writes).any(|tool| rule.test_of(&tool).is_some());
                if let Some((source, rule)) = in_force.denials().find(|(_, rule)| speaks(rule)) {
                    return Err(refuse(source, rule).part("unclear redirection", part));
                }
            }
            for (path, writes) in &touched.files {
                if let Some((source, rule)) =
                    denied_file(in_force, path, *writes, &self.tool, self.ground)
                {
                    return Err(refuse(source, rule).part("redirection", path));
                }
            }
        }
        Ok(())
    }
}

/// The denials of commands that `tool` may run, with their sources.
pub fn command_denials<'a>(
    in_force: &InForce<'a>,
    tool: &Tool,
) -> impl Iterator<Item = (&'a str, &'a Rule, &'a [CommandPattern])> {
    in_force
        .denials()
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

const WRITERS: [&str; 2] = ["write_file", "file_edit"];
const READERS: [&str; 1] = ["file_head"];

/// The host tools that do what a redirection does.
fn tools(writes: bool) -> impl Iterator<Item = Tool<'static>> {
    let names: &[&'static str] = if writes { &WRITERS } else { &READERS };
    names.iter().map(|name| Tool::host(name))
}

fn speaks_of_files(rule: &Rule) -> bool {
    tools(true)
        .chain(tools(false))
        .any(|tool| rule.test_of(&tool).is_some())
}

/// The first denial that covers a file, with its source.
fn denied_file<'a>(
    in_force: &InForce<'a>,
    path: &str,
    writes: bool,
    shell: &Tool,
    ground: PathContext,
) -> Option<(&'a str, &'a Rule)> {
    let located = Located::of_tool(shell.name, path, ground.places, ground.resolve);
    let denies = |rule: &Rule, tool: &Tool| match rule.test_of(tool) {
        Some(ArgMatcher::Path(pattern)) => pattern.touches(&located, ground.places, ground.resolve),
        Some(ArgMatcher::Any) => true,
        _ => false,
    };
    in_force
        .denials()
        .find(|(_, rule)| tools(writes).any(|tool| denies(rule, &tool)))
}

/// The rules of one group, as the shell module queries them.
struct Rules<'a> {
    group: &'a Group<'a>,
    in_force: &'a InForce<'a>,
    tool: &'a Tool<'a>,
    ground: PathContext<'a>,
    pipe_filters: bool,
}

impl Rules<'_> {
    fn locate(&self, path: &str) -> Located {
        let PathContext {
            places, resolve, ..
        } = self.ground;
        Located::of_tool(self.tool.name, path, places, resolve)
    }

    /// The project and the skills' own directories.
    fn homes(&self) -> impl Iterator<Item = &Path> {
        let project = std::iter::once(self.ground.places.project_root.as_path());
        project.chain(self.group.directories.iter().copied())
    }
}

impl shell::Rules for Rules<'_> {
    fn grants(&self, command: &Canonical, spelled: &[&str], home: bool) -> Option<CitedRule> {
        let below_home = variables(self.ground.places)
            .home
            .map(|home| command.below_home(home));
        let forms = || std::iter::once(command).chain(&below_home);
        let grants = |(_, rule): &&(&str, &Rule)| match rule.test_of(self.tool) {
            Some(ArgMatcher::Command(patterns)) => patterns.iter().any(|pattern| {
                forms().any(|form| pattern.matches(form))
                    && spelled.iter().all(|word| pattern.spells(word))
                    && (home || !pattern.holds_relative_path())
            }),
            _ => false,
        };
        let granting = self.group.rules.iter().find(grants);
        granting.map(|(source, rule)| CitedRule::new(source, rule))
    }

    fn file(&self, path: &str, writes: bool) -> Result<Grant, String> {
        let PathContext {
            places, resolve, ..
        } = self.ground;
        let located = self.locate(path);
        let denied = denied_file(self.in_force, path, writes, self.tool, self.ground);
        if let Some((source, rule)) = denied {
            return Err(CitedRule::new(source, rule).denies());
        }
        let grants = |(_, rule): &&(&str, &Rule)| {
            tools(writes).any(|tool| match rule.test_of(&tool) {
                Some(ArgMatcher::Any) => true,
                Some(ArgMatcher::Path(pattern)) => pattern.covers(&located, places, resolve),
                _ => false,
            })
        };
        match self.group.rules.iter().find(grants) {
            Some((source, rule)) => Ok(Grant::Rule(CitedRule::new(source, rule))),
            None if writes => Err("writing a file needs a `Write` or `Edit` entry".to_owned()),
            None => Err("reading a file needs a `Read` entry".to_owned()),
        }
    }

    fn is_home_ground(&self, directory: &str) -> bool {
        let located = self.locate(directory);
        self.homes()
            .any(|home| located.stays_in(home, self.ground.resolve))
    }

    fn is_home(&self, directory: &str) -> bool {
        let located = self.locate(directory);
        self.homes()
            .any(|home| located == Located::at(home, self.ground.resolve))
    }

    fn is_toplevel(&self) -> bool {
        let PathContext {
            places, resolve, ..
        } = self.ground;
        let steers_git =
            |names: &BTreeSet<String>| names.iter().any(|name| name.starts_with("GIT_"));
        let is_free = places
            .environment
            .as_ref()
            .is_some_and(|names| !steers_git(names));
        is_free && resolve.is_repository(&places.project_root)
    }

    fn pipe_filters(&self) -> bool {
        self.pipe_filters
    }
}
