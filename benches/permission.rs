//! How long a decision takes. Law: under 1 ms for a 4 KiB command, and 64 KiB of the worst is
//! decided in under 50 ms. Run with `cargo bench --bench permission`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use agent_skills::permission::{
    Call, Decision, Places, Resolve, Restriction, Scope, Settings, decide,
};
use serde_json::json;

fn main() {
    divan::main();
}

struct NoLinks;

impl Resolve for NoLinks {
    fn canonical(&self, path: &Path) -> PathBuf {
        path.to_owned()
    }

    fn links_in(&self, _: &Path) -> Vec<PathBuf> {
        Vec::new()
    }
}

fn allows(entries: &str, command: &str) -> bool {
    let entries = [entries.to_owned()];
    let project = Path::new("/p");
    let restriction = Restriction::parse("t", Some(&entries), &[], Path::new("/s"), project);
    let places = Places {
        project_root: project.to_owned(),
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
    matches!(decide(&scope, &call, &NoLinks), Decision::Allow(_))
}

const ENTRIES: &str = "Bash(git:*) Bash(npm run test:*) Read(src/**) Write(out/**)";

/// Commands as agents write them, up to a length.
fn honest(length: usize) -> String {
    let mut text = String::new();
    for n in 0.. {
        let _ = writeln!(
            text,
            "git log --oneline -{n} \"$f\" 2>&1 | grep -v 'x {n}' | head -{n} && npm run test > out/{n}"
        );
        if text.len() > length {
            break;
        }
    }
    text.truncate(text[..length].rfind('\n').unwrap_or(0));
    text
}

#[divan::bench]
fn short_command() {
    assert!(allows(
        divan::black_box(ENTRIES),
        "git status && git diff | head -20"
    ));
}

#[divan::bench]
fn command_of_4_kib(bencher: divan::Bencher) {
    let command = honest(4096);
    bencher.bench(|| assert!(allows(ENTRIES, divan::black_box(&command))));
}

/// The inputs that are hardest on the parser, 64 KiB each.
#[divan::bench(args = HOSTILE.iter().map(|(name, _)| *name))]
fn hostile_64_kib(bencher: divan::Bencher, name: &str) {
    let unit = HOSTILE
        .iter()
        .find(|(one, _)| *one == name)
        .map_or("", |(_, unit)| unit);
    let command = unit.repeat(64 * 1024 / unit.len());
    bencher.bench(|| allows(ENTRIES, divan::black_box(&command)));
}

const HOSTILE: &[(&str, &str)] = &[
    ("open substitutions", "$("),
    (
        "deep substitutions",
        "git $(git $(git $(git $(git $(git a))))) ",
    ),
    (
        "quoted substitutions",
        "git \"$(git \"$(git \"$(git a)\")\")\" ",
    ),
    ("flat substitutions", "git $(git a) "),
    ("words", "git a b c \"d e\" $f "),
    ("commands", "git a;"),
    ("pipes", "git a |"),
    ("quotes", "'a'\"b\""),
    ("here-documents", "git <<E\nx\nE\n"),
    ("assignments", "a=b "),
    ("redirections", "> out/a "),
    ("braces", "{a,b}"),
    ("backslashes", "\\a"),
    ("compounds", "if git a; then "),
    ("tests", "[[ ( "),
    (
        "texts",
        "bash -c 'git a; bash -c \"git $(git $(git b))\"'; ",
    ),
];
