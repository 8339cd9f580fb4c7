//! One call of an agent's hook, from its data to its answer.

use std::borrow::Cow;
use std::path::Path;

use serde_json::{Map, Value};

use super::activation::{By, Wanted, activate, by_reading, called_in, confirm};
use super::answers::{Answer, answer};
use super::confine::{handed_back, is_confined};
use super::event::{self, Event, plain_name};
use super::origin::{context, leaked, note_seen};
use super::translate::translate;
use crate::catalog::write_events;
use crate::facts::Facts;
use crate::host::Agent;
use crate::host::agent::table::{Does, Moment, Prompts};
use crate::policy::Lifetime;
use crate::protocol::closed::REFUSED;
use crate::protocol::judge::{
    Grounds, HostRow, Judged, Request, Verdict, Why, firmer_if_repeated, judge, refuse_unread,
};
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

fn decide(facts: &Facts, agent: Agent, event: &Event) -> Answer {
    let Some(calling) = &facts.run.agent else {
        return Answer::SILENCE;
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
        Moment::Asking => Answer::Verdict(call.asking()),
        Moment::AfterTool => {
            call.after_tool();
            Answer::SILENCE
        }
        Moment::Typed => Answer::Verdict(call.typed()),
        Moment::Prompt => Answer::Verdict(call.prompt()),
        Moment::End => {
            // A subagent's session may end alone.
            if !event.is_subagents {
                call.end_all();
            }
            Answer::SILENCE
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
    fn before_tool(&self) -> Answer {
        let (facts, table) = (self.facts, self.agent.table());
        let session = self.session();
        let Some(used) = &self.event.used else {
            return Answer::SILENCE;
        };
        let skill = match table.does(&used.tool) {
            Some(Does::Skill(key)) => Some(key),
            _ => None,
        };
        let on = Grounds::new(facts, &session);
        if on.nothing_is_in_force() && skill.is_none() && !table.reads_activate {
            return Answer::SILENCE;
        }
        if let Some(key) = skill {
            return Answer::Verdict(self.record(self.skill(&on, used, key)));
        }
        let calls = match self.requests(used) {
            Ok(calls) => calls,
            Err(why) => return Answer::Verdict(self.record(refuse_unread(&on, &used.tool, &why))),
        };
        let begins = calls.last().and_then(|call| call.begins.as_ref());
        let begin = begins.map_or(self.cwd(), |begins| &begins.directory);
        if let Ok(session) = &session
            && is_confined(facts, table, session, (used, begin))
        {
            return Answer::SILENCE;
        }
        let (mut granted, mut note) = (None, None);
        let mut all_granted = true;
        for call in &calls {
            match self.record(self.firmly(judge(&on, call), call)) {
                Verdict::Grant(why) => granted = Some(why),
                Verdict::Allow => all_granted = false,
                Verdict::Note(text) => {
                    all_granted = false;
                    note.get_or_insert(text);
                }
                stopped => return Answer::Verdict(stopped),
            }
        }
        if table.reads_activate {
            let prompt = self.prompt_of_activation();
            if let Some(stopped) = by_reading(facts, self.calling, &on, &calls, prompt) {
                return Answer::Verdict(self.record(stopped));
            }
        }
        let told = note.map_or(Verdict::Allow, Verdict::Note);
        let session = session
            .as_ref()
            .map_or_else(|_| Cow::default(), Cow::Borrowed);
        let handed = handed_back(facts, table, &session, (used, begin));
        match (handed, granted.filter(|_| all_granted)) {
            (Err(why), _) => Answer::Verdict(Verdict::Refuse(why.into())),
            (_, Some(why)) => Answer::Verdict(Verdict::Grant(why)),
            (Ok(handed), None) => handed.map_or(Answer::Verdict(told), Answer::With),
        }
    }

    /// The calls that one of the agent's tools amounts to.
    fn requests(&self, used: &ToolUse) -> Result<Vec<Request>, String> {
        let mut calls = translate(self.agent.table(), used, self.cwd())?;
        for call in &mut calls {
            call.record.clone_from(&self.event.record);
        }
        Ok(calls)
    }

    /// The same verdict; a refusal that is given again, in firmer words.
    fn firmly(&self, judged: Judged, call: &Request) -> Judged {
        match judged.verdict {
            Verdict::Refuse(why) => Judged {
                verdict: Verdict::Refuse(Why {
                    model: firmer_if_repeated(self.facts, call, why.model),
                    ..why
                }),
                ..judged
            },
            verdict => Judged { verdict, ..judged },
        }
    }

    /// Whether the question can be spared. Everything else is judged before the tool runs.
    fn asking(&self) -> Verdict {
        let (facts, table) = (self.facts, self.agent.table());
        let Some(used) = &self.event.used else {
            return Verdict::Allow;
        };
        let is_skill = matches!(table.does(&used.tool), Some(Does::Skill(_)));
        let session = self.session();
        let on = Grounds::new(facts, &session);
        if is_skill || !on.mode().grants() {
            return Verdict::Allow;
        }
        let mut spared = Verdict::Allow;
        for call in self.requests(used).unwrap_or_default() {
            spared = judge(&on, &call).verdict;
            if !matches!(spared, Verdict::Grant(_)) {
                return Verdict::Allow;
            }
        }
        spared
    }

    fn skill(&self, on: &Grounds, used: &ToolUse, key: &str) -> Judged {
        let text = |key: &str| used.arguments.get(key).and_then(Value::as_str);
        let name = [key, "skill", "name", "command"]
            .iter()
            .find_map(|key| text(key));
        let Some(name) = name.map(plain_name) else {
            return refuse_unread(on, &used.tool, "it names no skill");
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
        activate(self.facts, self.calling, on, wanted)
    }

    fn after_tool(&self) {
        if let Some(used) = &self.event.used
            && self.event.has_succeeded
            && let Some(Does::Skill(key)) = self.agent.table().does(&used.tool)
            && let Some(name) = used.arguments.get(key).and_then(Value::as_str)
            && HostRow::of(self.facts).mode.grants()
        {
            confirm(self.facts, self.calling, plain_name(name));
        }
    }

    fn typed(&self) -> Verdict {
        let Some((name, arguments)) = &self.event.typed else {
            return Verdict::Allow;
        };
        self.by_typing(&[(plain_name(name), None)], arguments)
    }

    fn by_typing(&self, names: &[(&str, Option<&Path>)], arguments: &str) -> Verdict {
        let session = self.session();
        let on = Grounds::new(self.facts, &session);
        for (name, dir) in names {
            let wanted = Wanted {
                name,
                dir: *dir,
                arguments,
                by: By::Typing,
                shown: name,
                prompt: self.prompt_of_activation(),
            };
            let judged = activate(self.facts, self.calling, &on, wanted);
            let is_stopped = judged.stopped().is_some();
            let verdict = self.record(judged);
            if is_stopped {
                return verdict;
            }
        }
        // What may be used is told at calls of tools alone: not every agent takes it elsewhere.
        Verdict::Allow
    }

    fn prompt(&self) -> Verdict {
        if self.event.is_subagents {
            return Verdict::Allow;
        }
        let (facts, table) = (self.facts, self.agent.table());
        let (store, key) = (facts.store(), facts.key());
        let session = store.session(key);
        if !self.is_users() {
            if let Ok(session) = &session {
                self.goes_on(session);
            }
            return Verdict::Allow;
        }
        match session {
            // As at chibi's start: the user goes on, and what was in the record is unknown.
            Err(_) => match store.begin(key) {
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
            && let Err(error) = self.facts.store().name_prompt(self.facts.key(), prompt)
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
                let _ = store.name_prompt(key, prompt.unwrap_or("begun"));
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
        self.facts.store().session(self.facts.key())
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
        match self.facts.store().enter_prompt(self.facts.key(), prompt) {
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
    fn record(&self, judged: Judged) -> Verdict {
        if let Some(event) = judged.event {
            let tool = self.event.used.as_ref().map(|used| used.tool.as_str());
            self.facts.record(event.with("agent_tool", tool));
        }
        judged.verdict
    }
}
