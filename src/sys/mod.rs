//! The operating-system floor: files, locks, process identities and every numeric limit. It knows
//! nothing of skills, hosts or protocols.

mod base;
pub mod cache_file;
mod checked_text;
pub mod dir;
pub mod env;
pub mod fallback_answer;
pub mod files;
pub mod limits;
pub mod process;
pub mod secret;
mod shown;
#[allow(unsafe_code)]
pub mod signals;
pub mod stamp;
pub mod text;
pub mod time;
pub mod tree;
pub mod variables;
pub mod wrap;

pub use base::{Base, HomeFile};
pub(crate) use checked_text::checked_text;
pub use dir::{Dir, Durable, EntryKind, EntryName, EntryPath};

pub use env::{Directories, Env};
pub use files::FileLock;
pub use shown::{Progress, Shown, be_quiet, eprint, is_quiet, keep_messages, take_kept_messages};
pub use shown::{progress, scrolled_lines, shown, tell, time_running, warn};
pub use text::{URI_PATH, hash};
pub use time::{UnixMillis, millis};
