//! `[config]` in a policy: keys of the configuration that can then only be stricter.

use serde::Deserialize;

use crate::permission::ScriptScope;
use crate::policy::config::Enabled;
use crate::policy::{Config, ModelInstalls, ScriptReads};
use crate::script::Network;

/// The least strict values that a configuration can have, by its own keys.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConfigFloors {
    pipe_filters: Enabled,
    scripts: Option<ScriptScope>,
    script_reads: Option<ScriptReads>,
    model_installs: Option<ModelInstalls>,
    proposals: Enabled,
    create_skill: Enabled,
    unattended: Enabled,
    network: Option<Network>,
    audit: AuditFloors,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct AuditFloors {
    output_bytes: usize,
}

impl ConfigFloors {
    /// The configuration with each key as strict as this, if this is stricter.
    pub fn raise(&self, mut config: Config) -> Config {
        config.pipe_filters.0 &= self.pipe_filters.0;
        config.proposals.0 &= self.proposals.0;
        config.create_skill.0 &= self.create_skill.0;
        config.unattended &= self.unattended.0;
        tighten(&mut config.scripts, self.scripts);
        tighten(&mut config.script_reads, self.script_reads);
        tighten(&mut config.model_installs, self.model_installs);
        // Settings for single skills are tightened too.
        let single = config.skills.values_mut();
        let single = single.filter_map(|skill| skill.network.as_mut());
        for own in single.chain([&mut config.network]) {
            tighten(own, self.network);
        }
        let recorded = &mut config.audit.output_bytes;
        *recorded = self.audit.output_bytes.max(*recorded);
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

    #[test]
    fn a_configuration_is_raised_and_never_loosened() {
        let strict = "pipe_filters = false\nscripts = 'own'\nscript_reads = 'block'\n\
                      model_installs = 'off'\nproposals = false\ncreate_skill = false\n\
                      unattended = false\nnetwork = 'restricted'\n[audit]\noutput_bytes = 9";
        let loose = "pipe_filters = true\nscripts = 'any'\nscript_reads = 'note'\n\
                     model_installs = 'any'\nproposals = true\ncreate_skill = true\n\
                     unattended = true\nnetwork = 'open'\n[audit]\noutput_bytes = 3";
        let config = |text: &str| toml::from_str::<Config>(text).unwrap();
        let floors = |text: &str| toml::from_str::<ConfigFloors>(text).unwrap();
        assert_eq!(floors(strict).raise(config(loose)), config(strict));
        assert_eq!(floors(loose).raise(config(strict)), config(strict));
        assert_eq!(floors("").raise(config(loose)), config(loose));
        let single = config("[skills.pdf]\nnetwork = 'open'");
        let raised = floors("network = 'restricted'").raise(single);
        assert_eq!(raised.skills["pdf"].network, Some(Network::Restricted));
        for no_floor in ["enforce = 'off'", "always_allowed = ['x']", "tenant = 'x'"] {
            assert!(
                toml::from_str::<ConfigFloors>(no_floor).is_err(),
                "{no_floor}"
            );
        }
    }
}
