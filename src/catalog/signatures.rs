//! Whether a skill is signed as the policies and the configuration require. What git, ssh-keygen,
//! gpg said is kept for the rest of the day, by everything that it depends on, so that
//! a hook seldom runs them.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};

use super::entry::Entry;
use super::installed::Installed;
use super::roots::base_at;
use super::signing::{market_at, signing, signing_files, signing_in_force};
use super::verdicts::Verdicts;
use crate::error::Result;
use crate::facts::Facts;
use crate::marketplace::{Checked, KnownSigners, Market, Present};
use crate::policy::{Asks, DigestCache, SigningInForce, approval_content, approval_digest};
use crate::signing::{Demand, Requirement, Signature};
use crate::skill::Skill;
use crate::sys::{Base, files, limits, running};

/// How long after its start a host's call, be it `--schema`, still begins to check signatures: its user waits for it.
const CALL: Duration = Duration::from_millis(1500);
/// The answers of one run.
#[derive(Debug)]
pub struct Signatures<'a> {
    facts: &'a Facts,
    digests: Rc<DigestCache>,
    installed: Rc<RefCell<Installed>>,
    rules: OnceCell<SigningInForce>,
    /// All that every verdict depends on.
    keys: OnceCell<String>,
    verdicts: OnceCell<Verdicts>,
    /// By the skill's directory, why it may not be used.
    answers: RefCell<HashMap<PathBuf, Option<String>>>,
}

impl<'a> Signatures<'a> {
    /// Nothing is known yet.
    pub fn new(
        facts: &'a Facts,
        digests: Rc<DigestCache>,
        installed: Rc<RefCell<Installed>>,
    ) -> Self {
        Self {
            facts,
            digests,
            installed,
            rules: OnceCell::new(),
            keys: OnceCell::new(),
            verdicts: OnceCell::new(),
            answers: RefCell::default(),
        }
    }

    /// Why a skill may not be used; `None` if it is signed as is required.
    pub fn unmet(&self, entry: &Entry, skill: &Skill) -> Option<String> {
        let known = self.answers.borrow().get(&entry.dir).cloned();
        known.unwrap_or_else(|| {
            let answer = self.ask(entry, skill).unwrap_or_else(Some);
            let mut answers = self.answers.borrow_mut();
            answers.insert(entry.dir.clone(), answer.clone());
            answer
        })
    }

    /// Why a skill may not be used; an error if that is not known.
    fn ask(&self, entry: &Entry, skill: &Skill) -> Result<Option<String>, String> {
        let mut installed = self.installed.borrow_mut();
        let claimed = installed.is_claimed(self.facts, entry);
        let said = installed.at(self.facts, &entry.dir);
        let said = said.map_err(|error| format!("where it is from is not known: {error}"))?;
        let present = Present::new(&entry.dir, said, claimed);
        let rules = || signing_in_force(self.facts);
        let rules = self.rules.get_or_init(rules);
        let (source, address) = (present.source.as_deref(), present.address.as_deref());
        let demands = rules.demands(source, address, claimed);
        let required = |demand: &Demand| demand.require > Requirement::None;
        if !demands.iter().any(required) {
            return Ok(None);
        }
        if skill.pointed_to().is_some() {
            return Err("its SKILL.md only names another file, which nobody signed".to_owned());
        }
        let content = approval_content(skill, &self.digests);
        let content = content.map_err(|error| format!("its files cannot be read: {error}"))?;
        let key = self.key(skill, &content, &present, claimed);
        if let Some(unmet) = self.verdicts().get(&key) {
            return Ok(unmet);
        }
        let is_call = self.facts.run.protocol.is_some() || self.digests.asks() == Asks::ToDisclose;
        let deadline = is_call.then(deadline);
        let base = base_of(self.facts, entry);
        let market = checking(self.facts, &base, claimed, deadline);
        if !market
            .may_be_signed(&present)
            .map_err(|error| error.to_string())?
        {
            let mut each = demands.iter();
            return Ok(each.find_map(|one| one.unmet(&Signature::Unsigned, &[], false)));
        }
        let is_over = || deadline.is_some_and(|deadline| deadline <= Instant::now());
        let failed = |why: String| {
            let late = "its signature has not been checked yet".to_owned();
            let why = if is_over() { late } else { why };
            format!("{why}: `agent-skills verify` checks it")
        };
        if is_over() {
            return Err(failed(String::new()));
        }
        let checked = market.check_present(&present);
        let checked = checked
            .map_err(|error| failed(format!("its signature could not be checked: {error}")))?;
        if approval_digest(skill).ok().as_ref() != Some(&content) {
            return Err("its files changed while its signature was checked".to_owned());
        }
        // A program may be installed.
        let lasts = match &checked.signature {
            Signature::Unsigned => false,
            Signature::Unchecked { needs, .. } => needs.is_none(),
            Signature::Good(_) | Signature::Bad { .. } => true,
        };
        if lasts {
            self.verdicts().learn(&key, checked.unmet.clone());
        }
        Ok(checked.unmet)
    }

    fn verdicts(&self) -> &Verdicts {
        let of_today = || Verdicts::of_today(self.facts.state());
        self.verdicts.get_or_init(of_today)
    }

    /// Everything that the verdict on a skill depends on, but the programs and the day.
    fn key(&self, skill: &Skill, content: &str, present: &Present, claimed: bool) -> String {
        let (name, keys) = (skill.authors_name(), self.keys.get_or_init(|| self.keys()));
        let all = format!("{name:?} {content} {present:?} {claimed} {keys}");
        format!("{:x}", Sha256::digest(all))
    }

    /// What is required, whose keys count and who is known.
    fn keys(&self) -> String {
        let known = KnownSigners::read(&Base::own(self.facts.run.dirs.plugin.clone()));
        let mut all = format!("{:?} {known:?}", self.rules.get());
        for file in signing_files(self.facts).unwrap_or_default() {
            let read = files::read_capped(&file.path, limits::SIGNERS);
            let read = read.map(|bytes| format!("{:x}", Sha256::digest(&bytes)));
            let _ = write!(all, " {read:?}");
        }
        all
    }
}

/// When a host's call begins no check any more.
fn deadline() -> Instant {
    Instant::now() + CALL.saturating_sub(running())
}

/// The signature of a skill as it is now.
///
/// # Errors
/// When a program that checks is missing or does not answer, or what proves it cannot be read.
pub fn signature(facts: &Facts, entry: &Entry, installed: &mut Installed) -> Result<Checked> {
    let claimed = installed.is_claimed(facts, entry);
    let present = Present::new(&entry.dir, installed.said(facts, entry), claimed);
    let deadline = facts.run.protocol.map(|_| deadline());
    checking(facts, &base_of(facts, entry), claimed, deadline).check_present(&present)
}

/// The directory into which a skill is installed.
fn base_of(facts: &Facts, entry: &Entry) -> Base {
    let base = entry.dir.parent().and_then(Path::parent);
    base_at(facts, base.unwrap_or(&entry.dir))
}

/// The marketplace that checks what is there.
fn checking<'a>(
    facts: &'a Facts,
    base: &'a Base,
    claimed: bool,
    deadline: Option<Instant>,
) -> Market<'a> {
    Market {
        deadline,
        signing: Rc::new(signing(facts, claimed)),
        ..market_at(facts, base)
    }
}
