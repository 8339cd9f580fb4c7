//! Agent Skills for chibi, a command-line LLM host with executable plugins.
//!
//! The host starts this program afresh for every `--schema`, hook and tool call, so a run is one
//! short walk:
//!
//! ```text
//! main ─> request ─> handler, cli ─> catalog  permission  session  script  marketplace  governance
//!            │            │             └──────────┴────┬────┴────────┴─────────┘
//!            │            └─> response               skill, host ─> sys, error
//!            └ which call is this, with which arguments     └ files, locks, processes, limits
//! ```
//!
//! Arrows go down only. `permission` does no I/O; `response` alone writes to standard output.

pub mod catalog;
pub mod error;
pub mod handler;
pub mod host;
pub mod permission;
pub mod request;
pub mod response;
pub mod script;
pub mod session;
pub mod skill;
pub mod sys;

use handler::App;
use request::{Hook, Input, Payload, Request, ToolCall};
use response::{Response, answer_panics_with};

/// Answers one call.
pub fn run(input: Input) -> Response {
    let env = input.env.clone();
    match Request::read(input) {
        Request::Schema => handler::schema(&App::new(env, None)),
        Request::Hook {
            name,
            data,
            protocol,
        } => hook(&App::new(env, Some(protocol)), Hook::parse(&name, data)),
        Request::Tool {
            name,
            arguments,
            protocol,
        } => tool(&App::new(env, Some(protocol)), &name, arguments),
        Request::Person(_) => Response::nothing(),
    }
}

fn hook(app: &App, hook: Hook) -> Response {
    answer_panics_with(&match hook {
        Hook::PreTool(_) => Response::block(
            "The call is not allowed: agent-skills failed while checking it. Tell the user.",
        ),
        _ => Response::nothing(),
    });
    match hook {
        Hook::OnStart => handler::on_start(app),
        Hook::PostSystemPrompt(context) => handler::post_system_prompt(app, context.as_deref()),
        Hook::PreApiTools(tools) => handler::pre_api_tools(app, &tools),
        Hook::PreTool(used) => handler::pre_tool(app, used.as_ref()),
        Hook::PreCacheOutput(tool) => handler::pre_cache_output(app, &tool),
        Hook::Unknown => Response::nothing(),
    }
}

fn tool(app: &App, name: &str, arguments: Payload) -> Response {
    answer_panics_with(&Response::text(
        "Error: agent-skills failed while answering this call\ntell the user: standard error says more",
    ));
    match ToolCall::parse(name, arguments) {
        Ok(ToolCall::Command(words)) => Response::text(words.join(" ")),
        Ok(ToolCall::ReadSkillFile(call)) => handler::read_skill_file(app, &call),
        Ok(ToolCall::RunSkillScript(call)) => handler::run_skill_script(app, &call),
        Ok(ToolCall::Skill { tool, arguments }) => {
            handler::activate(app, &tool, arguments.as_deref())
        }
        Err(error) => Response::failure(&error),
    }
}
