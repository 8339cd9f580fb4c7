//! One file per tool, and what several of them share.

mod activate;
mod propose;
mod read_skill_file;
mod run_skill_script;
mod skill_session;

pub use activate::{activate, hand_over};
pub use propose::{create_skill, propose_change, propose_skill_update};
pub use read_skill_file::read_skill_file;
pub use run_skill_script::{long_command, run_skill_script, script_path};
pub use skill_session::skill_session;
