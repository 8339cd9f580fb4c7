//! Eligibility: which skills may be shown and offered. Trust is checked first, even if nothing else
//! can be read; then the context's catalog, policy, approval, signature, scope and the user's choice, in this
//! order. A skill that is not offered always has a reason.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::rc::Rc;

use super::entry::{Eligibility, Entry, WithheldReason};
use super::installed::InstalledEntries;
use super::roots::Layer;
use super::signed_skills::SignatureChecks;
use crate::facts::Facts;
use crate::marketplace::{Digest, LockEntry};
use crate::policy::{
    Approvals, Config, DigestCache, Ledger, Policies, RuleOutcome, RuleResult, RuleSubject,
    SkillUse, Trust, TrustChecker, Visibility, approval_current, approval_needed, matches, refusal,
};
use crate::run_context::RunContext;
use crate::session::StateUnreadable;
use crate::skill::{Diagnostic, Skill, shown_name};
use crate::sys::text::quoted;
use crate::sys::tree;

/// Everything that eligibility depends on, read once per catalog.
#[derive(Debug)]
pub struct EligibilityRules<'a> {
    pub(super) facts: &'a Facts,
    /// The default if it cannot be read, and so the policies; then no skill is eligible.
    pub(super) config: Rc<Config>,
    pub(super) policies: Rc<Policies>,
    /// Why no skill is eligible, if so.
    unreadable: Option<Diagnostic>,
    /// An error if it is not known whether the host has named one.
    context: OnceCell<std::result::Result<Option<String>, StateUnreadable>>,
    pub(super) trusts: TrustChecker,
    digests: Rc<DigestCache>,
    approved: OnceCell<BTreeMap<String, Approvals>>,
    installed: RefCell<InstalledEntries>,
    /// `None` if none are required.
    pub(super) signatures: Option<SignatureChecks>,
}

/// What becomes of a skill that is not offered, and the reason.
pub(super) type Refusal = (WithheldReason, Diagnostic);

impl<'a> EligibilityRules<'a> {
    /// The rules for this run. Trust and approval go by the digests that are kept.
    pub fn new(facts: &'a Facts, skill_use: SkillUse) -> Self {
        let digests = DigestCache::of_project(&facts.run, facts.state(), skill_use);
        let digests = Rc::new(digests);
        let mut unreadable = None;
        let policies = facts.policies().unwrap_or_else(|error| {
            let why = format!("the policy cannot be read, so no skill is offered: {error}");
            unreadable = Some(Diagnostic::HiddenPolicy(why));
            Rc::default()
        });
        let config = facts.config().unwrap_or_else(|error| {
            // An unreadable policy makes the configuration unreadable, too.
            let why = || Diagnostic::HiddenConfiguration(error.to_string());
            unreadable.get_or_insert_with(why);
            Rc::default()
        });
        Self {
            facts,
            config,
            unreadable,
            context: OnceCell::new(),
            trusts: TrustChecker::by(Ledger::trusted(facts.state()), &policies, digests.clone()),
            policies,
            digests,
            approved: OnceCell::new(),
            installed: RefCell::default(),
            signatures: SignatureChecks::required(facts),
        }
    }

    /// The policies and configuration as text, if they alone decide for the whole catalog; `None`
    /// if each skill's files and origin count too.
    pub fn grounds(&self) -> Option<String> {
        let policies = &self.policies;
        let decides_each = policies.has_source_rules()
            || policies.required().any(|(_, one)| one.needs_source())
            || !policies.needs_approval().is_empty()
            || self.signatures.is_some();
        let decide_alone = self.unreadable.is_none() && !decides_each;
        decide_alone.then(|| format!("{policies:?} {:?}", self.config))
    }

    /// What the policies say about its name, version and source, in this order.
    pub(super) fn by_policy(&self, entry: &Entry, skill: &Skill) -> Vec<RuleResult> {
        let directory = entry.dir.file_name().unwrap_or_default().to_string_lossy();
        let version = skill.fields.version();
        let name = skill.name.as_str();
        let mut found = self.policies.about_skill(RuleSubject {
            name,
            directory: &directory,
            version: version.as_deref(),
            is_administrators: entry.layer == Layer::Enterprise,
            is_projects: entry.layer == Layer::Project,
        });
        if self.policies.looks_at_source_of(name) && !self.is_roots(entry) {
            let mut installed = self.installed.borrow_mut();
            let origin = installed.known(self.facts, entry);
            // The address is the one that git really used, if that differs from the source.
            found.extend(self.policies.about_origin(
                name,
                origin.map(|origin| origin.source.as_str()),
                origin.and_then(|origin| origin.address.as_deref()),
            ));
            // Whoever changes its files would keep the source, and choose the version.
            let required = self.policies.requires(name);
            let changed = origin.filter(|origin| !self.is_intact(skill, origin));
            found.extend(required.zip(changed).map(|(file, _)| {
                let shown = file.display();
                let why =
                    format!("its files changed since it was installed, and `{shown}` requires it");
                RuleResult::new("skills.require", Some(file), RuleOutcome::Fails, why)
            }));
        }
        found
    }

    /// Whether its files are those that were installed, by the digests that are kept.
    fn is_intact(&self, skill: &Skill, installed: &LockEntry) -> bool {
        let now = self.digests.digested("lock", &skill.dir, || {
            let (_, stamps) = tree::digest_and_stamps([&skill.dir])?;
            let digest =
                Digest::read(&skill.dir).map_err(|error| io::Error::other(error.to_string()))?;
            Ok((digest.sha256, stamps))
        });
        now.is_ok_and(|now| now == installed.sha256)
    }

    fn refused(&self, entry: &Entry, skill: &Skill) -> Option<Refusal> {
        let why = refusal(self.by_policy(entry, skill))?;
        Some((WithheldReason::Excluded, Diagnostic::HiddenPolicy(why)))
    }

    pub(super) fn unapproved(&self, entry: &Entry, skill: &Skill) -> Option<Refusal> {
        let needs = self.policies.needs_approval_of(skill.name.as_str());
        if needs.is_empty() || self.is_roots(entry) {
            return None;
        }
        let need = approval_needed(skill, &needs)?;
        let record = || Ledger::approvals(self.facts.enterprise(), self.facts.state());
        let approved = || record().entries().unwrap_or_default();
        let approved = self.approved.get_or_init(approved);
        let since = match approval_current(approved, skill, &self.digests) {
            Ok(_) => return None,
            Err(true) => ", and it changed since its approval",
            Err(false) => "",
        };
        let need = format!("{need}, which needs an approval{since}");
        let why = Diagnostic::HiddenUnapproved(need, entry.in_layer());
        Some((WithheldReason::Unapproved, why))
    }

    pub(super) fn unsigned(&self, entry: &Entry, skill: &Skill) -> Option<Refusal> {
        let signatures = self.signatures.as_ref().filter(|_| !self.is_roots(entry))?;
        if !self
            .policies
            .may_withhold_for_signature(skill.name.as_str())
        {
            return None;
        }
        let mut installed = self.installed.borrow_mut();
        let subject = (entry, skill);
        let unmet = signatures.unmet(self.facts, &self.digests, &mut installed, subject);
        let why = unmet.unwrap_or_else(Some)?;
        Some((WithheldReason::Unsigned, Diagnostic::HiddenUnsigned(why)))
    }

    /// Whether root put it into the system directory: then it needs no approval and no signature,
    /// for whoever may write there decides about the policy, too.
    pub(super) fn is_roots(&self, entry: &Entry) -> bool {
        entry.layer == Layer::Enterprise && self.facts.enterprise().has_roots_skill(&entry.dir)
    }

    pub(super) fn out_of_scope(&self, skill: &Skill) -> Option<Refusal> {
        let refused = |why: String| Some((WithheldReason::Excluded, Diagnostic::HiddenScope(why)));
        let scope = match skill.fields.scope() {
            Ok(scope) => scope,
            Err(why) => return refused(format!("{why}, so it is offered nowhere")),
        };
        // `--schema` and a person have no context and see every skill.
        let has_context = self.facts.run.protocol.is_some() && !scope.agents.is_empty();
        let context = has_context.then(|| self.context()).flatten();
        let (tenant, environment) = (&self.config.tenant, &self.config.environment);
        [
            ("tenants", &scope.tenants, "tenant", tenant.as_deref()),
            (
                "environments",
                &scope.environments,
                "environment",
                environment.as_deref(),
            ),
            ("contexts", &scope.agents, "context", context),
        ]
        .into_iter()
        .filter(|(what, ..)| has_context || *what != "contexts")
        .find(|(_, allowed, _, here)| {
            !allowed.is_empty()
                && !here.is_some_and(|here| allowed.iter().any(|glob| matches(glob, here)))
        })
        .and_then(|(what, allowed, here, _)| {
            let allowed = allowed.join(", ");
            refused(format!(
                "is for the {what} {allowed}, but this {here} is not one of them"
            ))
        })
    }

    /// If the host has named no context, only the patterns that match every context apply. If it
    /// is not known which it named, no other skill is visible: the context may see none.
    fn out_of_catalog(&self, skill: &Skill, config: &Config) -> Option<Refusal> {
        if config.catalog.is_empty() || self.facts.run.protocol.is_none() {
            return None;
        }
        let context = self.context().unwrap_or_default();
        let seen = match config.catalog.names_for(context) {
            None if self.found_context().is_ok() => return None,
            seen => seen.unwrap_or_default(),
        };
        let name = skill.name.as_str();
        if seen.iter().any(|glob| glob.matches(name)) {
            return None;
        }
        let why = Diagnostic::HiddenCatalog(context.to_owned());
        Some((WithheldReason::OtherContext, why))
    }

    fn context(&self) -> Option<&str> {
        self.found_context().as_ref().ok()?.as_deref()
    }

    fn found_context(&self) -> &std::result::Result<Option<String>, StateUnreadable> {
        self.context.get_or_init(|| self.facts.context())
    }

    /// The refusal of everything in an untrusted project, of whose text nothing may be shown.
    /// Checked before anything of it is read, even with an unreadable policy, and by the location
    /// alone.
    pub fn distrusts(&self, layer: Layer, dir: &Path) -> Option<Refusal> {
        if layer != Layer::Project {
            return None;
        }
        if let Some(file) = self.policies.forbids_projects() {
            let file = file.display();
            let text = format!("the policy `{file}` forbids skills that come with a project");
            let why = Diagnostic::HiddenPolicy(text);
            return Some((WithheldReason::Forbidden, why));
        }
        let since = match self.trusts.of_skill(dir) {
            Trust::Given => return None,
            Trust::Missing => "is not offered until you trust it".to_owned(),
            Trust::Outdated(changed) if changed.is_empty() => {
                "changed since you trusted it".to_owned()
            }
            Trust::Outdated(changed) => {
                let changed = quoted(&changed.join(", "));
                format!("changed since you trusted it ({changed})")
            }
        };
        let why = format!("it comes with the project and {since}");
        let holder = dir.parent().map_or(dir, RunContext::holder_of);
        let why = Diagnostic::HiddenUntrusted(why, holder.display().to_string());
        Some((WithheldReason::Untrusted, why))
    }

    /// The standing of a skill whose text may be shown, without regard to others of its name.
    pub fn eligibility(&self, entry: &Entry, skill: &Skill) -> Eligibility {
        if let Some(why) = &self.unreadable {
            return Eligibility::Withheld(WithheldReason::Excluded, why.clone());
        }
        // A user's or project's configuration cannot hide an administrator's skill, nor one that a
        // policy requires.
        let is_required = self.policies.requires(skill.name.as_str()).is_some();
        let is_free = entry.layer != Layer::Enterprise && !is_required;
        let chooser = is_free.then_some(&*self.config);
        // First: a context must not learn of a skill it does not see.
        chooser
            .and_then(|config| self.out_of_catalog(skill, config))
            .or_else(|| self.refused(entry, skill))
            .or_else(|| self.unapproved(entry, skill))
            .or_else(|| self.unsigned(entry, skill))
            .or_else(|| self.out_of_scope(skill).filter(|_| !is_required))
            .map_or_else(
                || {
                    if is_required {
                        Eligibility::Offered { name_only: false }
                    } else {
                        chosen(skill, chooser)
                    }
                },
                |(withheld, why)| Eligibility::Withheld(withheld, why),
            )
    }
}

/// The user's choice, or else the author's.
fn chosen(skill: &Skill, config: Option<&Config>) -> Eligibility {
    let name = &skill.name;
    let for_people = |why: String| {
        Eligibility::Withheld(WithheldReason::ForPeople, Diagnostic::HiddenFromModel(why))
    };
    // Nobody but its author hides an administrator's skill, and nobody shows it.
    let enable = |join: &str, does: &str| match config {
        Some(_) => format!("{join} `agent-skills enable {name}` {does} it"),
        None => String::new(),
    };
    match config.and_then(|config| config.visibility.get(name.as_str())) {
        Some(Visibility::NameOnly) => Eligibility::Offered { name_only: true },
        Some(Visibility::User) => {
            for_people("the configuration hides it from the model".to_owned())
        }
        Some(Visibility::Off) => Eligibility::Withheld(
            WithheldReason::Hidden,
            Diagnostic::HiddenOff(name.to_string()),
        ),
        None if skill.fields.disables_model_invocation() => for_people(format!(
            "its author hides it from the model (`disable-model-invocation`): a prompt that begins \
             with `/{name}` calls it{}",
            enable(", and", "shows")
        )),
        Some(Visibility::On) => Eligibility::Offered { name_only: false },
        None => match skill.near_miss() {
            None => Eligibility::Offered { name_only: false },
            Some((written, meant)) => for_people(format!(
                "`{}` restricts nothing, and `{meant}` may be meant{}",
                shown_name(written),
                enable(";", "offers")
            )),
        },
    }
}
