//! `pre_api_tools`: which tools the model is not shown this turn.

use serde_json::json;

use crate::app::App;
use crate::app::Enforcement;
use crate::host::ours;
use crate::permission::{OurTool, forbidden_outright};
use crate::response::Response;

/// Hides the command line, the tools that need a skill when there is none, and what an active
/// skill forbids whatever the arguments.
pub fn pre_api_tools(app: &App, tools: &[String]) -> Response {
    let catalog = app.catalog();
    let offered = catalog.offered();
    let mut hidden: Vec<&str> = vec![ours::DIRECT];
    if offered.is_empty() {
        hidden.extend([ours::READ_FILE, ours::RUN_SCRIPT]);
    }
    // Hiding is a courtesy to the model; what is doubtful is decided when it is called.
    let active = app.store().active(&app.session()).unwrap_or_default();
    let config = app.config().unwrap_or_default();
    let enforcement = Enforcement::of(app, &config, &active);
    let known = tools.iter().map(|tool| {
        let ours = match tool.as_str() {
            ours::DIRECT => Some(OurTool::Direct),
            ours::MARKETPLACE => Some(OurTool::Marketplace { action: None }),
            ours::READ_FILE => Some(OurTool::ReadSkillFile { skill: None }),
            ours::RUN_SCRIPT => Some(OurTool::RunSkillScript { skill: None }),
            name => offered
                .iter()
                .find(|(_, tool)| *tool == name)
                .map(|(skill, _)| OurTool::Skill(skill.name.as_str())),
        };
        (tool.as_str(), ours)
    });
    hidden.extend(forbidden_outright(&enforcement.scope(), known));
    hidden.sort_unstable();
    hidden.dedup();
    Response::json(&json!({"exclude": hidden}))
}
