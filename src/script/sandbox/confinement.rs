//! Whether and how a script is confined: the configured choice, what its skill requests, which can
//! only tighten it, and what a kernel can do, as a function of numbers, so that it also works for
//! kernels other than the running one.

use crate::script::prelude::*;
use serde_json::Value;

use crate::skill::Fields;

/// Whether scripts are confined, ordered from lenient to strict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SandboxMode {
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
    pub mode: SandboxMode,
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
            let other = || execution.get(key.replace('-', "_"));
            execution.get(key).or_else(other)
        };
        if self.mode == SandboxMode::Off {
            let paths = get("allowed-paths").and_then(Value::as_array);
            let paths = paths.into_iter().flatten().filter_map(Value::as_str);
            self.allowed_paths.extend(paths.map(PathBuf::from));
        }
        let network = get("network").and_then(Value::as_str);
        if network.is_some_and(|access| !["open", "full", "unrestricted"].contains(&access)) {
            self.network = Network::Restricted;
            self.mode = self.mode.max(SandboxMode::Auto);
        }
        let off = [false.into(), Value::Null, "off".into(), "false".into()];
        if get("sandbox").is_some_and(|value| !off.contains(value)) {
            self.mode = self.mode.max(SandboxMode::Auto);
        }
        self
    }
}

/// The capabilities of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kernel {
    /// Its Landlock ABI version, 0 for none.
    pub landlock: i32,
    /// Whether it filters system calls, and we support that on this architecture.
    pub seccomp: bool,
}

const NO_LANDLOCK: &str = "this system has no Landlock (Linux 5.13 with it enabled)";
const NO_TRUNCATE: &str = "this kernel cannot forbid to truncate files (Linux 6.2 can)";
const NO_SCOPE: &str =
    "this kernel cannot forbid signals and abstract sockets to the outside (Linux 6.12 can)";
const NO_FILTER: &str = "this kernel does not filter system calls (seccomp), so limits, priorities, keyrings and \
     shared memory of other programs are within reach";
const NO_NETWORK: &str = "this kernel cannot restrict the network without that";

impl Kernel {
    /// Whether it can confine a script at all.
    pub fn confines(self) -> bool {
        self.landlock > 0 || self.seccomp
    }

    /// What it cannot do of the confinement that `docs/guide.md#sandbox-linux` describes, as fragments, the
    /// worst first.
    pub fn lacks(self, network: Network) -> Vec<&'static str> {
        let lacks = [
            (NO_LANDLOCK, self.landlock < 1),
            (NO_TRUNCATE, (1..3).contains(&self.landlock)),
            (NO_SCOPE, (1..6).contains(&self.landlock)),
            (NO_FILTER, !self.seccomp),
            (NO_NETWORK, !self.seccomp && network == Network::Restricted),
        ];
        let lacks = lacks.iter().filter(|(_, is_lacking)| *is_lacking);
        lacks.map(|(what, _)| *what).collect()
    }
}

/// What this system cannot do to confine scripts, as a fragment.
pub fn lacking(network: Network) -> Option<String> {
    let lacks = Kernel::at_hand().lacks(network);
    (!lacks.is_empty()).then(|| lacks.join("; "))
}

/// The confinement of a script.
#[derive(Debug, Serialize, Deserialize)]
pub struct Sandbox {
    /// What it may read and what it may change, if the kernel can restrict that: paths without
    /// links.
    pub files: Option<[Vec<OsString>; 2]>,
    /// Whether its system calls are filtered.
    pub is_filtered: bool,
    /// Its network access.
    pub network: Network,
}

#[cfg(not(target_os = "linux"))]
impl Sandbox {
    /// Fails: such systems can confine nothing.
    ///
    /// # Errors
    /// `ENOSYS`.
    pub fn enter(&self) -> Result<(), i32> {
        Err(libc::ENOSYS)
    }
}

#[cfg(not(target_os = "linux"))]
impl Kernel {
    /// The running kernel.
    pub fn at_hand() -> Self {
        Self {
            landlock: 0,
            seccomp: false,
        }
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

    fn chosen(mode: SandboxMode, network: Network) -> Confinement {
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
        for mode in [SandboxMode::Off, SandboxMode::Auto, SandboxMode::Require] {
            for network in [Network::Open, Network::Restricted] {
                let chosen = chosen(mode, network);
                for execution in [&Value::Null, &loose] {
                    let held = tightened(&chosen, execution);
                    assert_eq!((held.mode, held.network), (mode, network));
                }
                let held = tightened(&chosen, &tight);
                assert_eq!(
                    (held.mode, held.network),
                    (mode.max(SandboxMode::Auto), Network::Restricted)
                );
            }
        }
    }

    #[test]
    fn its_paths_count_only_where_the_sandbox_is_its_own_idea() {
        let execution = json!({"sandbox": true, "allowed_paths": ["~/out"]});
        let paths = |mode| tightened(&chosen(mode, Network::Open), &execution).allowed_paths;
        assert_eq!(
            paths(SandboxMode::Off),
            ["/chosen", "~/out"].map(PathBuf::from)
        );
        for mode in [SandboxMode::Auto, SandboxMode::Require] {
            assert_eq!(paths(mode), ["/chosen"].map(PathBuf::from));
        }
    }

    #[test]
    fn what_is_not_understood_tightens() {
        let nothing = Confinement::default();
        let held = |execution| tightened(&nothing, &execution);
        assert_eq!(held(json!({"sandbox": "yes"})).mode, SandboxMode::Auto);
        let unknown = held(json!({"network": "none"}));
        assert_eq!(
            (unknown.mode, unknown.network),
            (SandboxMode::Auto, Network::Restricted)
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

    #[test]
    fn what_each_kernel_lacks_is_known() {
        // What each Landlock version lacks, whatever else there is.
        let files: [&[&str]; 8] = [
            &[NO_LANDLOCK],
            &[NO_TRUNCATE, NO_SCOPE],
            &[NO_TRUNCATE, NO_SCOPE],
            &[NO_SCOPE],
            &[NO_SCOPE],
            &[NO_SCOPE],
            &[],
            &[],
        ];
        for (landlock, files) in (0..).zip(files) {
            for (seccomp, network, more) in [
                (true, Network::Open, &[][..]),
                (true, Network::Restricted, &[]),
                (false, Network::Open, &[NO_FILTER]),
                (false, Network::Restricted, &[NO_FILTER, NO_NETWORK]),
            ] {
                let kernel = Kernel { landlock, seccomp };
                assert_eq!(
                    kernel.lacks(network),
                    [files, more].concat(),
                    "{kernel:?} {network:?}"
                );
                assert_eq!(kernel.confines(), landlock > 0 || seccomp);
            }
        }
    }
}
