//! One call of an agent's hook, from its data to its answer.

use std::path::Path;

use serde_json::{Map, Value};

use super::activation::{By, Wanted, activate, by_reading, called_in, confirm};
use super::answers::{Verdict, answer};
use super::confine::{handed_back, is_confined};
use super::event::{self, Event, plain_name};
use super::judge::{Judge, Judged, mode};
use super::origin::{context, leaked, note_seen};
use super::translate::translate;
use crate::catalog::write_events;
use crate::facts::Facts;
use crate::host::Agent;
use crate::host::agent::table::{Does, Moment, Prompts};
use crate::policy::Lifetime;
use crate::protocol::closed::REFUSED;
use crate::protocol::missing;
use crate::protocol::{Input, Response, ToolUse};
use crate::run_context::Calling;
use crate::session::{Session, Unreadable};
use crate::skill::one_line;
use crate::sys::warn;

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
    match read(agent, data) {
        Err(why) => refused(why),
        // An event that does not matter.
        Ok((agent, None)) => {
            let env = std::mem::take(&mut input.env);
            let calling = Calling {
                agent,
                session: String::new(),
                mode,
                plugins: Vec::new(),
                model: None,
                version: None,
            };
            let facts = leaked(env, calling);
            Response::text("").afterwards(move || note_seen(facts, agent))
        }
        Ok((agent, Some(event))) => {
            let facts = context(std::mem::take(&mut input.env), agent, mode, &event);
            let verdict = decide(facts, agent, &event);
            answer(agent.table().form, &event, verdict).afterwards(move || {
                write_events(facts);
                note_seen(facts, agent);
            })
        }
    }
}

fn read(agent: Agent, data: Map<String, Value>) -> Result<(Agent, Option<Event>), &'static str> {
    let agent = event::caller(agent, &data);
    Ok((agent, Event::read(agent.table(), data)?))
}

fn refused(why: &str) -> Response {
    warn(format_args!(
        "this call is not allowed, because it cannot be checked: {why}. Tell the user."
    ));
    Response::text("").status(REFUSED)
}

fn decide(facts: &Facts, agent: Agent, event: &Event) -> Verdict {
    let Some(calling) = &facts.run.agent else {
        return Verdict::Silent;
    };
    let call = Hook {
        facts,
        agent,
        calling,
        event,
    };
    if matches!(event.moment, Moment::BeforeTool | Moment::Prompt) {
        for one in missing::record(facts) {
            warn(format_args!("{}", one_line(&one.to_string())));
        }
    }
    match event.moment {
        Moment::BeforeTool => call.before_tool(),
        Moment::Asking => call.asking(),
        Moment::AfterTool => call.after_tool(),
        Moment::Typed => call.typed(),
        Moment::Prompt => call.prompt(),
        Moment::End => {
            // A subagent's session may end alone.
            if !event.is_subagents {
                call.end_all();
            }
            Verdict::Silent
        }
    }
}

struct Hook<'a> {
    facts: &'a Facts,
    agent: Agent,
    calling: &'a Calling,
    event: &'a Event,
}

impl Hook<'_> {
    fn before_tool(&self) -> Verdict {
        let (facts, table) = (self.facts, self.agent.table());
        let session = self.session();
        let Some(used) = &self.event.used else {
            return Verdict::Silent;
        };
        let skill = match table.does(&used.tool) {
            Some(Does::Skill(key)) => Some(key),
            _ => None,
        };
        let is_idle = session.as_ref().is_ok_and(|it| it.activated.is_empty())
            && facts
                .policies()
                .is_ok_and(|all| all.denied_tools().next().is_none() && !all.require_any());
        if is_idle && skill.is_none() && !table.reads_activate {
            return Verdict::Silent;
        }
        let judge = Judge::new(facts, self.calling, &session).of(self.event);
        if let Some(key) = skill {
            return self.record(self.skill(&judge, used, key));
        }
        let calls = match translate(table, used, self.cwd()) {
            Ok(calls) => calls,
            Err(why) => return self.record(judge.unreadable(&used.tool, &why)),
        };
        let begin = calls
            .last()
            .map_or(self.cwd(), |call| &call.directory)
            .to_owned();
        if let Ok(session) = &session
            && is_confined(facts, table, session, (used, &begin))
        {
            return Verdict::Silent;
        }
        let mut allowed: Option<String> = None;
        let mut all_allowed = true;
        for call in &calls {
            match self.record(judge.call(&used.tool, call)) {
                Verdict::Silent => all_allowed = false,
                Verdict::Allowed(why) => allowed = Some(why),
                stopped => return stopped,
            }
        }
        if table.reads_activate {
            let stopped = by_reading(
                facts,
                self.calling,
                &judge,
                &calls,
                self.prompt_of_activation(),
            );
            if let Some(stopped) = stopped {
                return self.record(stopped);
            }
        }
        let session = session.unwrap_or_default();
        let handed = handed_back(facts, table, &session, (used, &begin));
        match (handed, allowed.filter(|_| all_allowed)) {
            (Err(why), _) => Verdict::Denied(why.into()),
            (_, Some(why)) => Verdict::Allowed(why),
            (Ok(handed), None) => handed.map_or(Verdict::Silent, Verdict::With),
        }
    }

    /// Whether the question can be spared. Everything else is judged before the tool runs.
    fn asking(&self) -> Verdict {
        let (facts, table) = (self.facts, self.agent.table());
        let Some(used) = &self.event.used else {
            return Verdict::Silent;
        };
        let is_skill = matches!(table.does(&used.tool), Some(Does::Skill(_)));
        if is_skill || !mode(facts, self.calling).grants() {
            return Verdict::Silent;
        }
        let session = self.session();
        let judge = Judge::new(facts, self.calling, &session);
        let mut spared = Verdict::Silent;
        for call in translate(table, used, self.cwd()).unwrap_or_default() {
            spared = judge.call(&used.tool, &call).0;
            if !matches!(spared, Verdict::Allowed(_)) {
                return Verdict::Silent;
            }
        }
        spared
    }

    fn skill(&self, judge: &Judge, used: &ToolUse, key: &str) -> Judged {
        let text = |key: &str| used.arguments.get(key).and_then(Value::as_str);
        let name = [key, "skill", "name", "command"]
            .iter()
            .find_map(|key| text(key));
        let Some(name) = name.map(plain_name) else {
            return judge.unreadable(&used.tool, "it names no skill");
        };
        let wanted = Wanted {
            name,
            dir: None,
            arguments: text("args")
                .or_else(|| text("arguments"))
                .unwrap_or_default(),
            by: By::Tool,
            shown: &used.tool,
            prompt: self.prompt_of_activation(),
        };
        activate(self.facts, self.calling, judge, wanted)
    }

    fn after_tool(&self) -> Verdict {
        let Some(used) = &self.event.used else {
            return Verdict::Silent;
        };
        if self.event.has_succeeded
            && mode(self.facts, self.calling).grants()
            && let Some(Does::Skill(key)) = self.agent.table().does(&used.tool)
            && let Some(name) = used.arguments.get(key).and_then(Value::as_str)
        {
            confirm(self.facts, self.calling, plain_name(name));
        }
        Verdict::Silent
    }

    fn typed(&self) -> Verdict {
        let Some((name, arguments)) = &self.event.typed else {
            return Verdict::Silent;
        };
        self.by_typing(&[(plain_name(name), None)], arguments)
    }

    fn by_typing(&self, names: &[(&str, Option<&Path>)], arguments: &str) -> Verdict {
        let session = self.session();
        let judge = Judge::new(self.facts, self.calling, &session);
        for (name, dir) in names {
            let wanted = Wanted {
                name,
                dir: *dir,
                arguments,
                by: By::Typing,
                shown: name,
                prompt: self.prompt_of_activation(),
            };
            let verdict = self.record(activate(self.facts, self.calling, &judge, wanted));
            if let Verdict::Denied(_) | Verdict::Asked(_) = verdict {
                return verdict;
            }
        }
        // What may be used is told at calls of tools alone: not every agent takes it elsewhere.
        Verdict::Silent
    }

    fn prompt(&self) -> Verdict {
        if self.event.is_subagents {
            return Verdict::Silent;
        }
        let (facts, table) = (self.facts, self.agent.table());
        let (store, key) = (facts.store(), facts.key());
        let session = store.session(&key);
        if !self.is_users() {
            if let Ok(session) = &session {
                self.goes_on(session);
            }
            return Verdict::Silent;
        }
        match session {
            // As at chibi's start: the user goes on, and what was in the record is unknown.
            Err(_) => match store.begin(&key) {
                Ok(ended) => facts.record_ends(ended),
                Err(error) => warn(format_args!("could not reset the active skills: {error}")),
            },
            Ok(session) => self.next_prompt(&session),
        }
        let text = self.event.text.as_deref().unwrap_or_default();
        self.by_typing(&called_in(text, table.typed), "")
    }

    /// Whether a user wrote the prompt; not if that cannot be told.
    fn is_users(&self) -> bool {
        let table = self.agent.table();
        match &self.event.text {
            Some(text) => {
                let text = text.trim_start();
                !table.own_prompts.iter().any(|own| text.starts_with(own))
            }
            None => table.prompts != Prompts::ByIdentity,
        }
    }

    /// At a prompt that is nobody's: what is active stays, and has this prompt's identity from now on.
    fn goes_on(&self, session: &Session) {
        let prompt = self.event.prompt.as_deref();
        if let Some(prompt) = prompt.filter(|_| !session.activated.is_empty())
            && session.prompt.as_deref() != Some(prompt)
            && let Err(error) = self.facts.store().name_prompt(&self.facts.key(), prompt)
        {
            // Then the next prompt of a user ends it as well.
            warn(format_args!("{error}"));
        }
    }

    /// Ends what the last prompt had active, if this event is a new one.
    fn next_prompt(&self, session: &Session) {
        let (store, key) = (self.facts.store(), self.facts.key());
        let prompt = self.event.prompt.as_deref();
        let is_at = |prompt: &str| session.prompt.as_deref() == Some(prompt);
        match self.agent.table().prompts {
            Prompts::ByEventAfterTyping if session.prompt.as_deref() == Some(TYPED) => {
                // It belongs to this prompt. Should that not be recorded, it lasts one longer.
                let _ = store.name_prompt(&key, prompt.unwrap_or("begun"));
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

    fn session(&self) -> Result<Session, Unreadable> {
        self.facts.store().session(&self.facts.key())
    }

    /// Whether activations end with the prompt; not if the configuration cannot be read.
    fn ends_with_the_prompt(&self) -> bool {
        let config = self.facts.config();
        config.is_ok_and(|config| config.scope == Lifetime::Prompt)
    }

    fn end_all(&self) {
        self.enter(None);
    }

    /// Ends what another prompt than this has active.
    fn enter(&self, prompt: Option<&str>) {
        match self.facts.store().enter_prompt(&self.facts.key(), prompt) {
            Ok(ended) => self.facts.record_ends(ended),
            Err(error) => warn(format_args!("{error}")),
        }
    }

    /// The prompt with which an activation ends.
    fn prompt_of_activation(&self) -> Option<&str> {
        if self.event.is_subagents || !self.ends_with_the_prompt() {
            return None;
        }
        match self.agent.table().prompts {
            Prompts::ByIdentity => self.event.prompt.as_deref(),
            Prompts::ByEventAfterTyping if self.event.moment == Moment::Typed => Some(TYPED),
            Prompts::ByEvent | Prompts::ByEventAfterTyping => None,
        }
    }

    /// Where the call begins.
    fn cwd(&self) -> &Path {
        let told = self.event.cwd.as_deref().filter(|path| path.is_absolute());
        told.unwrap_or(&self.facts.run.env.cwd)
    }

    /// Records a decision, with the tool's name in the agent beside that in rules.
    fn record(&self, (verdict, event): Judged) -> Verdict {
        if let Some(event) = event {
            let tool = self.event.used.as_ref().map(|used| used.tool.as_str());
            self.facts.record(event.with("agent_tool", tool));
        }
        verdict
    }
}
