//! Eligibility: which skills may be shown and offered. Trust is checked first, even if nothing else
//! can be read; then the context's catalog, policy, approval, scope and the user's choice, in this
//! order. A skill that is not offered always has a reason.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::catalog::{self, Admission, Entry, Layer};
use crate::error::{Error, Result};
use crate::marketplace::LockEntry;
use crate::policy::{
    Config, Policies, Trust, Trusts, Visibility, any_matches, approval_digest, approval_needed,
    matches,
};
use crate::run_context::RunContext;
use crate::skill::{Diagnostic, Skill};
use crate::sys::Base;
use crate::sys::text::quoted;

/// Everything that eligibility depends on, read once per catalog.
#[derive(Debug)]
pub struct Rules<'a> {
    ctx: &'a RunContext,
    config: Result<Config>,
    default: Config,
    policies: Result<Policies>,
    context: OnceCell<Option<String>>,
    trusts: Trusts,
    approved: OnceCell<BTreeMap<String, String>>,
    installed: RefCell<BTreeMap<PathBuf, Vec<LockEntry>>>,
}

impl<'a> Rules<'a> {
    /// The rules for this run.
    pub fn of(ctx: &'a RunContext) -> Self {
        let policies = ctx.policies();
        let config = match &policies {
            Ok(_) => ctx.config(),
            // The error of the policy is reported instead.
            Err(_) => Ok(Config::default()),
        };
        Self {
            ctx,
            config,
            default: Config::default(),
            policies,
            context: OnceCell::new(),
            trusts: Trusts::default(),
            approved: OnceCell::new(),
            installed: RefCell::default(),
        }
    }

    /// The configuration, or the default if it cannot be read; then no skill is eligible.
    pub fn config(&self) -> &Config {
        self.config.as_ref().unwrap_or(&self.default)
    }

    /// The policies and configuration as text, if they alone decide for the whole catalog; `None`
    /// if each skill's files and origin count too.
    pub fn grounds(&self) -> Option<String> {
        let policies = self.policies.as_ref().ok()?;
        let config = self.config.as_ref().ok()?;
        let judges_each = policies.judges_sources() || !policies.needs_approval().is_empty();
        (!judges_each).then(|| format!("{policies:?} {config:?}"))
    }

    /// What the user trusts, shared by callers that check several skills.
    pub fn trusts(&self) -> &Trusts {
        &self.trusts
    }

    fn refused(&self, entry: &Entry, skill: &Skill, policies: &Policies) -> Option<Admission> {
        let directory = entry.dir.file_name().unwrap_or_default().to_string_lossy();
        let refused = policies.refuses_skill(skill.name.as_str(), &directory);
        let refused = refused.or_else(|| {
            if !policies.judges_sources() || self.is_roots(entry) {
                return None;
            }
            let (source, address) = self.source(entry).unzip();
            policies.refuses_origin(source.as_deref(), address.flatten().as_deref())
        });
        refused.map(|text| excluded("hidden-policy", text))
    }

    /// An entry's source, and the address that git actually used for it, if different. A project's
    /// own claims about its source do not count.
    fn source(&self, entry: &Entry) -> Option<(String, Option<String>)> {
        if entry.layer == Layer::Project {
            return None;
        }
        let base = entry.dir.parent()?.parent()?;
        let mut installed = self.installed.borrow_mut();
        let entries = installed.entry(base.to_owned()).or_insert_with(|| {
            let base = self.ctx.base(base);
            self.ctx.market_at(&base).entries().unwrap_or_default()
        });
        let name = entry.dir.file_name()?.to_str()?;
        let found = entries.iter().find(|installed| installed.name == *name);
        found.map(|installed| (installed.source.clone(), installed.address.clone()))
    }

    fn unapproved(&self, entry: &Entry, skill: &Skill, policies: &Policies) -> Option<Admission> {
        let needs = policies.needs_approval();
        if needs.is_empty() || self.is_roots(entry) {
            return None;
        }
        let need = approval_needed(skill, &needs)?;
        let approved = || self.ctx.approved().entries().unwrap_or_default();
        let recorded = self.approved.get_or_init(approved).get(skill.name.as_str());
        let now = approval_digest(&skill.dir).ok();
        if recorded.is_some() && recorded == now.as_ref() {
            return None;
        }
        let since = if recorded.is_some() {
            ", and it changed since its approval"
        } else {
            ""
        };
        let text = format!(
            "{need}, which needs an approval{since}: look at it, then run `agent-skills approve {}`",
            skill.name
        );
        Some(excluded("hidden-unapproved", text))
    }

    /// Whether root put it into the system directory: then it needs no approval.
    fn is_roots(&self, entry: &Entry) -> bool {
        entry.layer == Layer::Enterprise && self.ctx.enterprise().is_roots()
    }

    fn out_of_scope(&self, skill: &Skill, config: &Config) -> Option<Admission> {
        let scope = skill.fields.scope();
        let outside = |allowed: &[String], here: Option<&str>| {
            !allowed.is_empty() && !here.is_some_and(|here| any_matches(allowed, here))
        };
        let (tenant, environment) = (config.tenant.as_deref(), config.environment.as_deref());
        let limited_to = if outside(&scope.tenants, tenant) {
            ("tenants", &scope.tenants, "tenant")
        } else if outside(&scope.environments, environment) {
            ("environments", &scope.environments, "environment")
        } else if !scope.agents.is_empty() && self.is_elsewhere(&scope.agents) {
            ("contexts", &scope.agents, "context")
        } else {
            return None;
        };
        let (what, allowed, here) = limited_to;
        let text = format!(
            "its scope is the {what} {}, and this {here} is none of them",
            allowed.join(", ")
        );
        Some(excluded("hidden-scope", text))
    }

    /// Whether none of `agents` matches the call's context. `--schema` and a person have no context
    /// and see every skill.
    fn is_elsewhere(&self, agents: &[String]) -> bool {
        if self.ctx.protocol.is_none() {
            return false;
        }
        !self
            .context()
            .is_some_and(|context| any_matches(agents, context))
    }

    /// Without a known context, only the patterns that match every context apply.
    fn out_of_catalog(&self, skill: &Skill, config: &Config) -> Option<Admission> {
        if config.catalog.is_empty() || self.ctx.protocol.is_none() {
            return None;
        }
        let context = self.context().unwrap_or_default();
        let seen = config.catalog.of(context)?;
        let name = skill.name.as_str();
        if seen.iter().any(|glob| matches(glob, name)) {
            return None;
        }
        let text =
            format!("the configuration's `catalog` leaves it out of the context `{context}`");
        Some(excluded("hidden-catalog", text))
    }

    fn context(&self) -> Option<&str> {
        let context = self.context.get_or_init(|| self.ctx.context());
        context.as_deref()
    }
}

impl catalog::Rules for Rules<'_> {
    /// Checked first, even with an unreadable policy: no text of an untrusted project is shown.
    fn distrusts(&self, entry: &Entry) -> Option<Diagnostic> {
        if entry.layer != Layer::Project {
            return None;
        }
        let forbids = |policies: &Policies| policies.forbids_projects();
        if let Some(file) = self.policies.as_ref().ok().and_then(forbids) {
            let text = format!("the policy {file} forbids skills that come with a project");
            return Some(Diagnostic::warning("hidden-policy", text));
        }
        let why = match self.trusts.of_skill(self.ctx, &entry.dir) {
            Trust::Given => return None,
            Trust::Missing => {
                "it comes with the project and is not offered until you trust it".to_owned()
            }
            Trust::Outdated(changed) => {
                let what = match changed.len() {
                    0 => String::new(),
                    _ => format!(" ({})", quoted(&changed.join(", "))),
                };
                format!("it comes with the project and changed since you trusted it{what}")
            }
        };
        let holder = entry
            .dir
            .parent()
            .map_or(&*entry.dir, RunContext::holder_of);
        let text = format!(
            "{why}: look at it, then run `agent-skills trust {}`",
            holder.display()
        );
        Some(Diagnostic::warning("hidden-untrusted", text))
    }

    fn admits(&self, entry: &Entry, skill: &Skill) -> Admission {
        let (policies, config) = match (&self.policies, &self.config) {
            (Err(error), _) => return excluded("hidden-policy", unreadable("policy", error)),
            (_, Err(error)) => {
                return excluded("hidden-configuration", unreadable("configuration", error));
            }
            (Ok(policies), Ok(config)) => (policies, config),
        };
        // A user's or project's configuration cannot hide an administrator's skill.
        let chooser = (entry.layer != Layer::Enterprise).then_some(config);
        // First, because a context must not learn of a skill it does not see.
        chooser
            .and_then(|config| self.out_of_catalog(skill, config))
            .or_else(|| self.refused(entry, skill, policies))
            .or_else(|| self.unapproved(entry, skill, policies))
            .or_else(|| self.out_of_scope(skill, config))
            .unwrap_or_else(|| chosen(skill, chooser))
    }
}

/// The user's choice, or else the author's.
fn chosen(skill: &Skill, config: Option<&Config>) -> Admission {
    let why = |code, text: &str| Diagnostic::warning(code, text);
    let choice = config.and_then(|config| config.visibility.get(skill.name.as_str()));
    match choice {
        Some(Visibility::NameOnly) => Admission::NameOnly,
        Some(Visibility::User) => Admission::ForPeople(why(
            "hidden-from-model",
            "the configuration keeps it from the model",
        )),
        Some(Visibility::Off) => Admission::Hidden(why(
            "hidden-off",
            &format!(
                "it is switched off: `agent-skills enable {}` switches it on",
                skill.name
            ),
        )),
        None if skill.fields.disables_model_invocation() => Admission::ForPeople(why(
            "hidden-from-model",
            &format!(
                "its author keeps it from the model (`disable-model-invocation`): a prompt that \
                 begins with `/{}` calls it{}",
                skill.name,
                match config {
                    Some(_) => format!(", and `agent-skills enable {}` shows it", skill.name),
                    None => String::new(),
                }
            ),
        )),
        Some(Visibility::On) | None => Admission::Shown,
    }
}

fn excluded(code: &str, text: String) -> Admission {
    Admission::Excluded(Diagnostic::warning(code, text))
}

fn unreadable(what: &str, error: &Error) -> String {
    format!("the {what} cannot be read, so no skill is offered: {error}")
}

impl RunContext {
    /// The marketplace for what is installed below `base`.
    pub fn market_at<'a>(&'a self, base: &'a Base) -> crate::marketplace::Market<'a> {
        crate::marketplace::Market {
            plugin_dir: base,
            home: &self.dirs.plugin,
            env: &self.env,
            deadline: None,
            offline: true,
            mirror: None,
            progress: None,
        }
    }
}
