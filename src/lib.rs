//! Agent Skills, held to what they declare: a plugin of chibi, a command-line LLM host, and the hook of
//! other agents.
//!
//! The host starts this program afresh for every `--schema`, hook and tool call, so a run is one
//! short walk:
//!
//! ```text
//! main ─> lib ─> protocol  the door for hosts        cli ─> protocol  the door for people
//!                   │                                 │
//!                   └──────> activation, proposal, author <┘
//!                               │
//!                 sharing ─> catalog ─> facts, marketplace
//!                                         │
//!                                       policy ─> script ─> session
//!                                         │
//!             connection ─> run_context, signing ─> skill, host ─> sys, error
//! ```
//!
//! Arrows go down only; all rooms may use the crates, which do no I/O. `protocol::answer` alone
//! writes to standard output.

// Tests may call the functions that the rest of the code must not.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod activation;
pub mod author;
pub mod catalog;
pub mod cli;
pub mod connection;
pub mod error;
pub mod facts;
pub mod host;
pub mod marketplace;
pub mod policy;
pub mod proposal;
pub mod protocol;
pub mod run_context;
pub mod script;
pub mod session;
pub mod sharing;
pub mod signing;
pub mod skill;
pub mod sys;

use std::ffi::OsString;

use catalog::write_events;
use cli::{Caller, Failure};
use error::{Error, Result};
use facts::Facts;
use host::{Protocol, ours};
use protocol::call_kind::CallKind;
use protocol::{HookData, Input, OwnToolCall, Response, hooks, tools};
use sys::{Env, eprint, fallback_answer, limits, warn};

/// Answers one call.
pub fn run(mut input: Input) -> Response {
    match input.kind() {
        CallKind::Schema => protocol::schema(context(input.env, None)),
        CallKind::Agent => protocol::agents::run(&mut input),
        CallKind::Person => person(context(input.env, None), &input.args),
        CallKind::Hook(_) => {
            let (data, protocol) = match input.hook() {
                Ok(read) => read,
                Err(refusal) => return refusal,
            };
            let facts = context(input.env, Some(protocol));
            hook(facts, data).afterwards(|| write_events(facts))
        }
        CallKind::Tool(_) => {
            let (call, protocol) = input.tool();
            // The host's clock starts once it has handed over the arguments.
            fallback_answer::allow(limits::CALL_DEADLINE);
            let facts = context(input.env, Some(protocol));
            let answer = call.and_then(|call| tool(facts, call));
            let answer = answer.unwrap_or_else(|error| Response::failure(&error));
            answer.afterwards(|| write_events(facts))
        }
    }
}

/// Leaked on purpose: the process ends with the answer, which frees everything at once.
fn context(env: Env, protocol: Option<Protocol>) -> &'static Facts {
    Box::leak(Box::new(Facts::new(env, protocol)))
}

/// Answers the hook that the environment names; one that is not ours changes nothing.
fn hook(facts: &Facts, mut data: HookData) -> Response {
    match &*facts.run.env.text("CHIBI_HOOK").unwrap_or_default() {
        "on_start" => hooks::on_start(facts),
        "on_end" => hooks::on_end(facts),
        "post_system_prompt" => hooks::post_system_prompt(facts, data.context().as_deref()),
        "pre_message" => hooks::pre_message(facts, data.prompt()),
        "pre_api_tools" => hooks::pre_api_tools(facts, &data.listed_tools()),
        "pre_tool" => hooks::pre_tool(facts, data.tool_use(), cli::model_install),
        "pre_shell_exec" | "pre_file_write" | "pre_file_read" | "pre_fetch_url" => {
            hooks::final_arguments(facts, data.final_arguments())
        }
        "pre_tool_output" => hooks::pre_tool_output(facts, data.tool_result()),
        "pre_cache_output" => hooks::pre_cache_output(facts, &data.tool_name().unwrap_or_default()),
        _ => Response::nothing(),
    }
}

fn tool(facts: &Facts, call: OwnToolCall) -> Result<Response> {
    let text = match call {
        // As in a shell, except for the exit status.
        OwnToolCall::Command(words) => {
            return tools::long_command(facts, &words).unwrap_or_else(|| {
                let words: Vec<OsString> = words.iter().map(OsString::from).collect();
                Ok(command(facts, &words).status(0))
            });
        }
        OwnToolCall::RunSkillScript(call) => return tools::run_skill_script(facts, &call),
        OwnToolCall::ReadSkillFile(call) => tools::read_skill_file(facts, &call)?,
        OwnToolCall::Activate(wanted) => tools::activate(facts, &wanted)?,
        OwnToolCall::SkillSession(call) => tools::skill_session(facts, &call)?,
        OwnToolCall::ProposeSkillUpdate(call) => tools::propose_skill_update(facts, &call)?,
        OwnToolCall::CreateSkill(call) => tools::create_skill(facts, &call)?,
    };
    Ok(Response::text(text))
}

/// The answer of a command to a host.
fn command(facts: &Facts, words: &[OsString]) -> Response {
    match cli::run(facts, words, Caller::Host, &mut std::io::sink()) {
        Ok(answer) => Response::text(answer),
        Err(Failure::Answered(answer)) => Response::text(answer).status(1),
        Err(Failure::Changed(answer)) => Response::text(answer).status(3),
        Err(Failure::Failed(error)) => Response::failure(&error).status(1),
        Err(Failure::Misused(usage)) => {
            let usage = usage.strip_prefix("error: ").unwrap_or(&usage);
            let mut parts = usage.split("\n\n").map(str::trim);
            let mut error = Error::new(skill::one_line(parts.next().unwrap_or_default()));
            let helps = |part: &&str| part.starts_with("tip:") || part.starts_with("Usage:");
            let help: Vec<&str> = parts.filter(helps).collect();
            if !help.is_empty() {
                error = error.hint(help.join("\n"));
            }
            Response::failure(&error).status(2)
        }
    }
}

fn person(facts: &Facts, words: &[OsString]) -> Response {
    // A long command of a host's call, in a process of its own.
    if facts.run.env.os(ours::BY_HOST).is_some() {
        return command(facts, words);
    }
    match cli::run(facts, words, Caller::person(), &mut protocol::live()) {
        Ok(stdout) => Response::text(stdout),
        Err(Failure::Answered(stdout)) => Response::text(stdout).status(1),
        Err(Failure::Changed(stdout)) => Response::text(stdout).status(3),
        Err(Failure::Failed(error)) => {
            warn(format_args!("{error}"));
            if let Some(hint) = error.next_step() {
                eprint(format_args!("hint: {hint}\n"));
            }
            Response::text("").status(1)
        }
        Err(Failure::Misused(usage)) => {
            eprint(format_args!("{usage}"));
            Response::text("").status(2)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_hooks_change_nothing() {
        for name in ["on_context_switch", ""] {
            let variables = [("HOME", "/nowhere"), ("CHIBI_HOOK", name)];
            let env = Env::new(variables, std::path::Path::new("/"));
            let data = HookData::new(Ok(serde_json::Value::Null));
            assert_eq!(hook(context(env, None), data).stdout, "{}", "{name}");
        }
    }
}

/// The examples of docs/engine.md run as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/engine.md")]
struct EnginePage;
