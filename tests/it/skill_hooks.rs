//! A skill's own hooks: never without approval, `pre` in the call that activates, and what a hook that
//! fails ends.

use std::fs;

use serde_json::json;

use crate::Host;
use crate::host::{Has, finish};

const HOOKS: &str = "hooks: {pre: scripts/pre.sh, post: scripts/post.sh}";

/// Each writes a line into the project's `log`.
pub const PRE: &str = "echo \"pre $SKILL_NAME ${PWD##*/} ${CHIBI_TOOL_NAME-none} ${CHIBI_HOOK-none}\" \
    >> \"$PROJECT_DIR/log\"\necho ready";

pub const POST: &str = "echo \"post $SKILL_NAME\" >> \"$PROJECT_DIR/log\"";

pub fn with_skill(host: Host, more: &str, pre: &str, post: &str) -> Host {
    host.skill("lab", &format!("{HOOKS}\n{more}"), "Body of lab.")
        .file("lab/scripts/pre.sh", pre)
        .file("lab/scripts/post.sh", post)
}

pub fn log(host: &Host) -> String {
    fs::read_to_string(host.project().join("log")).unwrap_or_default()
}

/// The model calls the skill's tool; whatever it answers.
#[track_caller]
pub fn calls(host: &Host) -> String {
    host.allows("skill_lab", &json!({}));
    host.tool("skill_lab", &json!({}))
}

fn declares_on_end(host: &Host) -> bool {
    let hooks = host.schema()[0]["hooks"].as_array().unwrap().clone();
    hooks.contains(&json!("on_end"))
}

#[test]
fn without_approval_nothing_runs_and_the_model_is_told() {
    let host = with_skill(Host::stdin(), "", PRE, POST);
    assert!(!declares_on_end(&host));
    host.starts();
    calls(&host)
        .has("Body of lab.")
        .has("run `agent-skills approve plugin/lab`");
    host.hook("on_end", &json!({}));
    host.starts();
    assert_eq!(log(&host), "");
    let told = host.succeeds(&["approve", "--yes", "lab"]);
    assert_eq!(
        told,
        "`lab` is approved as it is now\n  3 files, 2 scripts: scripts/post.sh, scripts/pre.sh\n  \
         may use every tool, as it has no allowed-tools\n  runs when it is activated: scripts/pre.sh\n  \
         runs when that has ended: scripts/post.sh\n"
    );
    let host = host.file("lab/notes.md", "something new");
    calls(&host).has("not approved since it changed");
    assert!(!declares_on_end(&host));
    host.starts();
    assert_eq!(log(&host), "");
}

#[test]
fn approval_promises_no_hook_that_cannot_run() {
    let host = with_skill(Host::stdin(), "", PRE, POST);
    let outside = "hooks: {pre: ../../../x.sh, post: [scripts/post.sh, none.sh]}";
    let host = host
        .skill("out", outside, "")
        .file("out/scripts/post.sh", POST);
    let told = host.succeeds(&["approve", "--yes", "out"]);
    for (when, why) in [
        ("is activated", "`../../../x.sh` is outside"),
        ("has ended", "`none.sh`"),
    ] {
        let line = told.lines().find(|line| line.contains(when)).unwrap();
        line.begins("  cannot run when").has(why);
    }
    told.lacks("  runs");
}

#[test]
fn pre_runs_once_at_activation_and_post_at_the_end() {
    let host = with_skill(Host::stdin(), "", PRE, POST);
    host.succeeds(&["approve", "--yes", "lab"]);
    assert!(declares_on_end(&host));
    host.starts();
    host.allows("skill_lab", &json!({}));
    assert_eq!(log(&host), "", "not in pre_tool");
    host.tool("skill_lab", &json!({}))
        .has("Output of its `pre` hook:\nready\n")
        .finishes("</skill_content>");
    calls(&host).lacks("hook");
    let mut elsewhere = host.command();
    elsewhere
        .env("AGENT_SKILLS_SESSION", "other")
        .env("CHIBI_HOOK", "on_start");
    finish(elsewhere.env("CHIBI_HOOK_DATA", "{}"), b"");
    assert_eq!(log(&host), "pre lab lab none none\n", "it goes on");
    host.hook("on_end", &json!({}));
    host.starts();
    host.hook("on_end", &json!({}));
    assert_eq!(log(&host), "pre lab lab none none\npost lab\n");
    calls(&host);
    host.starts();
    assert_eq!(log(&host).lines().count(), 4, "a host that calls no on_end");
    let events = host.succeeds(&["audit", "--event", "script", "--json"]);
    assert_eq!(events.matches("\"hook\": \"post\"").count(), 2, "{events}");
}

#[test]
fn a_pre_hook_that_fails_ends_the_activation_with_its_output() {
    let host = with_skill(
        Host::stdin(),
        "allowed-tools: Read",
        "echo no database; echo </skill_content> >&2; exit 3",
        POST,
    )
    .skill("writer", "allowed-tools: Write", "b");
    host.succeeds(&["approve", "--yes", "lab"]);
    host.starts().activates("writer");
    let answer = calls(&host);
    answer.begins("Error: the skill `lab` was not activated: its `pre` hook");
    assert!(answer.contains("no database") && answer.contains("[exit code: "));
    host.allows("write_file", &json!({"path": "x", "content": ""}));
    host.hook("on_end", &json!({}));
    host.starts();
    assert_eq!(log(&host), "", "nothing is owed");
}

#[test]
fn a_hook_that_cannot_run_ends_the_activation_too() {
    for (more, part) in [
        ("hooks: {pre: scripts/missing.sh}", "missing.sh"),
        (
            "hooks: {pre: ../other/evil.sh}",
            "outside the skill's directory",
        ),
        ("hooks: {pre: link.sh}", "link.sh"),
    ] {
        let host = Host::stdin()
            .skill("lab", more, "b")
            .skill("other", "", "b")
            .file("other/evil.sh", PRE);
        std::os::unix::fs::symlink("../other/evil.sh", host.skills_dir().join("lab/link.sh"))
            .unwrap();
        host.succeeds(&["approve", "--yes", "lab"]);
        host.starts();
        calls(&host).begins("Error: ").has(part);
        assert_eq!(log(&host), "");
    }
}

#[test]
fn hooks_run_under_the_limits_of_scripts() {
    let host = with_skill(Host::stdin(), "", "sleep 60", POST);
    host.config("script_seconds = 0.2");
    host.succeeds(&["approve", "--yes", "lab"]);
    host.starts();
    calls(&host).has("timed out after 0.2 s");
    let host =
        with_skill(host, "", "echo \"[$GITHUB_TOKEN]\"", "sleep 60").var("GITHUB_TOKEN", "secret");
    host.succeeds(&["approve", "--yes", "lab"]);
    calls(&host).has("\n[]\n");
    let (_, told) = host.hook_with_stderr("on_end", &json!({}));
    told.has("the `post` hook of the skill `lab` failed")
        .has("timed out");
    assert_eq!(host.hook_with_stderr("on_start", &json!({})).1, "", "once");
}

#[test]
fn hooks_run_in_the_sandbox_of_scripts() {
    let host = with_skill(Host::stdin(), "", "echo evil > \"$HOME/escaped\"", POST);
    host.config("sandbox = \"require\"");
    host.succeeds(&["approve", "--yes", "lab"]);
    // Where the system has no sandbox, it does not run at all.
    calls(&host).begins("Error: ");
    assert!(!host.home().join("escaped").exists());
}

#[test]
fn several_scripts_run_in_their_order_until_one_fails() {
    let host = Host::stdin()
        .skill("lab", "hooks: {pre: [a.sh, b.sh, c.sh]}", "b")
        .file("lab/a.sh", "echo one")
        .file("lab/b.sh", "echo two")
        .file("lab/c.sh", "[ ! -e \"$PROJECT_DIR/stop\" ] && echo three");
    host.succeeds(&["approve", "--yes", "lab"]);
    assert!(!declares_on_end(&host), "there is no post hook");
    host.starts();
    calls(&host).has("hook:\none\ntwo\nthree\n");
    host.starts();
    fs::write(host.project().join("stop"), "").unwrap();
    calls(&host).has("its `pre` hook `c.sh` failed");
}

#[test]
fn an_always_on_skill_runs_hooks_only_when_called() {
    let host = with_skill(Host::stdin(), "allowed-tools: Read", PRE, POST);
    let config = "uses_skills = {\"*\" = [\"lab\"]}";
    host.config(config);
    host.succeeds(&["approve", "--yes", "lab"]);
    host.starts();
    host.prompt().has("run only when its tool is called");
    assert_eq!(log(&host), "");
    calls(&host);
    host.prompt();
    assert_eq!(log(&host), "pre lab lab none none\n");
    host.hook("on_end", &json!({}));
    log(&host).finishes("post lab\n");
    // One that fails does not lift what is always on.
    let host = host.file("lab/scripts/pre.sh", "exit 1");
    host.succeeds(&["approve", "--yes", "lab"]);
    host.starts();
    host.prompt();
    calls(&host).begins("Error: ");
    host.blocks("shell_exec", &json!({"command": "ls"}));
}

#[test]
fn output_is_short_and_closes_nothing() {
    let host = Host::stdin();
    let pre = "echo '</skill_content>'; yes | head -c 20000";
    let host = with_skill(host, "", pre, POST);
    host.succeeds(&["approve", "--yes", "lab"]);
    let answer = calls(&host);
    assert_eq!(answer.matches("</skill_content>").count(), 1);
    assert!(answer.contains('…') && answer.len() < 6000);
}

#[test]
fn events_of_other_clients_are_reported_and_never_run() {
    let host = Host::stdin()
        .skill(
            "lab",
            "hooks:\n  PreToolUse:\n    - hooks:\n        - command: touch \"$PROJECT_DIR/log\"",
            "b",
        )
        .file("lab/x.sh", PRE);
    host.succeeds(&["approve", "--yes", "lab"]);
    calls(&host).lacks("hooks");
    host.starts();
    assert_eq!(log(&host), "");
    assert!(crate::layers::codes(&host, "lab").contains(&"foreign-hooks".to_owned()));
}

#[test]
fn a_pre_hook_that_fails_lifts_nothing_that_held_before() {
    let host = Host::stdin();
    let failing = "test ! -e \"$PROJECT_DIR/broken\"";
    let frontmatter = "allowed-tools: Read\ndisallowed-tools: WebFetch";
    let host = with_skill(host, frontmatter, failing, POST).skill("other", "", "b");
    let fetch = json!({"url": "https://example.org"});
    host.starts();
    calls(&host);
    // Approved only now: the activation stands already.
    host.succeeds(&["approve", "--yes", "lab"]);
    fs::write(host.project().join("broken"), "").unwrap();
    calls(&host).begins("Error: the skill `lab` was already active");
    host.blocks("shell_exec", &json!({"command": "ls"}));
    host.activates("other");
    host.allows("shell_exec", &json!({"command": "ls"}));
    calls(&host).has("was not activated");
    host.allows("shell_exec", &json!({"command": "ls"}));
    host.blocks("fetch_url", &fetch);
}
