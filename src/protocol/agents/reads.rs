//! Which skills a call reads or runs, where that is how a skill becomes active: an agent without a tool
//! for skills lets its model use one so (docs/hosts.md#codex).

use std::path::Component;

use super::event::Caller;
use crate::permission::{Outline, Places, Resolve};
use crate::protocol::judge::Request;
use crate::protocol::prelude::*;
use crate::sys::EntryKind;
use crate::sys::name_list::Names;

/// What enters a directory.
static ENTER: Names = Names::new("cd pushd");
/// How many directories that a command enters are looked in.
const ENTERED: usize = 16;

/// Programs that only list, name or test the files that they are given.
static LISTERS: Names = Names::new(
    "ls tree test [ stat du file realpath readlink basename dirname pwd mkdir touch echo printf cd pushd \
     find",
);
/// What uses the names that another command prints, or reads a text as commands.
static USERS: Names =
    Names::new("xargs parallel read mapfile readarray eval source sh bash zsh dash ksh fish");

/// The directories of the skills whose `SKILL.md` a call reads or whose script it runs.
pub fn skills_read(caller: Caller, call: &Request) -> Vec<PathBuf> {
    let env = &caller.facts.run.env;
    let text = |key: &str| call.arguments.get(key).and_then(serde_json::Value::as_str);
    match call.tool.as_str() {
        "read_file" => {
            let skill = text("path").and_then(|file| of_skill(&roots(caller), Path::new(file)));
            skill.into_iter().collect()
        }
        "run_command" => {
            let command = text("command").unwrap_or_default();
            // Most commands have nothing to do with skills, and are not read at all.
            let begins = call.begins.as_ref();
            let directory = begins.map_or(&env.cwd, |begins| &begins.directory);
            let begins = directory.to_string_lossy();
            let names = ["skill", "SKILL", "scripts"];
            if !begins.contains("skill") && !names.iter().any(|name| command.contains(name)) {
                return Vec::new();
            }
            let places = Places {
                home: env.home(),
                shell: caller.table.shell,
                ..Places::default()
            };
            let outline = Outline::read(command, &places);
            Line {
                command,
                outline: outline.as_ref(),
                home: places.home.unwrap_or_default(),
                roots: roots(caller),
            }
            .skills(directory)
        }
        _ => Vec::new(),
    }
}

/// The agent's directories of skills.
fn roots(caller: Caller) -> Vec<PathBuf> {
    let skills = &caller.table.skills;
    let personal = caller.in_home(skills.personal);
    let enterprise = skills.enterprise.iter().map(PathBuf::from);
    let roots = enterprise.chain(personal);
    roots.chain(caller.in_project(skills.project)).collect()
}

/// The skill that a file is of.
fn of_skill(roots: &[PathBuf], file: &Path) -> Option<PathBuf> {
    let real = OnDisk.canonical(file)?;
    let by_path = roots.iter().find_map(|root| {
        // A skill may be a link to where it was installed.
        let below = file.strip_prefix(root).ok().map(Path::to_owned);
        let below = below.or_else(|| {
            let root = OnDisk.canonical(root)?;
            real.strip_prefix(root).ok().map(Path::to_owned)
        })?;
        // The nearest directory with such a file is the skill: it may be deeper than the first.
        let mut dirs = below.ancestors();
        let skill = dirs.find(|dir| root.join(dir).join("SKILL.md").exists())?;
        (!skill.as_os_str().is_empty()).then(|| root.join(skill))
    });
    by_path.or_else(|| roots.iter().find_map(|root| linked(root, &real)))
}

/// The skill that a link in `root` leads to and that the file is used of, where it really is.
fn linked(root: &Path, real: &Path) -> Option<PathBuf> {
    let entries = files::entries(root).ok()?.into_iter();
    let links = entries.filter(|(_, kind)| *kind == EntryKind::Link);
    let mut links = links.map(|(name, _)| root.join(name.as_os_str()));
    links.find(|link| {
        let below = OnDisk.canonical(link);
        let below = below.and_then(|dir| real.strip_prefix(dir).ok().map(Path::to_owned));
        below.is_some_and(|below| below.starts_with("scripts") || below == Path::new("SKILL.md"))
    })
}

/// A command line.
struct Line<'a> {
    command: &'a str,
    outline: Option<&'a Outline>,
    home: PathBuf,
    roots: Vec<PathBuf>,
}

impl<'a> Line<'a> {
    /// The skills that it may use, when it begins in `directory`.
    fn skills(&self, directory: &Path) -> Vec<PathBuf> {
        let commands = self.commands();
        let dirs = self.entered(directory, &commands.concat());
        let words = self.reading(&commands);
        let mut found = Vec::new();
        for dir in &dirs {
            let files = words.iter().map(|word| self.expanded(dir, word));
            found.extend(files.filter_map(|file| of_skill(&self.roots, &file)));
        }
        found.dedup();
        found
    }

    /// Its commands as the shell reads them, with `$` for a word that is not known before the command
    /// runs; if it cannot be read, its words as they are written.
    fn commands(&self) -> Vec<Vec<&'a str>> {
        let Some(outline) = self.outline else {
            return vec![self.written().collect()];
        };
        let words = |words: &'a [Option<String>]| {
            let words = words.iter();
            words.map(|word| word.as_deref().unwrap_or("$")).collect()
        };
        let commands = outline.commands.iter();
        commands.map(|one| words(one)).collect()
    }

    fn written(&self) -> impl Iterator<Item = &'a str> {
        let ends = |c: char| c.is_whitespace() || ";&|\"'<>()=".contains(c);
        self.command.split(ends)
    }

    /// The words that may name what is read or run. Those of commands that only list are left out where
    /// nothing uses what these print; of a word that is not known, the text counts as it is written.
    fn reading(&self, commands: &[Vec<&'a str>]) -> Vec<&'a str> {
        let mut reading: Vec<&str> = Vec::new();
        let reads = commands.iter().filter(|words| !is_lister(words));
        reading.extend(reads.flatten());
        if self.outline.is_none() || self.hands_on(commands) || reading.contains(&"$") {
            reading = commands.concat();
            reading.extend(self.written());
        }
        reading
    }

    /// Whether a command may use what another one prints, or a file that is its input.
    fn hands_on(&self, commands: &[Vec<&str>]) -> bool {
        let uses = |words: &Vec<&str>| {
            words.first() == Some(&".") || words.iter().any(|word| USERS.has(word))
        };
        self.command.contains(['<', '`'])
            || self.command.contains("$(")
            || commands.iter().any(uses)
    }

    /// Where the command begins, and the directories that it enters: each file may be meant in each.
    fn entered(&self, directory: &Path, words: &[&str]) -> Vec<PathBuf> {
        let mut dirs = vec![directory.to_owned()];
        for (at, _) in words.iter().enumerate().filter(|(_, word)| ENTER.has(word)) {
            let mut operands = words[at + 1..].iter();
            let Some(to) = operands.find(|word| !word.starts_with('-')) else {
                continue;
            };
            let bases = [dirs.first(), dirs.last()].into_iter().flatten();
            let entered: Vec<PathBuf> = bases.map(|dir| self.expanded(dir, to)).collect();
            dirs.extend(entered);
            dirs.truncate(ENTERED);
        }
        dirs
    }

    /// The path of a word up to where it is not known: a pattern or a variable names nothing.
    fn expanded(&self, dir: &Path, word: &str) -> PathBuf {
        let path = match begins_at_home(word) {
            Some(rest) => self.home.join(rest),
            None => dir.join(word),
        };
        let is_known = |part: &Component| {
            let part = part.as_os_str().to_string_lossy();
            !part.contains(['*', '?', '[', '{', '$', '`', '~'])
        };
        path.components().take_while(is_known).collect()
    }
}

/// Whether a command only lists, names or tests files.
fn is_lister(words: &[&str]) -> bool {
    words.first().is_some_and(|program| LISTERS.has(program))
        && !words.iter().any(|word| word.starts_with("-exec"))
}

/// The rest of a word that begins at the home.
fn begins_at_home(word: &str) -> Option<&str> {
    let mut homes = ["~", "$HOME", "${HOME}"].iter();
    let rest = homes.find_map(|begin| word.strip_prefix(begin))?;
    rest.strip_prefix('/')
        .or_else(|| rest.is_empty().then_some(rest))
}
