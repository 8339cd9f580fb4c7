//! The integration binary.

mod permission_fuzz;
mod shell_generator;
#[rustfmt::skip]
mod shell_grammar;
mod shell_tables;
