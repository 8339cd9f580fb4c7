//! Random shell commands, by seed: mostly such as agents write them, with hostile fragments and
//! small accidents mixed in. Nothing in here names a program or file that could do harm when it is
//! run among stubs; every loop ends.

mod fragments;
mod grammar;
mod near_places;

pub use grammar::Grammar;
