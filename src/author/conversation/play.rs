//! Plays a conversation: the order of the host's calls, and how it uses the answers
//! (docs/hosts.md#hooks, docs/hosts.md#answers). Writes the answers into its file: in YAML
//! only the lines of `answer` change, so comments are preserved; JSON is rewritten.

use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};

use super::host::Host;
use super::script::{Conversation, Hosts, Outcome, Step, is_json};
use crate::error::{Error, Result};
use crate::host::tools::{
    Argument, Effect, HOST_TOOLS, find, is_on_older_host, is_plugin_of_older_host,
};
use crate::host::{Protocol, alias};
use crate::skill::unified_diff;
use crate::sys::Env;
use crate::sys::text::nearest;

/// One run of a conversation.
#[derive(Debug, Serialize)]
pub struct Played {
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

impl Played {
    /// The number of steps with differences.
    pub fn failed(&self) -> usize {
        let failed = self.steps.iter().filter(|step| !step.failures.is_empty());
        failed.count()
    }
}

impl Conversation {
    /// Plays it through `exe` on each of its hosts. `compare` also checks the recorded answers.
    ///
    /// # Errors
    /// When the temporary home cannot be prepared, or a call gives no answer.
    pub fn play(&self, exe: &Path, env: &Env, compare: bool) -> Result<Vec<Played>> {
        let generations: &[Protocol] = match self.script.host {
            Hosts::Both => &[Protocol::Stdin, Protocol::Environment],
            Hosts::Stdin => &[Protocol::Stdin],
            Hosts::Environment => &[Protocol::Environment],
        };
        let play = |generation: &Protocol| {
            let host = Host::new(self, exe, env, *generation)?;
            self.play_on(&host, compare)
        };
        generations.iter().map(play).collect()
    }

    fn play_on(&self, host: &Host, compare: bool) -> Result<Played> {
        let generation = host.generation.as_str();
        let tools = Vec::new();
        let mut model = Model { host, tools };
        let mut steps = Vec::new();
        for (number, step) in (1..).zip(&self.script.steps) {
            let of_step = |error: Error| error.context(format!("step {number} ({generation})"));
            let mut outcome = model.step(step).map_err(of_step)?;
            outcome.answer = host.settled(&outcome.answer);
            let mut failures = step.expect.failures(&outcome);
            let recorded = step.answer.as_ref().filter(|_| compare);
            let recorded = recorded.and_then(|all| all.get(generation).unwrap_or(all).as_str());
            let differs = |expected: &&str| expected.trim() != outcome.answer.trim();
            let recorded = recorded.filter(differs);
            if recorded.is_some() {
                failures.push("the answer is not the recorded one".to_owned());
            }
            let expected = recorded.or(step.expect.equals.as_deref().filter(differs));
            let diff = expected.map(|expected| {
                let texts = [expected, &outcome.answer];
                let [old, new] = texts.map(|text| format!("{}\n", text.trim()));
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
        Ok(Played {
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
    fn step(&mut self, step: &Step) -> Result<Outcome> {
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
    fn prompt(&mut self, context: Option<&str>) -> Result<Outcome> {
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
        Ok(Outcome {
            answer: answer["inject"].as_str().unwrap_or_default().to_owned(),
            tools: offered,
            ..Outcome::default()
        })
    }

    fn call(&self, tool: &str, arguments: Value, result: Option<&str>) -> Result<Outcome> {
        let ours = self.tools.iter().any(|name| name == tool);
        let hosts = find(tool).is_some() || is_on_older_host(tool) || is_plugin_of_older_host(tool);
        // A misspelled name would test nothing.
        if !ours && !hosts && result.is_none() {
            let text = format!("there is no tool `{}`", tool.escape_debug());
            let other = "give the step a `result` if another plugin has such a tool";
            let ours = self.tools.iter().map(String::as_str);
            let names = ours.chain(alias::nearest(tool));
            return Err(Error::new(text).hint(match nearest(tool, names) {
                Some(near) => format!("did you mean `{near}`? If not, {other}"),
                None => format!("correct its name, or {other}"),
            }));
        }
        let data = json!({"arguments": arguments, "tool_name": tool});
        let answer = self.host.hook("pre_tool", &data)?;
        let arguments = answer.get("arguments").cloned().unwrap_or(arguments);
        let refused = |message: &Value, default: &str| Outcome {
            answer: message.as_str().unwrap_or(default).to_owned(),
            blocked: true,
            arguments: self.host.as_written(&arguments),
            ..Outcome::default()
        };
        if answer["block"] == json!(true) {
            return Ok(refused(&answer["message"], "Tool call blocked by hook"));
        }
        let newer = self.host.generation == Protocol::Stdin;
        if newer && let Some((hook, data)) = self.last_look(tool, &arguments) {
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
        Ok(Outcome {
            answer: output,
            arguments: self.host.as_written(&arguments),
            ..Outcome::default()
        })
    }

    /// The hook that sees the arguments last, for tools that have one.
    fn last_look(&self, tool: &str, arguments: &Value) -> Option<(&'static str, Value)> {
        let known = find(tool)?;
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

impl Conversation {
    /// The file's text with each step's answer as its `answer`.
    ///
    /// # Errors
    /// When answers cannot be inserted into the file as it is written.
    pub fn recorded(&self, played: &[Played]) -> Result<String> {
        let steps = 0..self.script.steps.len();
        let answers: Vec<Value> = steps.map(|at| answer(played, at)).collect();
        let wrong = || {
            let text = format!("answers cannot be written into `{}`", self.file.display());
            Error::new(text).hint("write `steps:` on a line of its own, and each step as a block that begins with `- `")
        };
        if is_json(&self.file) {
            let mut value: Value = serde_json::from_str(&self.text).map_err(|_| wrong())?;
            put(&mut value, &answers);
            return Ok(format!("{value:#}\n"));
        }
        let text = in_yaml(&self.text, &answers).ok_or_else(wrong)?;
        let mut expected: Value = serde_yaml::from_str(&self.text).map_err(|_| wrong())?;
        put(&mut expected, &answers);
        // Only the answers may have changed.
        let written = serde_yaml::from_str::<Value>(&text);
        let is_right = written.is_ok_and(|written| written == expected);
        is_right.then_some(text).ok_or_else(wrong)
    }
}

/// A step's answer: one text if the generations agree.
fn answer(played: &[Played], at: usize) -> Value {
    let text = |play: &Played| json!(play.steps[at].answer);
    let first = played.first().map(text).unwrap_or_default();
    if played.iter().all(|play| text(play) == first) {
        return first;
    }
    let by_host = played.iter().map(|play| (play.host.to_owned(), text(play)));
    by_host.collect()
}

fn put(value: &mut Value, answers: &[Value]) {
    let steps = value["steps"].as_array_mut().into_iter().flatten();
    for (step, answer) in steps.zip(answers) {
        step["answer"] = answer.clone();
    }
}

fn in_yaml(text: &str, answers: &[Value]) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let begins_item = |line: &&str| line.trim_start().starts_with("- ");
    let steps = lines.iter().position(|line| line.trim_end() == "steps:")? + 1;
    let first = steps + lines[steps..].iter().position(begins_item)?;
    let column = indent(lines[first]);
    let is_item = |line: &&str| indent(line) == column && begins_item(line);
    let is_over = |line: &&str| {
        let text = line.trim_start();
        !text.is_empty() && !text.starts_with('#') && indent(line) <= column && !is_item(line)
    };
    let end = lines[first..].iter().position(is_over);
    let end = end.map_or(lines.len(), |length| first + length);
    let mut bounds: Vec<usize> = (first..end).filter(|at| is_item(&lines[*at])).collect();
    bounds.push(end);
    let mut written: Vec<String> = lines[..first].iter().map(ToString::to_string).collect();
    for (bounds, answer) in bounds.windows(2).zip(answers) {
        let lines = &lines[bounds[0]..bounds[1]];
        let keys = column + 1 + indent(&lines[0][column + 1..]);
        written.extend(step(lines, keys, answer));
    }
    written.extend(lines[end..].iter().map(ToString::to_string));
    (bounds.len() <= answers.len() + 1).then(|| written.join("\n") + "\n")
}

/// The lines of one step with its `answer` added or replaced.
fn step(lines: &[&str], keys: usize, answer: &Value) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    let mut dropping = false;
    let mut blanks: Vec<String> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if line.trim().is_empty() {
            blanks.push((*line).to_owned());
            continue;
        }
        if indent(line) <= keys {
            dropping = at > 0 && indent(line) == keys && line.trim_start().starts_with("answer:");
        }
        // Blank lines inside an earlier answer are removed with it; those after it stay.
        if dropping && indent(line) > keys {
            blanks.clear();
        }
        kept.append(&mut blanks);
        kept.extend((!dropping).then(|| (*line).to_owned()));
    }
    kept.append(&mut blanks);
    // Lines between two steps belong to the next one.
    let belongs = |line: &String| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let last = kept.iter().rposition(belongs);
    let tail = kept.split_off(last.map_or(kept.len(), |last| last + 1));
    match answer {
        Value::Object(by_host) => {
            kept.push(format!("{:keys$}answer:", ""));
            for (host, text) in by_host {
                kept.extend(scalar(host, text.as_str().unwrap_or_default(), keys + 2));
            }
        }
        text => kept.extend(scalar("answer", text.as_str().unwrap_or_default(), keys)),
    }
    kept.extend(tail);
    kept
}

/// `key: text` at a column: as a block if that preserves every character, otherwise quoted.
fn scalar(key: &str, text: &str, column: usize) -> Vec<String> {
    let content = text.strip_suffix('\n').unwrap_or(text);
    let odd = content.starts_with([' ', '\t', '\n'])
        || content.ends_with('\n')
        || content.chars().any(|c| c.is_control() && c != '\n')
        || content.contains(['\u{85}', '\u{2028}', '\u{2029}', '\u{feff}']);
    if odd || !content.contains('\n') {
        return vec![format!("{:column$}{key}: {}", "", json!(text))];
    }
    let is_whole = content.len() == text.len();
    let mark = if is_whole { "|-" } else { "|" };
    let line = |line: &str| match line {
        "" => String::new(),
        line => format!("{:1$}{line}", "", column + 2),
    };
    let mut lines = vec![format!("{:column$}{key}: {mark}", "")];
    lines.extend(content.split('\n').map(line));
    lines
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_answers_change_and_comments_stay() {
        let text = "# about\nskills: [x]\nsteps:\n  - prompt: a # says\n    answer: |\n      old\n\n      older\n    \
                    expect: {}\n\n  # the second\n  - call: b\nfiles: {}\n";
        let answers = [
            json!("one\n\n two"),
            json!({"stdin": "\u{1b}[1m", "environment": ""}),
        ];
        let recorded = in_yaml(text, &answers).unwrap();
        assert_eq!(
            recorded,
            "# about\nskills: [x]\nsteps:\n  - prompt: a # says\n    expect: {}\n    answer: |-\n      one\n\n       two\n\n  \
             # the second\n  - call: b\n    answer:\n      stdin: \"\\u001b[1m\"\n      environment: \"\"\nfiles: {}\n"
        );
        assert_eq!(in_yaml(&recorded, &answers).unwrap(), recorded);
        let value: Value = serde_yaml::from_str(&recorded).unwrap();
        assert_eq!(value["steps"][0]["answer"], answers[0]);
        assert_eq!(value["steps"][1]["answer"], answers[1]);
    }
}
