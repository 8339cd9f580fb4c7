//! Reads the places where skills are: repositories, archives, sites and directories, all as trees
//! of files. Uses the user's own git and curl. Open `open.rs` first.

pub mod archive;
pub mod asking;
pub mod cache;
pub mod content;
pub mod download;
pub mod failure;
pub mod git;
pub mod lineage;
pub mod local;
pub mod memory;
pub mod open;
pub mod past;
pub mod refs;
pub mod remote;
pub mod repository;
pub mod tool;
pub mod tree;
pub mod tree_copy;
pub mod well_known;
