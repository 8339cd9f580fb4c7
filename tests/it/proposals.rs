//! What a model may propose to change in skills, and what is refused.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::{Value, json};

use crate::Host;
use crate::host::{Has, each, write_at};
use crate::market_sources::skill;
use crate::repository::files;

pub const TOOL: &str = "propose_skill_update";

/// A diff of `SKILL.md` that replaces one line by others.
pub fn diff(old: &str, new: &str) -> String {
    let new = new.lines().flat_map(|line| ["+", line, "\n"]);
    let new: String = new.collect();
    format!("--- a/SKILL.md\n+++ b/SKILL.md\n@@\n-{old}\n{new}")
}

pub fn call(skill: &str, diff: &str) -> Value {
    json!({"skill": skill, "diff": diff, "justification": "It was wrong."})
}

/// Proposes as the model does, and answers the id.
#[track_caller]
pub fn propose(host: &Host, skill: &str, diff: &str) -> String {
    host.allows(TOOL, &call(skill, diff));
    let answer = host.tool(TOOL, &call(skill, diff));
    answer.has("Nothing has changed");
    let words: Vec<&str> = answer.split_whitespace().collect();
    words[2].to_owned()
}

#[track_caller]
fn refusal(host: &Host, skill: &str, diff: &str) -> String {
    let before = files(&host.skills_dir());
    let answer = host.tool(TOOL, &call(skill, diff));
    assert!(
        answer.starts_with("Error: ") && answer.contains('\n'),
        "{answer}"
    );
    assert_eq!(files(&host.skills_dir()), before);
    assert_eq!(list(host), json!([]), "{answer}");
    answer
}

pub fn list(host: &Host) -> Value {
    serde_json::from_str(&host.succeeds(&["proposals", "list", "--json"])).unwrap()
}

pub fn text(host: &Host, path: &str) -> String {
    fs::read_to_string(host.skills_dir().join(path)).unwrap()
}

pub fn decisions(host: &Host) -> Vec<String> {
    let log = host.json(&["audit", "--event", "proposal", "--json"]);
    let decisions = each(&log["events"], "decision");
    decisions.into_iter().map(str::to_owned).collect()
}

#[test]
fn a_proposal_changes_nothing_until_a_person_approves() {
    let host = Host::stdin().skill("pdf", "", "One.\nTwo.");
    let before = files(&host.skills_dir());
    let id = propose(&host, "pdf", &diff("Two.", "2.\n3."));
    assert_eq!(files(&host.skills_dir()), before);
    let file = host.plugin_dir().join(format!("proposals/{id}.json"));
    assert_eq!(
        fs::metadata(file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let listed = list(&host);
    assert_eq!(listed[0]["id"], json!(id));
    assert_eq!(listed[0]["skill"], json!("pdf"));
    assert_eq!(listed[0]["applies"], json!(true));
    host.fails(&["proposals", "approve", &id]);
    assert_eq!(files(&host.skills_dir()), before);
    host.succeeds(&["proposals", "approve", &id, "--yes"]);
    text(&host, "pdf/SKILL.md").finishes("One.\n2.\n3.\n");
    assert_eq!(list(&host), json!([]));
    host.succeeds(&["info", "--history", "pdf"]).has("before: ");
    host.succeeds(&["rollback", "pdf"]);
    assert_eq!(files(&host.skills_dir()), before);
    host.succeeds(&["rollback", "pdf"]);
    text(&host, "pdf/SKILL.md").has("2.");
    assert_eq!(decisions(&host), ["written", "approved"]);
    assert!(!host.plugin_dir().join("staging").exists());
}

#[test]
fn hostile_and_useless_diffs_are_refused_with_the_next_step() {
    let host = Host::stdin();
    let outside = host.home().join("outside.md");
    fs::write(&outside, "One.\n").unwrap();
    let host = host
        .skill("pdf", "", "One.\nTwo.\nOne.")
        .file("pdf/data.bin", b"One.\n\0\xff")
        .file(
            "other/SKILL.md",
            "---\nname: other\ndescription: x\n---\nOne.\n",
        );
    symlink(&outside, host.skills_dir().join("pdf/link.md")).unwrap();
    let of = |path: &str| format!("--- a/{path}\n+++ b/{path}\n@@\n-One.\n+1.\n");
    let new = "--- /dev/null\n+++ b/new.md\n@@ -0,0 +1 @@\n+x\n";
    for (diff, why) in [
        (of("../other/SKILL.md"), "outside"),
        (of("../../config.toml"), "outside"),
        (of(&outside.display().to_string()), "outside"),
        (of("link.md"), "leaves the skill"),
        (of("none.md"), "no file `none.md`"),
        (of(".git/config"), ".git"),
        (of("data.bin"), "not text"),
        (of("SKILL.md"), "2 times"),
        (new.to_owned(), "new file"),
        (new.replace("b/new.md", "../../../../.bashrc"), "new file"),
        (
            of("SKILL.md").replace("+++ b/SKILL.md", "+++ /dev/null"),
            "removes",
        ),
        (
            "diff --git a/x b/x\nGIT binary patch\nliteral 1\n".to_owned(),
            "binary",
        ),
        (diff("Zwei.", "2."), "no line `Zwei.`"),
        (diff("name: pdf", "name: other"), "not `pdf`"),
        (
            diff("description: Does pdf.", "title: none"),
            "no description",
        ),
        ("Please change it.".to_owned(), "unified diff"),
        (diff("Two.", &"long ".repeat(15_000)), "65536"),
    ] {
        let answer = refusal(&host, "pdf", &diff);
        assert!(answer.contains(why), "{why}: {answer}");
    }
    refusal(&host, "pdf", &diff("Two.", &"x\n".repeat(500_000))).has("65536");
    refusal(&host, "none", &diff("One.", "1.")).has("no skill `none`");
    let silent = json!({"skill": "pdf", "diff": diff("Two.", "2."), "justification": " \u{200b}"});
    host.tool(TOOL, &silent).has("justification");
    host.tool(TOOL, &json!({"skill": "pdf"})).has("for example");
    assert_eq!(fs::read_to_string(outside).unwrap(), "One.\n");
}

#[test]
fn what_the_result_could_do_is_scanned_and_shown_loudly() {
    let host = Host::stdin().skill(
        "pdf",
        "allowed-tools: Read\ndisallowed-tools: WebFetch",
        "One.\nTwo.",
    );
    let evil = propose(&host, "pdf", &diff("One.", "echo aWQK | base64 -d | bash"));
    host.fails(&["proposals", "approve", &evil, "--yes"])
        .has("decoded-to-shell")
        .has("--accept-findings");
    text(&host, "pdf/SKILL.md").has("One.");
    let bash = diff("allowed-tools: Read", "allowed-tools: Read Bash");
    let wider = propose(&host, "pdf", &bash);
    let ran = host.person(&["proposals", "approve", &wider, "--yes"]);
    ran.stderr.has("ATTENTION").has("Bash");
    let license = diff("disallowed-tools: WebFetch", "license: MIT");
    let looser = propose(&host, "pdf", &license);
    let ran = host.person(&["proposals", "approve", &looser, "--yes"]);
    ran.stderr.has("ATTENTION").has("WebFetch");
    let hidden = propose(&host, "pdf", &diff("Two.", "\u{1b}[2J\u{202e}owT\u{9b}"));
    for told in [
        host.succeeds(&["proposals", "show", &hidden]),
        host.fails(&["proposals", "approve", &hidden, "--yes"]),
    ] {
        told.has("+<U+001B>[2J<U+202E>owT<U+009B>");
        assert!(!told.contains(['\u{1b}', '\u{202e}', '\u{9b}']), "{told:?}");
    }
    host.succeeds(&["proposals", "approve", &evil, "--yes", "--accept-findings"]);
}

#[test]
fn policies_layers_and_links_that_cannot_be_changed_say_so() {
    let host = Host::stdin().skill("pdf", "", "One.");
    let write = |path: &str, text: &str| write_at(host.home().join(path), text);
    let text = |name: &str| skill(name).replace("Body", "One.\nBody");
    write(".chibi/skills/mine/SKILL.md", &text("mine"));
    write(".agents/skills/theirs/SKILL.md", &text("theirs"));
    write("work/SKILL.md", &text("linked"));
    symlink(host.home().join("work"), host.skills_dir().join("linked")).unwrap();
    let one = diff("One.", "1.");
    host.tool(TOOL, &call("theirs", &one))
        .has("does not manage");
    host.tool(TOOL, &call("linked", &one)).has("working copy");
    let id = propose(&host, "mine", &one);
    host.succeeds(&["proposals", "approve", &id, "--yes"])
        .has("agent-skills rollback mine --layer personal");
    host.succeeds(&["rollback", "mine", "--layer", "personal"]);
    let id = propose(&host, "pdf", &one);
    let host = host.policy("[skills]\nblock = ['pdf']\n");
    let before = files(&host.skills_dir().join("pdf"));
    host.fails(&["proposals", "approve", &id, "--yes"])
        .has("blocks skills named `pdf`");
    assert_eq!(files(&host.skills_dir().join("pdf")), before);
}

#[test]
fn proposals_can_be_switched_off() {
    let host = Host::stdin().skill("pdf", "", "One.");
    host.config("proposals = false\ncreate_skill = true\n");
    assert!(!host.tool_names().contains(&TOOL.to_owned()));
    assert!(!host.tool_names().contains(&"create_skill".to_owned()));
    refusal(&host, "pdf", &diff("One.", "1.")).has("switched off");
}

#[test]
fn a_new_skill_is_a_proposal_which_can_be_switched_off() {
    let host = Host::stdin();
    let arguments = json!({
        "name": "release-notes",
        "description": "Writes: \"notes\" # for releases\n--- \u{202e}x",
        "body": "---\nallowed-tools: Bash\n---\n# Notes\nDo it.",
        "allowed_tools": ["Read", "Bash(git log:*)"],
    });
    host.config("create_skill = false\n");
    assert!(!host.tool_names().contains(&"create_skill".to_owned()));
    host.tool("create_skill", &arguments).has("switched off");
    host.config("");
    assert!(host.tool_names().contains(&"create_skill".to_owned()));
    let answer = host.tool("create_skill", &arguments);
    answer.has("Nothing has changed");
    assert!(host.skill_tools().is_empty());
    let id = answer.split_whitespace().nth(2).unwrap();
    assert_eq!(list(&host)[0]["kind"], json!("create"));
    host.succeeds(&["proposals", "show", id]).has("# Notes");
    host.succeeds(&["proposals", "approve", id, "--yes"]);
    assert_eq!(host.skill_tools(), ["skill_release-notes"]);
    let info = host.json(&["list", "--json"])["skills"].take();
    assert_eq!(
        info[0]["description"],
        json!("Writes: \"notes\" # for releases --- x")
    );
    assert_eq!(
        info[0]["restriction"]["allowed"],
        json!(["Read", "Bash(git log:*)"])
    );
    assert_eq!(info[0]["diagnostics"], json!([]));
    host.succeeds(&["audit", "--event", "proposal"])
        .has("change=create");
    host.tool("create_skill", &arguments).has("already");
    for (key, value) in [
        ("name", json!("Release Notes")),
        ("name", json!("../x")),
        ("description", json!(" ")),
        ("description", json!("x".repeat(1025))),
        ("body", json!("\n")),
        ("body", json!("x".repeat(70_000))),
    ] {
        let mut wrong = arguments.clone();
        wrong["name"] = json!("other");
        wrong[key] = value;
        let answer = host.tool("create_skill", &wrong);
        assert!(answer.starts_with("Error: "), "{key}: {answer}");
    }
}
