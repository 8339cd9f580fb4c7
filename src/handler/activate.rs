//! Activation, through a skill's own tool, `skill` or `skill_marketplace`: hands over the skill's
//! instructions.

use super::judge::nothing_is_in_force;
use crate::app::{App, Called, put_in_force, resolve};
use crate::error::{Error, Result};
use crate::host::{mentions, ours};
use crate::request::{Activate, Protocol};
use crate::response::Response;
use crate::script;
use crate::skill::{Activation, Listing};
use crate::sys::limits;

/// Activates the skill that is wanted. `pre_tool` has done so already, unless the host has no
/// hooks or this is a direct call; doing it again changes nothing.
pub fn activate(app: &App, wanted: Activate) -> Response {
    try_activate(app, wanted).map_or_else(|e| Response::failure(&e), Response::text)
}

fn try_activate(app: &App, wanted: Activate) -> Result<String> {
    let called = resolve(app, wanted)?;
    // Of this call `pre_tool` did not know that it is ours, so it was not judged as what it is.
    if !called.is_listed && !nothing_is_in_force(app, &app.store().session(&app.session())) {
        let call = serde_json::json!({"action": "use", "skill_ref": called.reference});
        let text = format!("`{}` is no tool here any more", ours::SKILL);
        return Err(Error::new(text).hint(format!("use {} {call}", ours::MARKETPLACE)));
    }
    put_in_force(app, &called.skill, &called.tool)?;
    let listing = Listing::of(&called.skill.dir, limits::LISTED_RESOURCES);
    let instructions = called.skill.instructions();
    let instructions = instructions.map_err(|why| Error::new(why.message))?;
    let notes = notes(app, &called, &instructions, &listing);
    Ok(Activation {
        skill: &called.skill,
        instructions: &instructions,
        listing: &listing,
        arguments: called.arguments.as_deref(),
        notes: &notes,
    }
    .render())
}

/// How to go on with this skill on this host.
fn notes(app: &App, called: &Called, instructions: &str, listing: &Listing) -> Vec<String> {
    let name = &called.reference;
    let mut notes = Vec::new();
    let paths = || {
        listing
            .resources
            .iter()
            .map(|resource| resource.path.as_path())
    };
    if let Some(path) = paths().find(|path| !script::is_script(path)) {
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
    let older = app.protocol == Some(Protocol::Environment);
    notes.extend(mentions::mapping_line(instructions, older));
    notes
}
