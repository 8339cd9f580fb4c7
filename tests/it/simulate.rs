//! Conversations that test skills, and the skills that come with this program tested by theirs.

use std::fs;
use std::path::Path;

use crate::Host;
use crate::host::{Has, Ran, write_at};

const SKILL: &str = "---\nname: pdf\ndescription: Fills forms. Use when there is one.\nallowed-tools: Read\n---\nFill it.\n";

/// A project with a skill and a conversation.
fn host(conversation: &str) -> Host {
    let host = Host::stdin();
    let dir = host.project().join("pdf");
    fs::create_dir_all(dir.join("scripts")).unwrap();
    fs::write(dir.join("SKILL.md"), SKILL).unwrap();
    fs::write(dir.join("scripts/say.sh"), "echo \"said: $*\"\n").unwrap();
    fs::write(host.project().join("talk.yaml"), conversation).unwrap();
    let temp = host.home().join("tmp");
    fs::create_dir(&temp).unwrap();
    let temp = temp.display().to_string();
    host.var("TMPDIR", &temp)
}

fn play(host: &Host) -> Ran {
    let ran = host.person(&["simulate", "talk.yaml"]);
    let left = fs::read_dir(host.home().join("tmp")).unwrap().count();
    assert_eq!(left, 0, "the stage is gone: {ran:?}");
    ran
}

#[test]
fn a_conversation_is_played_on_both_hosts_as_they_would() {
    let host = host(
        "skills: [pdf]\nfiles: {docs/a.txt: x}\nsteps:\n\
         - prompt: hello\n  expect: {contains: pdf, tools: [skill_pdf, run_skill_script], lacks: mine}\n\
         - call: shell_exec\n  arguments: {command: ls}\n  result: free\n  expect: {blocked: false, equals: free}\n\
         - call: skill_pdf\n  expect: {contains: Fill it., error: false}\n\
         - call: run_skill_script\n  arguments: {skill: pdf, script: scripts/say.sh, args: [a, b]}\n  expect: {equals: 'said: a b'}\n\
         - call: read_skill_file\n  arguments: {skill: pdf, path: none}\n  expect: {error: true}\n\
         - call: file_head\n  arguments: {path: docs/a.txt}\n  result: x\n  expect: {blocked: false, arguments: {path: docs/a.txt}}\n\
         - call: shell_exec\n  arguments: {command: ls}\n  expect: {blocked: true, contains: pdf}\n\
         - prompt: next\n- call: shell_exec\n  arguments: {command: ls}\n  expect: {blocked: false}\n",
    )
    .skill("mine", "", "installed, and not on the stage");
    let ran = play(&host);
    assert_eq!(ran.status, 0, "{ran:?}");
    // Nothing of it reached the user's own home.
    assert!(!host.plugin_dir().join("state.json").exists());
}

#[test]
fn json_is_a_conversation_too() {
    let host = host("");
    write_at(
        host.project().join("talk.json"),
        r#"{"skills": ["."], "steps": [{"call": "skill_pdf", "expect": {"contains": "Fill"}}]}"#,
    );
    host.succeeds(&["simulate", "talk.json"]);
}

#[test]
fn the_example_of_the_documentation_works() {
    let docs = include_str!("../../docs/authors.md");
    let example = docs
        .split("```yaml\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .unwrap();
    let host = Host::stdin();
    host.succeeds(&[
        "new",
        "pdf-forms",
        "--description",
        "Fills forms. Use when there is one.",
        "--script",
        "sh",
        "--restrict",
    ]);
    let script = host.project().join("pdf-forms/scripts");
    fs::rename(script.join("run.sh"), script.join("run.py")).unwrap();
    fs::write(host.project().join("pdf-forms/tests/first.yaml"), example).unwrap();
    let ran = host.person(&["simulate", "pdf-forms/tests/first.yaml"]);
    assert_eq!(ran.status, 0, "{ran:?}");
}

#[test]
fn bundled_skills_do_what_their_conversations_say() {
    let skills = Path::new(env!("CARGO_MANIFEST_DIR")).join("skills");
    let host = Host::stdin();
    let path = skills.to_str().unwrap();
    assert_eq!(
        host.succeeds(&["validate", path]),
        "2 skills: 0 errors, 0 warnings, 0 notes\n"
    );
    for conversation in [
        "example-skill/tests/greeting.yaml",
        "skill-author/tests/writing.yaml",
    ] {
        host.succeeds(&["simulate", skills.join(conversation).to_str().unwrap()]);
    }
}

#[test]
fn a_call_of_no_tool_tests_nothing_and_fails() {
    for (call, status) in [
        ("- call: skill_dpf\n", 1),
        ("- call: run_skil_script\n  expect: {error: false}\n", 1),
        ("- call: somebodys_tool\n  result: fine\n", 0),
    ] {
        let host = host(&format!("host: stdin\nskills: [pdf]\nsteps:\n{call}"));
        let ran = play(&host);
        assert_eq!(ran.status, status, "{call}: {ran:?}");
        assert_eq!(
            ran.stderr.contains("there is no tool"),
            status == 1,
            "{ran:?}"
        );
    }
}

#[test]
fn nesting_that_a_parser_would_take_minutes_for_is_refused() {
    let host = host(&format!("skills: [pdf]\nsteps: {}", "[".repeat(200_000)));
    play(&host).ends(1).stderr.has("brackets");
}
