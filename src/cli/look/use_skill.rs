//! `use`: the tool's action, which a shell cannot offer.

use crate::error::{Error, Result};
use crate::sys::text::quoted;

/// Activate a skill (only works in a conversation)
#[derive(Debug, clap::Args)]
pub struct Use {
    /// The skill's name
    pub name: String,
    /// Input for the skill
    pub query: Vec<String>,
}

impl Use {
    /// A shell has no conversation in which a skill could become active.
    pub fn run(&self) -> Result<String> {
        let name = quoted(&self.name);
        let text = "a skill becomes active in a conversation, not at a shell";
        Err(Error::new(text).hint(format!(
            "begin a prompt in chibi with `/{name}`, or ask for what it does there; \
             `agent-skills info {name}` says what that is"
        )))
    }
}
