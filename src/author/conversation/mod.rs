//! Conversations that test a skill: the actions of user and model, run through this program in a
//! temporary home as the host would, and the expected answers. Only the program under test decides
//! on calls.

mod host;
mod play;
mod script;

pub use play::{PlayedConversation, PlayedStep};
pub use script::Conversation;
