//! The hooks of the host, and what several of them share.

mod active_skills;
mod always_on;
mod host_process;
mod post_system_prompt;
mod pre_api_tools;
mod pre_cache_output;
mod pre_message;
mod pre_tool;
mod pre_tool_output;

pub use host_process::{on_end, on_start};
pub use post_system_prompt::post_system_prompt;
pub use pre_api_tools::pre_api_tools;
pub use pre_cache_output::pre_cache_output;
pub use pre_message::pre_message;
pub use pre_tool::{ModelInstall, final_arguments, pre_tool};
pub use pre_tool_output::pre_tool_output;
