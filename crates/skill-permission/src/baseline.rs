//! What no restriction takes away (docs/spec/restriction.md#always-allowed): harmless host tools,
//! paging through cached output, and our own tools while they only read or run the skill's files.

use serde_json::Value;

use super::active_restrictions::{ActiveList, ActiveRestrictions};
use super::call::{OurTool, ToolCall};
use super::settings::{ScriptScope, Settings};
use crate::steering;
use crate::vocabulary::{self, Effect, fold};
use skill_text::Words;

/// Where the host keeps outputs that are too long for the model (docs/hosts.md#answers).
const TOOL_CACHE: &str = "vfs:///sys/tool_cache/";

/// Marketplace actions that only read what is installed or a source the user configured.
const READ_ONLY_ACTIONS: Words = Words("list list_installed info search search_installed");

/// The canonical name of a marketplace verb that changes nothing.
pub fn read_only_action(verb: &str) -> Option<&'static str> {
    let verb = verb.replace('-', "_");
    READ_ONLY_ACTIONS.iter().find(|action| *action == verb)
}

/// Whether a marketplace action changes nothing.
pub fn is_read_only(action: Option<&str>) -> bool {
    action.and_then(read_only_action).is_some()
}

/// Whether a list allows a call without a rule that grants it.
pub fn allows(call: &ToolCall, list: &ActiveList, in_force: &ActiveRestrictions) -> bool {
    let settings = in_force.settings;
    !list.skill.binds && is_always_allowed(call.tool, settings)
        || match call.ours {
            Some(OurTool::RunSkillScript { skill }) => {
                let is_open = !list.skill.binds && settings.scripts != ScriptScope::Own;
                is_open || skill.is_some_and(|dir| in_force.own.contains(&dir))
            }
            Some(OurTool::Marketplace { action }) => is_read_only(action) && !chooses_a_host(call),
            Some(_) => may_allow(call.tool, call.ours, list, settings),
            None => is_harmless(call.tool) || pages_cached_output(call),
        }
}

/// Whether the baseline allows a call of this tool with some arguments.
pub fn may_allow(
    tool: &str,
    ours: Option<OurTool>,
    list: &ActiveList,
    settings: &Settings,
) -> bool {
    match ours {
        Some(OurTool::Direct) => false,
        Some(OurTool::Skill { dir, .. }) => list.may_activate(dir),
        // A proposal changes nothing, and a skill's faults show while it is active.
        Some(OurTool::Propose { new: true }) => settings.new_skills,
        Some(OurTool::Propose { new: false }) => settings.proposals,
        Some(_) => true,
        None => {
            is_harmless(tool)
                || tool.starts_with("file_") && tool != "file_edit"
                || !list.skill.binds && is_always_allowed(tool, settings)
        }
    }
}

/// Whether the user's settings take a tool out of every restriction.
fn is_always_allowed(tool: &str, settings: &Settings) -> bool {
    let mut names = settings.always_allowed.iter();
    names.any(|name| fold(name) == fold(tool))
}

/// Tools that only talk, inspect the model or keep a task list.
fn is_harmless(tool: &str) -> bool {
    vocabulary::find_tool(tool).is_some_and(|tool| tool.effect == Effect::Harmless)
}

/// Whether the reference in a marketplace call chooses the machine to contact.
fn chooses_a_host(call: &ToolCall) -> bool {
    let args = call.arguments.get("args");
    let words = args.and_then(Value::as_array).into_iter().flatten();
    let texts = words.chain(args).filter_map(Value::as_str);
    call.text("skill_ref")
        .into_iter()
        .chain(texts)
        .any(|reference| reference.contains(':'))
}

/// Whether a call reads what the host kept of a tool's output, by its path or, before chibi 0.9, its id.
fn pages_cached_output(call: &ToolCall) -> bool {
    let reads = vocabulary::find_tool(call.tool).is_some_and(|tool| tool.effect == Effect::Read);
    let kept = match call.arguments.get("path") {
        Some(path) => path.as_str().and_then(|path| path.strip_prefix(TOOL_CACHE)),
        None => call.text("cache_id").filter(|id| !id.contains('/')),
    };
    let is_kept =
        kept.is_some_and(|below| !below.split('/').any(|part| matches!(part, "" | "." | "..")));
    reads && call.tool.starts_with("file_") && is_kept
}

/// The first variable in a script's `env` that steers its interpreter.
pub fn steering_variable(call: &ToolCall) -> Option<String> {
    let env = call.arguments.get("env")?;
    // We choose where a script keeps temporary files.
    let is_unsafe = |name: &&str| steering::steers(name) || *name == "TMPDIR";
    match env {
        Value::Object(env) => {
            let mut names = env.keys().map(String::as_str);
            names.find(is_unsafe).map(str::to_owned)
        }
        Value::Null => None,
        // Any other type could only be guessed at.
        other => Some(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::active_restrictions::RestrictionInputs;
    use crate::restriction::Restriction;
    use crate::scene::activating;
    use serde_json::json;
    use std::path::Path;

    fn allowed(tool: &str, ours: Option<OurTool>, arguments: &Value) -> bool {
        let settings = Settings {
            always_allowed: vec!["my_tool".into()],
            ..Settings::default()
        };
        let restrictions = vec![Restriction::parse(
            "pdf",
            Some(&[]),
            &[],
            Path::new("/skills/pdf"),
            Path::new("/p"),
        )];
        let scope = RestrictionInputs {
            restrictions,
            settings,
            ..RestrictionInputs::default()
        };
        let call = ToolCall {
            tool,
            arguments,
            ours,
            meant: &[],
        };
        let in_force = ActiveRestrictions::new(&scope);
        allows(&call, &in_force.lists[0], &in_force)
    }

    #[test]
    fn harmless_tools_and_cached_output_need_no_entry() {
        let none = json!({});
        for tool in [
            "call_user",
            "call_agent",
            "model_info",
            "update_todos",
            "flock_list",
            "index_status",
            "my-tool",
        ] {
            assert!(allowed(tool, None, &none), "{tool}");
        }
        for tool in [
            "shell_exec",
            "read_context",
            "skill_of_another_plugin",
            "file_head",
        ] {
            assert!(!allowed(tool, None, &none), "{tool}");
        }
        let at = |path: &str| json!({ "path": path });
        assert!(allowed(
            "file_tail",
            None,
            &at("vfs:///sys/tool_cache/default/x_1")
        ));
        for path in [
            "vfs:///sys/tool_cache/../../x",
            "vfs:///sys/tool_cachex/y",
            "/etc/passwd",
            "vfs:///sys/tool_cache/",
        ] {
            assert!(!allowed("file_tail", None, &at(path)), "{path}");
        }
        assert!(!allowed(
            "file_edit",
            None,
            &at("vfs:///sys/tool_cache/default/x_1")
        ));
    }

    #[test]
    fn our_own_tools_read_and_run_what_the_skill_brought() {
        let none = json!({});
        let run = |dir: Option<&'static str>| {
            let skill = dir.map(Path::new);
            Some(OurTool::RunSkillScript { skill })
        };
        let market = |action| Some(OurTool::Marketplace { action });
        let cases = [
            (
                Some(OurTool::ReadSkillFile {
                    skill: Some("docx"),
                }),
                true,
            ),
            (Some(activating("docx")), true),
            (run(Some("/skills/pdf")), true),
            (run(Some("/other/pdf")), false),
            (run(None), false),
            (Some(OurTool::Propose { new: false }), true),
            (Some(OurTool::Propose { new: true }), true),
            (market(Some("search")), true),
            (market(Some("install")), false),
            (market(None), false),
            (Some(OurTool::Direct), false),
        ];
        for (ours, expected) in cases {
            assert_eq!(allowed("x", ours, &none), expected, "{ours:?}");
        }
        let remote = json!({"skill_ref": "https://evil.example/x"});
        assert!(!allowed("skill_marketplace", market(Some("info")), &remote));
    }

    #[test]
    fn variables_that_steer_an_interpreter_are_found() {
        let first = |env: Value| {
            let arguments = json!({ "env": env });
            steering_variable(&ToolCall {
                tool: "x",
                arguments: &arguments,
                ours: None,
                meant: &[],
            })
        };
        for name in [
            "PATH",
            "LD_PRELOAD",
            "PYTHONPATH",
            "NODE_OPTIONS",
            "BASH_ENV",
            "ENV",
            "GIT_DIR",
            "IFS",
            "CARGO_HOME",
            "HTTPS_PROXY",
            "ld_preload",
        ] {
            assert_eq!(first(json!({ name: "x" })).as_deref(), Some(name));
        }
        assert_eq!(first(json!({"LANG": "C", "API_KEY": "x"})), None);
        assert_eq!(first(Value::Null), None);
        assert!(first(json!("PATH=/x")).is_some());
    }
}
