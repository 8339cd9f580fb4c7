//! `search-installed`, and the refusal of `use` in a shell.

use std::fmt::Write;

use serde::Serialize;

use super::json;
use crate::catalog::plain;
use crate::error::{Error, Result};
use crate::run_context::RunContext;
use crate::sys::limits;
use crate::sys::text::quoted;

#[derive(Serialize)]
struct Found {
    name: String,
    tool: String,
    description: String,
}

/// The offered skills that match some words, best first.
pub fn search(ctx: &RunContext, words: &[String], as_json: bool) -> Result<String> {
    let catalog = ctx.catalog();
    let found: Vec<Found> = catalog
        .search(words)
        .into_iter()
        .map(|offered| Found {
            name: offered.skill.name.to_string(),
            tool: offered.tool.to_owned(),
            description: plain(&offered.told()),
        })
        .collect();
    if as_json {
        return json::list("skills", &found);
    }
    if found.is_empty() {
        let words = quoted(&words.join(" "));
        // A model's tool calls it an action, a shell a command.
        let list = match ctx.protocol {
            Some(_) => "list_installed",
            None => "agent-skills list-installed",
        };
        return Ok(format!(
            "No installed skill matches `{words}`. `{list}` shows all, `search` what could be \
             installed.\n"
        ));
    }
    let mut text = String::new();
    for found in found.iter().take(limits::FOUND_SKILLS) {
        let _ = match found.description.as_str() {
            "" => writeln!(text, "- {}", found.name),
            description => writeln!(text, "- {}: {description}", found.name),
        };
    }
    let more = found.len().saturating_sub(limits::FOUND_SKILLS);
    if more > 0 {
        let _ = writeln!(text, "{more} more match: more words find fewer.");
    }
    // The host may not know its tool yet.
    if ctx.protocol.is_some() {
        text.push_str(
            "To activate one: skill_marketplace {\"action\": \"use\", \"skill_ref\": NAME, \
             \"query\": …}\n",
        );
    }
    Ok(text)
}

/// A shell has no conversation in which a skill could become active.
pub fn not_here(name: &str) -> Error {
    Error::new("a skill becomes active in a conversation, and a shell is none").hint(format!(
        "begin a prompt in chibi with `/{0}`, or ask for it there: the model calls skill_marketplace \
         {{\"action\": \"use\", \"skill_ref\": {0:?}}}. `agent-skills info` tells about it",
        quoted(name)
    ))
}
