//! What the configuration says about a single skill (`skills.NAME`): how its scripts run, and which
//! entries its user adds to its tool list. Plain data; it does not know which skill has the name.

use std::path::PathBuf;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::permission::mistaken_grant;
use crate::script::{self, Confinement, Limit, Mode, Network, PassEnv};

/// Settings that differ for one skill; unset ones are those of all skills.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SkillSettings {
    /// Entries added to the skill's own `allowed-tools`, in its grammar; for a skill without a list
    /// they mean nothing.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "grants")]
    pub allow: Option<Vec<String>>,
    /// See [`script::Settings::pass_env`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass_env: Option<PassEnv>,
    /// See [`Confinement::mode`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Mode>,
    /// See [`Confinement::network`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// See [`Confinement::allowed_paths`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_paths: Option<Vec<PathBuf>>,
    /// See [`script::Settings::timeout`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Limit>,
}

impl SkillSettings {
    /// The settings for its scripts: those of `all` where this says nothing else.
    #[must_use]
    pub fn over(self, all: script::Settings) -> script::Settings {
        let confinement = all.confinement;
        script::Settings {
            pass_env: self.pass_env.unwrap_or(all.pass_env),
            confinement: Confinement {
                mode: self.sandbox.unwrap_or(confinement.mode),
                network: self.network.unwrap_or(confinement.network),
                allowed_paths: self.allowed_paths.unwrap_or(confinement.allowed_paths),
            },
            timeout: self.timeout.unwrap_or(all.timeout),
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Config;
    use serde_json::json;

    #[test]
    fn a_skill_differs_in_what_is_said_for_it() {
        let seconds = |seconds: f64| Limit::try_from(seconds).unwrap();
        let all = script::Settings {
            pass_env: PassEnv::All,
            confinement: Confinement {
                mode: Mode::Auto,
                ..Confinement::default()
            },
            timeout: seconds(10.0),
        };
        let own = json!({"timeout": 0.5, "pass_env": ["A"], "network": "restricted"});
        let own: SkillSettings = serde_json::from_value(own).unwrap();
        let pdf = own.over(all.clone());
        assert_eq!(pdf.timeout, seconds(0.5));
        assert_eq!(pdf.pass_env, PassEnv::Named(vec!["A".to_owned()]));
        assert_eq!(
            (pdf.confinement.mode, pdf.confinement.network),
            (Mode::Auto, Network::Restricted)
        );
        assert_eq!(SkillSettings::default().over(all.clone()), all);
    }

    #[test]
    fn what_is_not_possible_is_refused() {
        for bad in [
            json!({"timeout": 0}),
            json!({"timeout": -1}),
            json!({"timeout": 1e9}),
            json!({"sandbox": "on"}),
            json!({"pass_env": "none"}),
            json!({"pass_env": [1]}),
            json!({"time_out": 1}),
            json!({"allow": "Read"}),
        ] {
            let parsed = serde_json::from_value::<SkillSettings>(bad.clone());
            assert!(parsed.is_err(), "{bad}");
        }
    }

    #[test]
    fn an_added_entry_that_grants_nothing_is_a_mistake() {
        let read = |entry: &str| {
            let text = format!("[skills.pdf]\nallow = [{entry:?}]");
            toml::from_str::<Config>(&text).map_err(|error| error.to_string())
        };
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
}
