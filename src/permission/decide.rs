//! The decision about one call (docs/spec/restriction.md#order-of-evaluation): denials, then the
//! baseline, then the rules of the restrictions in force, else a refusal.

use super::arg_matcher::ArgMatcher;
use super::argument::PathContext;
use super::call::{Call, OurTool, Scope};
use super::path::Resolve;
use super::protect::protect;
use super::refusal::{Reason, Refusal};
use super::settings::Enforce;
use super::shell::Touched;
use super::stacking::{Group, InForce};
use super::tool_matcher::Tool;
use super::{baseline, command_line};
use crate::host::tools::{self, Argument, Effect};

/// The decision about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// The call may happen.
    Allow(Granted),
    /// The call is blocked.
    Block(Refusal),
}

/// Why a call may happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Granted {
    /// No restriction applies.
    Unrestricted,
    /// The baseline allows it.
    Baseline,
    /// Rules grant it.
    Rules,
    /// It is not allowed, but the user wants only a warning.
    Warned(Refusal),
}

/// Decides about a call.
pub fn decide(scope: &Scope, call: &Call, resolve: &dyn Resolve) -> Decision {
    match PathContext::of(scope.places, resolve, |ground| {
        evaluate(scope, call, ground)
    }) {
        Ok(granted) => Decision::Allow(granted),
        Err(refusal) => Decision::Block(refusal),
    }
}

/// Whether a denial covers a call, whatever else would allow it.
pub fn denied(scope: &Scope, call: &Call, resolve: &dyn Resolve) -> bool {
    PathContext::of(scope.places, resolve, |ground| {
        let in_force = InForce::of(scope);
        undenied(&in_force, scope, call, ground).is_err() || ground.steps.are_spent()
    })
}

/// Decides about a call when the restrictions are unknown: only reads are allowed.
pub fn decide_unreadable_state(call: &Call) -> Decision {
    let reads = match call.ours {
        Some(OurTool::Marketplace { action }) => baseline::only_looks(action),
        Some(OurTool::Direct | OurTool::RunSkillScript { .. } | OurTool::Propose { .. }) => false,
        Some(
            OurTool::ReadSkillFile { .. } | OurTool::Skill(_) | OurTool::Job | OurTool::Session,
        ) => true,
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

/// Tools that no arguments could make allowed; the model need not see them.
pub fn forbidden_outright<'t>(
    scope: &Scope,
    tools: impl Iterator<Item = (&'t str, Option<OurTool<'t>>)>,
) -> Vec<&'t str> {
    let in_force = InForce::of(scope);
    let forbidden = |(name, ours): &(&str, Option<OurTool>)| {
        let tool = Tool::new(name, *ours, scope.mcp_tools);
        let denied = in_force
            .denials()
            .any(|(_, rule)| rule.test_of(&tool) == Some(&ArgMatcher::Any));
        let blocked = |group: &Group| {
            let mut tests = group.rules.iter().filter_map(|rule| rule.test_of(&tool));
            group.enforce == Enforce::Restrict && !tests.any(|test| *test != ArgMatcher::Nothing)
        };
        *ours == Some(OurTool::Direct)
            || denied
            || in_force.groups.iter().any(blocked)
                && !baseline::may_allow(name, *ours, in_force.baseline(scope.settings))
    };
    tools.filter(forbidden).map(|(name, _)| name).collect()
}

fn evaluate(scope: &Scope, call: &Call, ground: PathContext) -> Result<Granted, Refusal> {
    if call.ours == Some(OurTool::Direct) {
        return Err(Refusal::new(call.tool, Reason::ForPeople));
    }
    let in_force = InForce::of(scope);
    let judged = evaluate_in_force(&in_force, scope, call, ground);
    // A result obtained after the steps ran out is void.
    let too_much = || Refusal::new(call.tool, Reason::TooMuchWork);
    if ground.steps.are_spent() && in_force.may_refuse() {
        return Err(too_much());
    }
    let granted = judged?;
    let warned = undenied(&in_force.warnings(), scope, call, ground).err();
    let cut_short = || ground.steps.are_spent().then(too_much);
    Ok(cut_short().or(warned).map_or(granted, Granted::Warned))
}

fn evaluate_in_force(
    in_force: &InForce,
    scope: &Scope,
    call: &Call,
    ground: PathContext,
) -> Result<Granted, Refusal> {
    let touched = touched(in_force, call, ground);
    if let Some(part) = touched.as_ref().and_then(|touched| touched.ours.as_ref()) {
        let refusal = Refusal::new(call.tool, Reason::OurProgram).part("command", part);
        return if in_force.may_refuse() {
            Err(refusal)
        } else {
            Ok(Granted::Warned(refusal))
        };
    }
    undenied_touching(in_force, scope, call, touched.as_ref(), ground)?;
    let mut granted = Granted::Unrestricted;
    for group in &in_force.groups {
        let judged = well_formed(group, call)
            .and_then(|()| evaluate_group(group, in_force, scope, call, ground))
            .and_then(|granted| {
                // Only for calls that would be granted, because it examines many directories.
                protect(&group.skill(), call, touched.as_ref(), ground).map(|()| granted)
            });
        match judged {
            Ok(by) => granted = by,
            Err(refusal) if group.enforce == Enforce::Warn => granted = Granted::Warned(refusal),
            Err(refusal) => return Err(refusal),
        }
    }
    if in_force.groups.is_empty()
        && let Some(skill) = in_force.denying_skill()
    {
        protect(skill, call, touched.as_ref(), ground)?;
    }
    Ok(granted)
}

/// What a shell command touches while anything is in force; `None` for other calls.
fn touched(in_force: &InForce, call: &Call, ground: PathContext) -> Option<Touched> {
    let command = command_key(call).and_then(|key| call.text(key))?;
    let own = in_force.own_directories();
    in_force
        .is_anything()
        .then(|| command_line::touched(command, call.tool, &own, ground))
}

fn undenied(
    in_force: &InForce,
    scope: &Scope,
    call: &Call,
    ground: PathContext,
) -> Result<(), Refusal> {
    let touched = touched(in_force, call, ground);
    undenied_touching(in_force, scope, call, touched.as_ref(), ground)
}

fn undenied_touching(
    in_force: &InForce,
    scope: &Scope,
    call: &Call,
    touched: Option<&Touched>,
    ground: PathContext,
) -> Result<(), Refusal> {
    let tool = Tool::of(call, scope.mcp_tools);
    for (source, rule) in in_force.denials() {
        let test = rule.test_of(&tool);
        if test.is_some_and(|test| ground.denies(rule, test, call)) {
            let source = source.to_owned();
            let rule = rule.written().to_owned();
            return Err(Refusal::new(call.tool, Reason::Denied { source, rule }));
        }
    }
    match command_key(call) {
        Some(key) => command_line::undenied(in_force, &tool, call, key, touched, ground),
        None => Ok(()),
    }
}

fn well_formed(group: &Group, call: &Call) -> Result<(), Refusal> {
    let unclear = |why: String| {
        let skill = group.skill();
        Refusal::new(call.tool, Reason::Unclear { skill, why }).allowed(group.host_names())
    };
    // The host sends `null` for a call without arguments.
    if call.object().is_none() && !call.arguments.is_null() {
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

/// The key of the shell command argument, if the tool has one.
pub fn command_key(call: &Call) -> Option<&'static str> {
    let tool = tools::find(call.tool).filter(|_| call.ours.is_none())?;
    tool.keys(&[Argument::Command]).next()
}

fn evaluate_group(
    group: &Group,
    in_force: &InForce,
    scope: &Scope,
    call: &Call,
    ground: PathContext,
) -> Result<Granted, Refusal> {
    let command = command_key(call).and_then(|key| call.text(key));
    if baseline::allows(call, in_force.baseline(scope.settings)) {
        return Ok(Granted::Baseline);
    }
    let tool = Tool::of(call, scope.mcp_tools);
    let mut tests = group
        .rules
        .iter()
        .filter_map(|rule| Some((rule, rule.test_of(&tool)?)))
        .peekable();
    let is_reached = tests.peek().is_some();
    if tests.any(|(rule, test)| ground.allows(rule, test, call)) {
        return Ok(Granted::Rules);
    }
    let reason = |why: &str| Reason::NotGranted {
        skill: group.skill(),
        why: why.to_owned(),
    };
    let refusal = match command {
        Some(command) if is_reached => {
            let findings = command_line::findings(group, in_force, scope, &tool, command, ground);
            let Some(failed) = findings.iter().find(|finding| finding.outcome.is_err()) else {
                return Ok(Granted::Rules);
            };
            let why = failed.outcome.as_ref().err().map_or("", String::as_str);
            Refusal::new(call.tool, reason(why)).part(failed.kind, &failed.part)
        }
        _ => {
            let paths = tools::find(call.tool).into_iter();
            let keys = paths
                .flat_map(|tool| tool.keys(&[Argument::Path, Argument::Url, Argument::Source]));
            let argument = keys
                .filter(|_| is_reached)
                .find_map(|key| Some((key, call.text(key)?)));
            let refusal = Refusal::new(call.tool, reason(""));
            match argument {
                Some((key, text)) => refusal.part(key, text),
                None => refusal,
            }
        }
    };
    Err(refusal.allowed(group.host_names()))
}

#[cfg(test)]
mod tests;
