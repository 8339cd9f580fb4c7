//! `check`: explains a decision to a person.

use crate::activation::scope_of;
use crate::catalog::usable;
use crate::cli::prelude::*;
use crate::host::{Agent, ours};
use crate::policy::{CONFIGURATION, OnDisk};
use crate::protocol::agents::asked;
use crate::protocol::{Request, ToolUse, Verdict, with_call};
use skill_permission::vocabulary::{self, HostTool};

/// Explain whether a skill allows a tool call (exit 1 if not)
#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// The skill's name
    pub skill: String,
    /// The tool that would be called
    #[arg(long)]
    pub tool: String,
    /// One of its arguments; repeatable
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    pub arguments: Vec<String>,
    /// The agent that would ask, with its own names for tools, such as claude-code
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<Agent>,
}

impl CheckArgs {
    /// Explains what would happen to the call; a failure if it would be blocked.
    pub fn run(&self, call: CliCall) -> Answer {
        let arguments = arguments(&self.arguments)?;
        let explained = match self.agent {
            Some(agent) => self.in_agent(call, agent, arguments)?,
            None => self.in_chibi(call, arguments)?,
        };
        let (is_allowed, message) = (explained.is_allowed, &explained.message);
        let word = if is_allowed { "allowed" } else { "blocked" };
        let mut text = format!("{word}: {}\n", one_line(message));
        let parts = explained.parts.iter().filter(|part| part.kind != CALL);
        let parts = parts.map(|part| explain_part(part, message, &mut text));
        let parts: Vec<Value> = parts.collect();
        let value = json!({
            "tool": explained.tool,
            "allowed": is_allowed,
            // Why the call is allowed or not, for a person.
            "message": message,
            // The parts of a shell command; empty if there is nothing to split.
            "parts": parts,
        });
        Failure::unless(is_allowed, call.answer(&value, || text)?)
    }

    fn in_chibi(&self, call: CliCall, arguments: Map<String, Value>) -> Result<Explanation> {
        let catalog = Catalog::naming(call.facts, &self.skill);
        // For an unknown name, this error is worded for a person.
        installed(call.facts, &catalog, &self.skill)?;
        let session = session_with(usable(&catalog, &self.skill)?);
        let used = ToolUse {
            tool: host_tool(&self.tool, &arguments),
            arguments: Value::Object(arguments),
        };
        let (config, policies) = (call.facts.config()?, call.facts.policies()?);
        let scope = scope_of(call.facts, &config, &policies, &session);
        let request = Request::of_chibi(call.facts, used).usable()?;
        Ok(with_call(call.facts, &session, &scope, &request, |call| {
            let decision = decide(&scope, call, &OnDisk);
            Explanation {
                tool: call.tool.to_owned(),
                is_allowed: decision.allows(),
                message: message(&decision),
                parts: decision.parts,
            }
        }))
    }

    /// As its hook answers, in its words: the first call that does not go on by itself counts.
    fn in_agent(
        &self,
        call: CliCall,
        agent: Agent,
        arguments: Map<String, Value>,
    ) -> Result<Explanation> {
        let used = ToolUse {
            tool: self.tool.clone(),
            arguments: Value::Object(arguments),
        };
        let mut said = (true, format!("the hook of {agent} lets it pass"));
        for verdict in asked(&call.facts.run, agent, &self.skill, &used)? {
            said = match verdict {
                Verdict::Refuse(why) => (false, why.person),
                Verdict::Ask(reason) => (false, format!("{agent} asks you: {reason}")),
                Verdict::Grant(text) | Verdict::Note(text) => (true, text),
                Verdict::Allow => continue,
            };
            if !said.0 {
                break;
            }
        }
        Ok(Explanation {
            tool: used.tool,
            is_allowed: said.0,
            message: said.1,
            parts: Vec::new(),
        })
    }
}

/// What is decided on a call, and why.
struct Explanation {
    tool: String,
    is_allowed: bool,
    message: String,
    parts: Vec<Part>,
}

fn message(decision: &Decision) -> String {
    match &decision.outcome {
        Outcome::Blocked(refusal) => refusal.for_people(),
        Outcome::Warned(refusal) => {
            format!("it runs with a warning: {}", refusal.for_people())
        }
        Outcome::Unrestricted => "nothing restricts it".to_owned(),
        Outcome::Baseline => "it is always allowed".to_owned(),
        Outcome::Granted => format!("entries of {} grant it", granting(decision)),
    }
}

/// One part of a shell command as data, and its line unless the message already has that part.
fn explain_part(part: &Part, message: &str, text: &mut String) -> Value {
    let why = match &part.outcome {
        Err(why) => format!("refused: {why}"),
        Ok(grant) if grant.source() == Some(CONFIGURATION) => {
            format!("granted: {grant}, an entry of {CONFIGURATION}")
        }
        Ok(grant) => format!("granted: {grant}"),
    };
    let (granted, refused) = (part.outcome.as_ref().ok(), part.outcome.as_ref().err());
    let quoted = format!("`{}`", part.text);
    if !refused.is_some_and(|why| message.contains(why) && message.contains(&quoted)) {
        let (shown, why) = (one_line(&part.text), one_line(&why));
        let _ = writeln!(text, "  {} `{shown}`: {why}", part.kind);
    }
    json!({
        "kind": part.kind,
        "text": part.text,
        "granted_by": granted.map(ToString::to_string),
        // Whose entry that is: the skill's name, or `the configuration`.
        "source": granted.and_then(Grant::source),
        "refused": refused,
    })
}

/// Whose entries grant a call.
fn granting(decision: &Decision) -> &'static str {
    let rules = decision.granting();
    let of_users = |source: &str| source == CONFIGURATION;
    let added = rules.iter().filter(|rule| of_users(&rule.source)).count();
    match added {
        0 => "the skill",
        all if all == rules.len() => "the configuration",
        _ => "the skill and of the configuration",
    }
}

/// The host's tool that a name means: its own, or the one that an author's name for it stands for,
/// preferably with the arguments of this call. Says so, and suggests a tool for an unknown name.
fn host_tool(written: &str, arguments: &Map<String, Value>) -> String {
    if vocabulary::find_tool(written).is_some() || ours::is_ours(written) {
        return written.to_owned();
    }
    let here = Capability::named(written).map_or(&[][..], Capability::tools);
    let here = here.iter().filter_map(|name| vocabulary::find_tool(name));
    let here = here.filter(|tool| !vocabulary::is_plugin_of_older_host(tool.name));
    let here: Vec<_> = here.collect();
    let takes = |tool: &&&HostTool| {
        let known = |key: &String| tool.arguments.iter().any(|(name, _)| name == key);
        arguments.keys().all(known)
    };
    if let Some(tool) = here.iter().find(takes).or(here.first()) {
        note(&format!("`{}` is `{}` here", quoted(written), tool.name));
        return tool.name.to_owned();
    }
    let unknown = Capability::named(written).is_none();
    if let Some(near) = vocabulary::nearest_tool(written).filter(|_| unknown) {
        note(&format!("the host has no tool `{}`", quoted(written)));
        tell(format_args!("hint: did you mean `{near}`?\n"));
    }
    written.to_owned()
}

/// `NAME=VALUE`, with the value as JSON if it is a number, `true`, a list or an object.
fn arguments(written: &[String]) -> Result<Map<String, Value>> {
    let mut arguments = Map::new();
    for argument in written {
        let (name, value) = argument.split_once('=').ok_or_else(|| {
            Error::new(format!("`{argument}` has no `=`")).hint("write --arg NAME=VALUE")
        })?;
        let json = match serde_json::from_str(value) {
            Err(_) | Ok(Value::String(_)) => Value::from(value),
            Ok(json) => json,
        };
        arguments.insert(name.to_owned(), json);
    }
    Ok(arguments)
}
