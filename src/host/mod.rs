//! chibi's vocabulary: the tools it has and ours among them, what their arguments are, and what
//! other clients call them. It knows no skill, no rule and no file.

pub mod alias;
pub mod mentions;
pub mod ours;
pub mod paths;
pub mod shell;
pub mod tools;
