//! The data of hooks, typed. What is not as documented (docs/spec/hosts.md#hooks) is no data, never
//! an error: the handler decides what to do.

use serde_json::{Map, Value};

use crate::protocol::Payload;

/// What the host says to a hook. Later hooks and tools do not get what an earlier one got
/// (docs/spec/hosts.md#sessions).
#[derive(Debug)]
pub struct HookData(Map<String, Value>);

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

impl HookData {
    /// The data of a hook; nothing if it is no object.
    pub fn new(data: Payload) -> Self {
        Self(match data {
            Ok(Value::Object(map)) => map,
            _ => Map::new(),
        })
    }

    fn text(&mut self, key: &str) -> Option<String> {
        match self.0.remove(key) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// The conversation.
    pub fn context(&mut self) -> Option<String> {
        self.text("context_name")
    }

    /// The tool's name.
    pub fn tool_name(&mut self) -> Option<String> {
        self.text("tool_name")
    }

    /// The prompt that the user has written, which can still be changed, and its conversation.
    pub fn prompt(&mut self) -> Option<(String, Option<String>)> {
        Some((self.text("prompt")?, self.context()))
    }

    /// The tools that are being assembled for a prompt.
    pub fn listed_tools(&self) -> Vec<ListedTool> {
        let tools = self.0.get("tools").and_then(Value::as_array);
        let listed = |tool: &Value| {
            let name = tool.get("name")?.as_str()?.to_owned();
            let is_mcp = tool.get("type").is_some_and(|kind| kind == "mcp");
            Some(ListedTool { name, is_mcp })
        };
        tools.into_iter().flatten().filter_map(listed).collect()
    }

    /// The tool that is about to be called.
    pub fn tool_use(&mut self) -> Option<ToolUse> {
        let tool = self.tool_name()?;
        let arguments = self.0.remove("arguments").unwrap_or(Value::Null);
        Some(ToolUse { tool, arguments })
    }

    /// The built-in tool that is about to run with final arguments: all of the data but its name.
    /// Other plugins may have changed them since `pre_tool` (docs/spec/hosts.md#hooks).
    pub fn final_arguments(mut self) -> Option<ToolUse> {
        let tool = self.tool_name()?;
        let arguments = Value::Object(self.0);
        Some(ToolUse { tool, arguments })
    }

    /// A tool that has run, and its output, which can still be changed.
    pub fn tool_result(&mut self) -> Option<(ToolUse, String)> {
        let output = self.text("output")?;
        Some((self.tool_use()?, output))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_tool_use_needs_only_its_name() {
        let parse = |data| HookData::new(Ok(data)).tool_use();
        let used = |arguments| {
            let tool = "t".to_owned();
            Some(ToolUse { tool, arguments })
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
            assert_eq!(parse(bad), None);
        }
        assert_eq!(HookData::new(Err(String::new())).tool_use(), None);
    }

    #[test]
    fn tools_are_taken_from_well_formed_items() {
        let data = json!({"tools": [{"name": "a", "type": "mcp"}, 3, {"name": 4}, {"name": "b"}]});
        let listed = |name: &str, is_mcp| ListedTool {
            name: name.to_owned(),
            is_mcp,
        };
        let expected = vec![listed("a", true), listed("b", false)];
        assert_eq!(HookData::new(Ok(data)).listed_tools(), expected);
    }

    #[test]
    fn final_arguments_are_everything_but_the_name() {
        let data = json!({"tool_name": "shell_exec", "command": "ls"});
        let arguments = json!({"command": "ls"});
        let used = ToolUse {
            tool: "shell_exec".to_owned(),
            arguments,
        };
        assert_eq!(HookData::new(Ok(data)).final_arguments(), Some(used));
        assert_eq!(HookData::new(Ok(json!([]))).final_arguments(), None);
    }

    #[test]
    fn an_output_needs_a_tool_and_a_text() {
        let parse = |data| HookData::new(Ok(data)).tool_result();
        let used = ToolUse {
            tool: "t".to_owned(),
            arguments: Value::Null,
        };
        assert_eq!(
            parse(json!({"tool_name": "t", "output": "o"})),
            Some((used, "o".to_owned()))
        );
        assert_eq!(parse(json!({"tool_name": "t", "output": 3})), None);
        assert_eq!(parse(json!({"output": "o"})), None);
    }
}
