//! The reference's catalog block for a system prompt.

use std::path::PathBuf;

use super::parse::{find_skill_md, read_properties};
use crate::error::{Error, Result};

/// The block for the skills in `dirs`, in their order. One unreadable skill fails the whole call.
///
/// # Errors
/// As [`read_properties`], and when a directory does not exist.
pub fn to_prompt(dirs: &[PathBuf]) -> Result<String> {
    let mut lines = vec!["<available_skills>".to_owned()];
    for dir in dirs {
        let dir = dir
            .canonicalize()
            .map_err(|error| Error::io("open directory", dir, &error).hint("check the path"))?;
        let properties = read_properties(&dir)?;
        let location = find_skill_md(&dir).unwrap_or_default();
        let element = |tag: &str, text: &str| format!("<{tag}>\n{text}\n</{tag}>");
        lines.extend([
            "<skill>".to_owned(),
            element("name", &escape(&properties.name)),
            element("description", &escape(&properties.description)),
            // The reference does not escape it.
            element("location", &location.display().to_string()),
            "</skill>".to_owned(),
        ]);
    }
    lines.push("</available_skills>".to_owned());
    Ok(lines.join("\n"))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#x27;")
}
