//! What every handler needs: locations, and the caller's identity.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Config;
use crate::catalog::{Catalog, Entry};
use crate::error::{Error, Result};
use crate::governance::{Event, Policies};
use crate::host::ours;
use crate::marketplace::LockEntry;
use crate::request::Protocol;
use crate::script::{Jobs, Limit, Owner, Settings};
use crate::session::{Refusals, Session, SessionKey, Store};
use crate::skill::Skill;
use crate::sys::process::ProcessId;
use crate::sys::text::quoted;
use crate::sys::{Directories, Env, last_word, limits};

/// One run's surroundings.
#[derive(Debug)]
pub struct RunContext {
    /// Environment and working directory.
    pub env: Env,
    /// The directories of this installation.
    pub dirs: Directories,
    /// The host's protocol; `None` for `--schema` and for a person.
    pub protocol: Option<Protocol>,
    pub(super) known: Known,
}

/// Values constant during a call that cost disk access.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) policies: OnceCell<Policies>,
    pub(super) config: OnceCell<Config>,
    pub(super) project: OnceCell<PathBuf>,
    context: OnceCell<String>,
    owners: OnceCell<Catalog>,
    store: OnceCell<Store>,
    session: OnceCell<SessionKey>,
    /// Events of a host's call, held back until its answer is sent.
    pub(super) events: RefCell<Vec<Event>>,
}

impl RunContext {
    /// The surroundings of a call.
    pub fn new(env: Env, protocol: Option<Protocol>) -> Self {
        let dirs = Directories::of(&env);
        Self {
            env,
            dirs,
            protocol,
            known: Known::default(),
        }
    }

    /// The catalog for looking up `written`. Owners cost reading the lockfiles and are included
    /// only for a qualified name.
    pub fn catalog_naming(&self, written: &str) -> Catalog {
        if !is_qualified(written) {
            return self.catalog_about(written);
        }
        self.catalog_with_owners()
    }

    /// The same for several names.
    pub fn catalog_naming_each(&self, written: &[String]) -> Catalog {
        if written.iter().any(|name| is_qualified(name)) {
            return self.catalog_with_owners();
        }
        self.catalog()
    }

    /// The catalog with every skill's owner, built once.
    pub(super) fn known_owners(&self) -> &Catalog {
        self.known.owners.get_or_init(|| self.catalog_with_owners())
    }

    fn catalog_with_owners(&self) -> Catalog {
        let read: RefCell<BTreeMap<PathBuf, Vec<LockEntry>>> = RefCell::default();
        self.catalog().with_owners(&|entry| {
            let base = entry.dir.parent()?.parent()?;
            let name = entry.dir.file_name()?.to_str()?;
            let mut read = read.borrow_mut();
            let entries = read.entry(base.to_owned()).or_insert_with(|| {
                let base = self.base(base);
                self.market_at(&base).entries().unwrap_or_default()
            });
            entries.iter().find(|entry| entry.name == *name)?.owner()
        })
    }

    /// The host's context, as reported by this call or the session's last prompt.
    pub fn context(&self) -> Option<String> {
        let told = self.known.context.get().cloned();
        told.or_else(|| self.store().context(&self.session()))
    }

    /// Remembers the context reported by the host, for this call.
    pub fn is_in(&self, context: &str) {
        let _ = self.known.context.set(context.to_owned());
    }

    /// The skill that a name means, if [`usable`] accepts it or it is active: a person, who may use
    /// more, may have activated it.
    ///
    /// # Errors
    /// As [`usable`].
    pub fn usable_or_active<'a>(
        &self,
        catalog: &'a Catalog,
        written: &str,
        session: &Session,
    ) -> Result<&'a Skill> {
        usable(catalog, written).or_else(|refused| {
            let is_active = |entry: &&Entry| {
                let mut active = session.active();
                active.any(|active| Path::new(&active.dir) == entry.dir)
            };
            let entry = catalog.by_name(written).filter(is_active);
            entry.and_then(Entry::usable).ok_or(refused)
        })
    }

    /// The record of active skills.
    pub fn store(&self) -> Store {
        let store = || Store::of(&self.dirs, &self.env);
        self.known.store.get_or_init(store).clone()
    }

    /// Scripts that continue after the call that started them.
    pub fn jobs(&self) -> Jobs {
        Jobs::at(self.dirs.state(&self.env).join("jobs"))
    }

    /// The owner of this call's jobs: the conversation, which the host's next process continues, or
    /// else this host process.
    pub fn owner(&self) -> Owner {
        let session = self.session();
        match self.store().context(&session) {
            Some(context) => Owner::conversation(&context),
            None => Owner::session(session.as_str()),
        }
    }

    /// The settings for scripts.
    ///
    /// # Errors
    /// If the configuration or a policy contains a mistake; then what it forbids is unknown.
    pub fn script_settings(&self) -> Result<Settings> {
        Ok(self.config()?.script().with_env(&self.env))
    }

    /// How long a call of this host waits for a script before it becomes a job. If the user
    /// configured more than the host's default, this call's deadline is extended.
    pub fn script_wait(&self, settings: &Settings) -> Option<Duration> {
        let wait = match self.protocol? {
            Protocol::Environment => settings.call_seconds.environment,
            Protocol::Stdin => settings.call_seconds.stdin,
        };
        let wait = wait.map(Limit::duration)?;
        last_word::allow(wait + limits::BESIDES_SCRIPT);
        Some(wait)
    }

    /// The record of refused calls.
    pub fn refusals(&self) -> Refusals {
        Refusals::at(self.store().dir())
    }

    /// The calling host, our parent; what it started ends with it. `None` for a person's command,
    /// which may outlive its shell with `nohup`.
    pub fn host(&self) -> Option<ProcessId> {
        self.protocol?;
        let process = self.session().process();
        process.or_else(|| Some(ProcessId::parent()))
    }

    /// The session this call belongs to.
    pub fn session(&self) -> SessionKey {
        let session = || SessionKey::of_call(&self.env);
        self.known.session.get_or_init(session).clone()
    }
}

/// The usable skill that a name means: an offered one, or a shadowed one by its qualified name.
///
/// # Errors
/// If there is none; the hint has the nearest names, or the reason why it is not offered.
pub fn usable<'a>(catalog: &'a Catalog, written: &str) -> Result<&'a Skill> {
    let shown = quoted(written);
    if let Some(skill) = catalog.by_qualified_name(written).and_then(Entry::shadowed) {
        return Ok(skill);
    }
    let Some(entry) = catalog.by_name(written) else {
        return Err(
            Error::new(format!("there is no skill `{shown}`")).hint(suggestion(catalog, written))
        );
    };
    let offered = entry.offered().map(|offered| offered.skill);
    offered.ok_or_else(|| {
        let reason = entry.reason_not_offered().unwrap_or_default();
        Error::new(format!("the skill `{shown}` cannot be used: {reason}"))
            .hint("the user can see more with `agent-skills list-installed`")
    })
}

/// Whether a name is qualified by owner or layer: `acme/deploy`, `deploy@acme`, `project/deploy`.
pub(super) fn is_qualified(written: &str) -> bool {
    written.contains(['/', '@'])
}

/// Advice for a name that matches no skill.
pub fn suggestion(catalog: &Catalog, written: &str) -> String {
    let nearest = catalog.nearest(written);
    if nearest.is_empty() {
        return format!(
            "`{}` with action list_installed shows what there is",
            ours::MARKETPLACE
        );
    }
    let names: Vec<String> = nearest.iter().map(|name| format!("`{name}`")).collect();
    format!("did you mean {}?", names.join(" or "))
}
