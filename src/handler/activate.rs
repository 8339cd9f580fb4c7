//! A skill's own tool: hands over its instructions.

use std::time::Instant;

use super::fork::{self, Place};
use super::required::required_line;
use crate::app::App;
use crate::app::{put_in_force, run_pre_hooks};
use crate::app::{quoted, suggestion};
use crate::error::{Error, Result};
use crate::host::{mentions, ours};
use crate::request::Protocol;
use crate::response::Response;
use crate::script;
use crate::skill::{Activation, Listing, Skill, Wrapper};
use crate::sys::limits;

/// Activates the skill behind `tool`. `pre_tool` has done so already, unless the host has no
/// hooks or this is a direct call; doing it again changes nothing.
pub fn activate(app: &App, tool: &str, arguments: Option<&str>) -> Response {
    try_activate(app, tool, arguments).map_or_else(|e| Response::failure(&e), Response::text)
}

fn try_activate(app: &App, tool: &str, arguments: Option<&str>) -> Result<String> {
    let catalog = app.catalog();
    let skill = catalog.by_tool(tool).ok_or_else(|| {
        let text = format!("there is no tool `{}`", quoted(tool));
        Error::new(text).hint(suggestion(&catalog, tool))
    })?;
    let mut more = Vec::new();
    match fork::place(app, skill, &app.store().session(&app.session())) {
        Place::Here => {}
        Place::HereBecause(why) => more.push(fork::note(why)),
        Place::Apart => {
            app.record_activation(skill);
            let listing = Listing::of(&skill.dir, limits::LISTED_RESOURCES);
            return Ok(fork::hand_over(&Activation {
                skill,
                listing: &listing,
                arguments,
                notes: &[],
            }));
        }
    }
    put_in_force(app, skill, tool)?;
    more.extend(run_pre_hooks(
        app,
        skill,
        Instant::now() + limits::PRE_HOOKS,
    )?);
    if app.has_handed(skill, arguments) {
        return Ok(still_active(skill, Wrapper::SkillContent));
    }
    app.handed(&[skill], arguments);
    more.extend(required_line(app, &catalog, skill));
    Ok(instructions(
        app,
        skill,
        arguments,
        more,
        Wrapper::SkillContent,
    ))
}

/// A skill's instructions in their wrapper, with `more` to be noted.
pub fn instructions(
    app: &App,
    skill: &Skill,
    arguments: Option<&str>,
    more: Vec<String>,
    wrapper: Wrapper,
) -> String {
    let listing = Listing::of(&skill.dir, limits::LISTED_RESOURCES);
    let mut notes = notes(app, skill, &listing);
    notes.extend(more);
    Activation {
        skill,
        listing: &listing,
        arguments,
        notes: &notes,
    }
    .render_in(wrapper)
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
fn notes(app: &App, skill: &Skill, listing: &Listing) -> Vec<String> {
    let name = &skill.name;
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
    notes.extend(mentions::mapping_line(&skill.body, older));
    notes
}
