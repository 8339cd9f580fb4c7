//! Plays a conversation: the order of the host's calls, and how it uses the answers
//! (docs/hosts.md#hooks, docs/hosts.md#answers).

use super::host::Host;
use super::script::{Conversation, ConversationStep, HostChoice, StepOutcome};
use crate::author::prelude::*;
use crate::sys::text::nearest;
use skill_permission::vocabulary::{
    self, Argument, Effect, HOST_TOOLS, find_tool, is_on_older_host, is_plugin_of_older_host,
};

/// One run of a conversation.
#[derive(Debug, Serialize)]
pub struct PlayedConversation {
    /// The host's generation: `stdin` or `environment`.
    pub host: &'static str,
    /// Each step, in order.
    pub steps: Vec<PlayedStep>,
}

/// The result of one step.
#[derive(Debug, Serialize)]
pub struct PlayedStep {
    /// The prompt, or the tool.
    pub what: String,
    /// The answer: the text for the system prompt, a tool's result, or the refusal.
    pub answer: String,
    /// Whether the call was refused.
    pub blocked: bool,
    /// Differences from the expectation.
    pub failures: Vec<String>,
    /// How the answer differs line by line, if a whole one was expected.
    pub diff: Option<String>,
}

impl PlayedConversation {
    /// The number of steps with differences.
    pub fn failed(&self) -> usize {
        let failed = self.steps.iter().filter(|step| !step.failures.is_empty());
        failed.count()
    }
}

impl Conversation {
    /// Plays it through `exe` on each of its hosts.
    ///
    /// # Errors
    /// When the temporary home cannot be prepared, or a call gives no answer.
    pub fn play(&self, exe: &Path, env: &Env) -> Result<Vec<PlayedConversation>> {
        let generations: &[Protocol] = match self.script.host {
            HostChoice::Both => &[Protocol::Stdin, Protocol::Environment],
            HostChoice::Stdin => &[Protocol::Stdin],
            HostChoice::Environment => &[Protocol::Environment],
        };
        let play = |generation: &Protocol| {
            let host = Host::new(self, exe, env, *generation)?;
            self.play_on(&host)
        };
        generations.iter().map(play).collect()
    }

    fn play_on(&self, host: &Host) -> Result<PlayedConversation> {
        let generation = host.generation.as_str();
        let tools = Vec::new();
        let mut model = Model { host, tools };
        let mut steps = Vec::new();
        for (number, step) in (1..).zip(&self.script.steps) {
            let of_step = |error: Error| error.context(format!("step {number} ({generation})"));
            let mut outcome = model.step(step).map_err(of_step)?;
            outcome.answer = host.settled(&outcome.answer);
            let failures = step.expect.failures(&outcome);
            let texts = step.expect.equals.as_ref();
            let texts = texts.map(|equals| [equals, &outcome.answer].map(|text| text.trim()));
            let texts = texts.filter(|[expected, answered]| expected != answered);
            let diff = texts.map(|texts| {
                let [old, new] = texts.map(|text| format!("{text}\n"));
                unified_diff(("expected", "answered"), &old, &new)
            });
            let prompt = || format!("prompt: {}", step.prompt.as_deref().unwrap_or_default());
            steps.push(PlayedStep {
                what: step.call.clone().unwrap_or_else(prompt),
                answer: outcome.answer,
                blocked: outcome.blocked,
                failures,
                diff,
            });
        }
        Ok(PlayedConversation {
            host: generation,
            steps,
        })
    }
}

/// The model's side of the host: the tools it is offered, and its calls.
struct Model<'a> {
    host: &'a Host<'a>,
    tools: Vec<String>,
}

impl Model<'_> {
    fn step(&mut self, step: &ConversationStep) -> Result<StepOutcome> {
        if self.tools.is_empty() && step.prompt.is_none() {
            self.prompt(None)?;
        }
        match &step.call {
            None => self.prompt(step.context.as_deref()),
            Some(tool) => {
                let arguments = step.arguments.clone().unwrap_or(json!({}));
                self.call(tool, arguments, step.result.as_deref())
            }
        }
    }

    /// Each prompt is a separate run of the host.
    fn prompt(&mut self, context: Option<&str>) -> Result<StepOutcome> {
        let schema = self.host.schema()?;
        let tools = schema.as_array().into_iter().flatten();
        let names = tools.filter_map(|tool| Some(tool["name"].as_str()?.to_owned()));
        let names: Vec<String> = names.collect();
        self.host.hook("on_start", &json!({}))?;
        let context = json!({"context_name": context.unwrap_or("default")});
        self.host.hook("pre_system_prompt", &context)?;
        let answer = self.host.hook("post_system_prompt", &context)?;
        let mut offered = names.clone();
        if self.host.generation == Protocol::Stdin {
            let tool = |name: &str, kind: &str| json!({"name": name, "type": kind});
            let own = HOST_TOOLS.iter();
            let own = own.map(|own| tool(own.name, kind_of(own.effect)));
            let all = own.chain(names.iter().map(|name| tool(name, "plugin")));
            let data = json!({
                "context_name": context["context_name"],
                "tools": all.collect::<Vec<_>>(),
            });
            let answer = self.host.hook("pre_api_tools", &data)?;
            let excluded = answer["exclude"].as_array();
            offered.retain(|name| !excluded.is_some_and(|some| some.contains(&json!(name))));
        }
        self.tools = names;
        Ok(StepOutcome {
            answer: answer["inject"].as_str().unwrap_or_default().to_owned(),
            tools: offered,
            ..StepOutcome::default()
        })
    }

    fn call(&self, tool: &str, arguments: Value, result: Option<&str>) -> Result<StepOutcome> {
        let ours = self.tools.iter().any(|name| name == tool);
        let hosts =
            find_tool(tool).is_some() || is_on_older_host(tool) || is_plugin_of_older_host(tool);
        // A misspelled name would test nothing.
        if !ours && !hosts && result.is_none() {
            let text = format!("there is no tool `{}`", tool.escape_debug());
            let other = "give the step a `result` if another plugin has such a tool";
            let ours = self.tools.iter().map(String::as_str);
            let names = ours.chain(vocabulary::nearest_tool(tool));
            return Err(Error::new(text).hint(match nearest(tool, names) {
                Some(near) => format!("did you mean `{near}`? If not, {other}"),
                None => format!("correct its name, or {other}"),
            }));
        }
        let data = json!({"arguments": arguments, "tool_name": tool});
        let answer = self.host.hook("pre_tool", &data)?;
        let arguments = answer.get("arguments").cloned().unwrap_or(arguments);
        let refused = |message: &Value, default: &str| StepOutcome {
            answer: message.as_str().unwrap_or(default).to_owned(),
            blocked: true,
            arguments: self.host.as_written(&arguments),
            ..StepOutcome::default()
        };
        if answer["block"] == json!(true) {
            return Ok(refused(&answer["message"], "Tool call blocked by hook"));
        }
        let newer = self.host.generation == Protocol::Stdin;
        if newer && let Some((hook, data)) = self.last_hook(tool, &arguments) {
            let answer = self.host.hook(hook, &data)?;
            if answer["denied"] == json!(true) {
                return Ok(refused(&answer["reason"], "denied"));
            }
        }
        let mut output = if ours {
            self.host.tool(tool, &arguments)?
        } else {
            result.unwrap_or_default().to_owned()
        };
        if newer {
            let data = json!({"arguments": arguments, "output": output, "tool_name": tool});
            let answer = self.host.hook("pre_tool_output", &data)?;
            if answer["block"] == json!(true) {
                return Ok(refused(&answer["message"], ""));
            }
            if let Some(other) = answer["output"].as_str() {
                other.clone_into(&mut output);
            }
        }
        Ok(StepOutcome {
            answer: output,
            arguments: self.host.as_written(&arguments),
            ..StepOutcome::default()
        })
    }

    /// The hook that sees the arguments last, for tools that have one.
    fn last_hook(&self, tool: &str, arguments: &Value) -> Option<(&'static str, Value)> {
        let known = find_tool(tool)?;
        let argument = |meaning| Some(&arguments[known.keys(&[meaning]).next()?]);
        match known.effect {
            Effect::Execute => {
                let command = argument(Argument::Command)?;
                let data = json!({"command": command, "tool_name": tool});
                Some(("pre_shell_exec", data))
            }
            Effect::Change if ["write_file", "file_edit"].contains(&tool) => {
                let (path, content) = (&arguments["path"], &arguments["content"]);
                let data = json!({"content": content, "path": path, "tool_name": tool});
                Some(("pre_file_write", data))
            }
            Effect::Read => {
                let path = argument(Argument::Path)?;
                let is_outside = !self.host.is_in_project(path.as_str()?);
                is_outside.then(|| ("pre_file_read", json!({"path": path, "tool_name": tool})))
            }
            _ => None,
        }
    }
}

fn kind_of(effect: Effect) -> &'static str {
    match effect {
        Effect::Harmless => "flow",
        Effect::Read => "fs_read",
        Effect::Change => "fs_write",
        Effect::Execute => "shell",
        Effect::Reach => "network",
    }
}
