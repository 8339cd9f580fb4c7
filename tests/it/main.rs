//! The integration binary.

mod shell_generator;
mod shell_grammar;
mod shell_tables;
