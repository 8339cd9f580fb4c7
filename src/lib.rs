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
    // Leaked on purpose: the process ends with the answer and frees everything at once.
    let app = |protocol| &*Box::leak(Box::new(RunContext::new(input.env, protocol)));
    match request {
        Request::Schema => protocol::schema(app(None)),
        Request::Hook {
            name,
            data,
            protocol,
        } => {
            let app = app(Some(protocol));
            hook(app, Hook::parse(&name, data)).afterwards(|| app.write_events())
        }
        Request::Tool {
            name,
            arguments,
            protocol,
        } => {
            // The host starts its clock when it has handed over the arguments.
            last_word::allow(limits::CALL_DEADLINE);
            let app = app(Some(protocol));
            tool(app, &name, arguments).afterwards(|| app.write_events())
        }
        Request::Person(words) => person(app(None), &words),
    }
}

fn hook(app: &RunContext, hook: Hook) -> Response {
    match hook {
        Hook::OnStart => protocol::on_start(app),
        Hook::OnEnd => protocol::on_end(app),
        Hook::PostSystemPrompt(context) => protocol::post_system_prompt(app, context.as_deref()),
        Hook::PreMessage(prompt) => protocol::pre_message(app, prompt.as_ref()),
        Hook::PreApiTools(tools) => protocol::pre_api_tools(app, &tools),
        Hook::PreTool(used) => protocol::pre_tool(app, used.as_ref(), cli::model_install),
        Hook::FinalArguments(used) => protocol::final_arguments(app, used.as_ref()),
        Hook::PreToolOutput(result) => protocol::pre_tool_output(app, result.as_ref()),
        Hook::PreCacheOutput(tool) => protocol::pre_cache_output(app, &tool),
        Hook::Unknown => Response::nothing(),
    }
}

fn tool(app: &RunContext, name: &str, arguments: Payload) -> Response {
    match ToolCall::parse(name, arguments) {
        Ok(ToolCall::Command(words)) => command(app, &words),
        Ok(ToolCall::ReadSkillFile(call)) => protocol::read_skill_file(app, &call),
        Ok(ToolCall::RunSkillScript(call)) => protocol::run_skill_script(app, &call),
        Ok(ToolCall::Activate(wanted)) => protocol::activate(app, wanted),
        Ok(ToolCall::SkillSession(call)) => protocol::skill_session(app, &call),
        Ok(ToolCall::ProposeSkillUpdate(call)) => protocol::propose_skill_update(app, &call),
        Ok(ToolCall::CreateSkill(call)) => protocol::create_skill(app, &call),
        Err(error) => Response::failure(&error),
    }
}

/// The command line as a tool: as in a shell, except for the exit status.
fn command(app: &RunContext, words: &[String]) -> Response {
    if let Some(response) = protocol::long_command(app, words) {
        return response;
    }
    let words: Vec<OsString> = words.iter().map(OsString::from).collect();
    match cli::run(app, &words, Caller::Host, &mut std::io::sink()) {
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

fn person(app: &RunContext, words: &[OsString]) -> Response {
    match cli::run(app, words, Caller::person(), &mut protocol::live()) {
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
