//! Connects the rules to the shell module: which rules grant a simple command or a redirection to a
//! file, and which denials cover the command.

use std::cell::OnceCell;
use std::path::Path;

use super::active_restrictions::{ActiveList, ActiveRestrictions, Denials};
use super::arg_matcher::ArgMatcher;
use super::command_pattern::{CanonicalCommand, CommandPattern};
use super::evidence::{CitedRule, Grant, Part};
use super::path::LocatedPath;
use super::path_context::PathContext;
use super::places::RuleDirectories;
use super::reading_by_shell::{self, is_kernel_file};
use super::refusal::{Reason, Refusal};
use super::rule::Rule;
use super::shell::{self, Denial, Depth, Effects, ParseCache, ReadKind, Variables};
use super::tool_matcher::CalledTool;
use crate::vocabulary::Language;
use skill_text::Names;

/// The shell command of a call. Facts that several checks need are computed once.
pub struct CommandLine<'a> {
    text: &'a str,
    tool: CalledTool<'a>,
    own: Vec<&'a Path>,
    context: PathContext<'a>,
    cache: ParseCache<'a>,
    effects: OnceCell<Effects>,
}

impl<'a> CommandLine<'a> {
    /// A command that `tool` runs; `own` are the skills' own directories.
    pub fn new(
        text: &'a str,
        tool: CalledTool<'a>,
        own: Vec<&'a Path>,
        context: PathContext<'a>,
        lists: &[ActiveList],
    ) -> Self {
        // Entries are few, and a text may hold thousands of variables.
        let mut rules = lists.iter().flat_map(|list| list.rules);
        let host = rules.find_map(|rule| {
            let (name, _) = rule.cited.rule.split_once("${")?.1.split_once("}/")?;
            let at = text.find(&format!("${{{name}}}"))? + 2;
            Some(&text[at..at + name.len()])
        });
        Self {
            text,
            tool,
            own,
            context,
            cache: ParseCache::new(
                context.steps,
                context.places,
                variables(context.places, host),
            ),
            effects: OnceCell::new(),
        }
    }

    /// What it touches besides running programs, regardless of the rules.
    pub fn effects(&self) -> &Effects {
        self.effects.get_or_init(|| {
            let start = self.context.places.for_tool(self.tool.name, "");
            shell::effects(self.text, self.context, &start, &self.own, &self.cache)
        })
    }

    /// What a list's rules say about each part of it.
    pub fn parts(&self, list: &ActiveList, in_force: &ActiveRestrictions) -> Vec<Part> {
        let rules = ListRules {
            line: self,
            list,
            in_force,
        };
        shell::check(self.text, &rules, &self.cache)
    }

    /// Refuses it if a denial covers any part of it.
    ///
    /// # Errors
    /// The refusal. If there are denials of commands, an unreadable command is refused too.
    pub fn check_denials(&self, denials: &Denials) -> Result<(), Refusal> {
        let refuse = |rule: &Rule| Refusal::new(self.tool.name, Reason::Denied(rule.cited.clone()));
        let of_commands: Vec<_> = command_denials(denials, &self.tool).collect();
        if let Some((rule, _)) = of_commands.first() {
            let home = self.context.places.home.as_deref().and_then(Path::to_str);
            let denies = |command: &CanonicalCommand| {
                let forms = command.forms(home);
                let covers =
                    |pattern: &CommandPattern| forms.iter().any(|form| pattern.may_match(form));
                of_commands
                    .iter()
                    .position(|(_, patterns)| patterns.iter().any(covers))
            };
            match shell::check_denials(self.text, &denies, &self.cache) {
                Ok(()) => {}
                Err(Denial::Rule(part, at)) => {
                    return Err(refuse(of_commands[at].0).part("subcommand", &part));
                }
                Err(Denial::Unclear(rejection)) => {
                    let part = rejection.part_or(self.text);
                    return Err(refuse(rule).part("unclear command", part));
                }
            }
        }
        let denial = |writes| denials.iter().find(|rule| speaks_of_files(rule, writes));
        if denial(true).or_else(|| denial(false)).is_none() {
            return Ok(());
        }
        let effects = self.effects();
        for (part, writes) in &effects.unclear {
            if let Some(rule) = denial(*writes) {
                return Err(refuse(rule).part("unclear redirection", part));
            }
        }
        for (path, writes) in &effects.files {
            if let Some(rule) = self.find_covering(denials.iter(), path, *writes) {
                return Err(refuse(rule).part("redirection", path));
            }
        }
        Ok(())
    }

    fn locate(&self, path: &str) -> LocatedPath {
        self.context.locate_for(self.tool.name, path)
    }

    /// The first of these rules that covers a redirection to or from a file.
    fn find_covering<'r>(
        &self,
        mut rules: impl Iterator<Item = &'r Rule>,
        path: &str,
        writes: bool,
    ) -> Option<&'r Rule> {
        let file = self.locate(path);
        let covers = |rule: &Rule, tool: &CalledTool| match rule.matcher_for(tool) {
            Some(ArgMatcher::Any) => true,
            Some(ArgMatcher::Path(test)) => test.covers(&file, rule.purpose, &self.context),
            _ => false,
        };
        rules.find(|rule| redirecting(writes).any(|tool| covers(rule, &tool)))
    }
}

/// The denials of commands that `tool` may run.
pub fn command_denials<'a>(
    denials: &Denials<'a>,
    tool: &CalledTool,
) -> impl Iterator<Item = (&'a Rule, &'a [CommandPattern])> {
    denials
        .iter()
        .filter_map(|rule| match rule.matcher_for(tool) {
            Some(ArgMatcher::Command(patterns)) => Some((rule, patterns.as_slice())),
            _ => None,
        })
}

/// Beginnings of the names, behind `GIT_`, of variables that decide which repository git takes.
const REPOSITORY_VARIABLES: Names =
    Names::new("DIR WORK_TREE COMMON_DIR CEILING DISCOVERY CONFIG EXEC_PATH");

/// What is known about the variables of the host's shell. `$HOME` equals `~` only if `HOME` is set.
fn variables<'a>(places: &'a RuleDirectories, host: Option<&'a str>) -> Variables<'a> {
    let environment = places.environment.as_ref();
    let is_set = environment.is_some_and(|names| names.contains("HOME"));
    let home = places.home.as_deref().and_then(Path::to_str);
    Variables {
        inherited: environment,
        has_startup_files: places.has_startup_files,
        host,
        home: home.filter(|home| is_set && home.starts_with('/') && !home.ends_with('/')),
        zsh: places.shell.language == Language::BashOrZsh,
    }
}

/// The host tools that do what a redirection does.
fn redirecting(writes: bool) -> impl Iterator<Item = CalledTool<'static>> {
    let names: &[&str] = if writes {
        &["write_file", "file_edit"]
    } else {
        &["file_head"]
    };
    names.iter().map(|name| CalledTool::host(name))
}

/// Whether a rule covers some redirection that writes or reads.
fn speaks_of_files(rule: &Rule, writes: bool) -> bool {
    redirecting(writes).any(|tool| rule.matcher_for(&tool).is_some())
}

/// The rules of one list, as the shell module queries them.
struct ListRules<'a> {
    line: &'a CommandLine<'a>,
    list: &'a ActiveList<'a>,
    in_force: &'a ActiveRestrictions<'a>,
}

impl ListRules<'_> {
    /// The project and the active skills' directories.
    fn roots(&self) -> impl Iterator<Item = &Path> {
        let project = std::iter::once(self.line.context.places.project_root.as_path());
        project.chain(self.in_force.own.iter().copied())
    }
}

impl shell::CommandRules for ListRules<'_> {
    fn granting_rule(
        &self,
        command: &CanonicalCommand,
        spelled: &[&str],
        home: bool,
    ) -> Option<CitedRule> {
        let forms = command.forms(self.line.cache.variables.home);
        let grants = |rule: &&Rule| match rule.matcher_for(&self.line.tool) {
            Some(ArgMatcher::Command(patterns)) => patterns.iter().any(|pattern| {
                forms.iter().any(|form| pattern.matches(form))
                    && spelled.iter().all(|word| pattern.has_literal_word(word))
                    && (home || !pattern.has_relative_path())
            }),
            _ => false,
        };
        self.list
            .rules
            .iter()
            .find(grants)
            .map(|rule| rule.cited.clone())
    }

    fn grant_file(&self, path: &str, writes: bool) -> Result<Grant, String> {
        if self.reads_by_shell() && !writes && is_kernel_file(&self.line.locate(path)) {
            return Err("it is not a file on disk".to_owned());
        }
        let denials = self.in_force.denials.iter();
        if let Some(rule) = self.line.find_covering(denials, path, writes) {
            return Err(rule.cited.denies());
        }
        match self
            .line
            .find_covering(self.list.rules.iter(), path, writes)
        {
            Some(rule) => Ok(Grant::Rule(rule.cited.clone())),
            None if writes => Err("writing a file needs a `Write` or `Edit` entry".to_owned()),
            None => Err("reading a file needs a `Read` entry".to_owned()),
        }
    }

    fn reads_by_shell(&self) -> bool {
        self.line.context.places.reads_by_shell
    }

    fn grant_read(&self, kind: ReadKind, place: Option<(&str, &Depth)>) -> Result<Grant, String> {
        let Some(place) = place else {
            let rule = reading_by_shell::any_rule(self.list, kind);
            let missing = || format!("only a {kind} entry gives");
            return rule
                .map(|rule| Grant::Rule(rule.cited.clone()))
                .ok_or_else(missing);
        };
        let at = self.line.locate(place.0);
        let (denials, context) = (&self.in_force.denials, &self.line.context);
        reading_by_shell::permitted(kind, place, &at, self.list, denials, context)
    }

    fn is_inside(&self, directory: &str) -> bool {
        let located = self.line.locate(directory);
        self.roots()
            .any(|home| located.is_inside(home, self.line.context.resolve))
    }

    fn is_root(&self, directory: &str) -> bool {
        let located = self.line.locate(directory);
        self.roots()
            .any(|home| located == self.line.context.locate(home))
    }

    fn is_toplevel(&self) -> bool {
        let context = self.line.context;
        let steers_git = |name: &String| {
            let rest = name.strip_prefix("GIT_");
            rest.is_some_and(|rest| REPOSITORY_VARIABLES.has_beginning_of(rest))
        };
        let environment = context.places.environment.as_ref();
        environment.is_some_and(|names| !names.iter().any(steers_git))
            && context.resolve.is_repository(&context.places.project_root)
    }

    fn pipe_filters(&self) -> bool {
        self.in_force.settings.pipe_filters
    }
}
