//! What a call has to do with a skill's own files: reading them, running a script of the skill, and
//! reading a `SKILL.md` where that is how a skill becomes active.

use std::path::{Component, Path, PathBuf};

use super::translate::OurCall;
use crate::host::agent::table::Table;
use crate::permission::{Outline, Places, Resolve};
use crate::policy::OnDisk;
use crate::run_context::RunContext;
use crate::session::Session;
use crate::sys::name_list::Names;

/// Programs that run the file that is their first operand.
static RUNNERS: Names =
    Names::new("bash sh zsh dash python python3 node ruby perl php lua deno bun uv");

/// Programs that take commands from whoever types, if no operand says otherwise.
static SHELLS: Names = Names::new(
    "bash sh zsh dash ksh fish python python2 python3 node irb ruby perl php lua psql mysql sqlite3 ghci tclsh expect bc",
);
/// Programs from which a person gets a shell by typing, whatever they were started with.
static SCREENS: Names = Names::new(
    "vi vim nvim nano emacs ed ex less more most man ssh telnet ftp sftp gdb lldb screen tmux top htop su",
);

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
            is_inside && !text("pattern").is_some_and(leads_out)
        }
        "run_command" => {
            let outline = Outline::read(text("command").unwrap_or_default(), &shell(table));
            let words = outline
                .as_ref()
                .and_then(Outline::plain)
                .unwrap_or_default();
            let script = match words.first() {
                Some(program) if RUNNERS.has(program) => words.get(1),
                first => first,
            };
            script.is_some_and(|script| {
                let path = call.directory.join(script);
                script.contains('/') && path.is_file() && is_own(&path)
            })
        }
        _ => false,
    }
}

/// The directories of the skills whose `SKILL.md` a call reads or whose script it runs, as an
/// agent without a tool for skills lets the model use one.
pub fn skills_read(ctx: &RunContext, table: &Table, call: &OurCall) -> Vec<PathBuf> {
    let text = |key: &str| call.arguments.get(key).and_then(serde_json::Value::as_str);
    let files: Vec<PathBuf> = match call.tool.as_str() {
        "read_file" => text("path").map(PathBuf::from).into_iter().collect(),
        "run_command" => {
            let command = text("command").unwrap_or_default();
            // Most commands name neither, and are not read at all.
            if !command.contains("SKILL.md") && !command.contains("scripts") {
                return Vec::new();
            }
            let outline = Outline::read(command, &shell(table));
            let words = match &outline {
                Some(outline) => {
                    let words = outline.commands.iter().flatten().flatten();
                    words.map(String::as_str).collect()
                }
                // What cannot be read may still read a skill.
                None => command
                    .split([' ', '\n', '\t', ';', '"', '\'', '<', '('])
                    .collect::<Vec<_>>(),
            };
            let home = ctx.env.home().unwrap_or_default();
            let expanded = |word: &str| match word.strip_prefix("~/") {
                Some(rest) => home.join(rest),
                None => call.directory.join(word),
            };
            words.into_iter().map(expanded).collect()
        }
        _ => return Vec::new(),
    };
    let skills = &table.skills;
    let mut roots: Vec<PathBuf> = skills.enterprise.iter().map(PathBuf::from).collect();
    let home = ctx.env.home();
    roots.extend(
        home.iter()
            .flat_map(|home| skills.personal.iter().map(|dir| home.join(dir))),
    );
    for holder in ctx.project_holders(&ctx.env.cwd) {
        roots.extend(skills.project.iter().map(|dir| holder.join(dir)));
    }
    let of_skill = |file: &PathBuf| {
        let real = OnDisk.canonical(file)?;
        roots.iter().find_map(|root| {
            // A skill may be a link to where it was installed.
            let below = file.strip_prefix(root).ok().map(Path::to_owned);
            let below = below.or_else(|| {
                let root = OnDisk.canonical(root)?;
                real.strip_prefix(root).ok().map(Path::to_owned)
            })?;
            // The nearest directory with such a file is the skill: it may be deeper than the first.
            let mut dirs = below.ancestors().skip(1);
            let skill = dirs.find(|dir| root.join(dir).join("SKILL.md").exists())?;
            let used = below.strip_prefix(skill).ok()?.components().next()?;
            let is_use = ["scripts", "SKILL.md"]
                .iter()
                .any(|name| used.as_os_str() == *name);
            let is_one = !skill.as_os_str().is_empty();
            (is_use && is_one).then(|| root.join(skill))
        })
    };
    let mut dirs: Vec<PathBuf> = files.iter().filter_map(of_skill).collect();
    dirs.dedup();
    dirs
}

/// The program in a command that a person could then type commands into.
pub fn takes_typing(table: &Table, command: &str) -> Option<String> {
    let outline = Outline::read(command, &shell(table))?;
    let base = |word: &str| word.rsplit('/').next().unwrap_or(word).to_owned();
    outline.commands.iter().find_map(|words| {
        let words: Vec<&str> = words
            .iter()
            .map(|word| word.as_deref().unwrap_or("$"))
            .collect();
        words.iter().enumerate().find_map(|(at, word)| {
            let name = base(word);
            let is_option = |word: &&str| word.starts_with('-') && *word != "-c" && *word != "-m";
            let asks = SHELLS.has(&name) && words[at + 1..].iter().all(is_option)
                || at == 0 && SCREENS.has(&name)
                || SHELLS.has(&name) && words[at + 1..].first() == Some(&"-i");
            asks.then_some(name)
        })
    })
}

/// What an outline needs to know.
fn shell(table: &Table) -> Places {
    Places {
        shell: table.shell,
        ..Places::default()
    }
}
