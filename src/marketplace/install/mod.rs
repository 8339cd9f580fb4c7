//! Changes what is installed: everything is staged, confirmed, and moved into place as a whole.
//! Open `add.rs` first.

pub mod add;
pub mod copy;
pub mod difference;
pub mod improve;
pub mod link;
pub mod litter;
pub mod look;
pub mod plan;
pub mod remove;
pub mod restore;
pub mod rollback;
pub mod staging;
pub mod swap;
pub mod update;
