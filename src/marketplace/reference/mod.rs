//! What a person types to name a skill: its forms, and the validated parts of a reference. Open
//! `parse.rs` first.

pub mod address;
pub mod forms;
pub mod parse;
pub mod pin;
pub mod reading;
pub mod version;
pub mod web;
