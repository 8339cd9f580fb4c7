//! The measured calls. Gates are for the static build that install.sh makes.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::fixture::Fixture;
use crate::spawn::{Call, What};

/// A call and its expected answer.
pub struct Checked {
    pub call: Call,
    pub is_right: Box<dyn Fn(&str) -> bool>,
}

pub struct Case {
    pub name: String,
    /// The maximum time as a multiple of an empty program's.
    pub gate: Option<f64>,
    /// Calls made before each measurement, not measured themselves.
    pub before: Vec<Checked>,
    /// Changes the disk before every round.
    pub prepare: Box<dyn Fn()>,
    pub measured: Checked,
    /// The factor by which the number of rounds is reduced.
    pub slowness: usize,
}

const READ: &str = r#"{"tool_name":"file_head","arguments":{"path":"notes.md"}}"#;
const WRITE: &str = r#"{"tool_name":"write_file","arguments":{"path":"notes.md","content":"x"}}"#;
const SHELL: &str = r#"{"tool_name":"shell_exec","arguments":{"command":"git status --short && git log --oneline | head -20"}}"#;
const ACTIVATE: &str = r#"{"tool_name":"skill_reader","arguments":{}}"#;
const CONTEXT: &str = r#"{"context_name":"default","flock_goals":[],"summary":""}"#;

/// Every row of the table.
pub fn all(fixture: &Fixture) -> Vec<Case> {
    let hook = |home: PathBuf, hook, data: &str, is_right: fn(&str) -> bool| Checked {
        call: Call {
            home,
            user: fixture.user(),
            what: What::Hook(hook, data.to_owned()),
        },
        is_right: Box::new(is_right),
    };
    let nothing = |answer: &str| answer == "{}";
    // A relative path is returned as the file that was checked.
    let resolved = |answer: &str| answer.starts_with(r#"{"arguments":{"path":"/"#);
    let blocked = |answer: &str| answer.contains(r#""block":true"#);
    let (idle, restricted) = (fixture.idle(), fixture.restricted());
    let activate = || hook(restricted.clone(), "pre_tool", ACTIVATE, nothing);
    let pre_tool = |name: &str, gate: f64, before, data: &str, home: &PathBuf, right| Case {
        before,
        ..Case::new(
            name,
            Some(gate),
            hook(home.clone(), "pre_tool", data, right),
        )
    };
    let mut cases = vec![
        pre_tool(
            "pre_tool, nothing active",
            0.45,
            vec![],
            SHELL,
            &idle,
            nothing,
        ),
        pre_tool(
            "pre_tool, allowed",
            0.55,
            vec![activate()],
            READ,
            &restricted,
            resolved,
        ),
        pre_tool(
            "pre_tool, blocked by name",
            0.55,
            vec![activate()],
            WRITE,
            &restricted,
            blocked,
        ),
        pre_tool(
            "pre_tool, shell command checked",
            0.6,
            vec![activate()],
            SHELL,
            &restricted,
            nothing,
        ),
        Case {
            before: vec![hook(restricted.clone(), "on_start", "{}", nothing)],
            ..Case::new("activation in pre_tool", None, activate())
        },
        Case {
            before: vec![activate()],
            ..Case::new(
                "on_start, something was active",
                None,
                hook(restricted.clone(), "on_start", "{}", nothing),
            )
        },
        Case::new(
            "on_start, nothing was",
            None,
            hook(idle, "on_start", "{}", nothing),
        ),
    ];
    cases.extend(agents(fixture));
    let gates = [
        (10, Some(0.6), None),
        (100, Some(0.9), None),
        (1000, Some(3.0), Some(3.0)),
        (10_000, None, None),
    ];
    for (size, of_schema, of_prompt) in gates {
        let home = fixture.home(size);
        if !home.exists() {
            continue;
        }
        let slowness = if size < 10_000 { 1 } else { 10 };
        let schema = || Checked {
            call: Call {
                home: home.clone(),
                user: fixture.user(),
                what: What::Schema,
            },
            is_right: Box::new(is_schema),
        };
        let prompt = || hook(home.clone(), "post_system_prompt", CONTEXT, is_prompt);
        let name = format!("--schema, {size} skills, warm");
        cases.push(Case {
            slowness,
            ..Case::new(&name, of_schema, schema())
        });
        let name = format!("prompt, {size} skills, warm");
        cases.push(Case {
            slowness,
            ..Case::new(&name, of_prompt, prompt())
        });
        let index = home.join("index");
        let name = format!("--schema, {size} skills, cold");
        cases.push(Case {
            slowness: slowness * 5,
            prepare: Box::new(move || {
                let _ = fs::remove_dir_all(&index);
            }),
            ..Case::new(&name, None, schema())
        });
        let last = format!("skill-{:05}", size - 1);
        let tool = Checked {
            call: Call {
                home: home.clone(),
                user: fixture.user(),
                what: What::Tool(format!("skill_{last}"), "{}".to_owned()),
            },
            is_right: Box::new(move |answer| {
                answer.contains(&format!(r#"<skill_content name="{last}">"#))
            }),
        };
        // The schema call comes first in every run of the host and updates the index.
        let name = format!("skill_<name> among {size} skills");
        cases.push(Case {
            slowness,
            before: vec![schema()],
            ..Case::new(&name, (size == 1000).then_some(1.1), tool)
        });
    }
    cases
}

/// A hook of another agent has the gates of `pre_tool`.
fn agents(fixture: &Fixture) -> Vec<Case> {
    let hook = |home: PathBuf, tool: &str, input: &str, is_right: fn(&str) -> bool| Checked {
        call: Call {
            home,
            user: fixture.user(),
            what: What::Agent(format!(
                r#"{{"session_id":"s","prompt_id":"p","transcript_path":"/t","cwd":"{}","hook_event_name":"PreToolUse","tool_name":"{tool}","tool_input":{input}}}"#,
                fixture.user().join("project").display()
            )),
        },
        is_right: Box::new(is_right),
    };
    let silent = |answer: &str| !answer.contains("permissionDecision");
    let denied = |answer: &str| answer.contains(r#""permissionDecision":"deny""#);
    let (idle, restricted) = (fixture.idle(), fixture.restricted());
    let activate = || hook(restricted.clone(), "Skill", r#"{"skill":"reader"}"#, silent);
    let case = |name: &str, gate: f64, before, measured| Case {
        before,
        ..Case::new(name, Some(gate), measured)
    };
    let command = r#"{"command":"git status --short && git log --oneline | head -20"}"#;
    let read = r#"{"file_path":"/notes.md"}"#;
    let write = r#"{"file_path":"/notes.md","content":"x"}"#;
    vec![
        case(
            "hook claude-code, nothing active",
            0.45,
            vec![],
            hook(idle, "Bash", command, silent),
        ),
        case(
            "hook claude-code, allowed",
            0.55,
            vec![activate()],
            hook(restricted.clone(), "Read", read, silent),
        ),
        case(
            "hook claude-code, blocked by name",
            0.55,
            vec![activate()],
            hook(restricted.clone(), "Write", write, denied),
        ),
        case(
            "hook claude-code, shell command checked",
            0.6,
            vec![activate()],
            hook(restricted.clone(), "Bash", command, silent),
        ),
    ]
}

impl Case {
    fn new(name: &str, gate: Option<f64>, measured: Checked) -> Self {
        Self {
            name: name.to_owned(),
            gate,
            before: Vec::new(),
            prepare: Box::new(|| ()),
            measured,
            slowness: 1,
        }
    }
}

fn is_schema(answer: &str) -> bool {
    let tools = serde_json::from_str::<Vec<Value>>(answer).unwrap_or_default();
    tools.len() > 4 && tools.iter().any(|tool| tool["name"] == "skill_marketplace")
}

fn is_prompt(answer: &str) -> bool {
    let answer = serde_json::from_str::<Value>(answer).unwrap_or_default();
    answer["inject"]
        .as_str()
        .is_some_and(|text| text.contains("skill-00000"))
}
