//! Which skills exist, under which tool names, and how the model is told of them.

mod disclosure;
mod discovery;
mod tool_name;

pub use disclosure::{Disclosure, plain};
pub use discovery::{Catalog, Entry};
