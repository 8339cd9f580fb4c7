//! Whose program a process runs, by its names: chibi's, another agent's, or neither. One table for
//! all forms in which a program can be running (docs/administration.md#below-an-agent).

use std::path::Path;

use super::agent::Agent;
use crate::sys::process::Image;
use skill_text::Words;

/// chibi's program.
pub const PROGRAM: &str = "chibi";

/// The name of the agent whose program this is; also chibi's `with_chibi`.
pub fn agent_of(image: &Image, with_chibi: bool) -> Option<&'static str> {
    let script = script(image);
    // A process may put a title in the place of its words.
    let started_as = image.words.first().and_then(|word| word.split(' ').next());
    let paths = [image.executable.as_deref(), script];
    let files = paths.into_iter().chain([started_as]).flatten();
    let names = files.map(file_name).chain([&*image.comm]);
    let names: Vec<&str> = names.collect();
    let is_program = |program: &&str| {
        // A version that the program installed itself (`claude/versions/2.1.330`,
        // `cursor-agent/versions/2026.11.01/node`).
        let versions = format!("/{program}/versions/");
        let mut paths = paths.iter().flatten();
        names.iter().any(|name| is_build_of(name, program))
            || paths.any(|path| path.contains(&versions))
    };
    let agents = Agent::ALL.into_iter().find_map(|agent| {
        let settings = agent.table();
        let mut programs = settings.programs.iter().copied();
        programs.find(is_program).or_else(|| {
            let (script, package) = script.zip(settings.package)?;
            is_in_package(script, package).then_some(settings.programs[0])
        })
    });
    agents.or_else(|| Some(PROGRAM).filter(|chibi| with_chibi && is_program(chibi)))
}

/// Programs that run a script, with the options that decide which word is the script.
struct InterpreterOptions {
    /// Their names, without a version at the end.
    names: Words,
    /// Letters of options after which there is code instead of a script.
    code: &'static str,
    /// Letters of options that take the next word.
    takes: &'static str,
    /// Long options that take the next word.
    long: Words,
    /// The word before the script, if there is one.
    verb: &'static str,
}

#[rustfmt::skip]
const INTERPRETERS: [InterpreterOptions; 4] = [
    InterpreterOptions { names: Words("sh bash dash ash zsh ksh mksh fish"), code: "c", takes: "oO", long: Words("--rcfile --init-file"), verb: "" },
    InterpreterOptions { names: Words("node nodejs bun"), code: "ep", takes: "rC", long: Words("--require --import --loader --conditions --env-file"), verb: "run" },
    InterpreterOptions { names: Words("deno"), code: "", takes: "cL", long: Words("--config --import-map"), verb: "run" },
    InterpreterOptions { names: Words("python"), code: "cm", takes: "WX", long: Words(""), verb: "" },
];

/// The script that an interpreter runs.
fn script(image: &Image) -> Option<&str> {
    let files = [image.executable.as_deref(), Some(image.words.first()?)];
    let mut names = files.into_iter().flatten().map(|path| {
        let name = current(file_name(path)).trim_start_matches('-');
        name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
    });
    let interpreter = names.find_map(|name| {
        let mut all = INTERPRETERS.iter();
        all.find(|interpreter| interpreter.names.has(name))
    })?;
    let mut words = image.words[1..].iter().map(String::as_str);
    while let Some(word) = words.next() {
        let short = word.strip_prefix(['-', '+']);
        match short.filter(|it| !it.starts_with('-')) {
            Some(letters) if letters.contains(|c| interpreter.code.contains(c)) => return None,
            Some(letters) if letters.ends_with(|c| interpreter.takes.contains(c)) => {
                words.next();
            }
            Some(_) => {}
            None if ["--eval", "--print"].contains(&word) => return None,
            None if interpreter.long.has(word) => {
                words.next();
            }
            None if word == "--" => return words.next(),
            None if word.starts_with("--") || interpreter.verb == word => {}
            None => return Some(word),
        }
    }
    None
}

fn file_name(path: &str) -> &str {
    let name = Path::new(path).file_name();
    name.and_then(|name| name.to_str()).unwrap_or_default()
}

/// The name of an executable that was replaced since it started is marked by the kernel.
fn current(name: &str) -> &str {
    name.strip_suffix(" (deleted)").unwrap_or(name)
}

/// Whether a file of this name is a build of `program`: `codex-x86_64-unknown-linux-musl`,
/// `chibi-0.10`, and what Nix wraps. Another program may begin with that name, too.
fn is_build_of(name: &str, program: &str) -> bool {
    const PLATFORMS: [&str; 6] = ["linux", "darwin", "x86_64", "x64", "aarch64", "arm64"];
    let name = current(name);
    let wrapped = name
        .strip_prefix('.')
        .and_then(|name| name.strip_suffix("-wrapped"));
    let name = wrapped.unwrap_or(name);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let Some(rest) = name.strip_prefix(program) else {
        return false;
    };
    let build = rest.strip_prefix('-').unwrap_or_default();
    let is_version = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    rest.is_empty()
        || is_version(build.strip_prefix('v').unwrap_or(build))
        || PLATFORMS.iter().any(|platform| build.starts_with(platform))
}

/// Whether a script belongs to this npm package.
fn is_in_package(script: &str, package: &str) -> bool {
    let named = script.strip_prefix("npm:");
    let named = named.and_then(|it| it.strip_prefix(package));
    named.is_some_and(|rest| rest.is_empty() || rest.starts_with(['@', '/']))
        || script.contains(&format!("node_modules/{package}/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process as `comm | executable | words`, with `~` for a blank within a word.
    fn found(written: &str) -> Option<&'static str> {
        let [comm, executable, words] = written
            .split('|')
            .map(str::trim)
            .collect::<Vec<_>>()
            .try_into()
            .unwrap();
        let image = Image {
            comm: comm.to_owned(),
            executable: Some(executable.to_owned()).filter(|it| !it.is_empty()),
            words: words
                .split(' ')
                .map(|word| word.replace('~', " "))
                .collect(),
        };
        agent_of(&image, true)
    }

    #[test]
    fn agents_are_known_in_every_form_in_which_they_run() {
        for (process, agent) in [
            // Native programs, by a link, by their place, replaced, with a title.
            (
                "claude | /home/u/.local/share/claude/versions/2.1.330 | claude",
                "claude",
            ),
            (
                "2.1.330 | /home/u/.local/share/claude/versions/2.1.330 | x",
                "claude",
            ),
            ("x | /usr/bin/claude (deleted) | x", "claude"),
            ("worker | /usr/bin/bun | claude~--resume", "claude"),
            ("codex | /opt/codex/codex | codex", "codex"),
            ("codex-x86_64-un | /o/x | x", "codex"),
            ("x | /o/codex-aarch64-apple-darwin | x", "codex"),
            (
                "copilot | /p/copilot-linux-x64/copilot | copilot",
                "copilot",
            ),
            ("opencode | /usr/bin/opencode | opencode", "opencode"),
            ("x | /p/opencode.exe | x", "opencode"),
            (
                ".claude-wrapped | /nix/store/x/bin/.claude-wrapped | x",
                "claude",
            ),
            // Of another user, whose executable cannot be read.
            ("claude | | claude", "claude"),
            // What interpreters run.
            (
                "MainThread | /usr/bin/node | node /usr/bin/gemini",
                "gemini",
            ),
            (
                "node | /usr/bin/node | node --max-old-space-size=8192 -r ./x.cjs /usr/bin/gemini -p x",
                "gemini",
            ),
            (
                "node | /usr/bin/node | node /usr/lib/node_modules/@google/gemini-cli/dist/index.js",
                "gemini",
            ),
            (
                "qwen | /usr/bin/node22 | node /home/u/.npm/_npx/1/node_modules/.bin/qwen",
                "qwen",
            ),
            (
                "node | /usr/bin/node | /usr/bin/node /l/node_modules/@qwen-code/qwen-code/cli.js",
                "qwen",
            ),
            (
                "node | /usr/bin/node | node /l/node_modules/@openai/codex/bin/codex.js",
                "codex",
            ),
            (
                "bun | /usr/bin/bun | bun run --bun /usr/bin/opencode",
                "opencode",
            ),
            (
                "deno | /usr/bin/deno | deno run -A npm:@google/gemini-cli@0.61.0 -p x",
                "gemini",
            ),
            (
                "python3 | /usr/bin/python3.12 | python3 -X dev /usr/bin/claude",
                "claude",
            ),
            ("bash | /usr/bin/bash | bash -eo pipefail claude", "claude"),
            ("sh | /usr/bin/dash | /bin/sh /home/u/bin/codex", "codex"),
            (
                "node | /h/cursor-agent/versions/1/node | node /h/cursor-agent/versions/1/index.js",
                "cursor-agent",
            ),
            (
                "cursor-agent | /usr/bin/node | /h/.local/bin/cursor-agent index.js",
                "cursor-agent",
            ),
            ("chibi | /usr/bin/chibi | chibi", "chibi"),
            ("chibi-0.10 | /usr/bin/chibi-0.10 | x", "chibi"),
        ] {
            assert_eq!(found(process), Some(agent), "{process}");
        }
    }

    #[test]
    fn a_persons_programs_are_no_agents() {
        for process in [
            "cursor | /usr/share/cursor/cursor | /usr/share/cursor/cursor",
            "code | /usr/share/code/code | /usr/share/code/code --type=utility",
            "bash | /usr/bin/bash | -bash",
            "bash | /usr/bin/bash | bash -lc claude",
            "sh | /usr/bin/dash | sh -ec claude",
            "bash | /usr/bin/bash | bash /home/u/claude-notes/run.sh",
            "bash | /usr/bin/bash | bash /home/u/claude/run.sh claude",
            "vim | /usr/bin/vim | vim claude.md",
            "node | /usr/bin/node | node build.js gemini",
            "node | /usr/bin/node | node -e gemini",
            "python3 | /usr/bin/python3 | python3 -m claude",
            "tmux: server | /usr/bin/tmux | tmux new -s claude",
            "ssh | /usr/bin/ssh | ssh claude",
            "su | /usr/bin/su | su - codex",
            "sudo | | sudo -u claude bash",
            "claude-notes | /usr/bin/claude-notes | claude-notes",
            "chibi-scheme | /usr/bin/chibi-scheme | chibi-scheme",
            "codexctl | /usr/bin/codexctl | codexctl",
            "npm exec @googl | /usr/bin/node | npm~exec~@google/gemini-cli",
            " | | ",
        ] {
            assert_eq!(found(process), None, "{process}");
        }
    }

    #[test]
    fn chibi_counts_where_it_is_asked_for() {
        let image = Image {
            comm: PROGRAM.to_owned(),
            ..Image::default()
        };
        assert!(agent_of(&image, true).is_some() && agent_of(&image, false).is_none());
    }
}
