//! One file per hook of the host, and what several of them share. The hooks of final arguments are
//! with `pre_tool`.

mod always_on;
mod on_start;
mod post_system_prompt;
mod pre_api_tools;
mod pre_message;
mod pre_tool;

pub use on_start::{on_end, on_start};
pub use post_system_prompt::post_system_prompt;
pub use pre_api_tools::pre_api_tools;
pub use pre_message::pre_message;
pub use pre_tool::{ModelInstall, final_arguments, pre_cache_output, pre_tool, pre_tool_output};
