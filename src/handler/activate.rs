//! Activation, through a skill's own tool, `skill` or `skill_marketplace`: hands over the skill's
//! instructions.

use super::judge::nothing_is_in_force;
use super::required::required_line;
use crate::app::{App, put_in_force, resolve};
use crate::error::{Error, Result};
use crate::host::{mentions, ours};
use crate::request::{Activate, Protocol};
use crate::response::Response;
use crate::script;
use crate::skill::{Activation, Listing, Skill, Wrapper};
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
    let (skill, arguments) = (&called.skill, called.arguments.as_deref());
    if app.has_handed(skill, arguments) {
        return Ok(still_active(skill, Wrapper::SkillContent));
    }
    let required = required_line(app, skill);
    let wrapper = Wrapper::SkillContent;
    let text = instructions(app, skill, &called.reference, arguments, required, wrapper)?;
    app.handed(&[skill], arguments);
    Ok(text)
}

/// A skill's instructions in their wrapper, with `more` to be noted. The other tools find it as
/// `reference`.
///
/// # Errors
/// When they cannot be read.
pub fn instructions(
    app: &App,
    skill: &Skill,
    reference: &str,
    arguments: Option<&str>,
    more: Option<String>,
    wrapper: Wrapper,
) -> Result<String> {
    let listing = Listing::of(&skill.dir, limits::LISTED_RESOURCES);
    let body = skill.body().map_err(|why| Error::new(why.message))?;
    let mut notes = notes(app, &body, reference, &listing);
    notes.extend(more);
    let activation = Activation {
        skill,
        body: &body,
        listing: &listing,
        arguments,
        notes: &notes,
    };
    Ok(activation.render_in(wrapper))
}

/// The note that stands in place of instructions which the conversation has already.
pub fn still_active(skill: &Skill, wrapper: Wrapper) -> String {
    let call = serde_json::json!({"skill": skill.name, "path": "SKILL.md"});
    wrapper.around(
        skill.name.as_str(),
        &format!(
            "This skill is active already and has not changed: follow the instructions that it gave \
             in this conversation. If they are no longer there: {} {call}",
            ours::READ_FILE
        ),
    )
}

/// How to go on with this skill on this host.
fn notes(app: &App, body: &str, name: &str, listing: &Listing) -> Vec<String> {
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
    notes.extend(mentions::mapping_line(body, older));
    notes
}
