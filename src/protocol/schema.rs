//! `--schema`: the list of tools.

use serde_json::{Value, json};

use crate::catalog::{Catalog, Rendered, plain};
use crate::host::ours;
use crate::protocol::Response;
use crate::run_context::RunContext;

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

const WHICH_SKILL: &str = "The skill's name; without it, the most recently loaded skill";

/// The tools: the fixed ones, then one per offered skill, or a common one if there are many.
pub fn schema(ctx: &RunContext) -> Response {
    let told = ctx.told("schema", |catalog| Rendered {
        text: Value::Array(with_skills(ctx, fixed_tools(), catalog)).to_string(),
        remarks: String::new(),
        passes: ctx.may_have_post_hooks(catalog),
    });
    Response::text(told.text)
}

fn with_skills(ctx: &RunContext, mut tools: Vec<Value>, catalog: &Catalog) -> Vec<Value> {
    // If the configuration is unreadable, nothing that depends on it is offered.
    if let Ok(config) = ctx.config() {
        tools.extend(config.takes_proposals().then(propose_tool));
        tools.extend(config.takes_new_skills().then(create_tool));
    }
    if ctx.has_post_hooks(catalog)
        && let Some(hooks) = tools[0]["hooks"].as_array_mut()
    {
        hooks.push("on_end".into());
    }
    let config = ctx.config().unwrap_or_default();
    if catalog.has_one_tool(config.max_tools.0) {
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
        "description": "Activate one of the skills listed under Available Agent Skills, and get \
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
    format!("What the skill is to be applied to, in the user's words{hint}")
}

fn fixed_tools() -> Vec<Value> {
    vec![
        json!({
            "name": ours::MARKETPLACE,
            "description": "Find, install and manage Agent Skills: instructions for particular \
                tasks. The action is one of: install (skill_ref), remove (skill_ref: the skill's \
                name), update (skill_ref: a name, or nothing for all), search (query: words), \
                list (what can be installed), list_installed, search_installed (query: words), \
                info (skill_ref: a name), use (skill_ref: a name; query: what to apply it to): \
                activate a skill now, also one that was just installed.",
            "parameters": parameters(&[
                ("action", "string",
                    "One of: install, remove, update, search, list, list_installed, \
                     search_installed, info, use"),
                ("skill_ref", "string",
                    "A skill's name; for install owner/skill, owner/repo@skill, a git URL or a \
                     local directory"),
                ("query", "string", "Words to search for, or what a used skill is applied to"),
            ], &["action"]),
            "hooks": HOOKS,
        }),
        json!({
            "name": ours::READ_FILE,
            "description": "Read a file that is bundled with an installed skill. Text comes as \
                it is, other files as base64. Scripts are run with run_skill_script, not read.",
            "parameters": parameters(&[
                ("skill", "string", WHICH_SKILL),
                ("path", "string", "The file, relative to the skill's directory"),
                ("offset", "integer", "The first line to answer, counted from 1"),
                ("limit", "integer", "How many lines to answer"),
            ], &["path"]),
        }),
        json!({
            "name": ours::RUN_SCRIPT,
            "description": "Run a script that is bundled with an installed skill and answer its \
                output: give script, and skill unless the most recently loaded one is meant. The interpreter is chosen by the script's first \
                line or extension. A script that takes long becomes a job: the answer then has a \
                line `job: ID`; call again with job alone to wait for more of its output.",
            "parameters": parameters(&[
                ("skill", "string", WHICH_SKILL),
                ("script", "string", "The script, relative to the skill's directory"),
                ("args", "array", "Its arguments: a list of strings"),
                ("stdin", "string", "Its standard input; empty if not given"),
                ("workdir", "string",
                    "Where it runs: skill (the skill's directory, the default), project, temp (an \
                     empty directory, gone afterwards), or a directory inside the skill"),
                ("env", "object", "Further environment variables: names and string values"),
                ("timeout_secs", "number",
                    "Seconds after which it is stopped, usually at most 120; the whole time, also \
                     of a job"),
                ("background", "boolean", "true: make it a job at once, without waiting for it"),
                ("format", "string",
                    "text (the default), or json: path, exit_code, signal, stdout, stderr, \
                     duration_ms, timed_out, truncated, job"),
                ("job", "string",
                    "The id of a job: wait for it and answer what is new. Give no script then"),
                ("stop", "boolean", "true, together with job: end that job"),
            ], &[]),
        }),
        json!({
            "name": ours::SESSION,
            "description": "Say and change which skills are active: load several at once, or \
                unload some. The answer is JSON, active_skills in order, the most recently loaded \
                last; load answers their instructions too. A skill that restricts which tools may \
                be used is unloaded by the user only, unless configured otherwise.",
            "parameters": parameters(&[
                ("action", "string", "One of: load (names, mode), unload (names, or all), status"),
                ("names", "array", "The skills' names, a list of strings; loaded in this order, \
                    all or none"),
                ("mode", "string", "With load: replace (the default; unloads what is active \
                    now) or add (keeps it)"),
                ("all", "boolean", "true, with unload: every active skill"),
            ], &["action"]),
        }),
        json!({
            "name": ours::DIRECT,
            "description": "The command line of agent-skills, for the user: chibi -p \
                agent-skills \"install owner/skill\". Not for the model.",
            "parameters": parameters(
                &[("args", "array", "The words of the command")], &[]),
        }),
    ]
}

fn propose_tool() -> Value {
    json!({
        "name": ours::PROPOSE,
        "description": "Propose a change to an installed skill that was wrong or incomplete. It \
            changes nothing: the user decides.",
        "parameters": parameters(&[
            ("skill", "string", "The skill's name"),
            ("diff", "string", "A unified diff against the skill's files, SKILL.md for example"),
            ("justification", "string", "Why, for the user"),
            ("evidence", "string", "What shows that it is so: an error, a transcript"),
        ], &["skill", "diff", "justification"]),
    })
}

fn create_tool() -> Value {
    json!({
        "name": ours::CREATE,
        "description": "Propose a new skill. It makes nothing: the user decides.",
        "parameters": parameters(&[
            ("name", "string", "Lowercase letters, digits and single hyphens"),
            ("description", "string", "What it does and when to use it"),
            ("body", "string", "Its instructions, in Markdown"),
            ("allowed_tools", "array", "The only tools it may use; all if not given"),
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
        let failing = crate::protocol::closed::Kind::Schema.word().answer;
        let tools: Vec<Value> = serde_json::from_str(failing).unwrap();
        assert_eq!(tools[0]["name"], ours::MARKETPLACE);
        assert_eq!(tools[0]["hooks"], json!(HOOKS));
        assert_eq!(tools[0]["hooks"], fixed_tools()[0]["hooks"]);
    }
}
