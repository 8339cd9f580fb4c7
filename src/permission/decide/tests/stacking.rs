//! Several skills and denials at once: what wins, what combines, and how enforcement can be softened.

use serde_json::json;

use super::{Call, Enforce, OurTool, Outcome};
use crate::permission::path::fake::Links;
use crate::permission::scene::{Scene, scene};
use crate::permission::settings::Stacking;

#[test]
fn denials_win_over_every_allowance_and_add_up() {
    let scene = scene()
        .skill("a", None, &["Bash", "call_user"])
        .skill("b", Some("Bash Read Write"), &["write_file(x"])
        .policy(&["WebFetch", "Skill(evil)"]);
    for tool in ["shell_exec", "call_user", "write_file", "fetch_url"] {
        assert!(!scene.allows(tool, &json!({"command": "ls"})), "{tool}");
    }
    assert!(scene.allows("file_head", &json!({})));
    assert!(!scene.allows_ours("skill_evil", OurTool::Skill("evil")));
    assert!(scene.allows_ours("skill_good", OurTool::Skill("good")));
    let message = scene.refusal("shell_exec", &json!({"command": "ls"}));
    assert!(
        message.contains("not allowed") && message.contains("`a` denies it"),
        "{message}"
    );
}

#[test]
fn whether_a_call_is_denied_does_not_depend_on_what_allows_it() {
    let is_denied = |denied: &[&str], tool, arguments| {
        let call = Call {
            tool,
            arguments: &arguments,
            ours: None,
        };
        let scene = scene().skill("a", Some("Read"), denied);
        scene.scoped(|scope| super::denied(scope, &call, &Links::default()))
    };
    assert!(is_denied(&["Write"], "write_file", json!({"path": "a"})));
    assert!(!is_denied(
        &["Write"],
        "shell_exec",
        json!({"command": "ls"})
    ));
    let long = json!({ "command": format!("[[ a ]]''{}", "{a".repeat(1818)) });
    assert!(is_denied(&["Bash(rm:*)"], "shell_exec", long));
}

#[test]
fn a_denial_of_a_tool_is_one_of_its_redirections() {
    let writes = scene().skill("a", None, &["Write"]);
    assert!(!writes.runs("echo x > y") && writes.runs("cat < y") && writes.runs("echo x"));
    let reads = scene().skill("a", None, &["Read"]);
    assert!(!reads.runs("cat < y") && reads.runs("echo x > y"));
}

#[test]
fn a_union_of_no_skills_allows_everything() {
    let none = scene().with(|settings| settings.stacking = Stacking::Union);
    let command = json!({ "command": "rm -rf x" });
    let decision = none.decide("shell_exec", None, &command);
    assert_eq!(decision.outcome, Outcome::Unrestricted);
}

#[test]
fn denials_without_a_list_leave_the_rest_open() {
    let scene = scene().skill("a", None, &["WebFetch"]);
    assert!(scene.runs("anything | at all") && scene.allows("my_tool", &json!({})));
    assert!(!scene.allows("fetch_url", &json!({"url": "https://x"})));
}

#[test]
fn activations_replace_ratchet_intersect_or_unite() {
    let two = |stacking, second: Option<&str>| {
        scene()
            .skill("a", Some("Bash(git:*) Read"), &[])
            .skill("b", second, &[])
            .with(|settings| settings.stacking = stacking)
    };
    let verdicts = |scene: &Scene| {
        let read = scene.allows("file_head", &json!({}));
        (scene.runs("git log"), read, scene.runs("npm test"))
    };
    let table = [
        (
            Stacking::Replace,
            Some("Bash(npm:*) Read"),
            (false, true, true),
        ),
        (Stacking::Replace, None, (true, true, true)),
        (Stacking::Ratchet, Some("Bash(npm:*)"), (false, false, true)),
        (Stacking::Ratchet, None, (true, true, false)),
        (
            Stacking::Intersect,
            Some("Bash(npm:*) Read"),
            (false, true, false),
        ),
        (Stacking::Intersect, None, (true, true, false)),
        (Stacking::Union, Some("Bash(npm:*)"), (true, true, true)),
        (Stacking::Union, None, (true, true, true)),
    ];
    for (stacking, second, expected) in table {
        let scene = two(stacking, second);
        assert_eq!(verdicts(&scene), expected, "{stacking:?} {second:?}");
    }
    let union = two(Stacking::Union, Some("Bash(npm:*)"));
    assert!(!union.runs("rm x"));
}

#[test]
fn enforcement_can_be_softened_for_all_or_for_one_skill() {
    let warn = scene().active("Read").with(|s| s.enforce = Enforce::Warn);
    let decision = warn.decide("shell_exec", None, &json!({"command": "ls"}));
    assert!(
        matches!(decision.outcome, Outcome::Warned(_)),
        "{decision:?}"
    );
    let warned_denial = scene()
        .skill("a", None, &["Bash"])
        .with(|s| s.enforce = Enforce::Warn);
    let decision = warned_denial.decide("shell_exec", None, &json!({"command": "ls"}));
    assert!(
        matches!(decision.outcome, Outcome::Warned(_)),
        "{decision:?}"
    );
    let off = scene()
        .skill("a", Some("Read"), &["Write"])
        .policy(&["WebFetch"])
        .with(|settings| {
            settings.enforce_for.insert("a".into(), Enforce::Off);
        });
    assert!(off.runs("ls") && off.allows("write_file", &json!({})));
    assert!(
        !off.allows("fetch_url", &json!({})),
        "policy is not the skill's to soften"
    );
    let always = scene()
        .active("Read")
        .with(|s| s.always_allowed.push("shell_exec".into()));
    assert!(always.runs("ls | x"));
}
