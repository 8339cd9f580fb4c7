//! One call of an agent's hook, from its data to its answer.

use super::activation::{ActivatedBy, SkillCall, activate, by_reading, called_in, confirm};
use super::confine::{is_confined, rewritten_arguments};
use super::event::{self, AgentContext, AgentEvent, context, note_seen, plain_name};
use super::find::find;
use super::translate::translate;
use crate::catalog::write_events;
use crate::host::agent::table::{AgentProfile, AnswerFormat, EventKind, PromptDetection};
use crate::protocol::call_kind::REFUSED;
use crate::protocol::prelude::*;
use crate::run_context::RunContext;

/// The mark of a session whose user typed a skill's name before its prompt began.
const TYPED: &str = "typed";

/// Answers one call of an agent's hook. What cannot be judged is refused by the exit status.
pub fn run(input: &mut Input) -> Response {
    let (agent, mode, payload) = match input.agent() {
        Ok(called) => called,
        Err(why) => return refused(&why),
    };
    let data = match payload {
        Ok(Value::Object(data)) => data,
        Ok(_) => return refused("its data is no JSON object"),
        Err(why) => return refused(&why),
    };
    let agent = event::caller(agent, &data);
    let env = std::mem::take(&mut input.env);
    let table = agent.table();
    match AgentEvent::read(table, data) {
        Err(why) => refused(why),
        // An event that does not matter.
        Ok(None) => {
            let facts = Facts::new(env, None);
            Response::text("").afterwards(move || note_seen(&facts, agent))
        }
        Ok(Some(event)) => {
            let facts = context(env, agent, mode, &event);
            answer(table.answer_format, &event, decide(facts, table, &event)).afterwards(
                move || {
                    write_events(facts);
                    note_seen(facts, agent);
                },
            )
        }
    }
}

fn refused(why: &str) -> Response {
    warn(format_args!(
        "this call is not allowed, because it cannot be checked: {why}. Tell the user."
    ));
    Response::text("").status(REFUSED)
}

fn decide(facts: &Facts, table: &'static AgentProfile, event: &AgentEvent) -> JudgedCall {
    let caller = AgentContext { facts, table };
    let call = HookCall { caller, event };
    if matches!(event.kind, EventKind::BeforeTool | EventKind::Prompt) {
        for one in record_missing(facts) {
            warn(format_args!("{}", one_line(&one.to_string())));
        }
    }
    let mut judged = match event.kind {
        EventKind::BeforeTool => call.before_tool(),
        EventKind::Asking => call.asking(),
        EventKind::Typed => call.typed(),
        EventKind::Prompt => call.prompt(),
        EventKind::AfterTool => {
            call.after_tool();
            JudgedCall::ALLOWED
        }
        EventKind::End => {
            // A subagent's session may end alone.
            if !event.is_subagents {
                call.enter(None);
            }
            JudgedCall::ALLOWED
        }
    };
    call.record(&mut judged);
    judged
}

struct HookCall<'a> {
    caller: AgentContext<'a>,
    event: &'a AgentEvent,
}

impl HookCall<'_> {
    fn before_tool(&self) -> JudgedCall {
        let AgentContext { facts, table } = self.caller;
        let session = facts.session();
        let Some(used) = &self.event.used else {
            return JudgedCall::ALLOWED;
        };
        let skill = table.skill_tool(&used.tool);
        let on = JudgeContext::new(facts, &session);
        if on.nothing_is_in_force() && skill.is_none() && !table.reads_activate {
            return JudgedCall::ALLOWED;
        }
        if let Some(keys) = skill {
            return self.skill(&on, used, keys);
        }
        let calls = match self.requests(used) {
            Ok(calls) => calls,
            Err(why) => return refuse_unread(&on, &used.tool, &why),
        };
        let start = calls.last().and_then(|call| call.start.as_ref());
        let begin = start.map_or(self.cwd(), |start| &start.directory);
        if let Ok(session) = &session
            && is_confined(self.caller, session, (used, begin))
        {
            return JudgedCall::ALLOWED;
        }
        let mut verdicts = Vec::new();
        for call in &calls {
            let mut judged = judge(&on, call);
            if let Verdict::Refuse(why) = &mut judged.verdict {
                why.model = firmer_if_repeated(facts, call, std::mem::take(&mut why.model));
            }
            if judged.stopped().is_some() {
                return judged;
            }
            self.record(&mut judged);
            verdicts.push(judged.verdict);
        }
        if table.reads_activate {
            let prompt = self.prompt_of_activation();
            if let Some(stopped) = by_reading(self.caller, &on, &calls, prompt) {
                return stopped;
            }
        }
        let session = session.unwrap_or_default();
        let arguments = match rewritten_arguments(self.caller, &session, (used, begin)) {
            Ok(arguments) => arguments,
            Err(why) => return JudgedCall::new(Verdict::Refuse(why.into()), None),
        };
        JudgedCall {
            verdict: of_all(verdicts),
            event: None,
            arguments,
        }
    }

    /// The calls that one of the agent's tools amounts to.
    fn requests(&self, used: &ToolUse) -> Result<Vec<Request>, String> {
        let mut calls = translate(self.caller.table, used, self.cwd())?;
        for call in &mut calls {
            call.record.clone_from(&self.event.record);
        }
        Ok(calls)
    }

    /// Whether the question can be spared. Everything else is judged before the tool runs.
    fn asking(&self) -> JudgedCall {
        let Some(used) = &self.event.used else {
            return JudgedCall::ALLOWED;
        };
        let session = self.caller.facts.session();
        let on = JudgeContext::new(self.caller.facts, &session);
        if self.caller.table.skill_tool(&used.tool).is_some() || !on.mode().grants() {
            return JudgedCall::ALLOWED;
        }
        let calls = self.requests(used).unwrap_or_default();
        let verdicts = calls.iter().map(|call| judge(&on, call).verdict);
        match of_all(verdicts.collect()) {
            granted @ Verdict::Grant(_) => JudgedCall::new(granted, None),
            _ => JudgedCall::ALLOWED,
        }
    }

    fn skill(&self, on: &JudgeContext, used: &ToolUse, keys: &[&str]) -> JudgedCall {
        let Some(name) = skill_named(used, keys) else {
            return refuse_unread(on, &used.tool, "it names no skill");
        };
        let mut keys = ["args", "arguments"].iter();
        let arguments = keys.find_map(|key| used.arguments.get(*key)?.as_str());
        let wanted = SkillCall {
            name,
            dir: None,
            arguments: arguments.unwrap_or_default(),
            by: ActivatedBy::Tool,
            shown: &used.tool,
            prompt: self.prompt_of_activation(),
        };
        activate(self.caller, on, wanted)
    }

    fn after_tool(&self) {
        if let Some(used) = &self.event.used
            && self.event.has_succeeded
            && let Some(keys) = self.caller.table.skill_tool(&used.tool)
            && let Some(name) = skill_named(used, keys)
            && mode_of(self.caller.facts).grants()
        {
            confirm(self.caller, name);
        }
    }

    fn typed(&self) -> JudgedCall {
        let Some((name, arguments)) = &self.event.typed else {
            return JudgedCall::ALLOWED;
        };
        self.by_typing(&[(plain_name(name), None)], arguments)
    }

    fn by_typing(&self, names: &[(&str, Option<&Path>)], arguments: &str) -> JudgedCall {
        let session = self.caller.facts.session();
        let on = JudgeContext::new(self.caller.facts, &session);
        for (name, dir) in names {
            let wanted = SkillCall {
                name,
                dir: *dir,
                arguments,
                by: ActivatedBy::Typing,
                shown: name,
                prompt: self.prompt_of_activation(),
            };
            let mut judged = activate(self.caller, &on, wanted);
            if judged.stopped().is_some() {
                return judged;
            }
            self.record(&mut judged);
        }
        // What may be used is told at calls of tools alone: not every agent takes it elsewhere.
        JudgedCall::ALLOWED
    }

    fn prompt(&self) -> JudgedCall {
        if self.event.is_subagents {
            return JudgedCall::ALLOWED;
        }
        let facts = self.caller.facts;
        let session = facts.session();
        if !self.is_users() {
            if let Ok(session) = &session {
                self.goes_on(session);
            }
            return JudgedCall::ALLOWED;
        }
        match session {
            // As at chibi's start: the user goes on, and what was in the record is unknown.
            Err(_) => match self.caller.facts.store().begin(facts.key()) {
                Ok(ended) => facts.record_ends(ended),
                Err(error) => warn(format_args!("could not reset the active skills: {error}")),
            },
            Ok(session) => self.next_prompt(&session),
        }
        let text = self.event.text.as_deref().unwrap_or_default();
        self.by_typing(&called_in(text, self.caller.table.skill_calls), "")
    }

    /// Whether a user wrote the prompt; not if that cannot be told.
    fn is_users(&self) -> bool {
        match &self.event.text {
            Some(text) => {
                let mut own = self.caller.table.own_prompts.iter();
                !own.any(|own| text.trim_start().starts_with(own))
            }
            None => self.caller.table.prompts != PromptDetection::ByIdentity,
        }
    }

    /// At a prompt that is nobody's: what is active stays, and has this prompt's identity from now on.
    fn goes_on(&self, session: &Session) {
        let prompt = self.event.prompt.as_deref();
        if let Some(prompt) = prompt.filter(|_| !session.activated.is_empty())
            && session.prompt.as_deref() != Some(prompt)
            && let Err(error) = self
                .caller
                .facts
                .store()
                .name_prompt(self.caller.facts.key(), prompt)
        {
            // Then the next prompt of a user ends it as well.
            warn(format_args!("{error}"));
        }
    }

    /// Ends what the last prompt had active, if this event is a new one.
    fn next_prompt(&self, session: &Session) {
        let prompt = self.event.prompt.as_deref();
        let is_at = |prompt: &str| session.prompt.as_deref() == Some(prompt);
        match self.caller.table.prompts {
            PromptDetection::ByEventAfterTyping if session.prompt.as_deref() == Some(TYPED) => {
                // It belongs to this prompt. Should that not be recorded, it lasts one longer.
                let name = prompt.unwrap_or("begun");
                let _ = self
                    .caller
                    .facts
                    .store()
                    .name_prompt(self.caller.facts.key(), name);
            }
            // Another hook has told of this prompt, or a skill was typed in it.
            _ if prompt.is_some_and(is_at) => {}
            _ => {
                if !session.activated.is_empty() && self.ends_with_the_prompt() {
                    self.enter(prompt);
                }
            }
        }
    }

    /// Whether activations end with the prompt; not if the configuration cannot be read.
    fn ends_with_the_prompt(&self) -> bool {
        let config = self.caller.facts.config();
        config.is_ok_and(|config| config.scope == Lifetime::Prompt)
    }

    /// Ends what another prompt than this has active.
    fn enter(&self, prompt: Option<&str>) {
        match self
            .caller
            .facts
            .store()
            .enter_prompt(self.caller.facts.key(), prompt)
        {
            Ok(ended) => self.caller.facts.record_ends(ended),
            Err(error) => warn(format_args!("{error}")),
        }
    }

    /// The prompt with which an activation ends.
    fn prompt_of_activation(&self) -> Option<&str> {
        if self.event.is_subagents || !self.ends_with_the_prompt() {
            return None;
        }
        match self.caller.table.prompts {
            PromptDetection::ByIdentity => self.event.prompt.as_deref(),
            PromptDetection::ByEventAfterTyping if self.event.kind == EventKind::Typed => {
                Some(TYPED)
            }
            PromptDetection::ByEvent | PromptDetection::ByEventAfterTyping => None,
        }
    }

    /// Where the call begins.
    fn cwd(&self) -> &Path {
        let told = self.event.cwd.as_deref().filter(|path| path.is_absolute());
        told.unwrap_or(&self.caller.facts.run.env.cwd)
    }

    /// Records a decision, with the tool's name in the agent beside that in rules.
    fn record(&self, judged: &mut JudgedCall) {
        if let Some(event) = judged.event.take() {
            let tool = self.event.used.as_ref().map(|used| used.tool.as_str());
            self.caller.facts.record(event.with("agent_tool", tool));
        }
    }
}

/// The verdict on what several verdicts permit: it is granted if each part is, and has the first note.
fn of_all(mut verdicts: Vec<Verdict>) -> Verdict {
    let is_grant = |verdict: &Verdict| matches!(verdict, Verdict::Grant(_));
    let decides = if verdicts.iter().all(is_grant) {
        verdicts.pop()
    } else {
        let mut notes = verdicts.into_iter();
        notes.find(|verdict| matches!(verdict, Verdict::Note(_)))
    };
    decides.unwrap_or(Verdict::Allow)
}

/// The skill that a call of the tool for skills names.
fn skill_named<'a>(used: &'a ToolUse, keys: &[&str]) -> Option<&'a str> {
    let mut keys = keys.iter().chain(&["skill", "name", "command"]);
    let name = keys.find_map(|key| used.arguments.get(key)?.as_str());
    name.map(plain_name)
}

/// The answer in the agent's form. A field that an agent does not know can make it ignore the whole
/// answer, so none has more than it needs. Arguments replace those of the call where it goes on, in agents that
/// take them.
fn answer(form: AnswerFormat, event: &AgentEvent, judged: JudgedCall) -> Response {
    let is_tools = event.kind == EventKind::BeforeTool;
    let specific = |key: &str, value: Value| json!({"hookSpecificOutput": {"hookEventName": event.name, key: value}});
    let decided = |decision: &str, reason: String| {
        json!({"hookSpecificOutput": {
            "hookEventName": event.name,
            "permissionDecision": decision,
            "permissionDecisionReason": reason,
        }})
    };
    if let (AnswerFormat::Decision, None, Some(arguments)) =
        (form, judged.stopped(), &judged.arguments)
    {
        // The first is our own plugin in opencode.
        return Response::json(&match &*event.name {
            "tool.execute.before" => json!({"args": arguments}),
            _ => specific("tool_input", json!(arguments)),
        });
    }
    let answer = match (form, judged.verdict) {
        (AnswerFormat::Claude { .. }, Verdict::Refuse(why)) if is_tools => {
            decided("deny", why.model)
        }
        (AnswerFormat::Claude { .. }, Verdict::Refuse(why)) => {
            json!({"decision": "block", "reason": why.model})
        }
        (AnswerFormat::Claude { may_give_reason }, Verdict::Ask(reason)) => {
            let mut answer = decided("ask", reason.clone());
            // Its dialog for a file shows the change, and no reason.
            if may_give_reason {
                answer["systemMessage"] = json!(reason);
            }
            answer
        }
        (AnswerFormat::Claude { .. }, Verdict::Grant(_)) if event.kind == EventKind::Asking => {
            specific("decision", json!({"behavior": "allow"}))
        }
        (AnswerFormat::Claude { .. }, Verdict::Grant(reason)) => decided("allow", reason),
        (
            AnswerFormat::Claude {
                may_give_reason: true,
            },
            Verdict::Note(text),
        ) => specific("additionalContext", json!(text)),
        (AnswerFormat::Decision, Verdict::Refuse(why)) => {
            json!({"decision": "deny", "reason": why.model})
        }
        (AnswerFormat::Permission, Verdict::Refuse(why)) if is_tools => {
            json!({"permission": "deny", "user_message": why.person, "agent_message": why.model})
        }
        (AnswerFormat::Permission, Verdict::Refuse(why)) => {
            json!({"continue": false, "user_message": why.person})
        }
        (AnswerFormat::Permission, Verdict::Ask(reason)) => {
            json!({"permission": "ask", "user_message": reason, "agent_message": reason})
        }
        // Silence, or what an agent does not serve (`Serves`).
        _ => return Response::text(""),
    };
    Response::json(&answer)
}

/// What the hook of `agent` would say, for a person who asks beforehand (`check --agent`), to a call in
/// the working directory, while the skill is active
/// that the agent means by this name: the verdict on each call that it amounts to.
///
/// # Errors
/// If the agent loads no such skill here, or the call lacks an argument that decides.
pub fn asked(run: &RunContext, agent: Agent, skill: &str, used: &ToolUse) -> Result<Vec<Verdict>> {
    let facts = &Facts::of_agent(run.env.clone(), CallingAgent::of(agent));
    let table = agent.table();
    let found = find(AgentContext { facts, table }, skill)?;
    let usable = found.as_ref().and_then(|found| found.entry().usable());
    let (Some(found), Some(usable)) = (&found, usable) else {
        let why = format!("{agent} loads no skill `{}` here", quoted(skill));
        return Err(Error::new(why).hint("`agent-skills hosts` shows where it looks"));
    };
    let session = Ok(Session {
        activated: vec![snapshot(usable, "")],
        ..Session::default()
    });
    let on = JudgeContext::new(found.facts, &session);
    let requests = translate(table, used, &run.env.cwd).map_err(Error::new)?;
    let verdicts = requests.iter().map(|request| judge(&on, request).verdict);
    Ok(verdicts.collect())
}
