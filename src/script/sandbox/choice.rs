//! Whether and how a script is confined: the configured choice, and what its skill requests. A
//! skill can only tighten it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::skill::Fields;

/// Whether scripts are confined, ordered from lenient to strict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Not confined.
    #[default]
    Off,
    /// Confined as far as this system can.
    Auto,
    /// Fully confined, or not run.
    Require,
}

/// A confined script's network access, ordered from lenient to strict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// All of it.
    #[default]
    Open,
    /// No sockets except Unix ones and netlink queries about interfaces and routes.
    Restricted,
}

/// How a script is confined.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Confinement {
    /// Whether it is confined.
    pub mode: Mode,
    /// Its network access.
    pub network: Network,
    /// Additional paths that it may write.
    pub allowed_paths: Vec<PathBuf>,
}

impl Confinement {
    /// This choice, tightened by what a skill requests for its scripts in its frontmatter:
    /// `execution: {sandbox: true, allowed-paths: […], network: restricted}`. Anything not
    /// understood tightens: the author meant to confine the script. The paths count only if the
    /// sandbox is the skill's own request; otherwise they would widen it.
    #[must_use]
    pub fn tightened_by(mut self, fields: &Fields) -> Self {
        let Some(execution) = fields.value("execution") else {
            return self;
        };
        let get = |key: &str| {
            execution
                .get(key)
                .or_else(|| execution.get(key.replace('-', "_")))
        };
        if self.mode == Mode::Off {
            let paths = get("allowed-paths").and_then(Value::as_array);
            let paths = paths.into_iter().flatten().filter_map(Value::as_str);
            self.allowed_paths.extend(paths.map(PathBuf::from));
        }
        let network = get("network").and_then(Value::as_str);
        if network.is_some_and(|access| !["open", "full", "unrestricted"].contains(&access)) {
            self.network = Network::Restricted;
            self.mode = self.mode.max(Mode::Auto);
        }
        let off = [false.into(), Value::Null, "off".into(), "false".into()];
        if get("sandbox").is_some_and(|value| !off.contains(value)) {
            self.mode = self.mode.max(Mode::Auto);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tightened(chosen: &Confinement, execution: &Value) -> Confinement {
        let fields = json!({ "execution": execution });
        let fields = Fields(fields.as_object().unwrap().clone());
        chosen.clone().tightened_by(&fields)
    }

    fn chosen(mode: Mode, network: Network) -> Confinement {
        Confinement {
            mode,
            network,
            allowed_paths: vec!["/chosen".into()],
        }
    }

    #[test]
    fn a_skill_can_only_tighten() {
        let loose = json!({"sandbox": false, "network": "open", "allowed-paths": ["/"]});
        let tight = json!({"sandbox": true, "network": "restricted"});
        for mode in [Mode::Off, Mode::Auto, Mode::Require] {
            for network in [Network::Open, Network::Restricted] {
                let chosen = chosen(mode, network);
                for execution in [&Value::Null, &loose] {
                    let held = tightened(&chosen, execution);
                    assert_eq!((held.mode, held.network), (mode, network));
                }
                let held = tightened(&chosen, &tight);
                assert_eq!(
                    (held.mode, held.network),
                    (mode.max(Mode::Auto), Network::Restricted)
                );
            }
        }
    }

    #[test]
    fn its_paths_count_only_where_the_sandbox_is_its_own_idea() {
        let execution = json!({"sandbox": true, "allowed_paths": ["~/out"]});
        let paths = |mode| tightened(&chosen(mode, Network::Open), &execution).allowed_paths;
        assert_eq!(paths(Mode::Off), ["/chosen", "~/out"].map(PathBuf::from));
        for mode in [Mode::Auto, Mode::Require] {
            assert_eq!(paths(mode), ["/chosen"].map(PathBuf::from));
        }
    }

    #[test]
    fn what_is_not_understood_tightens() {
        let nothing = Confinement::default();
        let held = |execution| tightened(&nothing, &execution);
        assert_eq!(held(json!({"sandbox": "yes"})).mode, Mode::Auto);
        let unknown = held(json!({"network": "none"}));
        assert_eq!(
            (unknown.mode, unknown.network),
            (Mode::Auto, Network::Restricted)
        );
        for loose in [
            json!({"sandbox": "off"}),
            json!("fork"),
            json!([]),
            json!({}),
        ] {
            assert_eq!(held(loose), nothing);
        }
    }
}
