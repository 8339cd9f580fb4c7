//! The decision about one call (RESTRICTION.md §1): policy, denials, what is always allowed, then
//! the entries of the restrictions in force, then a refusal.

use super::baseline;
use super::call::{Call, OurTool, Scope};
use super::path::{Located, Resolve};
use super::plain::plain_command;
use super::refusal::{Reason, Refusal};
use super::rule::{Rule, Test, Tool};
use super::settings::Enforce;
use super::stacking::{Group, InForce};
use crate::host::tools::{self, Argument, Effect};

/// What happens to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It happens.
    Allow(Granted),
    /// It does not.
    Block(Refusal),
}

/// Why a call may happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Granted {
    /// Nothing restricts.
    Unrestricted,
    /// It is always allowed.
    Baseline,
    /// Entries grant it.
    Rules,
    /// It is not allowed, and the user wants to be told only.
    Warned(Refusal),
}

/// Decides about a call.
pub fn decide(scope: &Scope, call: &Call, resolve: &dyn Resolve) -> Decision {
    match judge(scope, call, resolve) {
        Ok(granted) => Decision::Allow(granted),
        Err(refusal) => Decision::Block(refusal),
    }
}

/// Decides about a call when it is not known what is in force: reading goes on, nothing else.
pub fn decide_unreadable_state(call: &Call) -> Decision {
    let reads = match call.ours {
        Some(ours) => ours != OurTool::Direct,
        None => tools::find(call.tool)
            .is_some_and(|tool| matches!(tool.effect, Effect::Harmless | Effect::Read)),
    };
    if reads {
        return Decision::Allow(Granted::Baseline);
    }
    let reason = match call.ours {
        Some(OurTool::Direct) => Reason::ForPeople,
        _ => Reason::UnreadableState,
    };
    Decision::Block(Refusal::new(call.tool, reason))
}

/// The tools that no argument could make allowed, which the model need not be shown.
pub fn forbidden_outright<'t>(
    scope: &Scope,
    tools: impl Iterator<Item = (&'t str, Option<OurTool<'t>>)>,
) -> Vec<&'t str> {
    let in_force = InForce::of(scope);
    let forbidden = |(name, ours): &(&str, Option<OurTool>)| {
        let tool = Tool::new(name, *ours, scope.mcp_tools);
        let denied = in_force
            .denials()
            .any(|(_, rule)| rule.test_of(&tool) == Some(&Test::Any));
        let blocked = |group: &Group| {
            let reached = |rule: &&Rule| rule.test_of(&tool).is_some_and(|t| *t != Test::Nothing);
            group.enforce == Enforce::Restrict && !group.rules.iter().any(reached)
        };
        *ours == Some(OurTool::Direct)
            || denied
            || in_force.groups.iter().any(blocked)
                && !baseline::may_allow(name, *ours, in_force.baseline(scope.settings))
    };
    tools.filter(forbidden).map(|(name, _)| name).collect()
}

fn judge(scope: &Scope, call: &Call, resolve: &dyn Resolve) -> Result<Granted, Refusal> {
    if call.ours == Some(OurTool::Direct) {
        return Err(Refusal::new(call.tool, Reason::ForPeople));
    }
    let in_force = InForce::of(scope);
    let tool = Tool::of(call, scope.mcp_tools);
    for (source, rule) in in_force.denials() {
        if denies(rule, &tool, call) {
            let reason = Reason::Denied {
                source: source.to_owned(),
                rule: rule.written().to_owned(),
            };
            return Err(Refusal::new(call.tool, reason));
        }
    }
    let mut granted = Granted::Unrestricted;
    for group in &in_force.groups {
        let judged = well_formed(group, call)
            .and_then(|()| unprotected(group, scope, call, resolve))
            .and_then(|()| judge_group(group, &in_force, scope, call, &tool));
        match judged {
            Ok(by) => granted = by,
            Err(refusal) if group.enforce == Enforce::Warn => granted = Granted::Warned(refusal),
            Err(refusal) => return Err(refusal),
        }
    }
    Ok(granted)
}

/// Whether a denial speaks of this call; doubt denies.
fn denies(rule: &Rule, tool: &Tool, call: &Call) -> bool {
    match rule.test_of(tool) {
        None | Some(Test::Nothing) => false,
        Some(Test::Skill(name)) => {
            matches!(call.ours, Some(OurTool::Skill(skill)) if skill == name)
        }
        Some(Test::Any | Test::Command(_)) => true,
    }
}

/// Refuses a call whose arguments are not what its tool takes (RESTRICTION.md §10).
fn well_formed(group: &Group, call: &Call) -> Result<(), Refusal> {
    let unclear = |why: String| {
        let skill = group.skill();
        Refusal::new(call.tool, Reason::Unclear { skill, why }).allowed(group.host_names())
    };
    if call.object().is_none() {
        return Err(unclear("its arguments are not an object".into()));
    }
    if let Some(key) = command_key(call)
        && call.text(key).is_none()
    {
        return Err(unclear(format!("it has no `{key}` that is a string")));
    }
    if matches!(call.ours, Some(OurTool::RunSkillScript { .. }))
        && let Some(variable) = baseline::steering_variable(call)
    {
        let why = "a script's environment must not steer its interpreter";
        return Err(unclear(why.into()).part("variable", &variable));
    }
    Ok(())
}

/// Refuses to write where skills and restrictions are kept, whatever the rules say.
fn unprotected(
    group: &Group,
    scope: &Scope,
    call: &Call,
    resolve: &dyn Resolve,
) -> Result<(), Refusal> {
    let tool = tools::find(call.tool).filter(|tool| tool.effect == Effect::Change);
    let Some(tool) = tool else {
        return Ok(());
    };
    let protected = |path: &&str| {
        let on_disk = !path.starts_with("vfs://");
        on_disk && Located::of(path, scope.places, resolve).is_protected(scope.places, resolve)
    };
    let mut paths = tool
        .keys(&[Argument::Path])
        .filter_map(|key| call.text(key));
    paths.find(protected).map_or(Ok(()), |path| {
        let skill = group.skill();
        Err(Refusal::new(call.tool, Reason::Protected { skill }).part("path", path))
    })
}

/// The key of the argument that is a shell command, if the tool takes one.
fn command_key(call: &Call) -> Option<&'static str> {
    let tool = tools::find(call.tool).filter(|_| call.ours.is_none())?;
    tool.keys(&[Argument::Command]).next()
}

fn judge_group(
    group: &Group,
    in_force: &InForce,
    scope: &Scope,
    call: &Call,
    tool: &Tool,
) -> Result<Granted, Refusal> {
    if baseline::allows(call, in_force.baseline(scope.settings)) {
        return Ok(Granted::Baseline);
    }
    let tests: Vec<&Test> = group
        .rules
        .iter()
        .filter_map(|rule| rule.test_of(tool))
        .collect();
    let command = command_key(call).and_then(|key| call.text(key));
    let words = command.and_then(plain_command);
    let grants = |test: &&Test| match test {
        Test::Any => true,
        Test::Nothing => false,
        Test::Command(patterns) => words
            .as_ref()
            .is_some_and(|words| patterns.iter().any(|pattern| pattern.matches(words))),
        Test::Skill(name) => matches!(call.ours, Some(OurTool::Skill(skill)) if skill == name),
    };
    if tests.iter().any(grants) {
        return Ok(Granted::Rules);
    }
    let skill = group.skill();
    let refusal = Refusal::new(call.tool, Reason::NotGranted { skill }).allowed(group.host_names());
    Err(match command {
        Some(command) if !tests.is_empty() => refusal.part("command", command),
        _ => refusal,
    })
}

#[cfg(test)]
mod tests;
