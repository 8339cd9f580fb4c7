//! One configuration file of an agent as text: with our entries, without them, and which it has.

use std::path::Path;

use super::config_file::ConfigFile;
use super::entry::{self, HookFile, Invocation, ours_of, put};
use super::json::JsonHooks;
use super::toml::TomlHooks;
use crate::error::{Error, Result};

/// One entry of ours.
#[derive(Debug)]
pub struct HookEntry {
    /// Its event.
    pub event: String,
    /// What it runs.
    pub ours: Invocation,
    /// The program and its words that the agent runs by it.
    pub command: Vec<String>,
}

/// A file after our entries were taken out.
#[derive(Debug, PartialEq, Eq)]
pub struct TextWithoutOurs {
    /// Its text.
    pub text: String,
    /// Whether nothing is left that anybody would miss.
    pub is_empty: bool,
}

fn parse(place: &ConfigFile, text: &str) -> Result<Box<dyn HookFile>> {
    let is_toml = place.path.extension().is_some_and(|end| end == "toml");
    Ok(if is_toml {
        Box::new(TomlHooks::parse(text)?)
    } else {
        Box::new(JsonHooks::parse(text)?)
    })
}

/// The text with our entries for this, and no others of ours.
///
/// # Errors
/// When the file is not in its agent's format, or a plugin of our file's name is somebody else's.
pub fn with(place: &ConfigFile, before: Option<&str>, wanted: &Invocation) -> Result<String> {
    let table = place.agent.table();
    if table.is_plugin {
        if before.is_some_and(|text| entry::invocation(text).is_none()) {
            return Err(Error::new("it belongs to another plugin").hint("rename it"));
        }
        return Ok(entry::script(wanted));
    }
    let mut content = parse(place, before.unwrap_or_default())?;
    let is_versioned = table.versioned.contains(&place.scope);
    content.complete(is_versioned, Path::new(&wanted.program));
    let registered: Vec<_> = place.agent.registered().collect();
    for event in content.events() {
        if !registered.iter().any(|(name, _)| *name == event) {
            put(&mut *content, place.agent, &event, None);
        }
    }
    for (event, matcher) in registered {
        let item = wanted.item(place.agent, matcher);
        put(&mut *content, place.agent, event, Some(&item));
    }
    Ok(content.text())
}

/// The text without any entry of ours; `None` if it has none.
///
/// # Errors
/// When the file is not in its agent's format.
pub fn without(place: &ConfigFile, before: &str) -> Result<Option<TextWithoutOurs>> {
    if place.agent.table().is_plugin {
        let (text, is_empty) = (String::new(), true);
        return Ok(entry::invocation(before).map(|_| TextWithoutOurs { text, is_empty }));
    }
    let mut content = parse(place, before)?;
    let mut had_any = false;
    for event in content.events() {
        had_any |= put(&mut *content, place.agent, &event, None);
    }
    let (text, is_empty) = (content.text(), content.is_empty());
    Ok(had_any.then_some(TextWithoutOurs { text, is_empty }))
}

/// What of ours the text has, and whether it is not as we write it.
///
/// # Errors
/// When the file is not in its agent's format.
pub fn entries(place: &ConfigFile, text: &str) -> Result<(Vec<HookEntry>, bool)> {
    let agent = place.agent;
    if agent.table().is_plugin {
        let ours = entry::invocation(text).map(|ours| HookEntry {
            event: "plugin".to_owned(),
            command: ours.words(agent),
            ours,
        });
        let all: Vec<HookEntry> = ours.into_iter().collect();
        let is_changed = all.iter().any(|entry| entry::script(&entry.ours) != text);
        return Ok((all, is_changed));
    }
    let content = parse(place, text)?;
    let mut all = Vec::new();
    for event in content.events() {
        for (entry, ours) in ours_of(agent, &content.items(&event)) {
            let line = entry.get("command").or_else(|| entry.get("bash"));
            let command = match line.and_then(serde_json::Value::as_str) {
                Some(line) if entry.get("args").is_none() => {
                    ["/bin/sh", "-c", line].map(str::to_owned).to_vec()
                }
                _ => ours.words(agent),
            };
            let event = event.clone();
            all.push(HookEntry {
                event,
                ours,
                command,
            });
        }
    }
    // What writes them anew would change nothing.
    let again = |first: &HookEntry| with(place, Some(text), &first.ours);
    let is_changed = all
        .first()
        .map(again)
        .transpose()?
        .is_some_and(|it| it != text);
    Ok((all, is_changed))
}
