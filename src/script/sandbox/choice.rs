//! Whether and how a script is confined: the configured choice, and what its skill requests. A
//! skill can only tighten it.

use std::path::PathBuf;

use serde_json::Value;

use super::mode::{Mode, Network};
use crate::script::settings::SkillSettings;
use crate::skill::Fields;

/// A skill's own settings for its scripts: `execution: {sandbox: true, allowed-paths: […], network:
/// restricted}` in its frontmatter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Execution {
    sandbox: bool,
    network: Network,
    allowed_paths: Vec<PathBuf>,
}

/// The effective settings for one script.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Confinement {
    /// Whether it is confined.
    pub mode: Mode,
    /// Its network access.
    pub network: Network,
    /// Additional paths that it may write.
    pub allowed_paths: Vec<PathBuf>,
}

impl Execution {
    /// Parses the frontmatter. Anything not understood tightens: the author meant to confine the
    /// script.
    pub fn of(fields: &Fields) -> Self {
        let Some(execution) = fields.value("execution").filter(|value| !value.is_null()) else {
            return Self::default();
        };
        let get = |key: &str| {
            execution
                .get(key)
                .or_else(|| execution.get(key.replace('-', "_")))
        };
        let network = match get("network").and_then(Value::as_str) {
            None | Some("open" | "full" | "unrestricted") => Network::Open,
            Some(_) => Network::Restricted,
        };
        let off = [
            Value::Bool(false),
            Value::Null,
            "off".into(),
            "false".into(),
        ];
        let paths = get("allowed-paths").and_then(Value::as_array);
        let paths = paths.into_iter().flatten().filter_map(Value::as_str);
        Self {
            sandbox: get("sandbox").is_some_and(|value| !off.contains(value)),
            network,
            allowed_paths: paths.map(PathBuf::from).collect(),
        }
    }
}

impl Confinement {
    /// The configured choice, tightened by the skill. The skill's paths count only if the skill
    /// itself requested the sandbox; otherwise they would widen it.
    pub fn of(settings: &SkillSettings, execution: &Execution) -> Self {
        let chosen = settings.sandbox.unwrap_or_default();
        let asked = execution.sandbox || execution.network == Network::Restricted;
        let mut allowed_paths = settings.allowed_paths.clone().unwrap_or_default();
        if chosen == Mode::Off {
            allowed_paths.extend(execution.allowed_paths.iter().cloned());
        }
        Self {
            mode: chosen.max(if asked { Mode::Auto } else { Mode::Off }),
            network: settings.network.unwrap_or_default().max(execution.network),
            allowed_paths,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn execution(value: &Value) -> Execution {
        let fields = json!({ "execution": value });
        Execution::of(&Fields::from(fields.as_object().unwrap().clone()))
    }

    fn chosen(sandbox: Mode, network: Network) -> SkillSettings {
        SkillSettings {
            sandbox: Some(sandbox),
            network: Some(network),
            allowed_paths: Some(vec!["/chosen".into()]),
            ..SkillSettings::default()
        }
    }

    #[test]
    fn a_skill_can_only_tighten() {
        let nothing = execution(&Value::Null);
        let loose =
            execution(&json!({"sandbox": false, "network": "open", "allowed-paths": ["/"]}));
        let tight = execution(&json!({"sandbox": true, "network": "restricted"}));
        for mode in [Mode::Off, Mode::Auto, Mode::Require] {
            for network in [Network::Open, Network::Restricted] {
                let settings = chosen(mode, network);
                for skill in [&nothing, &loose] {
                    let held = Confinement::of(&settings, skill);
                    assert_eq!((held.mode, held.network), (mode, network));
                }
                let held = Confinement::of(&settings, &tight);
                assert_eq!(
                    (held.mode, held.network),
                    (mode.max(Mode::Auto), Network::Restricted)
                );
            }
        }
    }

    #[test]
    fn its_paths_count_only_where_the_sandbox_is_its_own_idea() {
        let skill = execution(&json!({"sandbox": true, "allowed_paths": ["~/out"]}));
        let paths = |mode| Confinement::of(&chosen(mode, Network::Open), &skill).allowed_paths;
        assert_eq!(paths(Mode::Off), ["/chosen", "~/out"].map(PathBuf::from));
        for mode in [Mode::Auto, Mode::Require] {
            assert_eq!(paths(mode), ["/chosen"].map(PathBuf::from));
        }
    }

    #[test]
    fn what_is_not_understood_tightens() {
        assert!(execution(&json!({"sandbox": "yes"})).sandbox);
        assert_eq!(
            execution(&json!({"network": "none"})).network,
            Network::Restricted
        );
        assert!(!execution(&json!({"sandbox": "off"})).sandbox);
        for nothing in [json!("fork"), json!([]), json!({})] {
            assert_eq!(execution(&nothing), Execution::default());
        }
    }
}
