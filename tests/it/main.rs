//! The integration binary.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod permission_fuzz;
mod shell_generator;
#[rustfmt::skip]
mod shell_grammar;
mod shell_tables;
