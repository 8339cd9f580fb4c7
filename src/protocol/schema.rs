//! `--schema`: the list of tools.

use serde_json::{Value, json};

use crate::activation::{has_post_hooks, may_have_post_hooks};
use crate::catalog::{Catalog, Rendered, plain, told};
use crate::facts::Facts;
use crate::host::ours;
use crate::protocol::Response;

/// The hooks that this program always registers; `on_end` only if a skill needs it. Exactly one
/// tool lists them, because the host calls a hook once for each tool that does
/// (docs/spec/hosts.md#loading).
pub const HOOKS: [&str; 11] = [
    "on_start",
    "pre_message",
    "post_system_prompt",
    "pre_api_tools",
    "pre_tool",
    "pre_tool_output",
    "pre_cache_output",
    "pre_shell_exec",
    "pre_file_write",
    "pre_file_read",
    "pre_fetch_url",
];

const WHICH_SKILL: &str = "Its name (default: the last loaded)";
const PATH: &str = "Path in its directory";

/// The tools: the fixed ones, then one per offered skill, or a common one if there are many.
pub fn schema(facts: &Facts) -> Response {
    let told = told(facts, "schema", |catalog| Rendered {
        text: Value::Array(with_skills(facts, fixed_tools(), catalog)).to_string(),
        remarks: String::new(),
        passes: may_have_post_hooks(catalog),
    });
    Response::text(told.text)
}

fn with_skills(facts: &Facts, mut tools: Vec<Value>, catalog: &Catalog) -> Vec<Value> {
    // If the configuration is unreadable, nothing that depends on it is offered.
    if let Ok(config) = facts.config() {
        tools.extend(config.takes_proposals().then(propose_tool));
        tools.extend(config.takes_new_skills().then(create_tool));
    }
    if has_post_hooks(facts, catalog)
        && let Some(hooks) = tools[0]["hooks"].as_array_mut()
    {
        hooks.push("on_end".into());
    }
    if catalog.has_one_tool() {
        tools.push(skill_tool());
        return tools;
    }
    // What each is for stands in the prompt.
    tools.extend(catalog.offered().into_iter().map(|offered| {
        let hint = offered.skill.fields.text("argument-hint");
        let arguments = argument_description(hint.as_deref());
        json!({
            "name": offered.tool,
            "description": "Activate this skill",
            "parameters": parameters(&[("arguments", "string", &arguments)], &[]),
        })
    }));
    tools
}

/// The list of skills is only in the prompt.
fn skill_tool() -> Value {
    json!({
        "name": ours::SKILL,
        "description": "Activate one of the skills listed under Available Agent Skills and get \
            its instructions.",
        "parameters": parameters(&[
            ("skill_name", "string", "The skill's name"),
            ("arguments", "string", &argument_description(None)),
        ], &["skill_name"]),
    })
}

fn argument_description(hint: Option<&str>) -> String {
    let hint = hint
        .map(|hint| format!(", in the form {}", plain(hint)))
        .unwrap_or_default();
    format!("The task{hint}")
}

fn fixed_tools() -> Vec<Value> {
    vec![
        json!({
            "name": ours::MARKETPLACE,
            "description": "Find, install, update and remove skills. Actions: search (query), \
                list (what can be installed), install, update, remove, info (skill_ref), \
                list_installed, search_installed (query), use (skill_ref, query: the task): \
                activate a skill now, even one just installed.",
            "parameters": parameters(&[
                ("action", "string", "One of these"),
                ("skill_ref", "string",
                    "A skill's name; for install also owner/repo@skill, a git URL or a local \
                     directory"),
                ("query", "string", "Search words, or the task"),
            ], &["action"]),
            "hooks": HOOKS,
            "summary_params": ["action", "skill_ref"],
        }),
        json!({
            "name": ours::READ_FILE,
            "description": "Read a file of a skill, which no other tool reaches.",
            "parameters": parameters(&[
                ("skill", "string", WHICH_SKILL),
                ("path", "string", PATH),
                ("offset", "integer", "First line, from 1"),
                ("limit", "integer", "Number of lines"),
                ("pattern", "string", "Only lines that match this regular expression"),
            ], &["path"]),
            "summary_params": ["skill", "path"],
        }),
        json!({
            "name": ours::RUN_SCRIPT,
            "description": "Run a script of a skill and return its output. One that runs for \
                long becomes a job (`job: ID`): call again with only job to wait for more output.",
            "parameters": parameters(&[
                ("skill", "string", WHICH_SKILL),
                ("script", "string", PATH),
                ("args", "array", "Command-line arguments"),
                ("stdin", "string", "Standard input"),
                ("stdin_file", "string", "A file of the project as standard input"),
                ("workdir", "string", "skill (default), project, temp, or a directory of the skill"),
                ("env", "object", "More environment variables"),
                ("timeout_secs", "number", "Time limit, usually at most 120"),
                ("background", "boolean", "Make it a job at once"),
                ("job", "string", "ID of a job, in place of script"),
                ("stop", "boolean", "With job: end it"),
            ], &[]),
            "summary_params": ["skill", "script", "job"],
        }),
        json!({
            "name": ours::SESSION,
            "description": "Show or change which skills are active.",
            "parameters": parameters(&[
                ("action", "string", "load (names, mode), unload (names or all) or status"),
                ("names", "array", "Names of skills, in this order: all or none"),
                ("mode", "string", "replace the active skills (default), or add"),
                ("all", "boolean", "Unload every skill"),
            ], &["action"]),
            "summary_params": ["action", "names"],
        }),
        json!({
            "name": ours::DIRECT,
            "description": "The user's command line, not for the model.",
            "parameters": parameters(&[("args", "array", "Its words")], &[]),
        }),
    ]
}

fn propose_tool() -> Value {
    json!({
        "name": ours::PROPOSE,
        "description": "Propose a change to a skill that proved wrong or incomplete. The user \
            decides.",
        "parameters": parameters(&[
            ("skill", "string", "Its name"),
            ("diff", "string", "Unified diff of its files"),
            ("justification", "string", "The reason"),
            ("evidence", "string", "Such as an error message"),
        ], &["skill", "diff", "justification"]),
        "summary_params": ["skill"],
    })
}

fn create_tool() -> Value {
    json!({
        "name": ours::CREATE,
        "description": "Propose a new skill. The user decides.",
        "parameters": parameters(&[
            ("name", "string", "Lowercase letters, digits, hyphens"),
            ("description", "string", "What it does and when to use it"),
            ("body", "string", "Instructions, in Markdown"),
            ("allowed_tools", "array", "Tools it may use (default: all)"),
        ], &["name", "description", "body"]),
        "summary_params": ["name"],
    })
}

/// A parameter schema that both host generations pass on: only a type and a description per
/// property, since the newer host drops the rest (docs/spec/hosts.md#loading).
fn parameters(properties: &[(&str, &str, &str)], required: &[&str]) -> Value {
    let property = |&(name, kind, description): &(&str, &str, &str)| {
        let mut property = json!({"type": kind, "description": description});
        match kind {
            "array" => property["items"] = json!({"type": "string"}),
            "object" => property["additionalProperties"] = json!({"type": "string"}),
            _ => {}
        }
        (name.to_owned(), property)
    };
    let properties: serde_json::Map<_, _> = properties.iter().map(property).collect();
    json!({"type": "object", "properties": properties, "required": required})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_failure_answers_keeps_every_hook() {
        let failing = crate::protocol::closed::Kind::Schema.fallback().answer;
        let tools: Vec<Value> = serde_json::from_str(failing).unwrap();
        assert_eq!(tools[0]["name"], ours::MARKETPLACE);
        assert_eq!(tools[0]["hooks"], json!(HOOKS));
        assert_eq!(tools[0]["hooks"], fixed_tools()[0]["hooks"]);
    }

    #[test]
    fn a_person_is_shown_what_each_tool_is_called_for() {
        for tool in fixed_tools()
            .into_iter()
            .filter(|tool| tool["name"] != ours::DIRECT)
        {
            let shown = tool["summary_params"].as_array().unwrap();
            let given = &tool["parameters"]["properties"];
            assert!(!shown.is_empty(), "{tool}");
            for name in shown {
                assert!(given.get(name.as_str().unwrap()).is_some(), "{tool}");
            }
        }
    }
}
