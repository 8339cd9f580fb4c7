//! Hooks and their data, typed. Data that is not as documented in HOST.md §4 gives a hook without
//! it, never an error: what that means is the handler's decision.

use serde_json::{Map, Value};

use super::Payload;

/// A hook this program takes part in.
#[derive(Debug, Clone, PartialEq)]
pub enum Hook {
    /// A host process begins.
    OnStart,
    /// The system prompt is being put together, for the conversation of this name.
    PostSystemPrompt(Option<String>),
    /// The tools for a prompt are being put together: their names.
    PreApiTools(Vec<String>),
    /// A tool is about to be called. `None` when the data does not say which.
    PreTool(Option<ToolUse>),
    /// A result is about to be replaced by a stub: the tool's name.
    PreCacheOutput(String),
    /// Any other hook.
    Unknown,
}

/// A tool call as a hook sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolUse {
    /// The tool's name.
    pub tool: String,
    /// The arguments as they are now; another plugin may still change them.
    pub arguments: Value,
}

impl Hook {
    /// The hook of that name with its data.
    pub fn parse(name: &str, data: Payload) -> Self {
        let mut data = match data {
            Ok(Value::Object(map)) => map,
            _ => Map::new(),
        };
        match name {
            "on_start" => Self::OnStart,
            "post_system_prompt" => Self::PostSystemPrompt(text(&mut data, "context_name")),
            "pre_api_tools" => Self::PreApiTools(tool_names(data.get("tools"))),
            "pre_tool" => Self::PreTool(tool_name(&mut data).map(|tool| ToolUse {
                tool,
                arguments: data.remove("arguments").unwrap_or(Value::Null),
            })),
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

fn tool_names(tools: Option<&Value>) -> Vec<String> {
    let tools = tools
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    tools
        .iter()
        .filter_map(|tool| tool.get("name")?.as_str())
        .map(str::to_owned)
        .collect()
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
    fn tool_names_are_taken_from_well_formed_items() {
        let data = json!({"tools": [{"name": "a", "type": "mcp"}, 3, {"name": 4}, {"name": "b"}]});
        let names = vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(
            Hook::parse("pre_api_tools", Ok(data)),
            Hook::PreApiTools(names)
        );
    }
}
