//! Several skills and denials at once: what wins, what combines, and how enforcement can be softened.

use std::path::Path;

use serde_json::json;

use super::{Enforce, OurTool, Outcome, ToolCall};
use crate::path::fake::Links;
use crate::scene::{Scene, activating, scene};
use crate::settings::Stacking;

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
    assert!(!scene.allows_ours("skill_evil", activating("evil")));
    assert!(scene.allows_ours("skill_good", activating("good")));
    let message = scene.refusal("shell_exec", &json!({"command": "ls"}));
    assert!(
        message.contains("not allowed") && message.contains("`a` denies it"),
        "{message}"
    );
}

#[test]
fn whether_a_call_is_denied_does_not_depend_on_what_allows_it() {
    let is_denied = |denied: &[&str], tool, arguments| {
        let call = ToolCall {
            tool,
            arguments: &arguments,
            ours: None,
            meant: &[],
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
fn denials_without_a_list_leave_the_rest_open() {
    let scene = scene().skill("a", None, &["WebFetch"]);
    assert!(scene.runs("anything | at all") && scene.allows("my_tool", &json!({})));
    assert!(!scene.allows("fetch_url", &json!({"url": "https://x"})));
}

#[test]
fn activations_replace_or_intersect() {
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
        (
            Stacking::Intersect,
            Some("Bash(npm:*) Read"),
            (false, true, false),
        ),
        (Stacking::Intersect, None, (true, true, false)),
    ];
    for (stacking, second, expected) in table {
        let scene = two(stacking, second);
        assert_eq!(verdicts(&scene), expected, "{stacking:?} {second:?}");
    }
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
            settings.enforce = Enforce::Off;
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

const STACKINGS: [Stacking; 2] = [Stacking::Replace, Stacking::Intersect];

#[test]
fn every_active_skills_own_scripts_run() {
    for stacking in STACKINGS {
        let scene = scene()
            .skill_in("/skills/r", "r", Some("Read"), &[])
            .replaced()
            .skill_in("/skills/a", "a", None, &[])
            .skill_in("/skills/b", "b", Some("Read"), &[])
            .skill_in("/skills/c", "c", Some("Read"), &[])
            .with(|settings| settings.stacking = stacking);
        for (name, runs) in [
            ("a", true),
            ("b", true),
            ("c", true),
            ("r", false),
            ("x", false),
        ] {
            let dir = format!("/skills/{name}");
            let skill = Some(Path::new(&dir));
            let call = OurTool::RunSkillScript { skill };
            assert_eq!(
                scene.allows_ours("run_skill_script", call),
                runs,
                "{stacking:?} {name}"
            );
        }
    }
}

#[test]
fn a_command_uses_files_of_every_active_skill() {
    for stacking in STACKINGS {
        let list = Some("Bash(python3:*)");
        let scene = scene()
            .skill_in(DIRS[0], "a", list, &[])
            .skill_in(DIRS[1], "b", list, &[])
            .with(|settings| settings.stacking = stacking);
        for dir in DIRS {
            assert!(
                scene.runs(&format!("python3 {dir}/x.py")),
                "{stacking:?} {dir}"
            );
        }
    }
}

#[test]
fn beside_a_binding_skill_only_its_own_scripts_run() {
    for stacking in STACKINGS {
        let scene = scene()
            .skill_in(DIRS[0], "must", Some("Read"), &[])
            .binding()
            .skill_in(DIRS[1], "b", Some("Read"), &[])
            .with(|settings| settings.stacking = stacking);
        let runs = DIRS.map(|dir| {
            let skill = Some(Path::new(dir));
            scene.allows_ours("run_skill_script", OurTool::RunSkillScript { skill })
        });
        assert_eq!(runs, [true, false], "{stacking:?}");
    }
}

/// Every two activations of these, with every way to enforce them.
#[test]
fn intersecting_allows_no_more_than_replacing() {
    let lists = [
        (None, &[][..]),
        (None, &["WebFetch"][..]),
        (Some("Read Bash(python3:*) Skill(x)"), &[]),
        (Some("Bash(git:*) run_skill_script"), &["WebFetch"]),
        (Some("Bash(git:*) Bash(python3:*) Write Skill"), &[]),
    ];
    let modes = [Enforce::Off, Enforce::Warn, Enforce::Restrict];
    // A skill that a policy requires restricts in every mode.
    let of_list = |list| [false, true].map(|is_required| (list, is_required));
    let kinds: Vec<_> = lists.iter().flat_map(of_list).collect();
    let pairs = kinds.iter().flat_map(|a| kinds.iter().map(move |b| (a, b)));
    for ((first, second), mode) in pairs.flat_map(|pair| modes.map(|mode| (pair, mode))) {
        let of = |stacking| {
            let scene = scene().skill_in(DIRS[0], "a", first.0.0, first.0.1);
            let scene = scene.skill_in(DIRS[1], "b", second.0.0, second.0.1);
            scene.with(|settings| {
                let required = [("a", first.1), ("b", second.1)].into_iter();
                let required = required.filter(|(_, is_required)| *is_required);
                settings.required = required.map(|(name, _)| name.to_owned()).collect();
                settings.enforce = mode;
                settings.stacking = stacking;
            })
        };
        let [replaced, intersected] = STACKINGS.map(|stacking| calls_allowed(&of(stacking)));
        let loosened = intersected
            .iter()
            .zip(replaced)
            .position(|(now, was)| *now && !was);
        assert_eq!(loosened, None, "{mode:?}: {first:?}, {second:?}");
    }
}

const DIRS: [&str; 2] = ["/skills/s", "/p/.claude/skills/b"];

fn calls_allowed(scene: &Scene) -> Vec<bool> {
    let mut allowed = vec![
        scene.allows("file_head", &json!({"path": "x"})),
        scene.allows("write_file", &json!({"path": "x", "content": ""})),
        scene.allows("fetch_url", &json!({"url": "https://x"})),
        scene.runs("git log | python3 x"),
        scene.allows_ours("skill_x", activating("x")),
        scene.allows_ours("skill_y", activating("y")),
    ];
    for dir in DIRS {
        let skill = Path::new(dir);
        let run = OurTool::RunSkillScript { skill: Some(skill) };
        let again = OurTool::Skill {
            name: "a",
            dir: skill,
        };
        allowed.push(scene.allows_ours("run_skill_script", run));
        allowed.push(scene.allows_ours("skill_a", again));
        allowed.push(scene.runs(&format!("python3 {dir}/x.py")));
    }
    allowed
}
