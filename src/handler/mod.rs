//! One file per request: glue between the rooms, without rules of its own. A handler takes what
//! `request` parsed and returns what `response` writes.

mod activate;
mod active_skills;
mod always_on;
mod authorize;
mod cut;
mod end;
mod final_arguments;
mod fork;
mod load_session;
mod long_command;
mod pre_api_tools;
mod pre_cache_output;
mod pre_message;
mod pre_tool;
mod pre_tool_output;
mod prompt;
mod propose;
mod read_file;
mod run_script;
mod schema;
mod skill_session;
mod start;

pub use activate::activate;
pub use end::on_end;
pub use final_arguments::final_arguments;
pub use long_command::long_command;
pub use pre_api_tools::pre_api_tools;
pub use pre_cache_output::pre_cache_output;
pub use pre_message::pre_message;
pub use pre_tool::pre_tool;
pub use pre_tool_output::pre_tool_output;
pub use prompt::post_system_prompt;
pub use propose::{create_skill, propose_skill_update};
pub use read_file::read_skill_file;
pub use run_script::run_skill_script;
pub use schema::schema;
pub use skill_session::skill_session;
pub use start::on_start;
