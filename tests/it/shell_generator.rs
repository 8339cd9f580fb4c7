//! Commands that the restriction accepts are run, under bash and dash, among programs that only
//! write down that they were called: none that no entry grants may be among them, nothing outside
//! `out/` may change, and nothing that is not granted may be read.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use agent_skills::permission::{
    Call, Decision, Places, ProtectedPlaces, Resolve, Restriction, Scope, Settings, decide,
};
use serde_json::json;

use crate::shell_grammar::Grammar;

const COMMANDS: usize = 20_000;
const BATCH: usize = 100;
const ENTRIES: &str =
    "Bash(git:*) Bash(npm run test:*) Bash(ls) Bash(find:*) Read(in/**) Write(out/**)";

/// Programs that only say that they were called.
const STUBS: [&str; 33] = [
    "git", "npm", "ls", "find", "rm", "curl", "evil", "id", "sudo", "node", "make", "python3",
    "sh2", "tee", "sed", "awk", "touch", "mv", "cp", "chmod", "less", "jq", "gitk", "builtin",
    "coproc", "[[", "select", "function", "declare", "typeset", "let", "x", "a",
];
/// Programs that are what they are: filters, and wrappers that run what PATH has.
const REAL: [&str; 23] = [
    "head", "tail", "wc", "sort", "uniq", "cut", "tr", "grep", "nl", "column", "cat", "rev", "tac",
    "timeout", "nice", "nohup", "stdbuf", "env", "xargs", "bash", "dash", "sh", "egrep",
];

struct Disk;

impl Resolve for Disk {
    fn canonical(&self, path: &Path) -> PathBuf {
        for above in path.ancestors() {
            if let (Ok(real), Ok(rest)) = (above.canonicalize(), path.strip_prefix(above)) {
                return real.join(rest);
            }
        }
        path.to_owned()
    }

    fn links_in(&self, _: &Path) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// A world in which a command may do its worst.
struct World {
    root: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self {
            root: tempfile::tempdir().unwrap(),
        };
        for dir in [
            "bin",
            "logs",
            "project/in",
            "project/out",
            "project/sub",
            "home/.ssh",
        ] {
            fs::create_dir_all(world.at(dir)).unwrap();
        }
        // Each call has a file of its own: calls in one pipeline write at the same time.
        let stub = "#!/bin/dash\n{ printf 'P%s' \"${0##*/}\"; for a; do printf '\\037%s' \"$a\"; done; echo; export -p; } > \"$STUB_LOG/$$\"\n";
        for name in STUBS {
            world.program(&format!("bin/{name}"), stub);
        }
        // Where `time` is not part of the grammar, it is a program that runs its arguments.
        world.program(
            "bin/time",
            "#!/bin/dash\n[ \"$1\" = -p ] && shift\nexec \"$@\"\n",
        );
        let evil = "#!/bin/dash\necho Pcanary > \"$STUB_LOG/$$\"\n";
        for path in [
            "project/git",
            "project/evil",
            "project/sub/git",
            "project/sub/rm",
            "home/evil",
        ] {
            world.program(path, evil);
        }
        for name in REAL {
            let real = ["/usr/bin", "/bin"]
                .iter()
                .map(|dir| Path::new(dir).join(name));
            if let Some(real) = real.into_iter().find(|path| path.exists()) {
                symlink(real, world.at(&format!("bin/{name}"))).unwrap();
            }
        }
        for path in [
            "project/canary",
            "home/.ssh/id_rsa",
            "secret",
            "home/x",
            "x",
        ] {
            fs::write(world.at(path), "SECRET\n").unwrap();
        }
        fs::write(world.at("project/in/data"), "data\n").unwrap();
        world
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    fn program(&self, path: &str, text: &str) {
        let path = self.at(path);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn accepts(&self, command: &str) -> bool {
        let project = self.at("project");
        let entries = [ENTRIES.to_owned()];
        let restriction =
            Restriction::parse("test", Some(&entries), &[], &self.at("skill"), &project);
        let places = Places {
            project_root: project,
            home: Some(self.at("home")),
            protected: ProtectedPlaces::new(vec![self.at("plugin")], Vec::new()),
            ..Places::default()
        };
        let scope = Scope {
            restrictions: &[restriction],
            policy_deny: &[],
            settings: &Settings::default(),
            places: &places,
            mcp_tools: &BTreeSet::new(),
        };
        let arguments = json!({ "command": command });
        let call = Call {
            tool: "shell_exec",
            arguments: &arguments,
            ours: None,
        };
        matches!(decide(&scope, &call, &Disk), Decision::Allow(_))
    }

    /// Runs commands one after the other in one shell process each, with a log each.
    fn run(&self, shell: &str, commands: &[&str]) {
        // What loops for ever is stopped by its own use of the processor.
        let mut driver = "ulimit -t 2\n".to_owned();
        for (at, command) in commands.iter().enumerate() {
            fs::create_dir(self.at("logs").join(at.to_string())).unwrap();
            let quoted = command.replace('\'', "'\\''");
            let log = self.at("logs");
            let log = log.display();
            let _ = writeln!(
                driver,
                "STUB_LOG={log}/{at} {shell} -c '{quoted}' </dev/null >{log}/{at}.out 2>&1"
            );
        }
        let script = self.at("driver");
        fs::write(&script, driver).unwrap();
        let status = Command::new("timeout")
            .args(["-s", "KILL", "300", "/bin/dash"])
            .arg(script)
            .env_clear()
            .env("PATH", format!("{}", self.at("bin").display()))
            .env("HOME", self.at("home"))
            .env("LC_ALL", "C")
            .current_dir(self.at("project"))
            .stdin(Stdio::null())
            .status();
        let status = status.unwrap();
        assert!(status.code().is_some(), "timed out: {commands:#?}");
    }

    /// What went wrong in the last run, if anything.
    fn damage(&self, commands: &[&str]) -> Option<String> {
        for (at, command) in commands.iter().enumerate() {
            let output = text(&self.at("logs").join(format!("{at}.out")));
            if output.contains("SECRET") {
                return Some(format!("a secret was read by {command}: {output}"));
            }
            for log in fs::read_dir(self.at("logs").join(at.to_string())).unwrap() {
                let log = text(&log.unwrap().path());
                if let Some(line) = log.lines().find(|line| !self.is_granted(line)) {
                    return Some(format!("{line:?} was caused by {command:?}"));
                }
            }
        }
        self.changed()
            .map(|what| format!("{what} changed by one of {commands:#?}"))
    }

    /// Whether a line of a log is something that an entry grants, or a harmless variable.
    fn is_granted(&self, line: &str) -> bool {
        if let Some(call) = line.strip_prefix('P') {
            let words: Vec<&str> = call.split('\u{1f}').collect();
            let test = |word: &&str| *word == "test" || word.starts_with("test:");
            return match words[0] {
                // Where `[[` is not part of the grammar it is a program, the same test if any.
                "git" | "[[" => true,
                "ls" => words.len() == 1,
                "npm" => words.get(1) == Some(&"run") && words.get(2).is_some_and(test),
                "find" => finds_only(&words[1..]),
                _ => false,
            };
        }
        let Some(variable) = line.strip_prefix("export ") else {
            return true;
        };
        let (name, value) = variable.split_once('=').unwrap_or((variable, ""));
        let value = value.trim_matches('\'');
        match name {
            "PATH" => Path::new(value) == self.at("bin"),
            "HOME" => Path::new(value) == self.at("home"),
            "PWD" | "OLDPWD" => Path::new(value).starts_with(self.at("project")),
            // stdbuf works by preloading its own library.
            "LD_PRELOAD" | "_STDBUF_O" => value.ends_with("libstdbuf.so") || value == "L",
            _ if name.starts_with("LC_") => true,
            _ => ["STUB_LOG", "_", "SHLVL", "LANG", "CI"].contains(&name),
        }
    }

    /// The first file outside `out/` that is new, gone or different.
    fn changed(&self) -> Option<String> {
        for path in [
            "project/canary",
            "home/.ssh/id_rsa",
            "secret",
            "home/x",
            "x",
        ] {
            if fs::read_to_string(self.at(path)).ok().as_deref() != Some("SECRET\n") {
                return Some(path.to_owned());
            }
        }
        let count = |dir: &str| fs::read_dir(self.at(dir)).unwrap().count();
        let expected = [
            ("project", 6),
            ("home", 3),
            ("project/sub", 2),
            ("project/in", 1),
            ("", 7),
        ];
        let different = expected
            .iter()
            .find(|(dir, entries)| count(dir) != *entries);
        different.map(|(dir, _)| format!("the directory `{dir}`"))
    }

    fn clear(&self) {
        for dir in ["logs", "project/out"] {
            fs::remove_dir_all(self.at(dir)).unwrap();
            fs::create_dir(self.at(dir)).unwrap();
        }
    }
}

fn text(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned()
}

/// Whether a call of `find` runs only what is granted or harmless, and writes nothing.
fn finds_only(arguments: &[&str]) -> bool {
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        match *word {
            "-delete" | "-fprint" | "-fprint0" | "-fprintf" | "-fls" => return false,
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let harmless = [
                    "git", "npm", "echo", "printf", "test", "[", "true", "pwd", "false",
                ];
                let program = rest.next().unwrap_or(&"");
                if !harmless.contains(program) && !REAL.contains(program) {
                    return false;
                }
                rest.by_ref().find(|word| **word == ";" || **word == "+");
            }
            _ => {}
        }
    }
    true
}

#[test]
fn accepted_commands_run_nothing_that_is_not_granted() {
    let seed = std::env::var("SHELL_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or(1);
    let count = std::env::var("SHELL_COMMANDS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(COMMANDS);
    let mut grammar = Grammar::new(seed);
    let world = World::new();
    let commands: Vec<String> = (0..count).map(|_| grammar.command()).collect();
    let accepted: BTreeSet<&str> = commands
        .iter()
        .map(String::as_str)
        .filter(|command| world.accepts(command))
        .collect();
    let accepted: Vec<&str> = accepted.into_iter().collect();
    println!("{} of {count} commands accepted", accepted.len());
    assert!(
        accepted.len() * 20 > count,
        "too few were accepted to say anything"
    );
    let run = |world: &World, accepted: &[&str]| {
        for (at, batch) in accepted.chunks(BATCH).enumerate() {
            let bash = if at % 2 == 0 {
                "/bin/bash"
            } else {
                "/bin/bash --posix"
            };
            for shell in [bash, "/bin/dash"] {
                world.run(shell, batch);
                if let Some(damage) = world.damage(batch) {
                    panic!("{shell}: {damage}");
                }
                world.clear();
            }
        }
    };
    let other = World::new();
    let (left, right) = accepted.split_at(accepted.len() / 2);
    std::thread::scope(|scope| {
        scope.spawn(|| run(&other, left));
        run(&world, right);
    });
}
