//! The decision on one call of a tool, for every host. A door makes a [`Request`] of the host's call and
//! the host's answer of the verdict; what is decided, and in which order, stands here alone.

mod meaning;
mod own_files;
mod request;

use std::io::{Seek, SeekFrom};
use std::rc::Rc;

use crate::host::tools;
use crate::policy::{
    CONFIGURATION, Config, Missing, MissingSkill, Policies, ScriptReads, decision_of,
    may_have_always_on,
};
use crate::protocol::called_skill::resolve;
use crate::protocol::prelude::*;
use crate::sys::text::nearest;
use skill_permission::vocabulary;

pub use request::{CommandStart, Request, RequestKind, our_tool};

const REFUSALS: EntryName = EntryName::from_static("refusals");

/// What happens to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It goes on as it would without us.
    Allow,
    /// It goes on without a question of the host: entries prove that it is granted, as this says.
    Grant(String),
    /// It goes on, and the model is told this.
    Note(String),
    /// The person is asked, with this reason.
    Ask(String),
    /// It is refused.
    Refuse(RefusalText),
}

/// Why a call is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusalText {
    /// For the model, with what it may do instead.
    pub model: String,
    /// For the person, where the host shows them a text of their own.
    pub person: String,
}

impl RefusalText {
    fn of(refusal: &Refusal) -> Self {
        Self {
            model: refusal.message(),
            person: refusal.for_people(),
        }
    }
}

impl From<String> for RefusalText {
    fn from(text: String) -> Self {
        Self {
            model: text.clone(),
            person: text,
        }
    }
}

/// A verdict, and what follows from it.
#[derive(Debug)]
pub struct JudgedCall {
    /// The verdict.
    pub verdict: Verdict,
    /// The audit event, if something that restricts decided; always for a refusal.
    pub event: Option<Event>,
    /// The arguments as they were judged, if they have to replace the call's own.
    pub arguments: Option<Value>,
}

impl JudgedCall {
    /// The call goes on, and nothing decided that.
    pub const ALLOWED: Self = Self {
        verdict: Verdict::Allow,
        event: None,
        arguments: None,
    };

    /// A verdict, with its event.
    pub fn new(verdict: Verdict, event: Option<Event>) -> Self {
        Self {
            verdict,
            event,
            ..Self::ALLOWED
        }
    }

    /// A refusal.
    pub fn refused(why: impl Into<RefusalText>, event: Event) -> Self {
        Self::new(Verdict::Refuse(why.into()), Some(event))
    }

    /// Why the call does not go on by itself: where nobody can be asked, that is a refusal.
    pub fn stopped(&self) -> Option<&str> {
        match &self.verdict {
            Verdict::Refuse(why) => Some(&why.model),
            Verdict::Ask(reason) => Some(reason),
            Verdict::Allow | Verdict::Grant(_) | Verdict::Note(_) => None,
        }
    }
}

/// The mode in which calls of this host are decided: the command's, else the configuration's; where a
/// policy demands that skills be restricted, it does that at least.
pub fn mode_of(facts: &Facts) -> HookMode {
    let Some(calling) = &facts.run.agent else {
        return HookMode::Restrict;
    };
    let table = calling.agent.table();
    let config = facts.config();
    let set = || config.as_ref().ok()?.hosts.get(&calling.agent)?.mode;
    let mode = match calling.mode.or_else(set).unwrap_or_default() {
        HookMode::Grant | HookMode::Both if !table.grants => HookMode::Restrict,
        HookMode::Ask if !table.asks => HookMode::Restrict,
        mode => mode,
    };
    let is_demanded = || facts.policies().is_ok_and(|all| all.demands_restriction());
    if config.is_err() || is_demanded() {
        mode.at_least_restricting()
    } else {
        mode
    }
}

/// What a call is judged on.
#[derive(Debug)]
pub struct JudgeContext<'a> {
    facts: &'a Facts,
    session: &'a Result<Session, StateUnreadable>,
    blocker: Option<MissingPrecondition>,
}

impl<'a> JudgeContext<'a> {
    /// The context of a call in this session.
    pub fn new(facts: &'a Facts, session: &'a Result<Session, StateUnreadable>) -> Self {
        Self {
            facts,
            session,
            blocker: blocker(facts, session),
        }
    }

    /// The mode in which calls are decided.
    pub fn mode(&self) -> HookMode {
        mode_of(self.facts)
    }

    /// Whether every call of a tool that is not ours passes: no skill was activated, so the user's
    /// configuration denies nothing either; no policy denies a tool; and nothing is missing.
    pub fn nothing_is_in_force(&self) -> bool {
        let session = self.session.as_ref();
        self.blocker.is_none()
            && session.is_ok_and(|it| it.activated.is_empty())
            && self.facts.policies().is_ok_and(|all| denies_no_tool(&all))
    }
}

fn denies_no_tool(policies: &Policies) -> bool {
    policies.denied_tools().next().is_none()
}

/// Decides on a call. If a policy, the session or the configuration cannot be read, only reading is
/// allowed (fail-closed, docs/spec/README.md#laws).
pub fn judge(on: &JudgeContext, request: &Request) -> JudgedCall {
    let facts = on.facts;
    // With nothing active, the call need not be matched to a skill's script.
    let session = on.session.as_ref();
    let active = session.ok().filter(|it| !it.activated.is_empty());
    let script_of = active.and_then(|session| request.script_of(facts, session));
    let call = request.call(script_of.as_deref());
    let policies = match facts.policies() {
        Ok(policies) => policies,
        Err(error) => return closed(request, &call, "the policy cannot be read", &error),
    };
    if let Some(blocker) = &on.blocker {
        return closed(request, &call, blocker.what, &blocker.error);
    }
    let session = match on.session {
        Ok(session) => session,
        Err(why) => return unreadable_session(request, &call, why),
    };
    let is_idle = session.activated.is_empty() && denies_no_tool(&policies);
    if is_idle && call.ours != Some(OurTool::Direct) {
        return JudgedCall::ALLOWED;
    }
    // Without a readable configuration, the default rules are the least that holds.
    let (config, unreadable) = match facts.config() {
        Ok(config) => (config, None),
        Err(_) if session.activated.is_empty() => (Rc::default(), None),
        Err(error) => (Rc::default(), Some(error)),
    };
    let mut scope = scope_of(facts, &config, &policies, session);
    let of_mcp = request.is_mcp.then(|| request.tool.clone());
    scope.mcp_tools.extend(of_mcp);
    if let Some(start) = &request.start {
        begin_in(&mut scope, &start.directory, start.persists);
    }
    // Whether a skill that a policy requires becomes active, policies alone decide.
    if let Some(OurTool::Skill { name, .. }) = call.ours
        && policies.requires(name).is_some()
    {
        scope.restrictions.clear();
        scope.policy_deny = policy_denials(&policies, &scope.places.project_root);
    }
    let case = RestrictedCall {
        facts,
        mode: mode_of(facts),
        request,
        session,
        config: &config,
        scope,
    };
    let mut judged = if case.mode == HookMode::Grant {
        case.granting()
    } else {
        case.restricting()
    };
    let Some(error) = unreadable else {
        return judged;
    };
    match &mut judged.verdict {
        Verdict::Refuse(why) => {
            for text in [&mut why.model, &mut why.person] {
                *text = format!("{text} ({error})");
            }
        }
        _ => judged = closed(request, &call, "the configuration cannot be read", &error),
    }
    judged
}

/// Refuses a call that cannot be read, for this reason, if anything is in force.
pub fn refuse_unread(on: &JudgeContext, shown: &str, why: &str) -> JudgedCall {
    if on.nothing_is_in_force() || !on.mode().restricts() {
        return JudgedCall::ALLOWED;
    }
    let (what, because) = match &on.blocker {
        Some(blocker) => (blocker.what, blocker.error.to_string()),
        None => ("a skill or policy restricts tools", why.to_owned()),
    };
    let text = format!("`{shown}` is not allowed while {what}: {because}. Tell the user.");
    let event = Event::new("tool")
        .with("tool", shown)
        .with("decision", "blocked")
        .with("by", why);
    JudgedCall::refused(text, event)
}

/// The text of a refusal for the model, firmer the second time: a model that repeats a call word for
/// word did not understand the first.
pub fn firmer_if_repeated(facts: &Facts, request: &Request, text: String) -> String {
    let call = json!([request.shown(), request.arguments]);
    let call = format!("{}\0{call}", facts.key().as_str());
    if seen::before(facts.state(), &REFUSALS, &call) {
        return format!("{text} This was already refused: do not retry.");
    }
    text
}

/// Hands `then` the call in the form that rules apply to, with what its arguments mean. A forwarding
/// tool whose own name is denied counts under that name.
pub fn with_call<T>(
    facts: &Facts,
    session: &Session,
    scope: &RestrictionInputs,
    request: &Request,
    then: impl FnOnce(&ToolCall) -> T,
) -> T {
    let script_of = request.script_of(facts, session);
    let call = request.call(script_of.as_deref());
    let meant = meaning::meaning(facts, scope, session, request, &call);
    let call = ToolCall {
        meant: &meant,
        ..call
    };
    let forwarded = ToolCall {
        tool: &request.tool,
        ..call
    };
    if call.tool != forwarded.tool && denied(scope, &forwarded, &OnDisk) {
        then(&forwarded)
    } else {
        then(&call)
    }
}

/// One call that something may restrict.
struct RestrictedCall<'a> {
    facts: &'a Facts,
    mode: HookMode,
    request: &'a Request,
    session: &'a Session,
    config: &'a Config,
    scope: RestrictionInputs,
}

/// What rules decide on a call: with the audit event, and with the arguments that have to replace its own.
type RuleDecision = (Decision, Event, Option<Value>);

impl RestrictedCall<'_> {
    fn by_rules(&self, scope: &RestrictionInputs) -> RuleDecision {
        with_call(self.facts, self.session, scope, self.request, |call| {
            let decision = decide(scope, call, &OnDisk);
            let event = decision_of(scope, call, &decision);
            (decision, event, absolute_arguments(scope, call))
        })
    }

    /// Denials alone stop a call; what the list grants goes on without a question.
    fn granting(&self) -> JudgedCall {
        let denials = self.scope.changed(Restriction::without_list);
        let (decision, event, _) = self.by_rules(&denials);
        if let Outcome::Blocked(refusal) = decision.outcome {
            return self.refused(refusal, event);
        }
        if let Some((refusal, event)) = self.never_allowed() {
            return self.refused(refusal, event);
        }
        match self.proven() {
            Some((why, event)) => JudgedCall::new(Verdict::Grant(why), Some(event)),
            None => JudgedCall::ALLOWED,
        }
    }

    fn restricting(&self) -> JudgedCall {
        let (decision, event, arguments) = self.by_rules(&self.scope);
        let is_active = !self.session.activated.is_empty();
        let verdict = match decision.outcome {
            Outcome::Blocked(refusal) => return self.blocked(refusal, event),
            Outcome::Warned(refusal) => {
                let text = self.in_hosts_words(refusal).message();
                Verdict::Note(format!(
                    "{text} It was let through, since `enforce` is `warn`."
                ))
            }
            Outcome::Unrestricted | Outcome::Baseline | Outcome::Granted => Verdict::Allow,
        };
        if self.may_type_unseen() {
            let text = format!(
                "`{}` is not allowed with a terminal: what is typed into it later is not checked \
                 here. Run it without `tty`.",
                self.request.shown()
            );
            let event = event.with("decision", "blocked").with("by", BY_TYPING);
            return JudgedCall::refused(text, event);
        }
        if self.mode.grants()
            && let Some((why, event)) = self.proven()
        {
            return JudgedCall::new(Verdict::Grant(why), Some(event));
        }
        let is_allowed = verdict == Verdict::Allow && self.has_our_tools();
        let advice = || own_files::script_read(self.facts, self.session, self.request);
        let (verdict, event) = match is_allowed.then(advice).flatten() {
            Some(advice) => {
                if self.config.script_reads == ScriptReads::Block {
                    let text = format!("Reading it is not allowed: {advice}.");
                    let event = event.with("decision", "blocked").with("by", "script_reads");
                    let event = event.with("refused", "path").with("script_read", true);
                    return JudgedCall::refused(text, event);
                }
                // Our own tool says so itself.
                let says = (self.request.tool != ours::READ_FILE).then_some(true);
                (Verdict::Note(advice), event.with("script_read", says))
            }
            None => (verdict, event),
        };
        JudgedCall {
            // While no skill is active, a policy that permits a call has decided nothing about one.
            event: (is_active || verdict != Verdict::Allow).then_some(event),
            verdict,
            arguments,
        }
    }

    /// What no rule grants may still be a use of the skill's own files, or the person's to answer.
    fn blocked(&self, refusal: Refusal, event: Event) -> JudgedCall {
        let is_unlisted = matches!(refusal.reason(), Reason::NotGranted { .. });
        let is_theirs = matches!(self.request.kind, RequestKind::Other);
        if is_unlisted && is_theirs && self.uses_own_files() {
            let event = event.with("decision", "allowed");
            let event = event.with("by", "the skill's own files");
            return JudgedCall::new(Verdict::Allow, Some(event));
        }
        if is_unlisted && self.mode == HookMode::Ask {
            // The person's yes must not undo what decides.
            if let Some((refusal, event)) = self.never_allowed() {
                return self.refused(refusal, event);
            }
            let reason = self.in_hosts_words(refusal).for_people();
            return JudgedCall::new(Verdict::Ask(reason), Some(event.with("decision", "asked")));
        }
        self.refused(refusal, event)
    }

    /// The refusal of what no list allows, in whatever mode: a change of a protected place, and a run
    /// of this program.
    fn never_allowed(&self) -> Option<(Refusal, Event)> {
        // `*` would lift the restriction, and the protection with it.
        let every_change = ["Bash", "Write", "Edit"].map(str::to_owned);
        let (decision, event, _) = self.by_rules(&self.scope.adding("", &every_change));
        let Outcome::Blocked(refusal) = decision.outcome else {
            return None;
        };
        match refusal.reason() {
            Reason::Protected { .. } | Reason::OurProgram => Some((refusal, event)),
            _ => None,
        }
    }

    /// Why the call may go on without a question: patterns of skills that the agent itself has made
    /// active grant every part of it.
    fn proven(&self) -> Option<(String, Event)> {
        // Options of granted programs that write or run: what they do stands behind no question.
        const WRITE: &str = "--output|--ext-diff|--exec|--upload-pack|--textconv";
        let command = self.request.arguments.get("command");
        let command = command.and_then(Value::as_str).unwrap_or_default();
        if !self.request.is_known || has_any(command, WRITE) {
            return None;
        }
        let session = self.session;
        let confirmed = session.active();
        let confirmed = confirmed.filter(|skill| session.confirmed.contains(&skill.dir));
        let confirmed: Vec<&str> = confirmed.map(|skill| skill.name.as_str()).collect();
        let proves = |rule: &CitedRule| {
            let is_theirs = confirmed.contains(&rule.source.as_str());
            let is_added = rule.source == CONFIGURATION && !confirmed.is_empty();
            is_pattern(&rule.rule) && (is_theirs || is_added)
        };
        let keeping = |skill: &Restriction| skill.clone().keeping(|rule| proves(&rule.cited));
        let (decision, event, _) = self.by_rules(&self.scope.changed(keeping));
        let granting = decision.granting();
        let source = &granting.first()?.source;
        (decision.outcome == Outcome::Granted).then(|| {
            let rules: Vec<&str> = granting.iter().map(|rule| rule.rule.as_str()).collect();
            let why = format!("granted by {} of {source}", rules.join(", "));
            (why, event.with("granted", true))
        })
    }

    /// Whether the host has our tools for the files and scripts of a skill. Where it has not, its own
    /// tools may read these files and run these scripts without an entry.
    fn has_our_tools(&self) -> bool {
        self.facts.run.agent.is_none()
    }

    /// Whether the model could type into what this command starts, while a skill has a list.
    fn may_type_unseen(&self) -> bool {
        let mut active = self.session.activated.iter();
        let agent = self.facts.run.agent.as_ref();
        agent.is_some_and(|calling| calling.agent.table().types_unseen)
            && self.request.arguments.get("command").is_some()
            && active.any(|skill| skill.allowed.is_some())
            && self.request.record.as_ref().and_then(asks_for_terminal) == Some(true)
            && !self.uses_own_files()
    }

    fn uses_own_files(&self) -> bool {
        own_files::uses_own_files(self.facts, self.session, self.request)
    }

    fn in_hosts_words(&self, refusal: Refusal) -> Refusal {
        self.request
            .in_hosts_words(refusal, || self.scope.entries())
    }

    /// What to call in place of a tool that chibi has not, or for a file of an active skill, which only
    /// tools of ours reach there.
    fn instead(&self, refusal: &Refusal) -> Option<String> {
        const OWN_FILE: &str = "Read the skill's files with read_skill_file, and run its scripts with run_skill_script.";
        let tool = self.request.tool.as_str();
        let arguments = self.request.arguments.to_string();
        let mut active = self.session.activated.iter();
        if active.any(|skill| arguments.contains(&skill.dir)) {
            return Some(OWN_FILE.to_owned());
        }
        if vocabulary::find_tool(tool).is_some() || ours::is_ours(tool) {
            return None;
        }
        let near = nearest(tool, tools::of(self.facts.run.protocol?))?;
        let is_offered = refusal.offers(near);
        is_offered.then(|| format!("Did you mean `{near}`?"))
    }

    fn refused(&self, refusal: Refusal, event: Event) -> JudgedCall {
        let mut refusal = self.in_hosts_words(refusal);
        if self.has_our_tools() {
            let is_unlisted = matches!(refusal.reason(), Reason::NotGranted { .. });
            if is_unlisted && let Some(why) = no_skill(self.facts, self.request) {
                return JudgedCall::refused(why, event);
            }
            if let Some(advice) = self.instead(&refusal) {
                refusal = refusal.instead(advice);
            }
        }
        let mut why = RefusalText::of(&refusal);
        if let Reason::NotGranted { skill, .. } = refusal.reason() {
            let next = format!(" `agent-skills suggest {skill}` shows the missing entries.");
            why.person.push_str(&next);
        }
        JudgedCall::refused(why, event)
    }
}

/// Why a call of a skill's tool activates nothing: no such skill is offered.
fn no_skill(facts: &Facts, request: &Request) -> Option<String> {
    let is_skills = ours::is_ours(&request.tool) && matches!(request.kind, RequestKind::Other);
    let wanted = Activate {
        tool: request.tool.clone(),
        skill: None,
        arguments: None,
    };
    let error = is_skills.then(|| resolve(facts, wanted).err()).flatten()?;
    Some(error.with_next_step())
}

/// Allows reading, and those of our own tools that only inform. Using a skill is refused, because what
/// cannot be read may forbid it.
fn closed(request: &Request, call: &ToolCall, what: &str, error: &Error) -> JudgedCall {
    let only_tells = match call.ours {
        Some(OurTool::ReadSkillFile { .. }) => true,
        Some(OurTool::Marketplace { action }) => {
            action.is_some_and(|action| !["install", "remove", "update"].contains(&action))
        }
        Some(_) => false,
        None => decide_unreadable_state(call).allows(),
    };
    if only_tells {
        return JudgedCall::new(Verdict::Allow, Some(call_event(call, "allowed", what)));
    }
    let tool = request.shown.as_deref().unwrap_or(call.tool);
    let text = format!("`{tool}` is not allowed while {what}: {error}. Tell the user.");
    JudgedCall::refused(text, call_event(call, "blocked", what))
}

fn unreadable_session(request: &Request, call: &ToolCall, why: &StateUnreadable) -> JudgedCall {
    let by = format!("unreadable state: {why}");
    let Outcome::Blocked(refusal) = decide_unreadable_state(call).outcome else {
        return JudgedCall::new(Verdict::Allow, Some(call_event(call, "allowed", &by)));
    };
    let refusal = request.in_hosts_words(refusal, Vec::new);
    JudgedCall::refused(RefusalText::of(&refusal), call_event(call, "blocked", &by))
}

/// Whether an entry grants by what a call's arguments are, and not as good as any call of a tool.
fn is_pattern(rule: &str) -> bool {
    let body = rule.split_once('(').map(|(_, body)| body);
    let body = body.map(|body| body.trim_end_matches(')'));
    body.is_some_and(|body| body.contains(|c: char| !"*/.:~ ".contains(c)))
}

/// The end of a transcript in which a call is looked for: it is the last, or among the last.
const TRANSCRIPT: u64 = 1024 * 1024;

/// By what such a call is refused, in the audit log.
pub const BY_TYPING: &str = "typed commands";

/// Whether the record of a session says that a call asks for a terminal, into which an agent may let its
/// model type without another call of a hook (docs/hosts.md#codex). It is written before the hook
/// is called (tried with Codex 0.169.0); the calls of a script in code mode are not in it.
fn asks_for_terminal((transcript, call): &(PathBuf, String)) -> Option<bool> {
    let mut file = files::open_regular(transcript).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TRANSCRIPT)))
        .ok()?;
    let bytes = files::read_all_capped(file, 2 * TRANSCRIPT).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let asks = |line: &str| {
        let line: Value = serde_json::from_str(line).ok()?;
        let made = &line["payload"];
        if made["type"] != "function_call" || made["call_id"] != *call {
            return None;
        }
        let arguments: Value = serde_json::from_str(made["arguments"].as_str()?).ok()?;
        let tty = &arguments["tty"];
        Some(!matches!(tty, Value::Null | Value::Bool(false)))
    };
    // Of several calls of one identity, each might be this one.
    let mut lines = text.lines().filter(|line| line.contains(&**call));
    Some(lines.any(|line| asks(line) == Some(true)))
}

/// Why nothing but reading is allowed.
#[derive(Debug)]
pub struct MissingPrecondition {
    /// What is missing, as a clause after `while`.
    pub what: &'static str,
    /// The skill or file that is missing, and the cause.
    pub error: Error,
}

/// What is missing for calls of this host in this session.
pub fn blocker(
    facts: &Facts,
    session: &Result<Session, StateUnreadable>,
) -> Option<MissingPrecondition> {
    let missing = if facts.run.agent.is_none() {
        let what = "skills that are always on are not active";
        let session = session.as_ref().ok();
        let error = session.and_then(|it| missing_always_on(facts, it));
        error.map(|error| MissingPrecondition { what, error })
    } else {
        let what = "a required skill is missing";
        required_and_missing(facts).map(|error| MissingPrecondition { what, error })
    };
    // A mistake in the configuration could hide what a policy requires.
    missing.or_else(|| {
        let requires = facts.policies().is_ok_and(|all| all.require_any());
        let error = requires.then(|| facts.config().err())??;
        let what = "the configuration cannot be read";
        Some(MissingPrecondition { what, error })
    })
}

/// Why skills that are always on here (`uses_skills`) are not in force, if so: a call is decided
/// with them or not at all. No project has a say in it, so its configuration is not read.
pub fn missing_always_on(facts: &Facts, session: &Session) -> Option<Error> {
    if session.has_always {
        return None;
    }
    let policies = facts.policies().unwrap_or_default();
    let required = policies.always_on(false).next().is_some();
    let own = match facts.own_config() {
        Ok(own) => own,
        // A mistake in it would hide what a policy requires, too.
        Err(error) => {
            let may_use = || may_have_always_on(&facts.run.config_path());
            let lacks = policies.require_any() || may_use();
            return lacks.then_some(error);
        }
    };
    let context = session.context.as_deref().unwrap_or_default();
    let names = own.uses_skills.names_for(context);
    // Those of the context that was left do not count here.
    let uses = |names: Vec<&String>| !names.is_empty() || !session.always.is_empty();
    if !required && !names.is_some_and(uses) {
        return None;
    }
    Some(facts.config().err().unwrap_or_else(|| {
        let blocking = policies.always_on(true).next();
        let more = blocking
            .map(|name| format!(" (`agent-skills policy explain {name}` says what is required)"));
        let more = more.unwrap_or_default();
        Error::new(format!("no prompt has activated them{more}"))
    }))
}

/// The missing skill without which a policy allows only reading, if there is one.
fn required_and_missing(facts: &Facts) -> Option<Error> {
    let policies = facts.policies().ok()?;
    policies.always_on(true).next()?;
    let is_needed = |one: &MissingSkill| {
        let mut always = policies.always_on(true);
        one.missing == Missing::Block && always.any(|name| *name == one.name)
    };
    let missing = Catalog::disclosed(facts).missing;
    Some(Error::new(missing.into_iter().find(is_needed)?.to_string()))
}

const MISSING: EntryName = EntryName::from_static("missing");

/// Records each skill that a policy requires and that is missing, once in each session, and returns
/// them. Without such a policy, nothing is looked at.
pub fn record_missing(facts: &Facts) -> Vec<MissingSkill> {
    let requires = facts.policies().is_ok_and(|all| all.require_any());
    if !requires || seen::before(facts.state(), &MISSING, facts.key().as_str()) {
        return Vec::new();
    }
    let missing = Catalog::disclosed(facts).missing;
    for one in &missing {
        let event = Event::new("missing")
            .with("skill", one.name.as_str())
            .with("by", one.file.display().to_string())
            .with("reason", one.why.as_str());
        facts.record(event);
    }
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_without_a_pattern_proves_nothing() {
        for rule in [
            "Bash",
            "Bash(*)",
            "Bash(*:*)",
            "Write(**)",
            "Edit(./**)",
            "Write(~/**)",
            "*",
            "Read()",
        ] {
            assert!(!is_pattern(rule), "{rule}");
        }
        for rule in [
            "Bash(git log:*)",
            "Write(docs/**)",
            "WebFetch(domain:x.org)",
            "Bash(./run.sh)",
        ] {
            assert!(is_pattern(rule), "{rule}");
        }
    }
}
