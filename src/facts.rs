//! What a call is decided on, read at most once: the policies, the configuration, the session, and
//! what it is in. A value that not every call needs is read when it is first asked for. Whoever
//! changes one of them in a call makes new facts of it.

use std::cell::{OnceCell, RefCell};
use std::path::Path;
use std::rc::Rc;

use crate::error::Result;
use crate::host::{Protocol, program};
use crate::policy::{
    Audit, Config, Enterprise, Event, Policies, audit_file, effective, end_events, own_config,
    with_origin,
};
use crate::run_context::{CallingAgent, RunContext};
use crate::session::{EndedActivation, Session, SessionKey, StateUnreadable, Store};
use crate::sys::Env;

/// One audit log before it is rotated; 10 MiB are about 25,000 events.
const AUDIT_FILE: u64 = 10 * 1024 * 1024;

/// What a call is decided on.
#[derive(Debug, Clone)]
pub struct Facts {
    /// The environment of the run.
    pub run: RunContext,
    enterprise: Enterprise,
    store: Store,
    policies: OnceCell<Rc<Policies>>,
    own: OnceCell<Rc<Config>>,
    config: OnceCell<Rc<Config>>,
    key: OnceCell<SessionKey>,
    /// The host's context as reported in this call.
    reported_context: OnceCell<String>,
    /// The events of a host's call, which are written after its answer is sent.
    held_back: Rc<RefCell<Vec<Event>>>,
}

impl Facts {
    /// The facts of a call.
    pub fn new(env: Env, protocol: Option<Protocol>) -> Self {
        Self::of(RunContext::new(env, protocol))
    }

    /// The facts of a call of another agent, in the directory and session that the call names.
    pub fn of_agent(env: Env, calling: CallingAgent) -> Self {
        Self::of(RunContext::of_agent(env, calling))
    }

    /// The facts of a call in this environment.
    pub fn of(run: RunContext) -> Self {
        Self {
            enterprise: Enterprise::from_env(&run.env),
            store: Store::from_env(&run.dirs, &run.env),
            policies: OnceCell::new(),
            own: OnceCell::new(),
            config: OnceCell::new(),
            key: OnceCell::new(),
            reported_context: OnceCell::new(),
            held_back: Rc::default(),
            run,
        }
    }

    /// The same call's facts in another context, with the same record of what is active.
    #[must_use]
    pub fn within(&self, run: RunContext) -> Self {
        Self {
            store: self.store.clone(),
            held_back: self.held_back.clone(),
            ..Self::of(run)
        }
    }

    /// The administrator's locations.
    pub fn enterprise(&self) -> &Enterprise {
        &self.enterprise
    }

    /// The effective policies.
    ///
    /// # Errors
    /// If one cannot be read. Then only reads are allowed.
    pub fn policies(&self) -> Result<Rc<Policies>> {
        once(&self.policies, || Policies::read(&self.enterprise))
    }

    /// The user's own configuration.
    ///
    /// # Errors
    /// As [`Facts::config`].
    pub fn own_config(&self) -> Result<Rc<Config>> {
        once(&self.own, || own_config(&self.run.config_path()))
    }

    /// The effective configuration.
    ///
    /// # Errors
    /// If a file contains a mistake. A person gets the error, and hooks block.
    pub fn config(&self) -> Result<Rc<Config>> {
        once(&self.config, || {
            let (policies, own) = (self.policies()?, self.own_config()?);
            effective(&self.run, self.state(), &policies, &own)
        })
    }

    /// The store of active skills.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The directory of the records of this user.
    pub fn state(&self) -> &Path {
        self.store.dir()
    }

    /// The key of the session this call belongs to.
    pub fn key(&self) -> &SessionKey {
        self.key.get_or_init(|| match &self.run.agent {
            Some(calling) => SessionKey::of_agent(calling.agent, &calling.session),
            None => SessionKey::of_call(&self.run.env),
        })
    }

    /// What is active in this session.
    ///
    /// # Errors
    /// See [`Store::session`].
    pub fn session(&self) -> Result<Session, StateUnreadable> {
        self.store.session(self.key())
    }

    /// The host's context, as reported in this call or at the session's last prompt; `None` only if
    /// the host has reported none.
    ///
    /// # Errors
    /// If it is not known what the host has reported.
    pub fn context(&self) -> Result<Option<String>, StateUnreadable> {
        match self.reported_context.get() {
            Some(reported_context) => Ok(Some(reported_context.clone())),
            None => Ok(self.session()?.context),
        }
    }

    /// Remembers the reported context for the rest of this call.
    pub fn remember_context(&self, context: &str) {
        self.reported_context.get_or_init(|| context.to_owned());
    }

    /// Records an event of this session.
    pub fn record(&self, event: Event) {
        let agent = self.run.agent.as_ref();
        let chibi = self.run.protocol.is_some().then_some(program::PROGRAM);
        let name = agent.map(|it| it.agent.as_str());
        let event = event
            .with("session", self.key().as_str())
            .with("context", self.context().ok().flatten())
            .with("agent", name)
            .with("host", name.or(chibi))
            .with("host_version", agent.and_then(|it| it.version.as_deref()))
            .with("model", agent.and_then(|it| it.model.as_deref()));
        self.write(event.with("host_pid", std::os::unix::process::parent_id()));
    }

    /// Records that activations, of this or other sessions, have ended.
    pub fn record_ends(&self, ended: Vec<EndedActivation>) {
        for event in end_events(ended, &audit_file(self.state())) {
            self.write(event);
        }
    }

    fn write(&self, event: Event) {
        // If the configuration is unreadable, the defaults apply.
        let own = self.own_config().unwrap_or_default();
        let event = with_origin(event, &self.run, &own);
        // The host is waiting, so the log must not delay the answer.
        if self.run.protocol.is_some() {
            self.held_back.borrow_mut().push(event);
        } else {
            self.audit().write(event);
        }
    }

    /// Writes the events held back until the answer was sent, after `complete` has added what the host
    /// would have waited for.
    pub fn write_events(&self, complete: impl Fn(Event) -> Event) {
        let events = self.held_back.take();
        if !events.is_empty() {
            let audit = self.audit();
            for event in events {
                audit.write(complete(event));
            }
        }
    }

    fn audit(&self) -> Audit {
        let copies = self.policies().unwrap_or_default().audit_copies();
        Audit {
            file: audit_file(self.state()),
            max: AUDIT_FILE,
            copies,
        }
    }
}

/// What is in `cell`, read first if it is empty. A failure is not kept.
///
/// # Errors
/// Those of `read`.
pub fn once<T>(cell: &OnceCell<Rc<T>>, read: impl FnOnce() -> Result<T>) -> Result<Rc<T>> {
    if let Some(value) = cell.get() {
        return Ok(value.clone());
    }
    let value = Rc::new(read()?);
    Ok(cell.get_or_init(|| value).clone())
}
