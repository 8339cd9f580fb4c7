//! Writing skills: for authors, and for people who decide on what a model proposes.

pub mod new;
pub mod package;
pub mod proposals;
pub mod publish;
pub mod simulate;
pub mod try_skill;
pub mod validate;
