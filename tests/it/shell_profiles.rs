//! Lists under which random commands are judged, each with what may happen at most under it.

use std::path::{Path, PathBuf};

use serde_json::json;
use skill_permission::runtime::{ProtectedPaths, ProtectedPlaces};
use skill_permission::vocabulary::{Language, Shell};
use skill_permission::{Restriction, RestrictionInputs, RuleDirectories, ToolCall, decide};

use crate::shell_effects::{removed, touched};
use crate::shell_world::{Disk, Happened, Logged, PROTECTED, SECRET, World};

/// A list, and what it grants of what the programs of a world can write down.
pub struct Profile {
    pub allowed: &'static str,
    /// Whether a call is one that the list grants or that needs no grant.
    grants: fn(&Logged, &Path) -> bool,
    pub guards: Guards,
}

/// What may not change, whatever programs are granted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Guards {
    /// Every file outside `out/`; variables and what is read are held against the list, too.
    Files,
    /// The same, in an agent that reads by the shell's programs, which are what they are.
    Reading,
    /// Protected places.
    Places,
}

pub const PROFILES: &[Profile] = &[
    Profile {
        allowed: "Bash(git:*) Bash(npm run test:*) Bash(ls) Bash(find:*) Read(in/**) Write(out/**)",
        grants: |call, _| match call.program.as_str() {
            // Where `[[` is not part of the grammar it is a program, the same test if any.
            "git" | "[[" => true,
            "ls" => call.arguments.is_empty(),
            "npm" => runs_tests(call),
            "find" => finds_only(&call.arguments),
            _ => needs_no_grant(call),
        },
        guards: Guards::Files,
    },
    Profile {
        allowed: "Bash(./scripts/*) Bash(python3 scripts/x.py:*) Bash(git * --dry-run) Bash(FOO=1 make:*) Bash(ls:*) \
                  Bash(npm run test) Bash(git status:*) Read(in/**) Write(out/**)",
        grants: |call, project| match call.program.as_str() {
            "[[" | "ls" | "scripts/run.sh" | "scripts/x.py" => true,
            "git" => is_dry_or_status(call, project),
            "npm" => call.arguments == ["run", "test"],
            "python3" => {
                call.directory == project
                    && call
                        .arguments
                        .first()
                        .is_some_and(|word| word == "scripts/x.py")
            }
            "make" => call
                .variables
                .iter()
                .any(|(name, value)| name == "FOO" && value == "1"),
            _ => needs_no_grant(call),
        },
        guards: Guards::Files,
    },
    Profile {
        allowed: "Bash(rm:*) Bash(rmdir:*) Bash(mv:*) Bash(cp:*) Bash(ln:*) Bash(tee:*) Bash(touch:*) Bash(mkdir:*) Bash(chmod:*) \
                  Bash(git:*) Bash(tar:*) Bash(curl:*) Bash(make:*) Bash(env:*) Bash(setsid:*) Bash(flock:*) Bash(find:*) \
                  Bash(direnv:*) Bash(choom:*) Bash(sudo:*) Read Write",
        grants: |call, project| {
            let places = PROTECTED.map(|place| project.parent().unwrap().join(place));
            let is_in = |path: &PathBuf| places.iter().any(|place| path.starts_with(place));
            let holds = |path: &PathBuf| places.iter().any(|place| place.starts_with(path));
            !touched(call).iter().any(is_in)
                && !removed(call).iter().any(|path| is_in(path) || holds(path))
        },
        guards: Guards::Places,
    },
    Profile {
        allowed: "Read(in/**) Grep(in/**) Glob(in/**) Bash(git:*) Write(out/**)",
        grants: |call, _| matches!(&*call.program, "git" | "[[") || needs_no_grant(call),
        guards: Guards::Reading,
    },
];

impl Guards {
    /// Whether every file is guarded, and what is read.
    pub fn are_files(self) -> bool {
        matches!(self, Self::Files | Self::Reading)
    }

    /// The directories where programs are found, in a world.
    pub fn programs(self) -> &'static [&'static str] {
        match self {
            Self::Reading => &["readers", "bin", "tools"],
            Self::Files => &["bin", "tools"],
            Self::Places => &["bin"],
        }
    }
}

/// What the world's shells begin with.
const ENVIRONMENT: [&str; 4] = ["PATH", "HOME", "LC_ALL", "STUB_LOG"];
/// Variables that may be set before a command, to plain text.
const HARMLESS: &[&str] = &[
    "LANG",
    "TZ",
    "TERM",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR",
    "COLUMNS",
    "LINES",
    "CI",
    "DEBUG",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "NODE_ENV",
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
];
/// How names end of such that belong to no known program.
const SETTINGS: [&str; 3] = ["_URL", "_PORT", "_ENV"];

impl Profile {
    pub fn accepts(&self, world: &World, language: Language, command: &str) -> bool {
        let project = world.at("project");
        let allowed = [self.allowed.to_owned()];
        let restriction =
            Restriction::parse("test", Some(&allowed), &[], &world.at("skill"), &project);
        let places = RuleDirectories {
            project_root: project,
            home: Some(world.at("home")),
            // A host that was started elsewhere runs commands in the project all the same.
            working_dir: world.at("project/sub"),
            protected: ProtectedPlaces::found_by({
                let places = vec![world.at(PROTECTED[0])];
                let roots = vec![world.at(PROTECTED[1])];
                || ProtectedPaths {
                    places,
                    roots,
                    ..ProtectedPaths::default()
                }
            }),
            shell: Shell {
                language,
                persists: false,
            },
            environment: Some(ENVIRONMENT.map(str::to_owned).into()),
            reads_by_shell: self.guards == Guards::Reading,
            ..RuleDirectories::default()
        };
        let scope = RestrictionInputs {
            restrictions: vec![restriction],
            places,
            ..RestrictionInputs::default()
        };
        let arguments = json!({ "command": command });
        let call = ToolCall {
            tool: "shell_exec",
            arguments: &arguments,
            ours: None,
            meant: &[],
        };
        decide(&scope, &call, &Disk).allows()
    }

    /// What happened that the list does not grant, if anything.
    pub fn damage(&self, world: &World, happened: &Happened) -> Option<String> {
        let project = world.at("project").canonicalize().unwrap();
        for call in &happened.calls {
            if !(self.grants)(call, &project) {
                return Some(format!(
                    "`{} {}` in {}",
                    call.program,
                    call.arguments.join(" "),
                    call.directory.display()
                ));
            }
            if !self.guards.are_files() {
                continue;
            }
            if call.input.contains(SECRET) {
                return Some(format!("`{}` was handed a secret", call.program));
            }
            let steered = call
                .variables
                .iter()
                .find(|(name, value)| !self.is_harmless(world, &call.program, name, value));
            if let Some((name, value)) = steered {
                return Some(format!("`{}` with {name}={value}", call.program));
            }
        }
        let told = self.guards.are_files() && happened.output.contains(SECRET);
        told.then(|| format!("a secret was read: {}", happened.output))
    }

    fn is_harmless(&self, world: &World, program: &str, name: &str, value: &str) -> bool {
        let is_plain = value
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_.,:/@%+=-".contains(c));
        match name {
            "PATH" => value == world.path(self.guards.programs()),
            "HOME" => Path::new(value) == world.at("home"),
            "PWD" | "OLDPWD" => Path::new(value).starts_with(world.at("project")),
            "STUB_LOG" => Path::new(value).starts_with(world.at("logs")),
            // stdbuf works by preloading its own library.
            "LD_PRELOAD" => value.ends_with("libstdbuf.so"),
            // zsh says who runs it.
            "_STDBUF_O" | "_STDBUF_I" | "_STDBUF_E" | "LOGNAME" => is_plain,
            "_" | "SHLVL" => true,
            "FOO" => program == "make",
            _ if name.starts_with("LC_") => is_plain,
            _ if SETTINGS.iter().any(|end| name.ends_with(end)) => is_plain && name != "BASH_ENV",
            _ => HARMLESS.contains(&name) && is_plain,
        }
    }

    /// The directories below which nothing may change.
    pub fn guarded(&self, world: &World) -> Vec<PathBuf> {
        match self.guards {
            Guards::Files | Guards::Reading => vec![world.at("")],
            Guards::Places => PROTECTED.map(|place| world.at(place)).into(),
        }
    }
}

/// Whether `git` reports the state of a directory of the project, or changes nothing.
fn is_dry_or_status(call: &Logged, project: &Path) -> bool {
    let mut rest = call.arguments.as_slice();
    let mut directory = call.directory.clone();
    while let [option, to, others @ ..] = rest
        && option == "-C"
    {
        directory.push(to);
        rest = others;
    }
    let is_inside = directory
        .canonicalize()
        .is_ok_and(|path| path.starts_with(project));
    let last = call.arguments.last();
    last.is_some_and(|word| word.ends_with("--dry-run"))
        || rest.first().is_some_and(|word| word == "status") && (is_inside || !directory.exists())
}

fn runs_tests(call: &Logged) -> bool {
    let is_test = |word: &String| word == "test" || word.starts_with("test:");
    call.arguments.first().is_some_and(|word| word == "run")
        && call.arguments.get(1).is_some_and(is_test)
}

/// Programs that print something about their operands or the machine, with options that only do that.
fn needs_no_grant(call: &Logged) -> bool {
    let mut words = call.arguments.iter();
    match call.program.as_str() {
        "basename" | "dirname" | "seq" | "uname" | "whoami" | "id" | "nproc" | "which" => true,
        "hostname" => call.arguments.is_empty(),
        "mktemp" => call.arguments == ["-d"],
        "sleep" => words.all(|word| !word.starts_with('-')),
        "date" => {
            while let Some(word) = words.next() {
                match word.as_str() {
                    "-u" | "-R" => {}
                    "-d" | "-v" => drop(words.next()),
                    _ if word.starts_with('+') || word.starts_with("-I") => {}
                    _ if word.starts_with("-v") => {}
                    _ => return false,
                }
            }
            true
        }
        _ => false,
    }
}

/// Whether a call of `find` runs only what is granted or harmless, and writes nothing.
fn finds_only(arguments: &[String]) -> bool {
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        match word.as_str() {
            "-delete" | "-fprint" | "-fprint0" | "-fprintf" | "-fls" => return false,
            // A value of its own, whatever it looks like.
            "-name" | "-regex" | "-newer" => drop(rest.next()),
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let harmless = [
                    "git", "npm", "echo", "printf", "test", "[", "true", "pwd", "false",
                    "basename", "dirname", "sleep", "id", "date", "env", "timeout", "nice",
                    "nohup", "stdbuf", "xargs", "bash", "sh", "dash", "command", "time", "uname",
                    "whoami", "nproc", "which", "seq", "hostname", "type", "cat",
                ];
                let program = rest.next().map_or("", String::as_str);
                if !harmless.contains(&program) {
                    return false;
                }
                rest.by_ref()
                    .find(|word| [";", "+"].contains(&word.as_str()));
            }
            _ => {}
        }
    }
    true
}
