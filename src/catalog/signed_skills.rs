//! Whether a skill is signed as the policies and the configuration of this run require. What git,
//! ssh-keygen and gpg said is noted for the rest of the day, with everything that it depends on, so
//! that a hook seldom runs them.

use std::cell::OnceCell;
use std::fmt::Write as _;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};

use super::entry::Entry;
use super::installed::InstalledEntries;
use super::roots::base_at;
use super::signing_files::{market_at, signing, signing_files, signing_in_force};
use crate::error::Result;
use crate::facts::Facts;
use crate::marketplace::{CheckedSignature, KnownSigners, Market, SkillOnDisk};
use crate::policy::{DigestCache, SignatureRules, SkillUse, approval_content, approval_digest};
use crate::signing::{Requirement, Signature, SourceRequirement};
use crate::skill::Skill;
use crate::sys::{Base, UnixMillis, files, limits, time_running};

/// How long after its start a host's call, be it `--schema`, still begins to check signatures: its
/// user waits for it.
const CALL: Duration = Duration::from_millis(1500);
const DAY: u64 = 24 * 60 * 60 * 1000;
/// What the digest cache calls the results of checks.
const CHECKED: &str = "signature";

/// Checks the signatures of the skills of one run.
#[derive(Debug)]
pub struct SignatureChecks {
    rules: SignatureRules,
    /// All that every result depends on.
    keys: OnceCell<String>,
}

impl SignatureChecks {
    /// By the rules in force; `None` if they require nothing.
    pub fn required(facts: &Facts) -> Option<Self> {
        let rules = signing_in_force(facts);
        let keys = OnceCell::new();
        rules.require_anything().then_some(Self { rules, keys })
    }

    /// Why a skill may not be used, `None` if it is signed as is required; an error if that is not
    /// known.
    pub fn unmet(
        &self,
        facts: &Facts,
        digests: &DigestCache,
        installed: &mut InstalledEntries,
        (entry, skill): (&Entry, &Skill),
    ) -> Result<Option<String>, String> {
        let claimed = installed.is_claimed(facts, entry);
        let said = installed.entry_of_dir(facts, &entry.dir);
        let said = said.map_err(|error| format!("its source is not known: {error}"))?;
        let present = SkillOnDisk::new(&entry.dir, said, claimed);
        let (source, address) = (present.source.as_deref(), present.address.as_deref());
        let requirements = self.rules.requirements(source, address, claimed);
        let required = |demand: &SourceRequirement| demand.require > Requirement::None;
        if !requirements.iter().any(required) {
            return Ok(None);
        }
        let content = approval_content(skill, digests);
        let content = content.map_err(|error| format!("its files cannot be read: {error}"))?;
        let name = skill.authors_name();
        let keys = self.keys.get_or_init(|| self.keys(facts));
        // Everything that the result depends on, but the programs.
        let key = format!("{name:?} {content} {present:?} {claimed} {keys}");
        let key = format!("{:x} ", Sha256::digest(key));
        let noted = digests.noted(CHECKED, &entry.dir).unwrap_or_default();
        if let Some(unmet) = noted.strip_prefix(&key) {
            return Ok(Some(unmet.to_owned()).filter(|unmet| !unmet.is_empty()));
        }
        let is_call = facts.run.protocol.is_some() || digests.skill_use() == SkillUse::Disclose;
        let deadline = is_call.then(deadline);
        let base = base_of(facts, entry);
        let market = checking(facts, &base, claimed, deadline);
        let may_be_signed = market.may_be_signed(&present);
        if !may_be_signed.map_err(|error| error.to_string())? {
            let mut each = requirements.iter();
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
        // What could not be checked may be at any time: a program may be installed.
        if matches!(
            checked.signature,
            Signature::Good(_) | Signature::Bad { .. }
        ) {
            let unmet = checked.unmet.as_deref().unwrap_or_default();
            digests.note(CHECKED, &entry.dir, &format!("{key}{unmet}"));
        }
        Ok(checked.unmet)
    }

    /// What is required, whose keys count today and who is known.
    fn keys(&self, facts: &Facts) -> String {
        let known = KnownSigners::read(&Base::own(facts.run.dirs.plugin.clone()));
        let mut all = format!("{} {:?} {known:?}", UnixMillis::now().0 / DAY, self.rules);
        for file in signing_files(facts).unwrap_or_default() {
            let read = files::read_capped(&file.path, limits::SIGNERS);
            let read = read.map(|bytes| format!("{:x}", Sha256::digest(&bytes)));
            let _ = write!(all, " {read:?}");
        }
        all
    }
}

/// After this time a host's call starts no further signature check.
fn deadline() -> Instant {
    Instant::now() + CALL.saturating_sub(time_running())
}

/// The signature of a skill as it is now.
///
/// # Errors
/// When a program that checks is missing or does not answer, or what proves it cannot be read.
pub fn signature(
    facts: &Facts,
    entry: &Entry,
    installed: &mut InstalledEntries,
) -> Result<CheckedSignature> {
    let claimed = installed.is_claimed(facts, entry);
    let present = SkillOnDisk::new(&entry.dir, installed.said(facts, entry), claimed);
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
