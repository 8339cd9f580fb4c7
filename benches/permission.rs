//! Measures how long a decision takes. Law: under 50 ms for the worst input of up to 64 KiB
//! (docs/spec/restriction.md#time). 10,000 generated inputs are included; the worst is printed with
//! its seed. Run with `cargo bench --bench permission`.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::json;
use skill_permission::runtime::{ProtectedPaths, ProtectedPlaces};
use skill_permission::{
    PathResolver, Restriction, RestrictionInputs, RuleDirectories, ToolCall, decide,
};

fn main() {
    divan::main();
    // `cargo test --benches` also runs this.
    if std::env::args().any(|argument| argument == "--bench") {
        worst_of_generated();
    }
}

/// Prints the slowest decision about generated hostile inputs of up to 64 KiB. `SEED` selects
/// another series, `COUNT` the number of inputs.
fn worst_of_generated() {
    let number = |name: &str| std::env::var(name).ok()?.parse().ok();
    let (seed, count) = (
        number("SEED").unwrap_or(1),
        number("COUNT").unwrap_or(10_000),
    );
    let mut worst = (Duration::ZERO, 0, String::new());
    for input in seed..seed + count {
        let command = generated(input);
        let began = Instant::now();
        divan::black_box(allows(ENTRIES, &command));
        let took = began.elapsed();
        if took > worst.0 {
            worst = (took, input, command);
        }
    }
    let (took, input, command) = worst;
    let head: String = command.chars().take(60).collect();
    let _ = writeln!(
        io::stdout(),
        "worst of {count} generated inputs: {took:?}, seed {input}, {} bytes: {head}",
        command.len()
    );
}

/// A hostile input: a few fragments, repeated and nested, cut to at most 64 KiB.
fn generated(seed: u64) -> String {
    const FRAGMENTS: [&str; 62] = [
        "git a ",
        "ls ",
        "rm -rf ",
        "cd a",
        "cd a/../b && ",
        "> out/a ",
        "< src/a ",
        ">> x ",
        "'",
        "\"",
        "'' ",
        "\"x\"",
        "$(",
        "`",
        "${x",
        "${x:-a}",
        "$x",
        "$((1+",
        "((",
        "))",
        "(",
        ")",
        "{",
        "}",
        "{a,",
        "{a,b}",
        "{1..9}",
        "[",
        "]",
        "[[ a ]]",
        "[[ ",
        " ]]",
        "[[ ! a == b* ",
        "<<E\n",
        "\nE\n",
        "<<'E' ",
        "if git a; then ",
        "; fi ",
        "for f in a b; do ",
        "; done ",
        "case a in b) ",
        ";; esac ",
        "while git a; do ",
        "bash -c 'git a' ",
        "eval git a ",
        "find . -exec git {} ';' ",
        "xargs ",
        "env ",
        "a=b ",
        "*",
        "?/",
        "../",
        "a/",
        "~/",
        "\\a",
        "# x\n",
        "| head ",
        "\n",
        "a:b,c=d@e ",
        "x=/h/$x; ",
        "../a ",
        "bash -c '",
    ];
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 11).unwrap_or(0) % below
    };
    let length = 1 << (8 + random(9));
    let mut text = String::new();
    while text.len() < length {
        let unit: String = (0..=random(5))
            .map(|_| FRAGMENTS[random(FRAGMENTS.len())])
            .collect();
        let most = 1 << random(15);
        let times = 1 + random(most);
        for _ in 0..times.min(length / unit.len() + 1) {
            text.push_str(&unit);
        }
    }
    text.truncate(length.min(64 * 1024));
    text
}

struct NoLinks;

impl PathResolver for NoLinks {
    fn canonical(&self, path: &Path) -> Option<PathBuf> {
        Some(path.to_owned())
    }

    fn links_in(&self, _: &Path) -> Vec<PathBuf> {
        Vec::new()
    }
}

fn allows(entries: &str, command: &str) -> bool {
    let entries = [entries.to_owned()];
    let project = Path::new("/p");
    let restriction = Restriction::parse("t", Some(&entries), &[], Path::new("/s"), project);
    let places = RuleDirectories {
        project_root: project.to_owned(),
        home: Some("/h".into()),
        protected: ProtectedPlaces::found_by(|| ProtectedPaths {
            places: vec!["/h/.chibi".into()],
            roots: vec!["/p/.claude/skills".into()],
            ..ProtectedPaths::default()
        }),
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
    decide(&scope, &call, &NoLinks).allows()
}

const ENTRIES: &str = "Bash(git:*) Bash(npm run test:*) Read(src/**) Write(out/**)";

/// Realistic commands of agents, up to a length.
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

/// The worst inputs for the parser, 64 KiB each.
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
    ("brackets", "[[ a ]]''{a"),
    ("climbing", "rm a/../"),
    ("globs", "rm ~/*/a* "),
    ("backslashes", "\\a"),
    ("compounds", "if git a; then "),
    ("tests", "[[ ( "),
    (
        "texts",
        "bash -c 'git a; bash -c \"git $(git $(git b))\"'; ",
    ),
];
