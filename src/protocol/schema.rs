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

const WHICH_SKILL: &str = "The skill's name (default: the most recently loaded skill)";
const PATH: &str = "Path relative to the skill's directory";

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
    tools.extend(catalog.offered().into_iter().map(|offered| {
        let name = &offered.skill.name;
        let description = match &*offered.told() {
            "" => format!("Activate the skill `{name}`"),
            told => format!("Activate the skill `{name}`: {}", plain(told)),
        };
        let hint = offered.skill.fields.text("argument-hint");
        let arguments = argument_description(hint.as_deref());
        json!({
            "name": offered.tool,
            "description": description,
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
    format!("The task, in the user's words{hint}")
}

fn fixed_tools() -> Vec<Value> {
    vec![
        json!({
            "name": ours::MARKETPLACE,
            "description": "Find, install, update and remove Agent Skills: instructions for \
                specific tasks. Actions: search (query), list (skills that can be installed), \
                install (skill_ref), update (skill_ref; without it, all skills), remove \
                (skill_ref), list_installed, search_installed (query), info (skill_ref), use \
                (skill_ref; query: the task): activate a skill now, even one just installed.",
            "parameters": parameters(&[
                ("action", "string", "One of the actions above"),
                ("skill_ref", "string",
                    "A skill's name; for install: owner/skill, owner/repo@skill, a git URL or a \
                     local directory"),
                ("query", "string", "Search words; for use: the task, in the user's words"),
            ], &["action"]),
            "hooks": HOOKS,
        }),
        json!({
            "name": ours::READ_FILE,
            "description": "Read a file bundled with an installed skill. Text is returned as is, \
                other files as base64. To run a script, use run_skill_script.",
            "parameters": parameters(&[
                ("skill", "string", WHICH_SKILL),
                ("path", "string", PATH),
                ("offset", "integer", "First line to return, starting at 1"),
                ("limit", "integer", "Maximum number of lines to return"),
            ], &["path"]),
        }),
        json!({
            "name": ours::RUN_SCRIPT,
            "description": "Run a script bundled with an installed skill and return its output. \
                The script's first line or extension determines the interpreter. A script that \
                runs for long becomes a job, reported as `job: ID`: call again with only job to \
                wait for more output.",
            "parameters": parameters(&[
                ("skill", "string", WHICH_SKILL),
                ("script", "string", PATH),
                ("args", "array", "Command-line arguments"),
                ("stdin", "string", "Standard input (default: empty)"),
                ("workdir", "string",
                    "Working directory: skill (default), project, temp (an empty directory, \
                     deleted afterwards), or a directory inside the skill"),
                ("env", "object", "Additional environment variables"),
                ("timeout_secs", "number",
                    "Time limit in seconds, including time as a job; usually at most 120"),
                ("background", "boolean", "Make it a job immediately, without waiting"),
                ("format", "string",
                    "text (default), or json: path, exit_code, signal, stdout, stderr, \
                     duration_ms, timed_out, truncated, job, notes"),
                ("job", "string", "ID of a job: wait and return its new output. Omit script"),
                ("stop", "boolean", "With job: stop that job"),
            ], &[]),
        }),
        json!({
            "name": ours::SESSION,
            "description": "Show or change which skills are active: load several at once, or \
                unload some. Returns JSON with active_skills, the most recently loaded last; load \
                also returns their instructions. Unless configured otherwise, only the user can \
                unload a skill that restricts tools.",
            "parameters": parameters(&[
                ("action", "string", "load (names, mode), unload (names or all) or status"),
                ("names", "array", "Names of skills, loaded in this order: all or none"),
                ("mode", "string",
                    "For load: replace (default; unloads the active skills) or add"),
                ("all", "boolean", "For unload: unload every active skill"),
            ], &["action"]),
        }),
        json!({
            "name": ours::DIRECT,
            "description": "The user's command line: chibi -p agent-skills \"install \
                owner/skill\". Not for the model.",
            "parameters": parameters(
                &[("args", "array", "The words of the command")], &[]),
        }),
    ]
}

fn propose_tool() -> Value {
    json!({
        "name": ours::PROPOSE,
        "description": "Propose a change to an installed skill that proved wrong or incomplete. \
            Nothing changes unless the user approves it.",
        "parameters": parameters(&[
            ("skill", "string", "The skill's name"),
            ("diff", "string", "Unified diff against the skill's files, such as SKILL.md"),
            ("justification", "string", "The reason, for the user"),
            ("evidence", "string", "Evidence, such as an error message or a transcript"),
        ], &["skill", "diff", "justification"]),
    })
}

fn create_tool() -> Value {
    json!({
        "name": ours::CREATE,
        "description": "Propose a new skill. Nothing is created unless the user approves it.",
        "parameters": parameters(&[
            ("name", "string", "Lowercase letters, digits and single hyphens"),
            ("description", "string", "What it does and when to use it"),
            ("body", "string", "Instructions, in Markdown"),
            ("allowed_tools", "array", "Tools it may use (default: all)"),
        ], &["name", "description", "body"]),
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
}
