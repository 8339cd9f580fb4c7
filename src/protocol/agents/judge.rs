//! The decision on one call of an agent, in the agent's mode.

use std::path::Path;
use std::rc::Rc;

use super::answers::{Verdict, Why};
use super::own;
use super::translate::OurCall;
use super::typing::{BY_TYPING, asks_for_terminal};
use crate::activation::Enforcement;
use crate::error::Error;
use crate::facts::Facts;
use crate::host::Agent;
use crate::host::agent::Mode;
use crate::permission::{
    Call, Decision, OurTool, Outcome, Reason, Refusal, decide, decide_unreadable_state,
};
use crate::policy::{Config, Event, OnDisk, Policies, call_event, decision_of};
use crate::protocol::missing;
use crate::run_context::Calling;
use crate::session::{Seen, Session, Unreadable};
use crate::sys::EntryName;

mod proof;

const REFUSALS: EntryName = EntryName::from_static("refusals");

/// The decision on one call, and what to record about it.
pub type Judged = (Verdict, Option<Event>);

/// Decides on the calls of a session.
pub struct Judge<'a> {
    facts: &'a Facts,
    agent: Agent,
    mode: Mode,
    session: &'a Result<Session, Unreadable>,
    policies: crate::error::Result<Rc<Policies>>,
    config: crate::error::Result<Rc<Config>>,
    /// The missing skill without which only reading is allowed.
    lacking: Option<Error>,
    /// Where the agent recorded the call, and under which identity.
    record: (Option<&'a Path>, Option<&'a str>),
}

/// The mode in which an agent's calls are decided: the command's, else the configuration's. Where a
/// policy demands that skills be restricted, it does that at least.
pub fn mode(facts: &Facts, calling: &Calling) -> Mode {
    let config = facts.config();
    let set = config
        .as_ref()
        .ok()
        .and_then(|config| config.hosts.get(&calling.agent)?.mode);
    let wanted = calling.mode.or(set).unwrap_or_default();
    let can = calling.agent.table().serves;
    let mode = match wanted {
        Mode::Grant | Mode::Both if !can.grant => Mode::Restrict,
        Mode::Ask if !can.ask => Mode::Restrict,
        mode => mode,
    };
    let demanded = facts
        .policies()
        .is_ok_and(|policies| policies.demand_restrict());
    if demanded || config.is_err() {
        mode.at_least_restricting()
    } else {
        mode
    }
}

impl<'a> Judge<'a> {
    /// What decides the calls of `session`.
    pub fn new(
        facts: &'a Facts,
        calling: &Calling,
        session: &'a Result<Session, Unreadable>,
    ) -> Self {
        Self {
            facts,
            agent: calling.agent,
            mode: mode(facts, calling),
            session,
            policies: facts.policies(),
            config: facts.config(),
            lacking: missing::blocking(facts),
            record: (None, None),
        }
    }

    /// The same for the call of this event.
    #[must_use]
    pub fn of(self, event: &'a super::event::Event) -> Self {
        let (transcript, call) = &event.record;
        Self {
            record: (transcript.as_deref(), call.as_deref()),
            ..self
        }
    }

    /// The mode.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Decides on one of the calls that a call of the agent's tool `shown` amounts to.
    pub fn call(&self, shown: &str, call: &OurCall) -> Judged {
        self.decide(shown, call, None)
    }

    /// Decides on the activation of the skill in `dir`.
    pub fn activation(&self, shown: &str, name: &str, dir: &Path) -> Judged {
        let call = OurCall {
            tool: format!("skill_{name}"),
            arguments: serde_json::json!({}),
            directory: self.facts.run.env.cwd.clone(),
            is_mcp: false,
            persists: false,
            is_known: true,
        };
        self.decide(shown, &call, Some(OurTool::Skill { name, dir }))
    }

    /// Refuses a call that cannot be read, if anything is in force.
    pub fn unreadable(&self, shown: &str, why: &str) -> Judged {
        let is_free = self.lacking.is_none()
            && self
                .session
                .as_ref()
                .is_ok_and(|session| session.activated.is_empty())
            && self
                .policies
                .as_ref()
                .is_ok_and(|all| all.denied_tools().next().is_none());
        if is_free || !self.mode.restricts() {
            return (Verdict::Silent, None);
        }
        let text = format!(
            "`{shown}` is not allowed while a skill or policy restricts: {why}. Tell the user."
        );
        let event = Event::new("tool")
            .with("tool", shown)
            .with("decision", "blocked")
            .with("by", why);
        (Verdict::Denied(text.into()), Some(event))
    }

    fn decide(&self, shown: &str, our: &OurCall, ours: Option<OurTool>) -> Judged {
        let call = Call {
            tool: &our.tool,
            arguments: &our.arguments,
            ours,
            meant: &[],
        };
        let policies = match &self.policies {
            Ok(policies) => policies,
            Err(error) => return closed(&call, shown, "the policy cannot be read", error),
        };
        if let Some(error) = &self.lacking {
            return closed(&call, shown, "a required skill is missing", error);
        }
        let session = match self.session {
            Ok(session) => session,
            Err(why) => {
                let decision = decide_unreadable_state(&call);
                let by = format!("unreadable state: {why}");
                return match decision.outcome {
                    Outcome::Blocked(refusal) => {
                        let refusal = refusal.in_agent(shown, Vec::new());
                        let event = call_event(&call, "blocked", &by);
                        (Verdict::Denied(denial(&refusal, false)), Some(event))
                    }
                    _ => (Verdict::Silent, None),
                };
            }
        };
        // A mistake in the configuration could hide what a policy requires.
        let is_whole = self.config.is_ok() || !policies.require_any();
        let is_idle = session.activated.is_empty() && policies.denied_tools().next().is_none();
        if is_idle && is_whole {
            return (Verdict::Silent, None);
        }
        let config = match &self.config {
            Ok(config) => config.clone(),
            Err(_) if session.activated.is_empty() && is_whole => Rc::default(),
            Err(error) => return closed(&call, shown, "the configuration cannot be read", error),
        };
        let mut session = session.clone();
        if our.is_mcp {
            session.mcp_tools.insert(our.tool.clone());
        }
        let enforcement = Enforcement::for_session(self.facts, &config, policies, &session)
            .begun_in(our.directory.clone(), our.persists)
            .about(policies, call.ours);
        let case = Case {
            judge: self,
            shown,
            our,
            call,
            session: &session,
        };
        if self.mode == Mode::Grant {
            case.granting(enforcement)
        } else {
            case.restricting(&enforcement)
        }
    }

    /// Whether the model could type into what a command starts without a further hook while a skill
    /// has a list.
    fn types_on(&self) -> bool {
        let has_list = self.session.as_ref().is_ok_and(|session| {
            let mut active = session.activated.iter();
            active.any(|skill| skill.allowed.is_some())
        });
        has_list && self.agent.table().types_unseen && asks_for_terminal(self.record)
    }
}

/// One call, with the session in which it is decided.
struct Case<'a> {
    judge: &'a Judge<'a>,
    shown: &'a str,
    our: &'a OurCall,
    call: Call<'a>,
    session: &'a Session,
}

impl Case<'_> {
    fn decided(&self, enforcement: &Enforcement) -> (Decision, Event) {
        let scope = enforcement.scope();
        let decision = decide(&scope, &self.call, &OnDisk);
        let event = decision_of(&scope, &self.call, &decision);
        (decision, event)
    }

    /// Denials alone stop a call; what the list grants goes on without a question.
    fn granting(&self, enforcement: Enforcement) -> Judged {
        let proven = self.proven(&enforcement);
        let entries = enforcement.entries();
        let never = self.never_allowed(&enforcement);
        let (decision, event) = self.decided(&enforcement.only_denying());
        match (decision.outcome, never, proven) {
            (Outcome::Blocked(refusal), ..) => self.refused(entries, refusal, event),
            (_, Some((refusal, event)), _) => self.refused(entries, refusal, event),
            (_, _, Some((why, event))) => (Verdict::Allowed(why), Some(event)),
            (_, _, None) => (Verdict::Silent, None),
        }
    }

    /// The refusal of what no list allows, in whatever mode: a change of a protected place, and a run
    /// of this program.
    fn never_allowed(&self, enforcement: &Enforcement) -> Option<(Refusal, Event)> {
        // `*` would lift the restriction, and the protection with it.
        let every_change = ["Bash", "Write", "Edit"].map(str::to_owned);
        let (decision, event) = self.decided(&enforcement.adding("", &every_change));
        let Outcome::Blocked(refusal) = decision.outcome else {
            return None;
        };
        let is_so = matches!(
            refusal.reason(),
            Reason::Protected { .. } | Reason::OurProgram
        );
        is_so.then_some((refusal, event))
    }

    fn restricting(&self, enforcement: &Enforcement) -> Judged {
        let (decision, event) = self.decided(enforcement);
        let Outcome::Blocked(refusal) = decision.outcome else {
            let is_command = self.our.arguments.get("command").is_some();
            if is_command && self.judge.types_on() && !self.uses_own_files() {
                let shown = self.shown;
                let text = format!(
                    "`{shown}` is not allowed with a terminal: what is typed into it later is not \
                     checked here. Run it without `tty`."
                );
                let event = event.with("decision", "blocked").with("by", BY_TYPING);
                return (Verdict::Denied(text.into()), Some(event));
            }
            let grants = self.judge.mode.grants();
            if let Some((why, event)) = grants.then(|| self.proven(enforcement)).flatten() {
                return (Verdict::Allowed(why), Some(event));
            }
            let event = (!self.session.activated.is_empty()).then_some(event);
            return (Verdict::Silent, event);
        };
        let is_unlisted = matches!(refusal.reason(), Reason::NotGranted { .. });
        if is_unlisted && self.call.ours.is_none() && self.uses_own_files() {
            let event = event.with("decision", "allowed");
            return (
                Verdict::Silent,
                Some(event.with("by", "the skill's own files")),
            );
        }
        if is_unlisted && self.judge.mode == Mode::Ask {
            // The person's yes must not undo what decides.
            if let Some((refusal, event)) = self.never_allowed(enforcement) {
                return self.refused(enforcement.entries(), refusal, event);
            }
            let refusal = refusal.in_agent(self.shown, enforcement.entries());
            return (
                Verdict::Asked(refusal.for_people()),
                Some(event.with("decision", "asked")),
            );
        }
        self.refused(enforcement.entries(), refusal, event)
    }

    fn uses_own_files(&self) -> bool {
        let home = self.judge.facts.run.env.home();
        own::uses_own_files(self.judge.agent.table(), self.session, self.our, home)
    }

    fn refused(&self, entries: Vec<String>, refusal: Refusal, event: Event) -> Judged {
        let refusal = refusal.in_agent(self.shown, entries);
        let message = refusal.message(false);
        let facts = self.judge.facts;
        let call = format!("{}\0{}\0{message}", facts.key().as_str(), self.shown);
        let repeated = Seen::at(facts.state(), REFUSALS).before(&call);
        (Verdict::Denied(denial(&refusal, repeated)), Some(event))
    }
}

fn denial(refusal: &Refusal, repeated: bool) -> Why {
    let next = match refusal.reason() {
        Reason::NotGranted { skill, .. } => {
            format!(" `agent-skills suggest {skill}` shows what its list lacks.")
        }
        _ => String::new(),
    };
    Why {
        model: refusal.message(repeated),
        person: refusal.for_people() + &next,
    }
}

/// Allows reading alone.
fn closed(call: &Call, shown: &str, what: &str, error: &crate::error::Error) -> Judged {
    if call.ours.is_none() && decide_unreadable_state(call).allows() {
        return (Verdict::Silent, None);
    }
    let message = format!("`{shown}` is not allowed while {what}: {error}. Tell the user.");
    (
        Verdict::Denied(message.into()),
        Some(call_event(call, "blocked", what)),
    )
}
