//! Reads the places where skills are: repositories, archives, sites and directories, all as trees
//! of files. Uses the user's own git and curl. Open `open.rs` first.

mod archive;
mod asking;
mod cache;
mod content;
mod failure;
mod git;
pub mod http;
mod lineage;
mod local;
mod memory;
mod open;
mod past;
mod permit;
mod refs;
mod remote;
mod repository;
mod tool;
pub mod tree;
mod well_known;

pub use archive::{Layers, is_packed};
pub use cache::{Slot, cache, file_name};
pub use content::{Content, GitObject, Visit, Wanted, check_total, each_small, read_small};
pub use failure::{Class, Failure};
pub use git::{Call, Git};
pub use local::{LocalDir, expand, real};
pub use memory::Memory;
pub use open::{Fetcher, Opened, Snapshot};
pub use past::{Commit, Past, WORKED_IN};
pub use permit::{Permit, Permitted};
pub use refs::{Refs, Resolved};
pub use remote::{NAME, PARTIAL, Remote};
pub use repository::{FETCH, Repository, list_refs};
pub use tool::{Ran, Tool, patience};
pub use tree::{Node, Tree};
pub use well_known::{Index, choose_offers};
