//! Agent Skills for chibi, a command-line LLM host with executable plugins.
//!
//! The host starts this program afresh for every `--schema`, hook and tool call, so a run is one
//! short walk:
//!
//! ```text
//! main ─> lib ─> protocol  the door for hosts        cli ─> protocol  the door for people
//!                   │                                 │
//!                   └──────> activation, proposal, author <┘
//!                               │
//!                            catalog ─> policy, marketplace
//!                               │          │
//!                               └──────> script ─> session ─> run_context
//!                                                     │
//!                                        permission, skill, host ─> sys, error
//! ```
//!
//! Arrows go down only. `permission` does no I/O; `protocol::answer` alone writes to standard output.

// Tests may call the functions that the rest of the code must not.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod activation;
pub mod author;
pub mod catalog;
pub mod cli;
pub mod error;
pub mod host;
pub mod marketplace;
pub mod permission;
pub mod policy;
pub mod proposal;
pub mod protocol;
pub mod run_context;
pub mod script;
pub mod session;
pub mod skill;
pub mod sys;

use std::ffi::OsString;

use cli::{Caller, Failure};
use error::Error;
use host::Protocol;
use protocol::closed::Failing;
use protocol::{Hook, Input, Kind, Payload, Request, Response, ToolCall};
use run_context::RunContext;
use sys::stdin::PatientStdin;
use sys::{eprint, last_word, limits, warn};

/// Prepares the answer to a failure of this call, before its input is read.
pub fn prepared(mut input: Input) -> Input {
    let kind = input.kind();
    let failing = match &kind {
        Kind::Hook(name) => Failing::Hook(name.as_bytes()),
        Kind::Tool(protocol) => Failing::Tool {
            is_limited: *protocol == Protocol::Stdin,
        },
        Kind::Schema => Failing::Schema,
        Kind::Person => {
            last_word::stand_down();
            return input;
        }
    };
    failing.prepare();
    input.stdin = Box::new(PatientStdin::new(limits::STDIN_SILENCE, failing.patience()));
    input
}

/// Answers one call.
pub fn run(mut input: Input) -> Response {
    let request = Request::read(&mut input);
    // Leaked on purpose: the process ends with the answer, which frees everything at once.
    let ctx = |protocol| &*Box::leak(Box::new(RunContext::new(input.env, protocol)));
    match request {
        Request::Schema => protocol::schema(ctx(None)),
        Request::Hook {
            name,
            data,
            protocol,
        } => {
            let ctx = ctx(Some(protocol));
            hook(ctx, Hook::parse(&name, data)).afterwards(|| ctx.write_events())
        }
        Request::Tool {
            name,
            arguments,
            protocol,
        } => {
            // The host's clock starts once it has handed over the arguments.
            last_word::allow(limits::CALL_DEADLINE);
            let ctx = ctx(Some(protocol));
            tool(ctx, &name, arguments).afterwards(|| ctx.write_events())
        }
        Request::Person(words) => person(ctx(None), &words),
    }
}

fn hook(ctx: &RunContext, hook: Hook) -> Response {
    match hook {
        Hook::OnStart => protocol::on_start(ctx),
        Hook::OnEnd => protocol::on_end(ctx),
        Hook::PostSystemPrompt(context) => protocol::post_system_prompt(ctx, context.as_deref()),
        Hook::PreMessage(prompt) => protocol::pre_message(ctx, prompt.as_ref()),
        Hook::PreApiTools(tools) => protocol::pre_api_tools(ctx, &tools),
        Hook::PreTool(used) => protocol::pre_tool(ctx, used.as_ref(), cli::model_install),
        Hook::FinalArguments(used) => protocol::final_arguments(ctx, used.as_ref()),
        Hook::PreToolOutput(result) => protocol::pre_tool_output(ctx, result.as_ref()),
        Hook::PreCacheOutput(tool) => protocol::pre_cache_output(ctx, &tool),
        Hook::Unknown => Response::nothing(),
    }
}

fn tool(ctx: &RunContext, name: &str, arguments: Payload) -> Response {
    match ToolCall::parse(name, arguments) {
        Ok(ToolCall::Command(words)) => command(ctx, &words),
        Ok(ToolCall::ReadSkillFile(call)) => protocol::read_skill_file(ctx, &call),
        Ok(ToolCall::RunSkillScript(call)) => protocol::run_skill_script(ctx, &call),
        Ok(ToolCall::Activate(wanted)) => protocol::activate(ctx, wanted),
        Ok(ToolCall::SkillSession(call)) => protocol::skill_session(ctx, &call),
        Ok(ToolCall::ProposeSkillUpdate(call)) => protocol::propose_skill_update(ctx, &call),
        Ok(ToolCall::CreateSkill(call)) => protocol::create_skill(ctx, &call),
        Err(error) => Response::failure(&error),
    }
}

/// The command line as a tool: as in a shell, except for the exit status.
fn command(ctx: &RunContext, words: &[String]) -> Response {
    if let Some(response) = protocol::long_command(ctx, words) {
        return response;
    }
    let words: Vec<OsString> = words.iter().map(OsString::from).collect();
    match cli::run(ctx, &words, Caller::Host, &mut std::io::sink()) {
        Ok(answer) | Err(Failure::Answered(answer)) => Response::text(answer),
        Err(Failure::Failed(error)) => Response::failure(&error),
        Err(Failure::Misused(usage)) => {
            let usage = usage.strip_prefix("error: ").unwrap_or(&usage);
            let mut parts = usage.split("\n\n");
            let error = Error::new(skill::one_line(parts.next().unwrap_or_default()));
            let form = parts.find(|part| part.starts_with("Usage:"));
            Response::failure(&match form {
                Some(form) => error.hint(form.trim_end()),
                None => error,
            })
        }
    }
}

fn person(ctx: &RunContext, words: &[OsString]) -> Response {
    match cli::run(ctx, words, Caller::person(), &mut protocol::live()) {
        Ok(stdout) => Response::text(stdout),
        Err(Failure::Answered(stdout)) => Response::text(stdout).status(1),
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
