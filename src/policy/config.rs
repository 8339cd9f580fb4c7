//! `config.toml` in the plugin directory: its keys, and their values for the rooms that use them. And
//! what tightens it, and never loosens it: `[enforce]` in a policy, the least strict values that a
//! configuration can have; a trusted project's `.chibi/agent-skills.toml`; and what a policy's required
//! skills need. Where a key could loosen a decision, it has a floor here.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::host::agent::{Agent, HookMode};
use crate::policy::file::denials;
use crate::policy::skill_names::by_skill;
use crate::policy::{ByContext, BySkill, SkillGlob, SourceSigning};
use crate::script::{self, Confinement, Network, PassEnv, TimeLimit};
use crate::signing::Requirement;
use crate::skill::SkillName;
use skill_permission::explain::mistaken_grant;
use skill_permission::settings::{Deactivate, Enforce, ScriptScope, Settings, Stacking};

/// Skills active at the same time, unless configured. The instructions of more contradict each
/// other.
const ACTIVE_SKILLS: NonZeroUsize = NonZeroUsize::new(5).unwrap();

/// How decisions name the user's configuration as the source of a rule.
pub const CONFIGURATION: &str = "the configuration";

/// The user's configuration. An absent key has its default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a key of the configuration"
)]
pub struct Config {
    /// `restrict` (default), `warn` or `off`: what happens to a call that a skill does not allow.
    pub enforce: Enforce,
    /// `replace` (default) or `intersect`: how two active skills combine.
    pub stacking: Stacking,
    /// `own` (default), `listed` or `any`: whose scripts a restricted skill may run.
    pub scripts: ScriptScope,
    /// Tools that no restriction forbids, by name.
    pub always_allowed: Vec<String>,
    /// What is denied while any skill is active, in the grammar of `allowed-tools`.
    #[serde(deserialize_with = "denials")]
    pub deny: Vec<String>,
    /// `prompt` (default) or `context`: how long an activation lasts.
    pub scope: Lifetime,
    /// The maximum number of active skills; 5 by default.
    pub max_active: MaxActive,
    /// `user` (default) or `model`: who may end a restriction.
    pub deactivate: Deactivate,
    /// `note` (default) or `block`: what happens when a script of the active skill is read instead
    /// of run.
    pub script_reads: ScriptReads,
    /// `sources` (default), `any` or `off`: what a model may install without asking the user.
    pub model_installs: ModelInstalls,
    /// Whether a model may propose changes to skills, about which the user decides; `true` by
    /// default.
    pub proposals: OnUnlessOff,
    /// Whether it may propose new skills too; `true` by default.
    pub create_skill: OnUnlessOff,
    /// Whether commands without a terminal may decide for the user; `false` by default.
    pub unattended: bool,
    /// The owner of this machine, for skills with a `scope` and for the audit log.
    pub tenant: Option<String>,
    /// The purpose of this machine, for skills with a `scope` and for the audit log.
    pub environment: Option<String>,
    /// Who sees a skill, by name.
    #[serde(deserialize_with = "by_skill")]
    pub visibility: BySkill<Visibility>,
    /// By context, the skills that are active from the start, in this order.
    pub uses_skills: ByContext,
    /// By context, names or globs of the skills that it sees; a context without an entry sees all.
    pub catalog: ByContext<SkillGlob>,
    /// The audit log.
    pub audit: AuditConfig,
    /// Which of the host's variables scripts receive: `"all"` or a list of names; by default all
    /// that do not look like secrets.
    pub pass_env: PassEnv,
    /// `off` (default), `auto` or `require`: whether scripts are confined (Linux).
    pub sandbox: script::SandboxMode,
    /// The network access of a confined script.
    pub network: Network,
    /// The total seconds a script may run; 120 by default.
    pub script_seconds: TimeLimit,
    /// What differs for single skills, by name.
    #[serde(deserialize_with = "by_skill")]
    pub skills: BySkill<SkillSettings>,
    /// How skills have to be signed.
    pub signing: Signing,
    /// What the hooks of other agents do, by agent.
    pub hosts: BTreeMap<Agent, HostSettings>,
    /// Whether filters such as `| head -20` are allowed without a rule; only a policy says that they
    /// are not.
    #[serde(skip)]
    pub pipe_filters: OnUnlessOff,
    /// The skills that policies require, which always restrict.
    #[serde(skip)]
    pub required: BTreeSet<SkillName>,
}

/// Settings that differ for one skill; unset ones are those of all skills.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SkillSettings {
    /// Entries added to the skill's own `allowed-tools`, in its grammar; for a skill without a list
    /// they mean nothing.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "grants")]
    pub allow: Option<Vec<String>>,
    /// `pass_env` for its scripts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass_env: Option<PassEnv>,
    /// `sandbox` for its scripts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<script::SandboxMode>,
    /// `network` for its scripts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// Where else its confined scripts may write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_paths: Option<Vec<PathBuf>>,
}

/// How the user's skills have to be signed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Signing {
    /// `none` (default), `known` or `listed`: how every skill has to be signed.
    pub require: Requirement,
    /// What differs for sources, by their addresses, which may have `*`.
    pub sources: BTreeMap<String, SourceSigning>,
}

/// What the hooks of an agent do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HostSettings {
    /// `restrict` (default), `grant`, `both` or `ask`: what a skill's list means there.
    pub mode: Option<HookMode>,
}

/// How many skills may be active.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MaxActive(pub NonZeroUsize);

impl Default for MaxActive {
    fn default() -> Self {
        Self(ACTIVE_SKILLS)
    }
}

/// A flag that is `true` if the key is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OnUnlessOff(pub bool);

impl Default for OnUnlessOff {
    fn default() -> Self {
        Self(true)
    }
}

/// What is installed when a model asks for it without the user, loosest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelInstalls {
    /// Any skill.
    Any,
    /// Skills of the configured sources.
    #[default]
    Sources,
    /// None.
    Off,
}

/// What happens when a script of the active skill is read instead of run, loosest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScriptReads {
    /// It is read, and the result says how to run it.
    #[default]
    Note,
    /// It is refused, and the refusal says how to run it.
    Block,
}

/// How long an activation lasts, loosest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lifetime {
    /// As long as the host process in which it began, which is one prompt.
    #[default]
    Prompt,
    /// As long as the conversation, across any number of prompts.
    Context,
}

/// Who sees a skill, most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Visibility {
    /// The model, even if the author excluded it.
    On,
    /// The model, but only the name.
    NameOnly,
    /// People only.
    User,
    /// Nobody.
    Off,
}

/// The audit log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AuditConfig {
    /// Bytes of each script's output that are recorded; 0 by default.
    pub output_bytes: usize,
}

impl Config {
    /// The settings for running the scripts of a skill.
    pub fn script(&self, skill: &str) -> script::ScriptSettings {
        let own = self.skills.get(skill).cloned().unwrap_or_default();
        script::ScriptSettings {
            pass_env: own.pass_env.unwrap_or_else(|| self.pass_env.clone()),
            confinement: Confinement {
                mode: own.sandbox.unwrap_or(self.sandbox),
                network: own.network.unwrap_or(self.network),
                allowed_paths: own.allowed_paths.unwrap_or_default(),
            },
            timeout: self.script_seconds,
        }
    }

    /// The entries that the user adds to the skill's own tool list. Whose skill of this name they
    /// count for is not decided here.
    pub fn added_entries(&self, skill: &str) -> &[String] {
        let own = self.skills.get(skill);
        own.and_then(|own| own.allow.as_deref()).unwrap_or_default()
    }

    /// The settings for permission decisions.
    pub fn permission(&self) -> Settings {
        Settings {
            enforce: self.enforce,
            required: self.required.iter().map(SkillName::to_string).collect(),
            stacking: self.stacking,
            pipe_filters: self.pipe_filters.0,
            scripts: self.scripts,
            always_allowed: self.always_allowed.clone(),
            deactivate: self.deactivate,
            proposals: self.takes_proposals(),
            new_skills: self.takes_new_skills(),
        }
    }

    /// Whether a model may propose changes.
    pub fn takes_proposals(&self) -> bool {
        self.proposals.0
    }

    /// Whether a model may propose new skills.
    pub fn takes_new_skills(&self) -> bool {
        self.takes_proposals() && self.create_skill.0
    }

    /// This configuration with each key as strict as the project's, if that is stricter.
    #[must_use]
    pub fn tightened_by(mut self, project: ProjectConfig) -> Self {
        let floors = Floors {
            mode: project.enforce,
            stacking: project.stacking,
            sandbox: project.sandbox,
            scripts: project.scripts,
            script_reads: project.script_reads,
            model_installs: project.model_installs,
            proposals: project.proposals,
            ..Floors::default()
        };
        floors.tighten(&mut self, false);
        self.deny.extend(project.deny);
        for (name, wanted) in project.visibility {
            // `on` would show a skill that its author hides, and hiding what the user has always on
            // would lift its restriction.
            if wanted != Visibility::On && !self.uses_skill(&name) {
                let own = self.visibility.entry(name).or_insert(wanted);
                *own = wanted.max(*own);
            }
        }
        self
    }

    /// Whether a skill of this name may be one that `uses_skills` names in any context, with or without
    /// a layer or an owner: in doubt it is.
    fn uses_skill(&self, name: &SkillName) -> bool {
        let means = |written: &str| {
            let own = SkillName::from_written(written);
            let has = |own: &SkillName, part| own.as_str().split('-').any(|one| one == part);
            own.is_some_and(|own| name.as_str().split('-').all(|part| has(&own, part)))
        };
        self.uses_skills.names().any(means)
    }

    /// Takes back what loosens the skill of this name, which a policy requires.
    pub fn require_skill(&mut self, name: &SkillName) {
        self.required.insert(name.clone());
        let (sandbox, network) = (self.sandbox, self.network);
        let Some(own) = self.skills.get_mut(name) else {
            return;
        };
        *own = SkillSettings {
            sandbox: own.sandbox.map(|own| own.max(sandbox)),
            network: own.network.map(|own| own.max(network)),
            ..SkillSettings::default()
        };
    }
}

/// Entries that grant, in the grammar of `allowed-tools`. One that can grant nothing is a mistake in the file.
fn grants<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<Vec<String>>, D::Error> {
    let written = Vec::deserialize(deserializer)?;
    match mistaken_grant(&written) {
        None => Ok(Some(written)),
        Some(why) => Err(D::Error::custom(format!(
            "`allow` has a mistake: {}",
            why.escape_debug()
        ))),
    }
}

/// Floors by the configuration's own keys. What is not set is the configuration's own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Floors {
    /// For `enforce`.
    pub(super) mode: Option<Enforce>,
    /// Whether a user may add entries to a skill's own list (`skills.NAME.allow`).
    pub(super) overrides: Option<bool>,
    pub(super) stacking: Option<Stacking>,
    pub(super) sandbox: Option<script::SandboxMode>,
    pub(super) network: Option<Network>,
    /// Not a key of the configuration: whether filters at the end of a pipe need no entry.
    pub(super) pipe_filters: OnUnlessOff,
    pub(super) scripts: Option<ScriptScope>,
    pub(super) script_reads: Option<ScriptReads>,
    pub(super) model_installs: Option<ModelInstalls>,
    pub(super) proposals: OnUnlessOff,
    pub(super) create_skill: OnUnlessOff,
    pub(super) unattended: OnUnlessOff,
    pub(super) deactivate: Option<Deactivate>,
    pub(super) scope: Option<Lifetime>,
    /// The only tools that a configuration may name as always allowed.
    pub(super) always_allowed: Option<Vec<String>>,
    pub(super) audit: AuditConfig,
    /// Not a floor: the value that counts.
    pub(super) tenant: Option<String>,
    pub(super) environment: Option<String>,
}

impl Floors {
    /// Whether the entries that a user adds to a skill's list count. Unless the policy says so, not
    /// where it enforces: restrictions then restrict as their authors wrote them.
    pub fn permits_added_entries(&self) -> bool {
        self.overrides.unwrap_or(!self.enforces())
    }

    /// The configuration with each key as strict as this, if this is stricter. A policy that
    /// enforces also takes back what would widen decisions beyond the defaults: restrictions then
    /// restrict.
    pub fn raise(&self, mut config: Config) -> Config {
        self.tighten(&mut config, self.enforces());
        if !self.permits_added_entries() {
            for own in config.skills.values_mut() {
                // Shown as empty: the policy decides that nothing is added.
                own.allow = own.allow.take().map(|_| Vec::new());
            }
        }
        config
    }

    fn enforces(&self) -> bool {
        self.mode.is_some_and(|mode| mode > Enforce::Off)
    }

    /// Raises the configuration to these floors; if this `pins`, also to the defaults where less
    /// would widen a decision. A test names the keys that have no floor, so that a new one needs a
    /// decision.
    pub(super) fn tighten(&self, config: &mut Config, pins: bool) {
        // Settings for single skills are raised too.
        for own in config.skills.values_mut() {
            own.sandbox = own.sandbox.map(|own| stricter(own, self.sandbox));
            own.network = own.network.map(|own| stricter(own, self.network));
        }
        if pins {
            config.always_allowed.clear();
            for host in config.hosts.values_mut() {
                host.mode = host.mode.map(HookMode::at_least_restricting);
            }
        } else if let Some(permitted) = &self.always_allowed {
            config
                .always_allowed
                .retain(|tool| permitted.contains(tool));
        }
        raise(&mut config.enforce, self.mode);
        raise(&mut config.stacking, self.stacking.max(pinned(pins)));
        raise(&mut config.scripts, self.scripts.max(pinned(pins)));
        raise(&mut config.deactivate, self.deactivate.max(pinned(pins)));
        let model_installs = self.model_installs.max(pinned(pins));
        raise(&mut config.model_installs, model_installs);
        raise(&mut config.scope, self.scope);
        raise(&mut config.script_reads, self.script_reads);
        raise(&mut config.sandbox, self.sandbox);
        raise(&mut config.network, self.network);
        let output_bytes = Some(self.audit.output_bytes);
        raise(&mut config.audit.output_bytes, output_bytes);
        config.proposals.0 &= self.proposals.0;
        config.create_skill.0 &= self.create_skill.0;
        config.pipe_filters.0 &= self.pipe_filters.0;
        // Where a person must be, and for whom: not what a call may do.
        config.unattended &= self.unattended.0;
        config.tenant = self.tenant.clone().or(config.tenant.take());
        config.environment = self.environment.clone().or(config.environment.take());
    }
}

fn raise<T: Ord + Copy>(own: &mut T, floor: Option<T>) {
    *own = stricter(*own, floor);
}

fn stricter<T: Ord>(own: T, floor: Option<T>) -> T {
    floor.into_iter().fold(own, T::max)
}

/// The default, if it is pinned.
fn pinned<T: Default>(pins: bool) -> Option<T> {
    pins.then(T::default)
}

/// The keys that a project may set. None of them can loosen anything.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProjectConfig {
    enforce: Option<Enforce>,
    stacking: Option<Stacking>,
    sandbox: Option<script::SandboxMode>,
    scripts: Option<ScriptScope>,
    script_reads: Option<ScriptReads>,
    model_installs: Option<ModelInstalls>,
    proposals: OnUnlessOff,
    #[serde(deserialize_with = "denials")]
    deny: Vec<String>,
    #[serde(deserialize_with = "by_skill")]
    visibility: BySkill<Visibility>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Config, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_skill_differs_in_what_is_said_for_it() {
        let text = "sandbox = 'auto'\nscript_seconds = 10\n\
                    [skills.pdf]\npass_env = ['A']\nnetwork = 'restricted'";
        let config = parsed(text).unwrap();
        let (all, pdf) = (config.script("other"), config.script("pdf"));
        assert_eq!(all.pass_env, PassEnv::NotSecret);
        assert_eq!(all.confinement.network, Network::Open);
        assert_eq!(pdf.pass_env, PassEnv::Named(vec!["A".to_owned()]));
        assert_eq!(pdf.confinement.network, Network::Restricted);
        assert_eq!(pdf.confinement.mode, script::SandboxMode::Auto);
        assert_eq!(pdf.timeout, all.timeout);
    }

    #[test]
    fn what_is_not_possible_is_refused() {
        for bad in [
            "script_seconds = 0",
            "script_seconds = -1",
            "script_seconds = 1e9",
            "max_active = 0",
            "[skills.pdf]\nsandbox = 'on'",
            "[skills.pdf]\npass_env = 'none'",
            "[skills.pdf]\npass_env = [1]",
            "[skills.pdf]\nscript_seconds = 1",
            "[skills.pdf]\nallow = 'Read'",
        ] {
            assert!(parsed(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_added_entry_that_grants_nothing_is_a_mistake() {
        let read = |entry: &str| parsed(&format!("[skills.pdf]\nallow = [{entry:?}]"));
        for (entry, part) in [
            ("Bash(git", "not closed"),
            ("Bash()", "the parentheses are empty"),
            ("Read Bash(git", "not closed"),
            ("|", "neither"),
            (" ", "names no tool"),
            ("WebFetch(domain:*x*)", "domain"),
        ] {
            let error = read(entry).unwrap_err();
            assert!(error.contains("`allow` has a mistake"), "{entry}: {error}");
            assert!(error.contains(part), "{entry}: {error}");
        }
        for entry in [
            "Bash(npx:*)",
            "Read, Write(out/**)",
            "my_tool",
            "ExitPlanMode",
        ] {
            let config = read(entry).unwrap();
            assert_eq!(config.added_entries("pdf"), [entry]);
            assert!(config.added_entries("other").is_empty());
        }
    }

    fn config(text: &str) -> Config {
        toml::from_str(text).unwrap()
    }

    fn floors(text: &str) -> Floors {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn a_configuration_is_raised_and_never_loosened() {
        let strict = "pipe_filters = false\nscripts = 'own'\nscript_reads = 'block'\n\
                      model_installs = 'off'\nproposals = false\ncreate_skill = false\n\
                      unattended = false\nnetwork = 'restricted'\nstacking = 'intersect'\n\
                      sandbox = 'require'\ndeactivate = 'user'\nscope = 'context'\n\
                      always_allowed = ['x']\ntenant = 'acme'\nenvironment = 'prod'\n\
                      [audit]\noutput_bytes = 9";
        let loose = "scripts = 'any'\nscript_reads = 'note'\n\
                     model_installs = 'any'\nproposals = true\ncreate_skill = true\n\
                     unattended = true\nnetwork = 'open'\nstacking = 'replace'\n\
                     sandbox = 'off'\ndeactivate = 'model'\nscope = 'prompt'\n\
                     always_allowed = ['x', 'y']\ntenant = 'other'\nenvironment = 'test'\n\
                     [audit]\noutput_bytes = 3";
        let mut raised = floors(strict).raise(config(loose));
        assert!(!std::mem::take(&mut raised.pipe_filters).0);
        assert_eq!(raised, config(&strict.replace("pipe_filters = false", "")));
        assert_eq!(floors("").raise(config(loose)), config(loose));
        let fixed = "tenant = 'acme'\nenvironment = 'prod'";
        let is_fixed = floors(fixed).raise(config("")) == config(fixed);
        assert!(is_fixed);
    }

    #[test]
    fn settings_for_single_skills_are_raised_too() {
        let single = config("[skills.pdf]\nnetwork = 'open'\nsandbox = 'off'");
        let raised =
            floors("mode = 'warn'\nnetwork = 'restricted'\nsandbox = 'auto'").raise(single);
        assert_eq!(raised.skills["pdf"].network, Some(Network::Restricted));
        assert_eq!(
            raised.skills["pdf"].sandbox,
            Some(script::SandboxMode::Auto)
        );
    }

    #[test]
    fn modes_are_raised_and_never_loosened() {
        let modes = [Enforce::Off, Enforce::Warn, Enforce::Restrict];
        for (own, enforce) in modes.into_iter().enumerate() {
            for (floor, mode) in modes.into_iter().enumerate() {
                let configured = Config {
                    enforce,
                    ..Config::default()
                };
                let floors = Floors {
                    mode: Some(mode),
                    ..Floors::default()
                };
                assert_eq!(floors.raise(configured).enforce, modes[own.max(floor)]);
            }
        }
    }

    #[test]
    fn a_policy_that_enforces_pins_what_would_widen() {
        let own = config(
            "always_allowed = [\"*\"]\nscripts = \"any\"\ndeactivate = \"model\"\n\
             model_installs = \"any\"\ndeny = [\"Write\"]",
        );
        let kept = Config {
            deny: own.deny.clone(),
            ..Config::default()
        };
        for (text, is_pinned) in [
            ("", false),
            ("mode = 'off'", false),
            ("mode = 'warn'", true),
            ("mode = 'restrict'", true),
        ] {
            let raised = floors(text).raise(own.clone());
            let pinned = Config {
                enforce: raised.enforce,
                ..kept.clone()
            };
            assert_eq!(
                raised,
                if is_pinned { pinned } else { own.clone() },
                "{text}"
            );
        }
        let strict = config("stacking = 'intersect'\nmodel_installs = 'off'");
        assert_eq!(floors("mode = 'restrict'").raise(strict.clone()), strict);
    }

    #[test]
    fn a_policy_decides_whether_entries_are_added() {
        let own = config("[skills.pdf]\nallow = ['Read']");
        for (text, count) in [
            ("", 1),
            ("mode = 'off'", 1),
            ("mode = 'warn'", 0),
            ("mode = 'restrict'", 0),
            ("mode = 'restrict'\noverrides = true", 1),
            ("overrides = false", 0),
        ] {
            let raised = floors(text).raise(own.clone());
            assert_eq!(raised.added_entries("pdf").len(), count, "{text}");
        }
    }

    #[test]
    fn each_key_has_a_floor_or_a_reason_for_none() {
        let none = [
            // These can only tighten a decision.
            "deny",
            "max_active",
            // How permitted scripts run.
            "pass_env",
            "script_seconds",
            // Which skills there are, and how many are told of.
            "visibility",
            "uses_skills",
            "catalog",
            // Each file's requirements apply on their own.
            "signing",
            // Raised key by key.
            "skills",
            "hosts",
            // Set here only, or raised as `mode`.
            "enforce",
        ];
        let table = |of: &str| toml::Table::try_from(config(of)).unwrap();
        let keys = table("tenant = 'a'\nenvironment = 'b'\npass_env = 'all'");
        for key in keys.keys().filter(|key| !none.contains(&key.as_str())) {
            let only = toml::Table::from_iter([(key.clone(), keys[key].clone())]);
            assert!(only.try_into::<Floors>().is_ok(), "`{key}` has no floor");
        }
    }

    #[test]
    fn a_project_makes_nothing_looser() {
        let strict: Config = toml::from_str(
            "enforce = 'restrict'\nstacking = 'intersect'\nscripts = 'own'\nscript_reads = 'block'\n\
             model_installs = 'off'\nsandbox = 'require'\ndeny = ['Bash(rm:*)']\n[visibility]\npdf = 'off'",
        )
        .unwrap();
        let loose: ProjectConfig = toml::from_str(
            "enforce = 'off'\nstacking = 'replace'\nscripts = 'any'\nscript_reads = 'note'\n\
             model_installs = 'any'\nsandbox = 'off'\n[visibility]\npdf = 'on'\nother = 'on'",
        )
        .unwrap();
        assert_eq!(strict.clone().tightened_by(loose), strict);
        for loosening in [
            "always_allowed = ['x']",
            "create_skill = true",
            "[skills.pdf]\nallow = ['Read']",
            "tenant = 'x'",
            "[audit]\noutput_bytes = 1",
        ] {
            assert!(
                toml::from_str::<ProjectConfig>(loosening).is_err(),
                "{loosening}"
            );
        }
    }

    #[test]
    fn a_project_hides_nothing_that_is_always_on() {
        for written in [
            "house",
            "House",
            "skill_house",
            "personal/house",
            "acme/house",
            "house@acme",
        ] {
            let own = format!("[uses_skills]\nops = ['{written}']\n[visibility]\nhouse = 'user'");
            let own: Config = toml::from_str(&own).unwrap();
            let hides = "[visibility]\nhouse = 'off'\nother = 'off'";
            let both = own.tightened_by(toml::from_str(hides).unwrap());
            assert_eq!(both.visibility["house"], Visibility::User, "{written}");
            assert_eq!(both.visibility["other"], Visibility::Off);
        }
        let beside: Config = toml::from_str("uses_skills = {'*' = ['house@acme']}").unwrap();
        let hides = toml::from_str("[visibility]\nacme-house = 'off'").unwrap();
        assert!(beside.tightened_by(hides).visibility.is_empty());
    }

    #[test]
    fn a_project_makes_things_stricter() {
        let wanted = "enforce = 'restrict'\ndeny = ['WebFetch']\n[visibility]\npdf = 'user'";
        let own: Config =
            toml::from_str("enforce = 'off'\n[visibility]\npdf = 'name-only'").unwrap();
        let both = own.tightened_by(toml::from_str(wanted).unwrap());
        assert_eq!((both.enforce, both.deny.len()), (Enforce::Restrict, 1));
        assert_eq!(both.visibility["pdf"], Visibility::User);
    }
}
