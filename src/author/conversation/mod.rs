//! Conversations that test a skill: the actions of user and model, run through this program as the
//! host would in a temporary home, and the expected answers. Calls are judged only by the program
//! under test.

mod expect;
mod host;
mod play;
mod record;
mod script;

pub use play::{Played, PlayedStep};
pub use script::Conversation;
