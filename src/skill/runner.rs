//! Whether and how a file can be run: the one answer for the room that runs scripts and for all
//! that lists, compares, approves or scans them (docs/spec/skills.md#scripts).

use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::sys::{files, limits};

/// What determines how a file is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Runner {
    /// Its `#!` line.
    Shebang(Shebang),
    /// It is machine code.
    Itself,
    /// Its extension, for which there are these programs.
    Extension(Interpreters),
    /// Only its executable bit: shells and `execvp` pass files that the kernel cannot execute to
    /// `sh`.
    Shell,
}

impl Runner {
    /// What determines how the file `path` with this content is run; `None` if nothing does, so
    /// that it cannot be run.
    pub fn of(path: &Path, is_executable: bool, content: &[u8]) -> Option<Self> {
        let most = usize::try_from(limits::SCRIPT_HEAD).unwrap_or(usize::MAX);
        let head = &content[..content.len().min(most)];
        if let Some(shebang) = Shebang::parse(head) {
            return Some(Self::Shebang(shebang));
        }
        if is_executable && head.contains(&0) {
            return Some(Self::Itself);
        }
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        let by_extension = by_extension(&extension).map(Self::Extension);
        by_extension.or_else(|| is_executable.then_some(Self::Shell))
    }

    /// As [`Runner::of`], for the regular file `path`.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn at(path: &Path) -> io::Result<Option<Self>> {
        let (file, metadata) = files::open_with_metadata(path)?;
        let mut head = Vec::new();
        file.take(limits::SCRIPT_HEAD).read_to_end(&mut head)?;
        Ok(Self::of(
            path,
            has_bit(metadata.permissions().mode()),
            &head,
        ))
    }

    /// Whether the file `path` with this content is meant to be run: not only its executable bit
    /// says so, which some file systems give to every file.
    pub fn is_meant(path: &Path, is_executable: bool, content: &[u8]) -> bool {
        Self::of(path, is_executable, content).is_some_and(|runner| runner != Self::Shell)
    }

    /// As [`Runner::is_meant`], for the regular file `path`. Of an unreadable one, the name decides.
    pub fn is_meant_at(path: &Path) -> bool {
        let runner = Self::at(path).unwrap_or_else(|_| Self::of(path, false, b""));
        runner.is_some_and(|runner| runner != Self::Shell)
    }
}

/// Whether a mode lets anyone execute the file.
pub fn has_bit(mode: u32) -> bool {
    mode & 0o111 != 0
}

/// A `#!` line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shebang {
    /// A path, or for `env` the name that it would look up.
    pub program: String,
    /// Arguments before the script's path.
    pub args: Vec<String>,
}

impl Shebang {
    /// The `#!` line at the start of a file; `None` without one, or if it is empty.
    ///
    /// More lenient than the kernel, so that a file runs alike everywhere: it accepts a byte order
    /// mark before the line, a carriage return after it and several arguments.
    pub fn parse(head: &[u8]) -> Option<Self> {
        let head = head.strip_prefix("\u{feff}".as_bytes()).unwrap_or(head);
        let mut lines = head.strip_prefix(b"#!")?.split(|&byte| byte == b'\n');
        let line = String::from_utf8_lossy(lines.next()?);
        let line = line.trim();
        let (first, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim_start();
        let is_env = base_name(first) == "env";
        let split = ["--split-string=", "--split-string ", "-S"];
        let split = split.iter().find_map(|option| rest.strip_prefix(option));
        // What `env` would refuse, such as an unclosed quotation mark, is split at white space.
        let split = split.filter(|_| is_env).and_then(shlex::split);
        let by_space = || rest.split_whitespace().map(str::to_owned).collect();
        let mut args: Vec<String> = split.unwrap_or_else(by_space);
        // Leave further options and assignments to `env` itself.
        let is_name = |word: &String| !word.starts_with('-') && !word.contains('=');
        let program = if is_env && args.first().is_some_and(is_name) {
            args.remove(0)
        } else {
            first.to_owned()
        };
        (!base_name(first).is_empty()).then_some(Self { program, args })
    }

    /// The program's file name.
    pub fn name(&self) -> &str {
        base_name(&self.program)
    }
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The programs that can run a file, best first, each with its arguments.
pub type Interpreters = &'static [(&'static str, &'static [&'static str])];

/// The programs that run Python.
pub const PYTHON: Interpreters = &[("python3", &[]), ("python", &[])];
/// Deno would ask for permissions, and nobody is there to answer, so it gets those that scripts
/// have under every other interpreter.
const TYPESCRIPT: Interpreters = &[
    ("bun", &["run"]),
    ("deno", &["run", "--allow-all"]),
    ("tsx", &[]),
    ("node", &[]),
];
/// The programs that run files with this extension; `None` if it is not a script's.
pub fn by_extension(extension: &str) -> Option<Interpreters> {
    Some(match extension.to_ascii_lowercase().as_str() {
        "py" => PYTHON,
        "sh" | "bash" => &[("bash", &[])],
        "js" | "mjs" | "cjs" => &[("node", &[])],
        "ts" | "mts" | "cts" => TYPESCRIPT,
        "rb" => &[("ruby", &[])],
        "pl" => &[("perl", &[])],
        "ps1" => &[("pwsh", &["-NoProfile", "-NonInteractive", "-File"])],
        "r" => &[("Rscript", &[])],
        "lua" => &[("lua", &[]), ("lua5.4", &[]), ("luajit", &[])],
        "php" => &[("php", &[])],
        "awk" => &[("awk", &["-f"])],
        "tcl" => &[("tclsh", &[])],
        "jl" => &[("julia", &[])],
        "zsh" => &[("zsh", &[])],
        "fish" => &[("fish", &[])],
        "ksh" => &[("ksh", &[])],
        "nu" => &[("nu", &[])],
        "exs" => &[("elixir", &[])],
        "raku" => &[("raku", &[])],
        "hs" => &[("runghc", &[])],
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// By each file: what runs it without and with its executable bit.
    #[test]
    fn one_answer_says_what_can_be_run() {
        let dir = tempfile::tempdir().unwrap();
        for (name, content, without, with) in [
            ("notes.md", &b"text"[..], "", "sh"),
            ("notes.md", b"#!/bin/sh\n", "#!", "#!"),
            ("notes.md", b"\xef\xbb\xbf#! /bin/sh\r\n", "#!", "#!"),
            ("run", b"#!/usr/bin/env -S node\n", "#!", "#!"),
            ("run", b"#!\n", "", "sh"),
            ("run", b"\x7fELF\0", "", "itself"),
            ("a.PY", b"#!/bin/sh\n", "#!", "#!"),
            ("a.PY", b"print()", "extension", "extension"),
            ("a.awk", b"", "extension", "extension"),
            ("a.hs", b"\0", "extension", "itself"),
        ] {
            for (mode, expected) in [(0o644, without), (0o645, with)] {
                let shown = match Runner::of(Path::new(name), has_bit(mode), content) {
                    None => "",
                    Some(Runner::Shebang(_)) => "#!",
                    Some(Runner::Itself) => "itself",
                    Some(Runner::Extension(_)) => "extension",
                    Some(Runner::Shell) => "sh",
                };
                assert_eq!(shown, expected, "{name} {content:?} {mode:o}");
                let path = dir.path().join(name);
                fs::write(&path, content).unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
                let is_there = Runner::at(&path).unwrap().is_some();
                assert_eq!(is_there, !expected.is_empty(), "{name} {mode:o}");
                let is_meant = !["", "sh"].contains(&expected);
                assert_eq!(Runner::is_meant_at(&path), is_meant, "{name} {mode:o}");
            }
        }
        assert!(Runner::is_meant_at(&dir.path().join("missing.sh")));
        assert!(!Runner::is_meant_at(&dir.path().join("missing")));
    }

    #[test]
    fn what_is_behind_the_head_that_is_read_says_nothing() {
        let path = Path::new("run");
        let late = usize::try_from(limits::SCRIPT_HEAD).unwrap();
        for (end, is_there) in [(late - 2, true), (late, false)] {
            let line = format!("#!{:end$}", "", end = end - 2) + "sh\n";
            assert_eq!(Runner::of(path, false, line.as_bytes()).is_some(), is_there);
        }
    }

    fn parsed(line: &str) -> Option<Vec<String>> {
        let shebang = Shebang::parse(line.as_bytes())?;
        Some([vec![shebang.program], shebang.args].concat())
    }

    #[test]
    fn shebangs_as_they_are_found() {
        for (line, expected) in [
            ("#!/bin/bash", "/bin/bash"),
            ("#!/bin/sh -e -u\r\nrest", "/bin/sh|-e|-u"),
            ("#! /usr/bin/perl  -w\n", "/usr/bin/perl|-w"),
            ("#!/usr/bin/env python3\r\n", "python3"),
            ("#!/usr/bin/env python3 -u\n", "python3|-u"),
            ("#!/usr/bin/env -S uv run --script\n", "uv|run|--script"),
            ("#!/usr/bin/env -Suv run", "uv|run"),
            ("#!/usr/bin/env --split-string=deno run", "deno|run"),
            (
                "#!/usr/bin/env -S deno run --allow-env='A B'",
                "deno|run|--allow-env=A B",
            ),
            (r#"#!/usr/bin/env -S a "b \" c" d\ e '' "#, "a|b \" c|d e|"),
            ("#!/usr/bin/env -S X=1 python3", "/usr/bin/env|X=1|python3"),
            ("#!/usr/bin/env -i sh", "/usr/bin/env|-i|sh"),
            ("#!/usr/bin/env", "/usr/bin/env"),
        ] {
            assert_eq!(parsed(line).unwrap().join("|"), expected, "{line}");
        }
    }

    #[test]
    fn no_shebang() {
        for text in [
            "",
            "#!",
            "#!\n/bin/sh",
            "#! \r\n",
            "# !/bin/sh",
            " #!/bin/sh",
        ] {
            assert_eq!(parsed(text), None, "{text:?}");
        }
    }
}
