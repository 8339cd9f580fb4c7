//! What people decided beforehand: configuration files. It knows their form and where a mistake in
//! one is, not what the rooms make of the values.

mod file;

pub use file::read_toml;
