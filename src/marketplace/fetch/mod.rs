//! Reads the places where skills are: repositories, archives, sites and directories, all as trees
//! of files. Uses the user's own git and curl. Open `open.rs` first.

mod archive;
mod git;
mod history;
pub mod http;
mod local;
mod open;
mod refs;
mod repository;
mod tool;
pub mod tree;
mod well_known;

pub use archive::{Layers, is_packed};
pub use git::{Git, NAME, PARTIAL, Remote};
pub use history::{Commit, WORKED_IN};
pub use http::{Permit, PermittedUrl};
pub use local::{LocalDir, expand, real};
pub use open::{Fetcher, Opened, Snapshot};
pub use refs::{Refs, Resolved};
pub use repository::{FETCH, NEW, Repository, Slot, cache, file_name};
pub use tool::{Class, Failure, Ran, Tool, patience};
pub use tree::{Content, GitObject, Memory, Node, Tree, Visit, Wanted, check_total};
pub use tree::{each_small, read_small};
pub use well_known::{Index, choose_offers};
