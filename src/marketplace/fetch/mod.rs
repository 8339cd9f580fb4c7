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

pub use archive::{ImageLayers, is_packed};
pub use git::{Git, NAME, PARTIAL, Remote};
pub use history::{Commit, WORKED_IN};
pub use http::{Permit, PermittedUrl};
pub use local::{LocalDir, expand, real};
pub use open::{Fetcher, OpenedPlace, Snapshot};
pub use refs::{Refs, ResolvedRef};
pub use repository::{CachedRepository, FETCH, NEW, Repository, cache, file_name};
pub use tool::{CommandOutput, FailureKind, FetchFailure, Programs, patience};
pub use tree::{Contents, FileToRead, GitObject, InMemoryTree, Node, Tree, Visit, check_total};
pub use tree::{each_small, read_small};
pub use well_known::{WebIndex, choose_offers};
