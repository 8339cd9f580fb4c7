//! The decision about one call (docs/spec/restriction.md#order-of-evaluation): denials, then the
//! baseline, then the rules of the restrictions in force, else a refusal.

use super::active_restrictions::RestrictionInputs;
use super::active_restrictions::{ActiveList, ActiveRestrictions, Denials};
use super::arg_matcher::ArgMatcher;
use super::baseline;
use super::call::{OurTool, ToolCall};
use super::command_line::{CommandLine, command_denials};
use super::evidence::{CALL, CitedRule, Grant, Part};
use super::path::PathResolver;
use super::path_context::PathContext;
use super::protected::{Relation, WHY_PROTECTED};
use super::reading_by_shell;
use super::refusal::{Reason, Refusal};
use super::restriction::Restriction;
use super::rule::Rule;
use super::settings::Enforce;
use super::shell::Effects;
use super::tool_matcher::CalledTool;
use crate::vocabulary::{self, Argument, ArgumentTarget, Effect};
use skill_text::distinct;

/// The decision about a call, with its evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// What happens to the call.
    pub outcome: Outcome,
    /// What granted or refused each part of it, in the order of evaluation, up to a refusal.
    pub parts: Vec<Part>,
}

/// What happens to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It may happen: no restriction applies.
    Unrestricted,
    /// It may happen: the baseline allows it.
    Baseline,
    /// It may happen: rules grant it.
    Granted,
    /// It is not allowed, but the user wants only a warning.
    Warned(Refusal),
    /// It is blocked.
    Blocked(Refusal),
}

impl Decision {
    /// Whether the call may happen.
    pub fn allows(&self) -> bool {
        !matches!(self.outcome, Outcome::Blocked(_))
    }

    /// The rules that grant the call or parts of it, each once.
    pub fn granting(&self) -> Vec<&CitedRule> {
        distinct(self.parts.iter().filter_map(|part| match &part.outcome {
            Ok(Grant::Rule(rule)) => Some(rule),
            _ => None,
        }))
    }
}

/// Decides about a call, and about the file that a script is given to read.
pub fn decide(scope: &RestrictionInputs, call: &ToolCall, resolve: &dyn PathResolver) -> Decision {
    let mut decision = decide_call(scope, call, resolve);
    if !decision.allows() {
        return decision;
    }
    call.with_script_input(|read| {
        let reading = decide_call(scope, read, resolve);
        decision.parts.extend(reading.parts);
        let refused =
            |it: Refusal| it.of_script_input(call.tool, read.text("path").unwrap_or_default());
        match reading.outcome {
            Outcome::Blocked(it) => decision.outcome = Outcome::Blocked(refused(it)),
            Outcome::Warned(it) => decision.outcome = Outcome::Warned(refused(it)),
            by @ Outcome::Granted if decision.outcome == Outcome::Baseline => decision.outcome = by,
            _ => {}
        }
    });
    decision
}

fn decide_call(scope: &RestrictionInputs, call: &ToolCall, resolve: &dyn PathResolver) -> Decision {
    PathContext::with(&scope.places, resolve, |context| {
        let mut parts = Vec::new();
        let outcome = Evaluation::new(scope, call, context).evaluate(&mut parts);
        Decision {
            outcome: outcome.unwrap_or_else(Outcome::Blocked),
            parts,
        }
    })
}

/// Whether a denial covers a call, whatever else would allow it.
pub fn denied(scope: &RestrictionInputs, call: &ToolCall, resolve: &dyn PathResolver) -> bool {
    PathContext::with(&scope.places, resolve, |context| {
        let evaluation = Evaluation::new(scope, call, context);
        evaluation
            .check_denials(&evaluation.in_force.denials)
            .is_err()
            || context.steps.are_spent()
    })
}

/// Decides about a call when the restrictions are unknown: only reads are allowed.
pub fn decide_unreadable_state(call: &ToolCall) -> Decision {
    let reads = match call.ours {
        Some(OurTool::Marketplace { action }) => baseline::is_read_only(action),
        Some(OurTool::Direct | OurTool::RunSkillScript { .. } | OurTool::Propose { .. }) => false,
        Some(
            OurTool::ReadSkillFile { .. } | OurTool::Skill { .. } | OurTool::Job | OurTool::Session,
        ) => true,
        None => vocabulary::find_tool(call.tool)
            .is_some_and(|tool| matches!(tool.effect, Effect::Harmless | Effect::Read)),
    };
    let blocked = |reason| Outcome::Blocked(Refusal::new(call.tool, reason));
    Decision {
        outcome: match call.ours {
            _ if reads => Outcome::Baseline,
            Some(OurTool::Direct) => blocked(Reason::ForPeople),
            _ => blocked(Reason::UnreadableState),
        },
        parts: Vec::new(),
    }
}

/// Whether a rule compares the arguments of a call of one of our tools.
pub fn compares_arguments(scope: &RestrictionInputs, call: &ToolCall) -> bool {
    let tool = CalledTool::new(call.tool, call.ours, &scope.mcp_tools);
    let sources = scope.restrictions.iter().chain(&scope.policy_deny);
    let mut rules = sources.flat_map(Restriction::rules);
    let compared = |test| matches!(test, &(ArgMatcher::Arguments(_) | ArgMatcher::Skill(_)));
    call.ours.is_some() && rules.any(|rule| rule.matcher_for(&tool).is_some_and(compared))
}

/// Tools that no arguments could make allowed; the model need not see them.
pub fn never_allowed<'t>(
    scope: &RestrictionInputs,
    tools: impl Iterator<Item = (&'t str, Option<OurTool<'t>>)>,
) -> Vec<&'t str> {
    let in_force = ActiveRestrictions::new(scope);
    let forbidden = |(name, ours): &(&str, Option<OurTool>)| {
        let tool = CalledTool::new(name, *ours, &scope.mcp_tools);
        let mut denials = in_force.denials.iter();
        let denied = denials.any(|rule| rule.matcher_for(&tool) == Some(&ArgMatcher::Any));
        let blocked = |list: &ActiveList| {
            let mut tests = list.rules.iter().filter_map(|rule| rule.matcher_for(&tool));
            list.enforce == Enforce::Restrict
                && !tests.any(|test| *test != ArgMatcher::Nothing)
                && !baseline::may_allow(name, *ours, list, &scope.settings)
        };
        *ours == Some(OurTool::Direct) || denied || in_force.lists.iter().any(blocked)
    };
    tools.filter(forbidden).map(|(name, _)| name).collect()
}

/// A call and everything that its decision depends on.
struct Evaluation<'a> {
    call: &'a ToolCall<'a>,
    tool: CalledTool<'a>,
    /// The key of the shell command, if the tool has one.
    command_key: Option<&'static str>,
    command: Option<CommandLine<'a>>,
    in_force: ActiveRestrictions<'a>,
    context: PathContext<'a>,
}

impl<'a> Evaluation<'a> {
    fn new(scope: &'a RestrictionInputs, call: &'a ToolCall<'a>, context: PathContext<'a>) -> Self {
        let tool = CalledTool::new(call.tool, call.ours, &scope.mcp_tools);
        let in_force = ActiveRestrictions::new(scope);
        let command_key = call
            .host_tool()
            .and_then(|tool| tool.keys(&[Argument::Command]).next());
        let text = command_key.and_then(|key| call.text(key));
        let own = &in_force.own;
        let command =
            text.map(|text| CommandLine::new(text, tool, own.clone(), context, &in_force.lists));
        Self {
            call,
            tool,
            command_key,
            command,
            in_force,
            context,
        }
    }

    fn refusal(&self, reason: Reason) -> Refusal {
        Refusal::new(self.call.tool, reason)
    }

    fn evaluate(&self, parts: &mut Vec<Part>) -> Result<Outcome, Refusal> {
        if self.call.ours == Some(OurTool::Direct) {
            return Err(self.refusal(Reason::ForPeople));
        }
        let decided = self.evaluate_active(parts);
        // A result obtained after the steps ran out is void.
        let are_spent = || self.context.steps.are_spent();
        if are_spent() && self.in_force.may_refuse() {
            return Err(self.refusal(Reason::TooMuchWork));
        }
        let outcome = decided?;
        let warned = self.check_denials(&self.in_force.warnings).err();
        let cut_short = are_spent().then(|| self.refusal(Reason::TooMuchWork));
        Ok(cut_short.or(warned).map_or(outcome, Outcome::Warned))
    }

    fn evaluate_active(&self, parts: &mut Vec<Part>) -> Result<Outcome, Refusal> {
        let in_force = &self.in_force;
        let command = self.command.as_ref().filter(|_| in_force.has_any());
        let effects = command.map(CommandLine::effects);
        if let Some(part) = effects.and_then(|effects| effects.ours.as_ref()) {
            let refusal = self.refusal(Reason::OurProgram).part("command", part);
            return if in_force.may_refuse() {
                Err(refusal)
            } else {
                Ok(Outcome::Warned(refusal))
            };
        }
        self.check_denials(&in_force.denials)
            .inspect_err(|refusal| parts.extend(refusal.denied_part()))?;
        let mut outcome = Outcome::Unrestricted;
        for list in &in_force.lists {
            let decided = self.check_arguments(list).and_then(|()| {
                let granted = self.evaluate_list(list, parts)?;
                // Only for calls that would be granted, because it examines many directories.
                protect(&list.skill.source, self.call, effects, self.context)?;
                Ok(granted)
            });
            match decided {
                Ok(by) => outcome = by,
                Err(refusal) if list.enforce == Enforce::Warn => {
                    outcome = Outcome::Warned(refusal);
                }
                Err(refusal) => return Err(refusal),
            }
        }
        if in_force.lists.is_empty()
            && let Some(skill) = in_force.denials.skill()
        {
            protect(skill, self.call, effects, self.context)?;
        }
        Ok(outcome)
    }

    fn check_denials(&self, denials: &Denials) -> Result<(), Refusal> {
        let refuse = |rule: &Rule| self.refusal(Reason::Denied(rule.cited.clone()));
        let covers = |rule: &&Rule| self.context.covers(rule, &self.tool, self.call);
        if let Some(rule) = denials.iter().find(covers) {
            return Err(refuse(rule));
        }
        if let Some(command) = &self.command {
            return command.check_denials(denials);
        }
        match command_denials(denials, &self.tool).next() {
            Some((rule, _)) if self.command_key.is_some() => {
                Err(refuse(rule).part("unclear command", ""))
            }
            _ => Ok(()),
        }
    }

    fn check_arguments(&self, list: &ActiveList) -> Result<(), Refusal> {
        let unclear = |why: String| {
            let skill = list.skill.source.clone();
            self.refusal(Reason::Unclear { skill, why })
                .allowed(list.host_names())
        };
        // The host sends `null` for a call without arguments.
        if !self.call.arguments.is_object() && !self.call.arguments.is_null() {
            return Err(unclear("its arguments are not an object".into()));
        }
        if let (Some(key), None) = (self.command_key, &self.command) {
            return Err(unclear(format!("its `{key}` is missing or not a string")));
        }
        if matches!(self.call.ours, Some(OurTool::RunSkillScript { .. }))
            && let Some(variable) = baseline::steering_variable(self.call)
        {
            let why = "a script's environment must not control its interpreter";
            return Err(unclear(why.into()).part("variable", &variable));
        }
        Ok(())
    }

    fn evaluate_list(&self, list: &ActiveList, parts: &mut Vec<Part>) -> Result<Outcome, Refusal> {
        if baseline::allows(self.call, list, &self.in_force) {
            return Ok(Outcome::Baseline);
        }
        let covers = |rule: &&Rule| self.context.covers(rule, &self.tool, self.call);
        if let Some(rule) = list.rules.iter().find(covers) {
            let by = Grant::Rule(rule.cited.clone());
            parts.push(Part::new(CALL, self.call.tool, Ok(by)));
            return Ok(Outcome::Granted);
        }
        let reads_by_shell = self.command.is_some() && self.context.places.reads_by_shell;
        let is_reached = list
            .rules
            .iter()
            .any(|rule| rule.matcher_for(&self.tool).is_some())
            || reads_by_shell && reading_by_shell::grants_any(list);
        let not_granted = |why: &str| {
            let (skill, why) = (list.skill.source.clone(), why.to_owned());
            self.refusal(Reason::NotGranted { skill, why })
        };
        let refusal = if let Some(command) = &self.command {
            let begin = parts.len();
            parts.extend(command.parts(list, &self.in_force));
            let mut decided = parts[begin..].iter();
            match decided.find_map(|part| Some((part, part.outcome.as_ref().err()?))) {
                // Without a rule for the tool, not even harmless parts are allowed.
                _ if !is_reached => not_granted(""),
                Some((part, why)) => not_granted(why).part(part.kind, &part.text),
                None => return Ok(Outcome::Granted),
            }
        } else {
            let reached = vocabulary::find_tool(self.call.tool).filter(|_| is_reached);
            let meanings = [Argument::Path, Argument::Url, Argument::Source];
            let mut keys = reached.into_iter().flat_map(|tool| tool.keys(&meanings));
            match keys.find_map(|key| Some((key, self.call.text(key)?))) {
                Some((key, text)) => not_granted("").part(key, text),
                None => not_granted(""),
            }
        };
        Err(refusal.allowed(list.host_names()))
    }
}

/// Refuses to change protected places while `skill` restricts.
///
/// # Errors
/// The refusal, which names the path or operand.
fn protect(
    skill: &str,
    call: &ToolCall,
    effects: Option<&Effects>,
    context: PathContext,
) -> Result<(), Refusal> {
    let refuse = |kind: &'static str, part: &str, why: &str| {
        let (skill, why) = (skill.to_owned(), why.to_owned());
        Refusal::new(call.tool, Reason::Protected { skill, why }).part(kind, part)
    };
    let redirected = effects.into_iter().flat_map(|effects| &effects.files);
    let written = redirected.filter_map(|(path, writes)| writes.then_some(path.as_str()));
    for path in named_files(call).chain(written) {
        let written = context.places.for_tool(call.tool, path);
        if context.relation(&written) == Relation::Inside {
            return Err(refuse("path", path, WHY_PROTECTED));
        }
    }
    match effects.and_then(|effects| effects.protected.as_ref()) {
        Some(rejection) => Err(refuse("operand", &rejection.part, &rejection.why)),
        None => Ok(()),
    }
}

/// The files on disk that a call of a host tool writes.
fn named_files<'c>(call: &ToolCall<'c>) -> impl Iterator<Item = &'c str> {
    let changes = vocabulary::find_tool(call.tool).filter(|tool| tool.effect == Effect::Change);
    let keys = changes
        .into_iter()
        .flat_map(|tool| tool.keys(&[Argument::Path]));
    let texts = keys.filter_map(|key| call.text(key));
    texts.filter(|text| Argument::Path.names(text) == ArgumentTarget::File)
}

#[cfg(test)]
mod tests;
