//! `search_installed`, an action of the model's tool.

use std::fmt::Write;

use serde::Serialize;

use crate::catalog::{Catalog, plain};
use crate::cli::json;
use crate::cli::options::Common;
use crate::error::Result;
use crate::facts::Facts;
use crate::sys::text::{counted, quoted};

/// Installed skills that one search returns.
const FOUND_SKILLS: usize = 10;

#[derive(Serialize)]
struct Found<'a> {
    name: &'a str,
    tool: &'a str,
    description: String,
}

/// Search the installed skills by name, tag and description
#[derive(Debug, clap::Args)]
pub struct SearchInstalled {
    /// Words to look for
    #[arg(required = true)]
    pub words: Vec<String>,
}

impl SearchInstalled {
    /// The offered skills that match the words, best first.
    pub fn run(&self, facts: &Facts, common: Common) -> Result<String> {
        let catalog = Catalog::of(facts);
        let found = catalog.search(&self.words).into_iter();
        let found = found.map(|offered| Found {
            name: offered.skill.name.as_str(),
            tool: offered.tool,
            description: plain(&offered.told()),
        });
        let found: Vec<Found> = found.collect();
        if common.json {
            return json::list("skills", &found);
        }
        if found.is_empty() {
            let words = quoted(&self.words.join(" "));
            // A model's tool calls it an action, a shell a command.
            let list = match facts.run.protocol {
                Some(_) => "list_installed",
                None => "agent-skills list",
            };
            return Ok(format!(
                "No installed skill matches `{words}`. `{list}` shows all, `search` what could be \
                 installed.\n"
            ));
        }
        let mut text = String::new();
        for found in found.iter().take(FOUND_SKILLS) {
            let _ = match found.description.as_str() {
                "" => writeln!(text, "- {}", found.name),
                description => writeln!(text, "- {}: {description}", found.name),
            };
        }
        let more = found.len().saturating_sub(FOUND_SKILLS);
        if more > 0 {
            let _ = writeln!(
                text,
                "{}: more words find fewer.",
                counted(more, "more matches", "more match")
            );
        }
        // The host may not know its tool yet.
        if facts.run.protocol.is_some() {
            text.push_str(
                "To activate one: skill_marketplace {\"action\": \"use\", \"skill_ref\": NAME, \
                 \"query\": …}\n",
            );
        }
        Ok(text)
    }
}
