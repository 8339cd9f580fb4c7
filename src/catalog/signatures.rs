//! Whether a skill is signed as the policies and the configuration require. What git, ssh-keygen,
//! gpg said is kept for the rest of the day, by everything that it depends on, so that
//! a hook seldom runs them.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};

use super::entry::Entry;
use super::installed::Installed;
use super::roots::base_at;
use super::signing::{market_at, signing, signing_in_force};
use super::verdicts::{Verdict, Verdicts};
use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::marketplace::{Checked, KnownSigners, Market, Present};
use crate::policy::{Asks, DigestCache, SigningInForce, approval_content, approval_digest};
use crate::signing::{Demand, Requirement, Signature};
use crate::skill::Skill;
use crate::sys::{Base, files, limits, running};

/// How long after its start a host's call, be it `--schema`, still begins to check signatures: its user waits for it.
const CALL: Duration = Duration::from_millis(1500);
/// How many skills a host's call checks at once: what was checked before its time is up, counts.
const AT_ONCE: usize = 16;

/// The answers of one run.
#[derive(Debug)]
pub struct Signatures<'a> {
    facts: &'a Facts,
    digests: Rc<DigestCache>,
    installed: Rc<RefCell<Installed>>,
    rules: OnceCell<SigningInForce>,
    known: OnceCell<KnownSigners>,
    /// Digests of files of signers and of revoked keys.
    keys: RefCell<HashMap<PathBuf, String>>,
    verdicts: OnceCell<Verdicts>,
    /// By the skill's directory, why it may not be used.
    answers: RefCell<HashMap<PathBuf, Option<String>>>,
}

/// What is known of one skill before a program runs.
enum Asked {
    /// Why it may not be used, if so.
    Answered(Option<String>),
    Open(Box<Question>),
}

/// A skill whose signature has to be checked.
struct Question {
    present: Present,
    claimed: bool,
    /// Everything that the verdict depends on.
    key: String,
    /// The digest of its files.
    content: String,
    skill: Skill,
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
            known: OnceCell::new(),
            keys: RefCell::default(),
            verdicts: OnceCell::new(),
            answers: RefCell::default(),
        }
    }

    /// Why a skill may not be used; `None` if it is signed as is required.
    pub fn unmet(&self, entry: &Entry, skill: &Skill) -> Option<String> {
        let known = self.answers.borrow().get(&entry.dir).cloned();
        known.unwrap_or_else(|| {
            let answer = match self.ask(entry, skill) {
                Asked::Answered(answer) => answer,
                Asked::Open(question) => self.check_all(&[*question]).pop().flatten(),
            };
            let mut answers = self.answers.borrow_mut();
            answers.insert(entry.dir.clone(), answer.clone());
            answer
        })
    }

    /// Checks at once what questions about these skills will ask for.
    pub fn check<'e>(&self, entries: impl Iterator<Item = &'e Entry>) {
        let mut open = Vec::new();
        for entry in entries {
            match entry.skill.as_ref().map(|skill| self.ask(entry, skill)) {
                Ok(Asked::Answered(answer)) => {
                    let mut answers = self.answers.borrow_mut();
                    answers.insert(entry.dir.clone(), answer);
                }
                Ok(Asked::Open(question)) => open.push(*question),
                Err(_) => {}
            }
        }
        if open.is_empty() {
            return;
        }
        let answers = self.check_all(&open);
        let dirs = open.into_iter().map(|one| one.present.dir);
        self.answers.borrow_mut().extend(dirs.zip(answers));
    }

    fn ask(&self, entry: &Entry, skill: &Skill) -> Asked {
        let refused = |why: String| Asked::Answered(Some(why));
        let mut installed = self.installed.borrow_mut();
        let claimed = installed.is_claimed(self.facts, entry);
        let said = match installed.look(self.facts, entry) {
            Ok(said) => said,
            Err(error) => return refused(format!("where it is from is not known: {error}")),
        };
        let present = Present::new(&entry.dir, said, claimed);
        let base = entry.dir.parent().and_then(Path::parent);
        let rules = || signing_in_force(self.facts);
        let rules = self.rules.get_or_init(rules);
        let (source, address) = (present.source.as_deref(), present.address.as_deref());
        let demands = rules.demands(source, address, claimed);
        let required = |demand: &Demand| demand.require > Requirement::None;
        if !demands.iter().any(required) {
            return Asked::Answered(None);
        }
        if skill.pointed_to().is_some() {
            return refused("its SKILL.md only names another file, which nobody signed".to_owned());
        }
        let content = match approval_content(skill, &self.digests) {
            Ok(content) => content,
            Err(error) => return refused(format!("its files cannot be read: {error}")),
        };
        let key = self.key(skill, &content, &present, &demands);
        if let Some(Verdict { unmet }) = self.verdicts().get(&key) {
            return Asked::Answered(unmet);
        }
        let base = base_at(self.facts, base.unwrap_or(&entry.dir));
        match market_at(self.facts, &base).may_be_signed(&present) {
            Ok(true) => Asked::Open(Box::new(Question {
                present,
                claimed,
                key,
                content,
                skill: skill.clone(),
            })),
            Ok(false) => {
                let mut each = demands.iter();
                Asked::Answered(each.find_map(|one| one.unmet(&Signature::Unsigned, &[], false)))
            }
            Err(error) => refused(error.to_string()),
        }
    }

    fn verdicts(&self) -> &Verdicts {
        let of_today = || Verdicts::of_today(self.facts.state());
        self.verdicts.get_or_init(of_today)
    }

    /// Everything that the verdict on a skill depends on, but the programs and the day.
    fn key(&self, skill: &Skill, content: &str, present: &Present, demands: &[Demand]) -> String {
        let name = skill.authors_name();
        let known = || KnownSigners::read(&Base::own(self.facts.run.dirs.plugin.clone()));
        let known = self.known.get_or_init(|| known().unwrap_or_default());
        let mut all = format!("{name:?} {content} {present:?} {demands:?} {known:?}");
        let files = demands
            .iter()
            .flat_map(|one| [&one.signers, &one.revoked])
            .flatten();
        for file in files {
            let mut keys = self.keys.borrow_mut();
            let digest = keys.entry(file.clone()).or_insert_with(|| {
                let read = files::read_capped(file, limits::SIGNERS);
                read.map_or_else(
                    |error| error.to_string(),
                    |bytes| format!("{:x}", Sha256::digest(&bytes)),
                )
            });
            let _ = write!(all, " {digest}");
        }
        format!("{:x}", Sha256::digest(all))
    }

    /// The answers to questions, in their order, and keeps those that can be kept.
    fn check_all(&self, questions: &[Question]) -> Vec<Option<String>> {
        let mut answers: Vec<Option<String>> = vec![None; questions.len()];
        let mut groups: BTreeMap<(PathBuf, bool), Vec<usize>> = BTreeMap::new();
        for (at, question) in questions.iter().enumerate() {
            let dir = &question.present.dir;
            let base = dir.parent().and_then(Path::parent).unwrap_or(dir);
            let group = (base.to_owned(), question.claimed);
            groups.entry(group).or_default().push(at);
        }
        let is_call = self.facts.run.protocol.is_some() || self.digests.asks() == Asks::ToDisclose;
        let deadline = is_call.then(|| Instant::now() + CALL.saturating_sub(running()));
        let at_once = if is_call { AT_ONCE } else { usize::MAX };
        for ((base, claimed), members) in groups {
            let base = base_at(self.facts, &base);
            let market = Market {
                deadline,
                signing: Rc::new(signing(self.facts, claimed)),
                ..market_at(self.facts, &base)
            };
            for some in members.chunks(at_once.min(members.len())) {
                let some_of: Vec<&Question> = some.iter().map(|at| &questions[*at]).collect();
                for (at, answer) in some.iter().zip(self.check_some(&market, &some_of)) {
                    answers[*at] = answer;
                }
            }
        }
        self.verdicts().keep();
        answers
    }

    fn check_some(&self, market: &Market, questions: &[&Question]) -> Vec<Option<String>> {
        let is_over = || {
            let deadline = market.deadline;
            deadline.is_some_and(|deadline| deadline <= Instant::now())
        };
        let failed = |error: &Error| {
            let why = if is_over() {
                "its signature has not been checked yet".to_owned()
            } else {
                format!("its signature could not be checked: {error}")
            };
            Some(format!("{why}: `agent-skills verify` checks it"))
        };
        if is_over() {
            let late = failed(&Error::new(""));
            return questions.iter().map(|_| late.clone()).collect();
        }
        let present: Vec<Present> = questions.iter().map(|one| one.present.clone()).collect();
        let checked = match market.check_present(&present) {
            Ok(checked) => checked,
            // What keeps one from being checked must not keep the others from it.
            Err(_) if questions.len() > 1 && !is_over() => {
                let each = questions.iter();
                return each
                    .flat_map(|one| self.check_some(market, &[one]))
                    .collect();
            }
            Err(error) => return questions.iter().map(|_| failed(&error)).collect(),
        };
        let mut answers = Vec::new();
        for (question, checked) in questions.iter().zip(checked) {
            let same = approval_digest(&question.skill);
            if same.is_ok_and(|now| now == question.content) {
                let unmet = checked.unmet.clone();
                // Damaged evidence may be put right, and a program installed.
                let lasts = match &checked.signature {
                    Signature::Unsigned => false,
                    Signature::Unchecked { needs, .. } => needs.is_none(),
                    Signature::Good(_) | Signature::Bad { .. } => true,
                };
                if lasts {
                    self.verdicts().learn(&question.key, Verdict { unmet });
                }
                answers.push(checked.unmet);
            } else {
                let why = "its files changed while its signature was checked";
                answers.push(Some(why.to_owned()));
            }
        }
        answers
    }
}

/// The signature of a skill as it is now.
///
/// # Errors
/// When a program that checks is missing or does not answer, or what proves it cannot be read.
pub fn signature(facts: &Facts, entry: &Entry, installed: &mut Installed) -> Result<Checked> {
    let claimed = installed.is_claimed(facts, entry);
    let present = Present::new(&entry.dir, installed.said(facts, entry), claimed);
    let base = entry.dir.parent().and_then(Path::parent);
    let base = base_at(facts, base.unwrap_or(&entry.dir));
    let market = Market {
        deadline: (facts.run.protocol).map(|_| Instant::now() + CALL.saturating_sub(running())),
        signing: Rc::new(signing(facts, claimed)),
        ..market_at(facts, &base)
    };
    let checked = market.check_present(&[present])?.pop();
    checked.ok_or_else(|| Error::new("it was not checked"))
}
