//! `[enforce]` in a policy: the least strict values that a configuration can have. Where a key
//! could loosen a decision, it has a floor here.

use serde::Deserialize;

use crate::permission::{Deactivate, Enforce, ScriptScope, Stacking};
use crate::policy::config::Enabled;
use crate::policy::{Config, Lifetime, ModelInstalls, ScriptReads};
use crate::script::{Mode, Network};

/// Floors by the configuration's own keys. What is not set is the configuration's own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Floors {
    /// For `enforce`.
    pub mode: Option<Enforce>,
    /// Whether a user may add entries to a skill's own list (`skills.NAME.allow`).
    overrides: Option<bool>,
    stacking: Option<Stacking>,
    sandbox: Option<Mode>,
    network: Option<Network>,
    /// Not a key of the configuration: whether filters at the end of a pipe need no entry.
    pipe_filters: Enabled,
    scripts: Option<ScriptScope>,
    script_reads: Option<ScriptReads>,
    model_installs: Option<ModelInstalls>,
    proposals: Enabled,
    create_skill: Enabled,
    unattended: Enabled,
    deactivate: Option<Deactivate>,
    scope: Option<Lifetime>,
    /// The only tools that a configuration may name as always allowed.
    always_allowed: Option<Vec<String>>,
    audit: AuditFloors,
    /// Not a floor: the value that counts.
    tenant: Option<String>,
    environment: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct AuditFloors {
    output_bytes: usize,
}

impl Floors {
    /// Whether the entries that a user adds to a skill's list count. Unless the policy says so, not
    /// where it enforces: restrictions then restrict as their authors wrote them.
    pub fn permits_added_entries(&self) -> bool {
        let enforces = self.mode.is_some_and(|mode| mode > Enforce::Off);
        self.overrides.unwrap_or(!enforces)
    }

    /// The configuration with each key as strict as this, if this is stricter. Every floor is named,
    /// so that a new one is not forgotten here.
    pub fn raise(&self, mut config: Config) -> Config {
        let Self {
            mode,
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
        tighten(&mut config.enforce, *mode);
        tighten(&mut config.sandbox, *sandbox);
        tighten(&mut config.network, *network);
        // Settings for single skills are raised too.
        for own in config.skills.values_mut() {
            if let Some(own) = &mut own.sandbox {
                tighten(own, *sandbox);
            }
            if let Some(own) = &mut own.network {
                tighten(own, *network);
            }
            if !self.permits_added_entries() {
                // Shown as empty: the policy decides that nothing is added.
                own.allow = own.allow.take().map(|_| Vec::new());
            }
        }
        config.pipe_filters.0 &= pipe_filters.0;
        config.proposals.0 &= proposals.0;
        config.create_skill.0 &= create_skill.0;
        config.unattended &= unattended.0;
        tighten(&mut config.stacking, *stacking);
        tighten(&mut config.scripts, *scripts);
        tighten(&mut config.script_reads, *script_reads);
        tighten(&mut config.model_installs, *model_installs);
        tighten(&mut config.deactivate, *deactivate);
        tighten(&mut config.scope, *scope);
        if let Some(permitted) = always_allowed {
            config
                .always_allowed
                .retain(|tool| permitted.contains(tool));
        }
        let recorded = &mut config.audit.output_bytes;
        *recorded = audit.output_bytes.max(*recorded);
        config.tenant = tenant.clone().or(config.tenant);
        config.environment = environment.clone().or(config.environment);
        if mode.is_some_and(|mode| mode > Enforce::Off) {
            config.pin();
        }
        config
    }
}

/// Replaces a setting by a stricter one. Values are ordered loosest first.
pub(super) fn tighten<T: Ord>(own: &mut T, other: Option<T>) {
    if let Some(other) = other.filter(|other| other > own) {
        *own = other;
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
        assert_eq!(raised.skills["pdf"].sandbox, Some(Mode::Auto));
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
