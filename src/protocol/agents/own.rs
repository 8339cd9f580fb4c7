//! What a call has to do with a skill's own files: reading them, running a script of the skill, and
//! reading a `SKILL.md` where that is how a skill becomes active.

use std::path::{Component, Path, PathBuf};

use super::patterns::skills_like;
use super::translate::OurCall;
use crate::host::Agent;
use crate::host::agent::table::Table;
use crate::permission::{Outline, Places, Resolve};
use crate::policy::OnDisk;
use crate::run_context::RunContext;
use crate::session::Session;
use crate::skill::Runner;
use crate::sys::name_list::Names;
use crate::sys::{EntryKind, files};

/// Programs that run the file that is their first operand.
static RUNNERS: Names = Names::new("bash sh zsh dash python python3 node ruby perl php lua");

/// Programs that take commands from whoever types, if no operand says otherwise.
static SHELLS: Names = Names::new(
    "bash sh zsh dash ksh fish python python2 python3 node irb ruby perl php lua nodejs ghci tclsh expect bc",
);
/// Clients of databases, which take them unless an option or a second operand does.
static CLIENTS: Names = Names::new("psql mysql mariadb sqlite3 mongosh redis-cli");
/// Programs from which a person gets a shell by typing, whatever they were started with.
static SCREENS: Names = Names::new(
    "vi vim nvim nano emacs ed ex less more most man ssh telnet ftp sftp gdb lldb screen tmux top htop su",
);

/// What enters a directory.
static ENTER: Names = Names::new("cd pushd");
/// How many directories that a command enters are looked in.
const ENTERED: usize = 16;

/// Whether a call only reads what belongs to an active skill, or runs a script of it as it is: what
/// the tools of ours do in chibi without an entry in the skill's list.
pub fn uses_own_files(table: &Table, session: &Session, call: &OurCall) -> bool {
    let dirs: Vec<PathBuf> = session
        .active()
        .filter_map(|active| OnDisk.canonical(Path::new(&active.dir)))
        .collect();
    let is_own = |path: &Path| {
        let real = OnDisk.canonical(path);
        real.is_some_and(|real| dirs.iter().any(|dir| real.starts_with(dir)))
    };
    let text = |key: &str| call.arguments.get(key).and_then(serde_json::Value::as_str);
    match call.tool.as_str() {
        "read_file" | "dir_list" | "grep_files" => {
            text("path").is_some_and(|path| is_own(Path::new(path)))
        }
        "glob_files" => {
            let is_inside = text("path").is_some_and(|path| is_own(Path::new(path)));
            let leads_out = |pattern: &str| {
                let mut parts = Path::new(pattern).components();
                parts.any(|part| !matches!(part, Component::Normal(_)))
            };
            let has_alternatives = |pattern: &str| pattern.contains(['{', '(', '[', '\\']);
            let pattern = text("pattern").unwrap_or_default();
            is_inside && !leads_out(pattern) && !has_alternatives(pattern)
        }
        "run_command" => {
            let outline = Outline::read(text("command").unwrap_or_default(), &shell(table));
            let words = outline
                .as_ref()
                .and_then(Outline::plain)
                .unwrap_or_default();
            if reads_only(&words, |word| is_own(&call.directory.join(word))) {
                return !call.persists;
            }
            let script = match words.first() {
                Some(program) if RUNNERS.has(program) => words.get(1),
                first => first,
            };
            script.is_some_and(|script| {
                let path = call.directory.join(script);
                // A shared shell may be in another directory.
                let is_known = !call.persists || Path::new(script).is_absolute();
                is_known && script.contains('/') && Runner::is_meant_at(&path) && is_own(&path)
            })
        }
        _ => false,
    }
}

/// Whether a plain command only prints files that are all the skill's own.
fn reads_only(words: &[&str], is_own: impl Fn(&str) -> bool) -> bool {
    let Some((program, rest)) = words.split_first() else {
        return false;
    };
    let is_line_range = |word: &&str| {
        let mut chars = word.chars();
        chars.all(|c| c.is_ascii_digit() || matches!(c, ',' | '$' | 'p'))
    };
    let operands: Vec<&&str> = match (*program, rest) {
        ("sed", ["-n", range, files @ ..]) if is_line_range(range) => files.iter().collect(),
        ("cat" | "ls" | "wc" | "nl", files) => {
            files.iter().filter(|word| !word.starts_with('-')).collect()
        }
        ("head" | "tail", files) => {
            let is_number = |word: &&str| word.chars().all(|c| c.is_ascii_digit());
            let is_file = |word: &&&str| !word.starts_with('-') && !is_number(word);
            files.iter().filter(is_file).collect()
        }
        _ => return false,
    };
    let is_file = |word: &&&str| !word.starts_with('-') && is_own(word);
    !operands.is_empty() && operands.iter().all(is_file)
}

/// The directories of the skills whose `SKILL.md` a call reads or whose script it runs, as an
/// agent without a tool for skills lets the model use one.
pub fn skills_read(ctx: &RunContext, agent: Agent, call: &OurCall) -> Vec<PathBuf> {
    let table = agent.table();
    let skills = &table.skills;
    let mut roots: Vec<PathBuf> = skills.enterprise.iter().map(PathBuf::from).collect();
    let home = agent.settings().home;
    let personal = skills.personal.iter();
    roots.extend(personal.filter_map(|dir| home.place(&ctx.env, dir)));
    for holder in ctx.project_holders(&ctx.env.cwd) {
        roots.extend(skills.project.iter().map(|dir| holder.join(dir)));
    }
    let of_skill = |file: &PathBuf| {
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
    };
    let text = |key: &str| call.arguments.get(key).and_then(serde_json::Value::as_str);
    let mut meant = Vec::new();
    let files: Vec<PathBuf> = match call.tool.as_str() {
        "read_file" => text("path").map(PathBuf::from).into_iter().collect(),
        "run_command" => {
            let command = text("command").unwrap_or_default();
            // Most commands have nothing to do with skills, and are not read at all.
            let begins = call.directory.to_string_lossy();
            let names = ["skill", "SKILL", "scripts"];
            if !begins.contains("skill") && !names.iter().any(|name| command.contains(name)) {
                return Vec::new();
            }
            // As the shell reads them, and as they are written: what is not known before the
            // command runs, or cannot be read, may still read a skill.
            let outline = Outline::read(command, &shell(table));
            let read = outline.iter().flat_map(|outline| &outline.commands);
            let read = read.flat_map(|one| &one.words).flatten();
            let read = read.map(String::as_str);
            let written = command.split(|c: char| c.is_whitespace() || ";&|\"'<>()=".contains(c));
            let words: Vec<&str> = read.chain(written).collect();
            let home = ctx.env.home().unwrap_or_default();
            let expanded = |dir: &Path, word: &str| {
                let path = match begins_at_home(word) {
                    Some(rest) => home.join(rest),
                    None => dir.join(word),
                };
                // Up to where it is not known: a pattern or a variable may name any file there.
                let is_known = |part: &Component| {
                    let part = part.as_os_str().to_string_lossy();
                    !part.contains(['*', '?', '[', '{', '$', '`', '~'])
                };
                path.components().take_while(is_known).collect()
            };
            // Where a directory is entered, each file may be meant in it.
            let mut dirs = vec![call.directory.clone()];
            for (at, _) in words.iter().enumerate().filter(|(_, word)| ENTER.has(word)) {
                let mut operands = words[at + 1..].iter();
                let to = operands.find(|word| !word.starts_with('-'));
                let bases = [dirs.first(), dirs.last()].into_iter().flatten();
                let entered: Vec<PathBuf> = bases
                    .zip(std::iter::repeat(to))
                    .filter_map(|(dir, to)| Some(expanded(dir, to?)))
                    .collect();
                dirs.extend(entered);
                dirs.truncate(ENTERED);
            }
            let pairs = || {
                dirs.iter()
                    .flat_map(|dir| words.iter().map(move |it| (dir, it)))
            };
            meant = pairs()
                .flat_map(|(dir, word)| match begins_at_home(word) {
                    Some(rest) => skills_like(&roots, &home, rest),
                    None => skills_like(&roots, dir, word),
                })
                .collect();
            pairs().map(|(dir, word)| expanded(dir, word)).collect()
        }
        _ => return Vec::new(),
    };
    let mut dirs: Vec<PathBuf> = files.iter().filter_map(of_skill).chain(meant).collect();
    dirs.dedup();
    dirs
}

/// The rest of a word that begins at the home.
fn begins_at_home(word: &str) -> Option<&str> {
    let mut homes = ["~/", "$HOME/", "${HOME}/"].iter();
    homes.find_map(|begin| word.strip_prefix(begin))
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

/// The program in a command that takes commands from a terminal, or opens one itself.
pub fn takes_typing(table: &Table, command: &str) -> Option<String> {
    let outline = Outline::read(command, &shell(table))?;
    // `python3.12` is `python`.
    let base = |word: &str| {
        let name = word.rsplit('/').next().unwrap_or(word);
        let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        let is_version = name.len() > plain.len() && name.contains('.');
        if is_version { plain } else { name }.to_owned()
    };
    outline.commands.iter().find_map(|words| {
        let words: Vec<&str> = words
            .words
            .iter()
            .map(|word| word.as_deref().unwrap_or("$"))
            .collect();
        words.iter().enumerate().find_map(|(at, word)| {
            let name = base(word);
            let rest = &words[at + 1..];
            let is_option = |word: &&str| word.starts_with('-') && *word != "-c" && *word != "-m";
            let is_stdin = |word: &&str| ["-", "/dev/stdin", "/dev/fd/0"].contains(word);
            let is_told = |word: &&str| ["-c", "-e", "-f", "--command"].contains(word);
            let operands = rest.iter().filter(|word| !is_option(word)).count();
            let asks = SHELLS.has(&name) && rest.iter().all(is_option)
                || SHELLS.has(&name) && (rest.contains(&"-i") || rest.iter().any(is_stdin))
                || CLIENTS.has(&name) && operands < 2 && !rest.iter().any(is_told)
                || at == 0 && SCREENS.has(&name);
            asks.then_some(name)
        })
    })
}

/// What an outline needs to know.
pub fn shell(table: &Table) -> Places {
    Places {
        shell: table.shell,
        ..Places::default()
    }
}
