//! `pre_api_tools`: which tools are hidden from the model this turn.

use std::collections::BTreeSet;

use crate::protocol::prelude::*;

/// Hides the command line, the tools that need a skill when there is none, those of skills not
/// offered here, and what an active skill forbids whatever the arguments.
pub fn pre_api_tools(facts: &Facts, tools: &[ListedTool]) -> Response {
    let catalog = Catalog::disclosed(facts);
    let offered = catalog.offered();
    let mut hidden: Vec<&str> = vec![ours::DIRECT];
    // Hiding only helps the model; the decision is made when the tool is called.
    let mut session = facts.session().unwrap_or_default();
    // A person may have activated a skill that is hidden from the model.
    if offered.is_empty() && session.active().next().is_none() {
        hidden.extend([ours::READ_FILE, ours::RUN_SCRIPT]);
        hidden.extend([ours::SESSION, ours::PROPOSE]);
    }
    let withheld = catalog.withheld_tools();
    let listed = tools.iter().map(|tool| tool.name.as_str());
    hidden.extend(listed.filter(|tool| withheld.contains(*tool)));
    remember(facts, &mut session, tools);
    let config = facts.config().unwrap_or_default();
    let policies = facts.policies().unwrap_or_default();
    let scope = scope_of(facts, &config, &policies, &session);
    let skills = offered.iter();
    let skills = skills.map(|one| (one.tool, Some(activation(one.skill))));
    let one_tool = catalog.has_one_tool();
    let is_other = |tool: &&ListedTool| !one_tool || tool.name != ours::SKILL;
    let others = tools.iter().filter(is_other);
    // What is forbidden whatever the arguments is forbidden without any.
    let skill = |tool: &str| offered.iter().find(|one| one.tool == tool);
    let known = others.map(|tool| {
        let tool = tool.name.as_str();
        let ours = our_tool(tool, None, None).or_else(|| Some(activation(skill(tool)?.skill)));
        (tool, ours)
    });
    // Only policies keep a skill that one of them requires from becoming active.
    let is_required = |tool: &str| skill(tool).is_some_and(|one| one.is_required);
    let requires = offered.iter().any(|one| one.is_required);
    if one_tool && !requires && never_allowed(&scope, skills).len() == offered.len() {
        hidden.push(ours::SKILL);
    }
    let forbidden = never_allowed(&scope, known).into_iter();
    hidden.extend(forbidden.filter(|tool| !is_required(tool)));
    hidden.sort_unstable();
    hidden.dedup();
    Response::json(&json!({"exclude": hidden}))
}

/// Only this hook is told which tools belong to MCP servers; later decisions in this prompt need it.
fn remember(facts: &Facts, session: &mut Session, tools: &[ListedTool]) {
    let of_mcp = tools.iter().filter(|tool| tool.is_mcp);
    let names: BTreeSet<String> = of_mcp.map(|tool| tool.name.clone()).collect();
    if names == session.mcp_tools {
        return;
    }
    session.mcp_tools.clone_from(&names);
    let remembered = facts.store().change(facts.key(), |session| {
        session.mcp_tools.clone_from(&names);
        Ok(())
    });
    if let Err(error) = remembered {
        // `mcp__…` entries then grant nothing in this prompt, which is safe.
        warn(format_args!("could not remember the tools: {error}"));
    }
}
