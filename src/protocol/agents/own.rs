//! What a call has to do with an active skill's own files: reading them, and running a script of the
//! skill; and what takes commands from whoever types.

use std::path::{Component, Path, PathBuf};

use super::translate::OurCall;
use crate::host::agent::table::Table;
use crate::permission::{Outline, Places, Resolve};
use crate::policy::OnDisk;
use crate::session::Session;
use crate::skill::Runner;
use crate::sys::name_list::Names;

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

/// Whether a call only reads what belongs to an active skill, or runs a script of it as it is: what
/// the tools of ours do in chibi without an entry in the skill's list.
pub fn uses_own_files(
    table: &Table,
    session: &Session,
    call: &OurCall,
    home: Option<PathBuf>,
) -> bool {
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
            let places = Places {
                home,
                ..shell(table)
            };
            let outline = Outline::read(text("command").unwrap_or_default(), &places);
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
                let is_script = || matches!(Runner::at(&path), Ok(Some(_)));
                is_known && script.contains('/') && is_own(&path) && is_script()
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
