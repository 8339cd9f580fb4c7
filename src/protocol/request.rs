//! Identifies the call. The order of the checks matters (docs/hosts.md#which-call).

mod tool;

use std::ffi::{OsStr, OsString};
use std::io::{IsTerminal, Read};

use crate::protocol::call_kind::CallKind;
use crate::protocol::prelude::*;
use crate::sys::files::read_all_capped;

pub use tool::{
    Activate, CreateSkill, NAME, OwnToolCall, ProposeSkillUpdate, ReadSkillFile, RunSkillScript,
    SkillSession, StartScript, written_skill,
};

/// Everything a run depends on.
pub struct Input {
    /// The arguments, without the program's name.
    pub args: Vec<OsString>,
    /// Environment and working directory.
    pub env: Env,
    /// Read to its end in the stdin protocol, never otherwise. A terminal counts as empty.
    pub stdin: Box<dyn Read>,
}

impl Input {
    /// The input of this process. A failure of a host's call from here on ends in its prepared
    /// answer.
    pub fn of_process() -> Self {
        let mut input = Self {
            args: std::env::args_os().skip(1).collect(),
            env: Env::from_process(),
            stdin: Box::new(std::io::empty()),
        };
        input.kind().prepare();
        if !std::io::stdin().is_terminal() {
            input.stdin = Box::new(std::io::stdin());
        }
        input
    }

    /// The kind of call.
    ///
    /// The host passes no arguments except `--schema`, so any others come from a person, even in a
    /// shell that inherited a call's variables.
    pub fn kind(&self) -> CallKind<'_> {
        let is_set = |name| self.env.os(name).is_some();
        match self.args.first() {
            Some(_) if hook_words(&self.args).is_some() => CallKind::Agent,
            Some(word) if word == "--schema" => CallKind::Schema,
            Some(_) => CallKind::Person,
            None => {
                let hook = self.env.os("CHIBI_HOOK").map(OsStr::as_encoded_bytes);
                CallKind::described(hook, is_set("CHIBI_TOOL_ARGS"), is_set("CHIBI_TOOL_NAME"))
            }
        }
    }

    /// The data of this call of a hook.
    ///
    /// # Errors
    /// The refusal, if the hook decides and the host's environment makes its data doubtful.
    pub fn hook(&mut self) -> Result<(HookData, Protocol), Response> {
        if let Some(variable) = self.leaked() {
            warn(format_args!(
                "every call of a tool is refused: {}",
                leak(variable)
            ));
            return Err(self.kind().refusal(&leak(variable)));
        }
        let (data, protocol) = self.payload("CHIBI_HOOK_DATA");
        Ok((HookData::new(data), protocol))
    }

    /// The variable, if any, that this deciding hook has from elsewhere than its host: no hook has a
    /// tool's arguments, and one with its data in a variable has nothing on standard input, which
    /// is then read to its end as in [`Self::payload`].
    fn leaked(&mut self) -> Option<&'static str> {
        const BOTH: [&str; 2] = ["CHIBI_TOOL_ARGS", "CHIBI_HOOK_DATA"];
        let set = BOTH.into_iter().find(|name| self.env.os(name).is_some())?;
        if !self.kind().decides() {
            return None;
        }
        let read = read_all_capped(&mut self.stdin, limits::REQUEST);
        let is_alone = set == BOTH[1] && read.is_ok_and(|bytes| bytes.is_empty());
        (!is_alone).then_some(set)
    }

    /// The agent whose hook this is, with the mode that the command names, and its data.
    ///
    /// # Errors
    /// Why the words are no call of a hook; then nothing is read.
    pub fn agent(&mut self) -> Result<(Agent, Option<HookMode>, Payload), String> {
        let (before, after) = hook_words(&self.args).unwrap_or_default();
        let odd = || "its words are not `agent-skills hook AGENT [--mode MODE]`".to_owned();
        let words = after.iter().map(|word| word.to_str().unwrap_or_default());
        let words = words.flat_map(|word| match word.strip_prefix("--mode=") {
            Some(mode) => vec!["--mode", mode],
            None => vec![word],
        });
        let (agent, mode) = match words.collect::<Vec<_>>()[..] {
            _ if !before.is_empty() => return Err(odd()),
            [agent] => (agent, None),
            [agent, "--mode", mode] | ["--mode", mode, agent] => (agent, Some(mode)),
            _ => return Err(odd()),
        };
        let agent = agent.parse().map_err(|it: Error| it.to_string())?;
        let mode = mode.map(str::parse).transpose();
        let mode = mode.map_err(|it: Error| it.to_string())?;
        Ok((agent, mode, read_json(&mut self.stdin)))
    }

    /// The tool call.
    pub fn tool(&mut self) -> (Result<OwnToolCall>, Protocol) {
        let (arguments, protocol) = self.payload("CHIBI_TOOL_ARGS");
        let name = self.env.text("CHIBI_TOOL_NAME").unwrap_or_default();
        (OwnToolCall::parse(&name, arguments), protocol)
    }

    /// The data in this variable, or else on standard input, which is then read to its end first:
    /// the host writes all of it before it waits for us (docs/hosts.md#tool-calls).
    fn payload(&mut self, variable: &str) -> (Payload, Protocol) {
        match self.env.os(variable) {
            Some(data) => (parse(data.as_encoded_bytes()), Protocol::Environment),
            None => (read_json(&mut self.stdin), Protocol::Stdin),
        }
    }
}

/// The words after `hook`, if that is the first word that is no option: then an agent calls,
/// whatever else is there. Taken for a person's command, a call that does not parse would pass. No
/// option of every command takes a value, which a test holds.
fn hook_words(args: &[OsString]) -> Option<(&[OsString], &[OsString])> {
    let is_option = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
    let at = args.iter().position(|word| !is_option(word))?;
    (args[at] == "hook").then(|| (&args[..at], &args[at + 1..]))
}

fn leak(variable: &str) -> String {
    format!(
        "`{variable}` is set in chibi's own environment, so which call this is cannot be known. Leave \
         chibi, `unset {variable}` (or remove it from `.env` and the like), and start it again"
    )
}

/// The JSON of a call, or why it could not be read.
pub type Payload = Result<Value, String>;

fn read_json(stdin: &mut dyn Read) -> Payload {
    let bytes = read_all_capped(stdin, limits::REQUEST);
    parse(&bytes.map_err(|error| format!("could not read standard input: {error}"))?)
}

/// Empty input counts as `null`, which every call takes as "no arguments".
fn parse(bytes: &[u8]) -> Payload {
    if bytes.trim_ascii().is_empty() {
        return Ok(Value::Null);
    }
    // The host replaces invalid UTF-8 too; refusing the call would only lose it.
    let text = String::from_utf8_lossy(bytes);
    serde_json::from_str(&text).map_err(|error| format!("not JSON: {error}"))
}

/// What the host says to a hook, typed; what is not as documented (docs/hosts.md#hooks) is no data,
/// never an error. Later hooks and tools do not get what an earlier one got
/// (docs/hosts.md#sessions).
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
    /// Other plugins may have changed them since `pre_tool` (docs/hosts.md#hooks).
    pub fn final_arguments(mut self) -> Option<ToolUse> {
        let tool = self.tool_name()?;
        let arguments = Value::Object(self.0);
        Some(ToolUse { tool, arguments })
    }

    /// A tool that has run, and its output, which can still be changed.
    pub fn tool_result(&mut self) -> Option<(ToolUse, String)> {
        Some((self.tool_use()?, self.text("output")?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::path::Path;

    fn read(args: &[&str], vars: &[(&str, &str)], stdin: &'static str) -> String {
        let mut input = Input {
            args: args.iter().map(OsString::from).collect(),
            env: Env::new(vars.iter().copied(), Path::new("/")),
            stdin: Box::new(stdin.as_bytes()),
        };
        let text = |name| input.env.text(name).unwrap_or_default();
        let (name, data) = match input.kind() {
            CallKind::Schema => return "schema".to_owned(),
            CallKind::Agent => {
                return format!("agent {:?}", input.agent().map(|it| (it.0, it.1)).ok());
            }
            CallKind::Person => return format!("person {:?}", input.args),
            CallKind::Hook(_) => (format!("hook {:?}", text("CHIBI_HOOK")), "CHIBI_HOOK_DATA"),
            CallKind::Tool(_) => (
                format!("tool {:?}", text("CHIBI_TOOL_NAME")),
                "CHIBI_TOOL_ARGS",
            ),
        };
        format!("{name} {}", shown(input.payload(data).0))
    }

    fn shown(payload: Payload) -> String {
        payload.map_or_else(|_| "malformed".to_owned(), |value| value.to_string())
    }

    #[test]
    fn calls_are_told_apart_in_the_documented_order() {
        let args = ("CHIBI_TOOL_ARGS", r#"{"a":1}"#);
        let name = ("CHIBI_TOOL_NAME", "t");
        let hook = ("CHIBI_HOOK", "on_start");
        let data = ("CHIBI_HOOK_DATA", r#"{"d":1}"#);
        let decides = ("CHIBI_HOOK", "pre_tool");
        for (argv, vars, expected) in [
            (&["--schema"][..], &[args, name, hook, data][..], "schema"),
            (&[], &[args, name, decides], r#"hook "pre_tool" {"s":1}"#),
            (&[], &[args, name, hook, data], r#"tool "t" {"a":1}"#),
            (&[], &[args], r#"tool "" {"a":1}"#),
            (&[], &[hook, data, name], r#"hook "on_start" {"d":1}"#),
            (&[], &[hook, name], r#"hook "on_start" {"s":1}"#),
            (&[], &[("CHIBI_HOOK", ""), name], r#"hook "" {"s":1}"#),
            (&[], &[name], r#"tool "t" {"s":1}"#),
            (&[], &[], "person []"),
            (&["list"], &[], r#"person ["list"]"#),
            (&["hook", "codex"], &[hook], "agent Some((Codex, None))"),
            (
                &["hook", "gemini", "--mode", "both"],
                &[],
                "agent Some((Gemini, Some(Both)))",
            ),
            (
                &["hook", "gemini", "--mode=ask"],
                &[],
                "agent Some((Gemini, Some(Ask)))",
            ),
            (
                &["hook", "--mode=both", "qwen-code"],
                &[],
                "agent Some((QwenCode, Some(Both)))",
            ),
            (&["hook", "vim"], &[], "agent None"),
            (&["hook", "codex", "-h"], &[hook], "agent None"),
            (&["--schema", "hook"], &[], "agent None"),
            (&["list", "hook"], &[], r#"person ["list", "hook"]"#),
            (&["list"], &[name], r#"person ["list"]"#),
        ] {
            assert_eq!(
                read(argv, vars, r#"{"s":1}"#),
                expected,
                "{argv:?} {vars:?}"
            );
        }
    }

    #[test]
    fn a_hook_call_that_does_not_parse_is_still_an_agents() {
        for args in [
            &["hook"][..],
            &["hook", ""],
            &["hook", "codex", "gemini"],
            &["hook", "codex", "--mode"],
            &["hook", "codex", "--mode", "x"],
            &["hook", "codex", "--mode=ask", "--mode=ask"],
            &["hook", "codex", "--model=ask"],
            &["--mode=ask", "hook", "codex"],
        ] {
            assert_eq!(read(args, &[], "{}"), "agent None", "{args:?}");
        }
    }

    #[test]
    fn a_deciding_hook_with_anothers_variable_is_refused() {
        let call = r#"{"tool_name":"shell_exec","arguments":{}}"#;
        let args = ("CHIBI_TOOL_ARGS", "");
        let data = ("CHIBI_HOOK_DATA", r#"{"tool_name":"call_user"}"#);
        for (hook, more, stdin, refused) in [
            ("pre_tool", &[][..], call, None),
            ("pre_tool", &[data], "", None),
            ("pre_tool", &[data], call, Some("CHIBI_HOOK_DATA")),
            (
                "pre_tool",
                &[("CHIBI_HOOK_DATA", "")],
                call,
                Some("CHIBI_HOOK_DATA"),
            ),
            ("pre_tool", &[args], call, Some("CHIBI_TOOL_ARGS")),
            ("pre_tool", &[args, data], "", Some("CHIBI_TOOL_ARGS")),
            ("pre_shell_exec", &[args], call, Some("CHIBI_TOOL_ARGS")),
            ("pre_fetch_url", &[data], call, Some("CHIBI_HOOK_DATA")),
            ("post_system_prompt", &[data], call, None),
        ] {
            let vars = [("CHIBI_HOOK", hook)]
                .into_iter()
                .chain(more.iter().copied());
            let mut input = Input {
                args: Vec::new(),
                env: Env::new(vars, Path::new("/")),
                stdin: Box::new(stdin.as_bytes()),
            };
            let answer = input.hook().err().map(|response| response.stdout);
            assert_eq!(answer.is_some(), refused.is_some(), "{hook} {more:?}");
            let closes = ["{\"block\":true,", "{\"denied\":true,"];
            if let (Some(answer), Some(variable)) = (answer, refused) {
                assert!(
                    closes.iter().any(|start| answer.starts_with(start)),
                    "{answer}"
                );
                assert!(answer.contains(&format!("unset {variable}")), "{answer}");
            }
        }
    }

    #[test]
    fn odd_payloads_are_told_and_never_fatal() {
        let name = ("CHIBI_TOOL_NAME", "t");
        for (stdin, expected) in [
            ("", "null"),
            (" \n", "null"),
            ("null", "null"),
            ("[1]", "[1]"),
            ("{", "malformed"),
            ("{} x", "malformed"),
        ] {
            assert_eq!(
                read(&[], &[name], stdin),
                format!("tool \"t\" {expected}"),
                "{stdin:?}"
            );
        }
    }

    #[test]
    fn deep_json_is_malformed_and_does_not_overflow() {
        let deep: &'static str = Box::leak("[".repeat(1_000_000).into_boxed_str());
        assert_eq!(
            read(&[], &[("CHIBI_TOOL_NAME", "t")], deep),
            "tool \"t\" malformed"
        );
    }

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
