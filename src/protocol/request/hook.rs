//! Hooks and their data, typed. Data that is not as documented (docs/spec/hosts.md#hooks) becomes a
//! hook without data, never an error: the handler decides what to do.

use serde_json::{Map, Value};

use crate::protocol::Payload;

/// A hook that this program handles.
#[derive(Debug, Clone, PartialEq)]
pub enum Hook {
    /// A host process begins.
    OnStart,
    /// A host process ends.
    OnEnd,
    /// The user has written a prompt, which can still be changed. `None` if the data contains none.
    PreMessage(Option<Prompt>),
    /// The system prompt is being assembled for the conversation of this name, which later hooks
    /// and tools do not get (docs/spec/hosts.md#sessions).
    PostSystemPrompt(Option<String>),
    /// The tools for a prompt are being assembled.
    PreApiTools(Vec<ListedTool>),
    /// A tool is about to be called. `None` if the data does not say which.
    PreTool(Option<ToolUse>),
    /// A built-in tool is about to run with these final arguments, which other plugins may have
    /// changed since `pre_tool` (docs/spec/hosts.md#hooks). `None` if the data does not say which
    /// tool.
    FinalArguments(Option<ToolUse>),
    /// A tool has run; its output can still be changed. `None` if the data is unusable.
    PreToolOutput(Option<ToolResult>),
    /// A result of the tool with this name is about to be replaced by a stub.
    PreCacheOutput(String),
    /// Any other hook.
    Unknown,
}

/// A prompt as a hook sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// Its text.
    pub text: String,
    /// The conversation.
    pub context: Option<String>,
}

/// A tool call as a hook sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolUse {
    /// The tool's name.
    pub tool: String,
    /// The current arguments; another plugin may still change them.
    pub arguments: Value,
}

/// A tool that the host is about to offer to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedTool {
    /// Its name.
    pub name: String,
    /// Whether the host says that it belongs to an MCP server.
    pub is_mcp: bool,
}

/// The result of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    /// The call.
    pub used: ToolUse,
    /// Its output.
    pub output: String,
}

impl Hook {
    /// Parses the hook with that name and its data.
    pub fn parse(name: &str, data: Payload) -> Self {
        let mut data = match data {
            Ok(Value::Object(map)) => map,
            _ => Map::new(),
        };
        match name {
            "on_start" => Self::OnStart,
            "on_end" => Self::OnEnd,
            "pre_message" => Self::PreMessage(text(&mut data, "prompt").map(|prompt| Prompt {
                text: prompt,
                context: text(&mut data, "context_name"),
            })),
            "post_system_prompt" => Self::PostSystemPrompt(text(&mut data, "context_name")),
            "pre_api_tools" => Self::PreApiTools(listed_tools(data.get("tools"))),
            "pre_tool" => Self::PreTool(tool_use(&mut data)),
            "pre_shell_exec" | "pre_file_write" | "pre_file_read" | "pre_fetch_url" => {
                let tool = tool_name(&mut data);
                let arguments = Value::Object(data);
                Self::FinalArguments(tool.map(|tool| ToolUse { tool, arguments }))
            }
            "pre_tool_output" => Self::PreToolOutput(match data.remove("output") {
                Some(Value::String(output)) => {
                    tool_use(&mut data).map(|used| ToolResult { used, output })
                }
                _ => None,
            }),
            "pre_cache_output" => Self::PreCacheOutput(tool_name(&mut data).unwrap_or_default()),
            _ => Self::Unknown,
        }
    }
}

fn tool_name(data: &mut Map<String, Value>) -> Option<String> {
    text(data, "tool_name")
}

fn text(data: &mut Map<String, Value>, key: &str) -> Option<String> {
    match data.remove(key) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

fn tool_use(data: &mut Map<String, Value>) -> Option<ToolUse> {
    let tool = tool_name(data)?;
    let arguments = data.remove("arguments").unwrap_or(Value::Null);
    Some(ToolUse { tool, arguments })
}

fn listed_tools(tools: Option<&Value>) -> Vec<ListedTool> {
    let tools = tools
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    let listed = |tool: &Value| {
        let name = tool.get("name")?.as_str()?.to_owned();
        Some(ListedTool {
            name,
            is_mcp: tool.get("type").is_some_and(|kind| kind == "mcp"),
        })
    };
    tools.iter().filter_map(listed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_tool_use_needs_only_its_name() {
        let parse = |data| Hook::parse("pre_tool", Ok(data));
        let used = |arguments| {
            Hook::PreTool(Some(ToolUse {
                tool: "t".to_owned(),
                arguments,
            }))
        };
        assert_eq!(
            parse(json!({"tool_name": "t", "arguments": {"a": 1}})),
            used(json!({"a": 1}))
        );
        assert_eq!(parse(json!({"tool_name": "t"})), used(Value::Null));
        for bad in [
            json!({}),
            json!({"tool_name": 1}),
            json!(null),
            json!([1]),
            json!("x"),
        ] {
            assert_eq!(parse(bad), Hook::PreTool(None));
        }
        assert_eq!(
            Hook::parse("pre_tool", Err(String::new())),
            Hook::PreTool(None)
        );
    }

    #[test]
    fn unknown_hooks_are_known_as_such() {
        assert_eq!(
            Hook::parse("on_context_switch", Ok(Value::Null)),
            Hook::Unknown
        );
        assert_eq!(Hook::parse("", Ok(Value::Null)), Hook::Unknown);
    }

    #[test]
    fn tools_are_taken_from_well_formed_items() {
        let data = json!({"tools": [{"name": "a", "type": "mcp"}, 3, {"name": 4}, {"name": "b"}]});
        let listed = |name: &str, is_mcp| ListedTool {
            name: name.to_owned(),
            is_mcp,
        };
        let expected = Hook::PreApiTools(vec![listed("a", true), listed("b", false)]);
        assert_eq!(Hook::parse("pre_api_tools", Ok(data)), expected);
    }

    #[test]
    fn final_arguments_are_everything_but_the_name() {
        let data = json!({"tool_name": "shell_exec", "command": "ls"});
        let arguments = json!({"command": "ls"});
        let used = ToolUse {
            tool: "shell_exec".to_owned(),
            arguments,
        };
        assert_eq!(
            Hook::parse("pre_shell_exec", Ok(data)),
            Hook::FinalArguments(Some(used))
        );
        assert_eq!(
            Hook::parse("pre_fetch_url", Ok(json!([]))),
            Hook::FinalArguments(None)
        );
    }

    #[test]
    fn an_output_needs_a_tool_and_a_text() {
        let parse = |data| Hook::parse("pre_tool_output", Ok(data));
        let used = ToolUse {
            tool: "t".to_owned(),
            arguments: Value::Null,
        };
        let result = ToolResult {
            used,
            output: "o".to_owned(),
        };
        assert_eq!(
            parse(json!({"tool_name": "t", "output": "o"})),
            Hook::PreToolOutput(Some(result))
        );
        assert_eq!(
            parse(json!({"tool_name": "t", "output": 3})),
            Hook::PreToolOutput(None)
        );
        assert_eq!(parse(json!({"output": "o"})), Hook::PreToolOutput(None));
    }
}
