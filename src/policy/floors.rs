//! `[enforce]` in a policy: the least strict values that a configuration can have. Where a key
//! could loosen a decision, it has a floor here.

use serde::Deserialize;

use crate::host::agent::Mode;
use crate::permission::{Deactivate, Enforce, ScriptScope, Stacking};
use crate::policy::config::{AuditConfig, Enabled};
use crate::policy::{Config, Lifetime, ModelInstalls, ScriptReads};
use crate::script::{self, Network};

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
        let enforces = self.mode.is_some_and(|mode| mode > Enforce::Off);
        self.overrides.unwrap_or(!enforces)
    }

    /// The configuration with each key as strict as this, if this is stricter. A policy that
    /// enforces also takes back what would widen decisions beyond the defaults: restrictions then
    /// restrict.
    pub fn raise(&self, config: Config) -> Config {
        let pins = self.mode.is_some_and(|mode| mode > Enforce::Off);
        let mut raised = self.clone().tighten(config, pins);
        if !self.permits_added_entries() {
            for own in raised.skills.values_mut() {
                // Shown as empty: the policy decides that nothing is added.
                own.allow = own.allow.take().map(|_| Vec::new());
            }
        }
        raised
    }

    /// The configuration raised to these floors; if this `pins`, also to the defaults where less
    /// would widen a decision. Every key of both is named, so that a new one needs a decision here.
    pub(super) fn tighten(self, config: Config, pins: bool) -> Config {
        let Self {
            mode,
            // Decides what is added to a skill's list, not what a key is.
            overrides: _,
            stacking,
            sandbox,
            network,
            pipe_filters,
            scripts,
            script_reads,
            model_installs,
            proposals,
            create_skill,
            unattended,
            deactivate,
            scope,
            always_allowed,
            audit,
            tenant,
            environment,
        } = self;
        let (mut skills, mut hosts) = (config.skills, config.hosts);
        // Settings for single skills are raised too.
        for own in skills.values_mut() {
            own.sandbox = own.sandbox.map(|own| stricter(own, sandbox));
            own.network = own.network.map(|own| stricter(own, network));
        }
        for host in hosts.values_mut().filter(|_| pins) {
            host.mode = host.mode.map(Mode::at_least_restricting);
        }
        let permitted = if pins {
            Some(Vec::new())
        } else {
            always_allowed
        };
        let is_permitted = |tool: &String| permitted.as_ref().is_none_or(|all| all.contains(tool));
        Config {
            enforce: stricter(config.enforce, mode),
            stacking: stricter(config.stacking, stacking.max(pinned(pins))),
            scripts: stricter(config.scripts, scripts.max(pinned(pins))),
            always_allowed: config
                .always_allowed
                .into_iter()
                .filter(is_permitted)
                .collect(),
            deactivate: stricter(config.deactivate, deactivate.max(pinned(pins))),
            model_installs: stricter(config.model_installs, model_installs.max(pinned(pins))),
            scope: stricter(config.scope, scope),
            script_reads: stricter(config.script_reads, script_reads),
            proposals: Enabled(config.proposals.0 && proposals.0),
            create_skill: Enabled(config.create_skill.0 && create_skill.0),
            pipe_filters: Enabled(config.pipe_filters.0 && pipe_filters.0),
            // Where a person must be, and for whom: not what a call may do.
            unattended: config.unattended && unattended.0,
            tenant: tenant.or(config.tenant),
            environment: environment.or(config.environment),
            // How permitted scripts run.
            sandbox: stricter(config.sandbox, sandbox),
            network: stricter(config.network, network),
            pass_env: config.pass_env,
            script_seconds: config.script_seconds,
            audit: AuditConfig {
                output_bytes: config.audit.output_bytes.max(audit.output_bytes),
            },
            // These can only tighten a decision.
            deny: config.deny,
            max_active: config.max_active,
            required: config.required,
            // Which skills there are, and how many are told of.
            visibility: config.visibility,
            uses_skills: config.uses_skills,
            catalog: config.catalog,
            // Each file's requirements apply on their own.
            signing: config.signing,
            skills,
            hosts,
        }
    }
}

/// The stricter of two settings. Values are ordered loosest first.
fn stricter<T: Ord>(own: T, floor: Option<T>) -> T {
    floor.into_iter().fold(own, T::max)
}

/// The default as a floor, if keys are pinned.
fn pinned<T: Default>(pins: bool) -> Option<T> {
    pins.then(T::default)
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
}
