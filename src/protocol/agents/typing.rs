//! Whether what a command starts could be typed into without another call of a hook, in an agent that
//! lets its model do that (docs/hosts.md#codex).

use std::io::{Seek, SeekFrom};
use std::path::Path;

use serde_json::Value;

use super::own::{shell, takes_typing};
use crate::host::Agent;
use crate::host::agent::table::Table;
use crate::permission::{Outline, OutlineCommand};
use crate::sys::files;
use crate::sys::name_list::Names;

/// The end of a transcript in which a call is looked for: it is the last, or among the last.
const TRANSCRIPT: u64 = 1024 * 1024;

/// By what such a call is refused, in the audit log.
pub const BY_TYPING: &str = "typed commands";

/// Whether a call gives its command a terminal to type into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Terminal {
    /// It does.
    Given,
    /// It does not: the command's input is empty.
    Not,
    /// The agent's record does not say.
    Unknown,
}

/// Programs that run nothing of what they read, and ask nobody: a word that makes one do otherwise is
/// in [`EXCEPT`].
static QUIET: Names = Names::new(
    "ls pwd echo printf true false : test [ cd pushd popd export cat head tail wc nl tac sort uniq cut \
     tr grep egrep fgrep rg sed awk gawk mawk jq diff cmp comm stat file du df date basename dirname \
     realpath readlink mkdir rmdir touch rm mv cp ln chmod find tree which type tee tar unzip zip gzip \
     gunzip md5sum sha1sum sha256sum column od xxd seq sleep uname id whoami hostname printenv ps kill \
     curl wget npm pnpm yarn cargo go make cmake ninja mvn gradle tsc eslint prettier jest vitest \
     pytest ruff black mypy pip pip3 gofmt rustc rustfmt gcc clang javac apply_patch git",
);

/// Words with which these do start what may be typed into.
static EXCEPT: &[(&str, Names)] = &[
    ("npm", Names::new("exec x explore init create login")),
    ("pnpm", Names::new("exec dlx create init login")),
    ("yarn", Names::new("exec dlx node create init")),
    ("cargo", Names::new("run r login")),
    ("go", Names::new("run")),
    ("jest", Names::new("--watch --watchAll")),
    ("pytest", Names::new("--pdb --trace")),
    ("find", Names::new("-exec -execdir -ok -okdir")),
];

/// Subcommands of `git` that neither ask nor open an editor, unless an option says so.
static GIT: Names = Names::new(
    "status log diff show branch rev-parse rev-list ls-files ls-tree fetch pull push clone add rm mv \
     stash checkout switch restore reset remote blame grep describe merge-base cat-file shortlog init \
     commit tag",
);
/// Those of them with options that ask for each change.
static ASKING: Names = Names::new("add checkout restore reset stash commit");

/// Programs that only pass on what they read.
static FILTERS: Names = Names::new(
    "cat head tail wc nl tac sort uniq cut tr grep egrep fgrep rg sed awk gawk mawk jq tee column od xxd",
);

/// What only adds something to the command behind it.
static WRAPPERS: Names = Names::new("timeout time nice nohup command env");

/// Whether the agent could type into what a command starts, should its call ask for a terminal.
pub fn is_typed_into(agent: Agent, command: &str) -> bool {
    let table = agent.table();
    table.types_unseen && typed(table, command).is_some()
}

/// Whether the command is there for typing, so that without a terminal it is of no use.
pub fn is_for_typing(agent: Agent, command: &str) -> bool {
    let table = agent.table();
    table.types_unseen && takes_typing(table, command).is_some()
}

/// What the record of a session says about a call's terminal. It is written before the hook is called
/// (tried with Codex 0.169.0); the calls of a script in code mode are not in it.
pub fn terminal((transcript, call): (Option<&Path>, Option<&str>)) -> Terminal {
    let record = transcript.zip(call);
    let found = record.and_then(|(transcript, call)| in_transcript(transcript, call));
    found.unwrap_or(Terminal::Unknown)
}

fn in_transcript(transcript: &Path, call: &str) -> Option<Terminal> {
    let mut file = files::open_regular(transcript).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TRANSCRIPT)))
        .ok()?;
    let bytes = files::read_all_capped(file, 2 * TRANSCRIPT).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().filter(|line| line.contains(call));
    let calls: Vec<Value> = lines
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .map(|mut line| line["payload"].take())
        .filter(|made| made["type"] == "function_call" && made["call_id"] == call)
        .collect();
    let has_none = |made: &Value| {
        let arguments = made["arguments"].as_str();
        let arguments: Option<Value> = arguments.and_then(|text| serde_json::from_str(text).ok());
        Some(match arguments?.as_object()?.get("tty") {
            None | Some(Value::Null | Value::Bool(false)) => Terminal::Not,
            Some(_) => Terminal::Given,
        })
    };
    // Of several calls of one identity, each might be this one.
    let all: Option<Vec<Terminal>> = calls.iter().map(has_none).collect();
    let all = all.filter(|all| !all.is_empty())?;
    let is_given = all.contains(&Terminal::Given);
    Some(if is_given {
        Terminal::Given
    } else {
        Terminal::Not
    })
}

/// The program in a command that might take typed commands if it had a terminal.
pub fn typed(table: &Table, command: &str) -> Option<String> {
    if let Some(program) = takes_typing(table, command) {
        return Some(program);
    }
    let unread = || command.split_whitespace().next().unwrap_or("it").to_owned();
    let Some(outline) = Outline::read(command, &shell(table)) else {
        return Some(unread());
    };
    // Whether what comes through the pipe may come from the terminal.
    let mut open = false;
    outline.commands.iter().find_map(|one| {
        let reads_terminal = !one.has_input && (one.stage == 0 || open);
        let said = Said::of(one);
        open = reads_terminal && said.as_ref().is_none_or(Said::passes_on);
        let is_harmless = said.as_ref().is_some_and(|said| {
            said.program != "git" && !reads_terminal || said.is_quiet(reads_terminal)
        });
        (!is_harmless).then(|| said.map_or_else(unread, |said| said.program.to_owned()))
    })
}

/// A command of known words, without what stands before its program.
struct Said<'a> {
    program: &'a str,
    words: Vec<&'a str>,
}

impl<'a> Said<'a> {
    fn of(command: &'a OutlineCommand) -> Option<Self> {
        let mut words = command.words.iter().map(|word| word.as_deref()).peekable();
        let mut program = match words.next() {
            // A mere assignment.
            None => "true",
            Some(word) => word?,
        };
        while WRAPPERS.has(program) {
            let is_its = |word: &str| {
                word.starts_with(|c: char| c == '-' || c.is_ascii_digit()) || word.contains('=')
            };
            while words.next_if(|word| word.is_some_and(is_its)).is_some() {}
            program = words.next()??;
        }
        // What is not known is no option of those that matter here, which granted entries spell out.
        let words = words.map(Option::unwrap_or_default).collect();
        Some(Self { program, words })
    }

    fn has(&self, wanted: impl Fn(&str) -> bool) -> bool {
        self.words.iter().any(|word| wanted(word))
    }

    /// Whether it takes no commands from a terminal.
    fn is_quiet(&self, reads_terminal: bool) -> bool {
        // `-f -`, `--file=-`, `/dev/stdin`, `/dev/tty`.
        let is_input = |word: &str| {
            word != "--" && word.starts_with('-') && word.ends_with('-')
                || ["/dev/", "/proc/"].iter().any(|dir| word.contains(dir)) && word != "/dev/null"
        };
        if self.program == "git" {
            return self.git_is_quiet();
        }
        let excepted = EXCEPT.iter().find(|(name, _)| *name == self.program);
        let is_excepted = excepted.is_some_and(|(_, words)| self.has(|word| words.has(word)));
        let reads = reads_terminal && self.has(is_input) && !FILTERS.has(self.program);
        let code = ["awk", "gawk", "mawk", "sed"].contains(&self.program) && self.has(is_input);
        QUIET.has(self.program) && !is_excepted && !reads && !code
    }

    fn git_is_quiet(&self) -> bool {
        let mut words = self.words.iter();
        let mut verb = words.next();
        while let Some(option) = verb.filter(|word| word.starts_with('-')) {
            verb = words.nth(usize::from(["-C", "-c"].contains(option)));
        }
        let Some(verb) = verb else {
            return self.has(|word| word == "--version");
        };
        let short = |word: &str, letter: char| {
            word.starts_with('-') && !word.starts_with("--") && word.contains(letter)
        };
        let long = |word: &str, names: &[&str]| names.iter().any(|name| word.starts_with(name));
        let asks = self.has(|word| {
            short(word, 'p')
                || short(word, 'i')
                || short(word, 'e')
                || long(word, &["--p", "--i", "--e"])
        });
        let has_message = self.has(|word| {
            short(word, 'm') || short(word, 'F') || long(word, &["--message", "--file", "--no-ed"])
        });
        GIT.has(verb)
            && !(ASKING.has(verb) && asks)
            && (*verb != "commit" || has_message)
            && (*verb != "tag"
                || has_message
                || !self.has(|word| short(word, 'a') || short(word, 's')))
            && (*verb != "branch" || !self.has(|word| word.starts_with("--ed")))
    }

    /// Whether it may pass on what is typed into it.
    fn passes_on(&self) -> bool {
        let is_number = |word: &str| word.chars().all(|c| c.is_ascii_digit());
        let files = match self.program {
            "cat" | "head" | "tail" | "wc" | "nl" | "tac" | "sort" => 1,
            "grep" | "egrep" | "fgrep" | "sed" => 2,
            program => return FILTERS.has(program) || !QUIET.has(program),
        };
        let is_flag = |word: &str| {
            let letters = word.strip_prefix('-').unwrap_or_default();
            !letters.is_empty() && letters.chars().all(|c| "nrEilvhw".contains(c))
        };
        let is_operand = |word: &&&str| !word.starts_with('-') && !is_number(word);
        let has_option = self.has(|word| word.starts_with('-') && !is_flag(word));
        has_option || self.words.iter().filter(is_operand).count() < files
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_commands_from_a_terminal_is_known_by_exclusion() {
        for command in [
            "make -f -",
            "make --file=- all",
            "make -f /dev/stdin",
            "awk -f /dev/stdin",
            "awk -f- x",
            "xargs -I{} sh -c {}",
            "git add -i",
            "git add --patch",
            "git checkout -p",
            "git commit",
            "git commit -a",
            "git rebase -i HEAD~3",
            "sh -s",
            "bash -i",
            "env -i sh",
            "python -",
            "node -",
            "perl",
            "psql app",
            "sqlite3 x.db",
            "ftp host",
            "ssh host ls",
            "gdb x",
            "vi x",
            "vi x < /dev/null",
            "less x",
            "man ls",
            "docker run -it x",
            "npx node",
            "npm exec node",
            "timeout 60 python3",
            "python3 manage.py shell",
            "strange",
            "strange < /dev/tty",
            "strange < f <&1",
            "cat | python3 x.py",
            "cat - | strange",
            "grep -i x | strange",
            "head -n 5 | strange",
            "tee f | cat | strange",
            "find . -exec sh {} ;",
            "$x",
            "pytest --pdb",
            "while read x; do git $x; done",
        ] {
            assert!(is_typed_into(Agent::Codex, command), "{command}");
            assert!(!is_typed_into(Agent::ClaudeCode, command), "{command}");
        }
        for command in [
            "git log --oneline -5 -p",
            "git add . && git commit -m 'a b' && git push",
            "git -C sub diff",
            "npm test",
            "npm run build -- --x",
            "cargo build --release",
            "cd sub && timeout 60 cargo test",
            "make test",
            "cat a.txt | grep x | head -n 5",
            "A=1 pytest -q",
            "strange x < /dev/null",
            "strange <<E\nx\nE",
            "echo x | strange",
            "cat f | python3 x.py",
            "git log | strange",
            "grep -n x f | strange",
            "python3 x.py < /dev/null",
            "ls > out; x=1",
            "for f in *.md; do wc -l \"$f\"; done",
        ] {
            assert!(!is_typed_into(Agent::Codex, command), "{command}");
        }
    }
}
