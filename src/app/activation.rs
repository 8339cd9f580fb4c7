//! What the model gets when it activates a skill: the same text for the model, and for an author
//! who wants to see it before.

use super::App;
use crate::host::{mentions, ours};
use crate::request::Protocol;
use crate::script;
use crate::skill::{Activation, Listing, Skill};
use crate::sys::limits;

impl App {
    /// The instructions of a skill, as a host of this protocol gets them. Nothing is recorded.
    pub fn instructions(
        skill: &Skill,
        arguments: Option<&str>,
        protocol: Option<Protocol>,
    ) -> String {
        let listing = Listing::of(&skill.dir, limits::LISTED_RESOURCES);
        let notes = notes(skill, &listing, protocol);
        Activation {
            skill,
            listing: &listing,
            arguments,
            notes: &notes,
        }
        .render()
    }
}

/// How to go on with this skill on this host.
fn notes(skill: &Skill, listing: &Listing, protocol: Option<Protocol>) -> Vec<String> {
    let name = &skill.name;
    let mut notes = Vec::new();
    let paths = || {
        listing
            .resources
            .iter()
            .map(|resource| resource.path.as_path())
    };
    if let Some(path) = paths().find(|path| !script::is_script(path) && !path.starts_with("tests"))
    {
        let call = serde_json::json!({"skill": name, "path": path.display().to_string()});
        notes.push(format!(
            "To read one of its files: {} {call}",
            ours::READ_FILE
        ));
    }
    if let Some(path) = paths().find(|path| script::is_script(path)) {
        let call =
            serde_json::json!({"skill": name, "script": path.display().to_string(), "args": []});
        notes.push(format!(
            "To run one of its scripts: {} {call}",
            ours::RUN_SCRIPT
        ));
    }
    let older = protocol == Some(Protocol::Environment);
    notes.extend(mentions::mapping_line(&skill.body, older));
    notes
}
