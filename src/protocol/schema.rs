//! `--schema`: the list of tools.

use crate::catalog::{CatalogText, plain, told};
use crate::protocol::prelude::*;

/// The hooks that this program always registers; `on_end` only if a skill needs it. Exactly one
/// tool lists them, because the host calls a hook once for each tool that does
/// (docs/hosts.md#loading).
pub const HOOKS: Words = Words(
    "on_start pre_message post_system_prompt pre_api_tools pre_tool pre_tool_output \
     pre_cache_output pre_shell_exec pre_file_write pre_file_read pre_fetch_url",
);

const WHICH_SKILL: (&str, &str, &str) = ("skill", "string", "Its name (default: the last loaded)");
const PATH: &str = "Path in its directory";

/// One of our tools, as a host and a model are told of it.
#[derive(Debug)]
struct ToolSchema {
    name: &'static str,
    description: &'static str,
    /// The arguments that it takes: the name, type and meaning of each.
    parameters: &'static [(&'static str, &'static str, &'static str)],
    required: &'static [&'static str],
    /// The arguments that a person is shown at a call.
    summary: &'static [&'static str],
    /// Further names of arguments, which nobody is told of: what others call one, or few need.
    untold: &'static [&'static str],
    /// What helps after a call that was wrong: an example of a valid one.
    example: &'static str,
}

/// Those with fixed names. The list of skills is only in the prompt.
#[rustfmt::skip]
static TOOLS: [ToolSchema; 8] = [
    ToolSchema {
        name: ours::MARKETPLACE,
        description: "Find, install, update and remove skills. Actions: search (query), list (what \
            can be installed), install, update, remove, info (skill_ref), list_installed, \
            search_installed (query), use (skill_ref, query: the task): activate a skill now, even \
            one just installed.",
        parameters: &[
            ("action", "string", "One of these"),
            ("skill_ref", "string", "A skill's name; for install also owner/repo@skill, a git URL or a local directory"),
            ("query", "string", "Search words, or the task"),
        ],
        required: &["action"], summary: &["action", "skill_ref"], untold: &["arguments"],
        example: r#"for example {"action": "search", "query": "pdf"}; actions: install, remove, update, search, list, list_installed, search_installed, info, use"#,
    },
    ToolSchema {
        name: ours::READ_FILE,
        description: "Read a file of a skill. No other tool can reach it.",
        parameters: &[
            WHICH_SKILL,
            ("path", "string", PATH),
            ("offset", "integer", "First line, from 1"),
            ("limit", "integer", "Number of lines"),
            ("pattern", "string", "Only lines that match this regular expression"),
        ],
        required: &["path"], summary: &["skill", "path"], untold: &[],
        example: r#"for example {"skill": "pdf", "path": "references/forms.md"}"#,
    },
    ToolSchema {
        name: ours::RUN_SCRIPT,
        description: "Run a script of a skill and return its output. A long-running one becomes a job (`job: ID`): call again with only job to wait for more output.",
        parameters: &[
            WHICH_SKILL,
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
        ],
        required: &[], summary: &["skill", "script", "job"], untold: &["path"],
        example: r#"for example {"skill": "pdf", "script": "scripts/fill.py", "args": ["a.pdf"]}, or {"job": "…"} for one that runs"#,
    },
    ToolSchema {
        name: ours::SESSION,
        description: "Show or change which skills are active.",
        parameters: &[
            ("action", "string", "load (names, mode), unload (names or all) or status"),
            ("names", "array", "Names of skills, in this order: all or none"),
            ("mode", "string", "replace the active skills (default), or add"),
            ("all", "boolean", "Unload every skill"),
        ],
        required: &["action"], summary: &["action", "names"], untold: &[],
        example: r#"for example {"action": "load", "names": ["pdf", "csv"], "mode": "add"}; actions: load, unload (names, or all: true), status; modes: replace, add"#,
    },
    ToolSchema {
        name: ours::DIRECT,
        description: "The user's command line, not for the model.",
        parameters: &[("args", "array", "Its words")],
        required: &[], summary: &[], untold: &[],
        example: r#"for example {"args": ["install", "owner/skill"]}"#,
    },
    ToolSchema {
        name: ours::PROPOSE,
        description: "Propose a change to a skill that proved wrong or incomplete. The user decides.",
        parameters: &[
            ("skill", "string", "Its name"),
            ("diff", "string", "Unified diff of its files"),
            ("justification", "string", "The reason"),
            ("evidence", "string", "Such as an error message"),
        ],
        required: &["skill", "diff", "justification"], summary: &["skill"], untold: &[],
        example: r#"for example {"skill": "pdf", "diff": "--- a/SKILL.md\n+++ b/SKILL.md\n@@\n-old line\n+new line\n", "justification": "the old line is wrong"}"#,
    },
    ToolSchema {
        name: ours::CREATE,
        description: "Propose a new skill. The user decides.",
        parameters: &[
            ("name", "string", "Lowercase letters, digits, hyphens"),
            ("description", "string", "What it does and when to use it"),
            ("body", "string", "Instructions, in Markdown"),
            ("allowed_tools", "array", "Tools it may use (default: all)"),
        ],
        required: &["name", "description", "body"], summary: &["name"], untold: &[],
        example: r##"for example {"name": "release-notes", "description": "Writes release notes. Use when a version is tagged.", "body": "# Release notes\n…"}"##,
    },
    ToolSchema {
        name: ours::SKILL,
        description: "Activate one of the skills listed under Available Agent Skills and get its \
            instructions.",
        parameters: &[
            ("skill_name", "string", "The skill's name"),
            ("arguments", "string", "The task"),
        ],
        required: &["skill_name"], summary: &[], untold: &[],
        example: r#"call it with {"skill_name": "pdf", "arguments": "what to do"}; arguments may be left out"#,
    },
];

impl ToolSchema {
    fn named(name: &str) -> Option<&'static Self> {
        TOOLS.iter().find(|tool| tool.name == name)
    }

    fn schema(&self) -> Value {
        let mut schema = json!({
            "name": self.name,
            "description": self.description,
            "parameters": parameters(self.parameters, self.required),
        });
        if self.name == ours::MARKETPLACE {
            schema["hooks"] = HOOKS.iter().collect();
        }
        if !self.summary.is_empty() {
            schema["summary_params"] = json!(self.summary);
        }
        schema
    }
}

/// The names of the arguments that a tool of ours takes; `None` if it may be called in other ways too.
pub fn arguments(tool: &str) -> Option<Vec<&'static str>> {
    let tool =
        ToolSchema::named(tool).filter(|tool| ![ours::DIRECT, ours::SKILL].contains(&tool.name))?;
    let told = tool.parameters.iter().map(|(name, ..)| *name);
    Some(told.chain(tool.untold.iter().copied()).collect())
}

/// An example of a valid call of a tool of ours, or of a skill's own.
pub fn example(tool: &str) -> &'static str {
    let own = r#"call it with {"arguments": "what to do"}"#;
    ToolSchema::named(tool).map_or(own, |tool| tool.example)
}

/// The tools: the fixed ones, then one per offered skill, or a common one if there are many.
pub fn schema(facts: &Facts) -> Response {
    let told = told(facts, "schema", |catalog| CatalogText {
        text: Value::Array(tools(facts, catalog)).to_string(),
        remarks: String::new(),
        is_never_stored: may_have_post_hooks(catalog),
    });
    Response::text(told.text)
}

fn tools(facts: &Facts, catalog: &Catalog) -> Vec<Value> {
    // If the configuration is unreadable, nothing that depends on it is offered.
    let config = facts.config();
    let is_there = |tool: &&ToolSchema| match tool.name {
        ours::PROPOSE => config.as_ref().is_ok_and(|it| it.takes_proposals()),
        ours::CREATE => config.as_ref().is_ok_and(|it| it.takes_new_skills()),
        ours::SKILL => catalog.has_one_tool(),
        _ => true,
    };
    let mut tools: Vec<Value> = TOOLS
        .iter()
        .filter(is_there)
        .map(ToolSchema::schema)
        .collect();
    if has_post_hooks(facts, catalog)
        && let Some(hooks) = tools[0]["hooks"].as_array_mut()
    {
        hooks.push("on_end".into());
    }
    if catalog.has_one_tool() {
        return tools;
    }
    // What each is for stands in the prompt.
    tools.extend(catalog.offered().into_iter().map(|offered| {
        let hint = offered.skill.fields.text("argument-hint");
        let form = hint.map(|hint| format!(", in the form {}", plain(&hint)));
        let arguments = format!("The task{}", form.unwrap_or_default());
        json!({
            "name": offered.tool,
            "description": "Activate this skill",
            "parameters": parameters(&[("arguments", "string", &arguments)], &[]),
        })
    }));
    tools
}

/// A parameter schema that both host generations pass on: only a type and a description per
/// property, since the newer host drops the rest (docs/hosts.md#loading).
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
        let failing = crate::protocol::call_kind::CallKind::Schema
            .fallback()
            .answer;
        let tools: Vec<Value> = serde_json::from_str(failing).unwrap();
        assert_eq!(tools[0]["name"], ours::MARKETPLACE);
        assert_eq!(tools[0]["hooks"], HOOKS.iter().collect::<Value>());
        assert_eq!(tools[0]["hooks"], TOOLS[0].schema()["hooks"]);
    }

    #[test]
    fn a_person_is_shown_what_each_tool_is_called_for() {
        let untold = [ours::DIRECT, ours::SKILL];
        for tool in TOOLS.iter().filter(|tool| !untold.contains(&tool.name)) {
            let tool = tool.schema();
            let shown = tool["summary_params"].as_array().unwrap();
            let given = &tool["parameters"]["properties"];
            assert!(!shown.is_empty(), "{tool}");
            for name in shown {
                assert!(given.get(name.as_str().unwrap()).is_some(), "{tool}");
            }
        }
    }
}
