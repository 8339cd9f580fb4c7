//! Conversations that test a skill: what the user and the model do, played through this very
//! program as the host would, in a home of their own, and what each answer is expected to be.
//! Nothing here judges a call: the program that is played does.

mod expect;
mod host;
mod play;
mod record;
mod script;

pub use play::{Played, PlayedStep};
pub use script::Conversation;
