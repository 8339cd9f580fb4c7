//! What tightens the user's configuration, and never loosens it: `[enforce]` in a policy, the least
//! strict values that a configuration can have; a trusted project's `.chibi/agent-skills.toml`; and
//! what a policy's required skills need. Where a key could loosen a decision, it has a floor here.

use serde::Deserialize;

use crate::host::agent::Mode;
use crate::permission::{Deactivate, Enforce, ScriptScope, Stacking};
use crate::policy::config::{AuditConfig, Enabled, SkillSettings};
use crate::policy::file::denials;
use crate::policy::skill_names::by_skill;
use crate::policy::{BySkill, Config, Lifetime, ModelInstalls, ScriptReads, Visibility};
use crate::script::{self, Network};
use crate::skill::SkillName;

/// Floors by the configuration's own keys. What is not set is the configuration's own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Floors {
    /// For `enforce`.
    pub(super) mode: Option<Enforce>,
    /// Whether a user may add entries to a skill's own list (`skills.NAME.allow`).
    pub(super) overrides: Option<bool>,
    pub(super) stacking: Option<Stacking>,
    pub(super) sandbox: Option<script::Mode>,
    pub(super) network: Option<Network>,
    /// Not a key of the configuration: whether filters at the end of a pipe need no entry.
    pub(super) pipe_filters: Enabled,
    pub(super) scripts: Option<ScriptScope>,
    pub(super) script_reads: Option<ScriptReads>,
    pub(super) model_installs: Option<ModelInstalls>,
    pub(super) proposals: Enabled,
    pub(super) create_skill: Enabled,
    pub(super) unattended: Enabled,
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
                host.mode = host.mode.map(Mode::at_least_restricting);
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
    sandbox: Option<script::Mode>,
    scripts: Option<ScriptScope>,
    script_reads: Option<ScriptReads>,
    model_installs: Option<ModelInstalls>,
    proposals: Enabled,
    #[serde(deserialize_with = "denials")]
    deny: Vec<String>,
    #[serde(deserialize_with = "by_skill")]
    visibility: BySkill<Visibility>,
}

impl Config {
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
    pub fn hold(&mut self, name: &SkillName) {
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

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(raised.skills["pdf"].sandbox, Some(script::Mode::Auto));
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
