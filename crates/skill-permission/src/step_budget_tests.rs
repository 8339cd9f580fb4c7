//! Counts what decisions cost: for any input, the steps are few or the call is refused.

use std::cell::Cell;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::call::ToolCall;
use super::decide::{Outcome, decide};
use super::path::PathResolver;
use super::path_context::PathContext;
use super::refusal::Reason;
use super::scene::{Scene, scene};

#[derive(Default)]
struct Counting(Cell<usize>);

impl PathResolver for Counting {
    fn canonical(&self, path: &Path) -> Option<PathBuf> {
        self.0.set(self.0.get() + path.components().count());
        Some(path.to_owned())
    }

    fn canonical_in(&self, dir: &Path, name: &OsStr) -> Option<PathBuf> {
        self.0.set(self.0.get() + 1);
        Some(dir.join(name))
    }

    fn links_in(&self, _: &Path) -> Vec<PathBuf> {
        self.0.set(self.0.get() + 1);
        Vec::new()
    }
}

fn scenes() -> [Scene; 4] {
    [
        scene().active("Bash(git:*) Bash(ls:*) Bash(cd:*) Bash(rm:*) Write Read"),
        scene().active("Bash Write(src/**/x/**/y) Read"),
        scene().skill(
            "pdf",
            None,
            &["Bash(rm * x * y * z *:*)", "Write(**/a/**/b/**)"],
        ),
        scene()
            .skill(
                "pdf",
                Some("Bash(git * a * b * c:*) Write(**)"),
                &["Bash(sudo:*)"],
            )
            .policy(&["Read(secret/**)"]),
    ]
}

fn long(unit: &str) -> String {
    unit.repeat(64 * 1024 / unit.len())
}

/// Inputs that once took seconds, grouped by the slow part.
fn hostile() -> Vec<String> {
    let mut directories = String::new();
    for n in 0..5 {
        let _ = write!(directories, "cd d{n}/{}; ", "a/".repeat(300));
    }
    for n in 0..120 {
        let _ = write!(directories, "ls > f{n}; ");
    }
    let mut inputs = vec![
        "[[ a ]]''{a".repeat(1818),
        "[[ a ]]''{a{a".repeat(1800),
        "$(".repeat(400),
        "{a<(ls)".repeat(990),
        "git $(".repeat(400) + &")".repeat(400),
        directories,
        format!("rm {}", "a/".repeat(30_000)),
        format!("ls > {}", "a/".repeat(30_000)),
        format!("rm -rf {}", "{a,b}".repeat(12)),
        format!("git add {}", "=".repeat(60_000)),
        "find -exec ".repeat(5000),
        "xargs ".repeat(10_000),
        "env ".repeat(16_000),
        format!("env {}git a", "API_URL=x ".repeat(4000)),
        format!("{}git a", "API_URL=x ".repeat(4000)),
        "A_ENV=x rm a; ".repeat(990),
        "git -C a ".repeat(1300),
        format!("git a {}", "${x}".repeat(16_000)),
        format!("rm {}", "*/".repeat(30_000)),
        format!("rm {}", "~/a* ".repeat(3000)),
        format!("rm {}", "?".repeat(60_000)),
        format!("for f in {}; do rm -rf $f$f$f; done", "a ".repeat(40)),
    ];
    for unit in [
        "{a",
        "''{a",
        "[",
        "a[",
        "((",
        "${",
        "`",
        "\"$(",
        "<<E\n",
        "case a in ",
        "! ",
        "a=b ",
        "cd a;",
        "> a ",
        "rm ../a ",
        "sudo ",
        "bash -c 'git a'; ",
        "eval git a; ",
        "find . -exec git {} ';' ",
        "\\a",
        "{a,{b,",
        "[[ a ]]",
        "[[ a == ",
        "[[ ! ",
        "if git a; then ",
        "(",
        "{ ",
        "git a | ",
        "git a && ",
        "git \"$x\" ",
        "x=$x$x; ",
        "rm a:b,c=d@e ",
        "for x in a b; do rm $x/$x; done; ",
        "bash -c 'a=b a:b,c=d@e rm ../a x=/h/$x; '",
    ] {
        inputs.push(long(unit));
    }
    inputs
}

fn queries_are_few(scene: &Scene) {
    for command in hostile() {
        let disk = Counting::default();
        let arguments = json!({ "command": command });
        let call = ToolCall::new("shell_exec", &arguments);
        scene.scoped(|scope| decide(scope, &call, &disk));
        let head: String = command.chars().take(40).collect();
        assert!(disk.0.get() < 20_000, "{head}: {} questions", disk.0.get());
    }
}

#[test]
fn no_input_queries_the_file_system_without_limit() {
    let [first, ..] = scenes();
    queries_are_few(&first);
}

#[test]
fn no_input_queries_it_without_limit_for_denials() {
    let [.., last] = scenes();
    queries_are_few(&last);
}

#[test]
fn what_would_take_too_long_is_refused_and_says_so() {
    let refused_for_work = |scene: &Scene, tool: &str, arguments: serde_json::Value| {
        let call = ToolCall {
            tool,
            arguments: &arguments,
            ours: None,
            meant: &[],
        };
        let decision = scene.scoped(|scope| decide(scope, &call, &Counting::default()));
        matches!(decision.outcome, Outcome::Blocked(refusal) if *refusal.reason() == Reason::TooMuchWork)
    };
    let path = "a/".repeat(50_000);
    for scene in scenes() {
        assert!(refused_for_work(
            &scene,
            "write_file",
            json!({ "path": path })
        ));
    }
    let free = scene().skill("free", None, &[]);
    assert!(free.allows("write_file", &json!({ "path": path })));
}

#[test]
fn an_honest_command_of_greatest_length_stays_within_the_steps() {
    let text = "The quick brown fox jumps over the lazy dog, and so on and on.\n".repeat(900);
    let command = format!("git commit -F - <<'EOF'\n{text}EOF\n");
    for scene in &scenes()[..2] {
        assert!(
            scene.runs(&command),
            "{}",
            scene.refusal("shell_exec", &json!({"command": command}))
        );
    }
    let places = super::places::RuleDirectories::default();
    assert!(PathContext::with(
        &places,
        &Counting::default(),
        |context| { !context.steps.are_spent() }
    ));
}
