//! The limits of one script, as far as the kernel can set them. The plugin decides them here, the
//! supervisor prepares them, and the script's process enters them; its children inherit them.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Kernel, Mode, Network, Places};
use crate::error::{Error, Result};

/// The confinement of a script.
#[derive(Debug, Serialize, Deserialize)]
pub struct Sandbox {
    /// What it may read and what it may change, if the kernel can restrict that.
    pub files: Option<[Vec<OsString>; 2]>,
    /// Whether its system calls are filtered.
    pub is_filtered: bool,
    /// Its network access.
    pub network: Network,
}

/// A sandbox, and remarks on its gaps.
#[derive(Debug, Default)]
pub struct Built {
    /// `None` if the script is not confined.
    pub sandbox: Option<Sandbox>,
    /// What the caller should know.
    pub notes: Vec<String>,
}

/// Builds the sandbox for one script on this kernel.
///
/// # Errors
/// When confinement is required and the kernel cannot provide all of it.
pub fn build(label: &str, places: &Places, kernel: Kernel) -> Result<Built> {
    let confinement = places.confinement;
    if confinement.mode == Mode::Off {
        return Ok(Built::default());
    }
    let network = confinement.network;
    let lacks = kernel.lacks(network);
    if confinement.mode == Mode::Require && !lacks.is_empty() {
        return Err(refused(label, &lacks.join("; ")));
    }
    if !kernel.confines() {
        let lacks = lacks.join("; ");
        return Ok(Built {
            sandbox: None,
            notes: vec![format!("sandbox: the script was not confined: {lacks}")],
        });
    }
    let mut notes = Vec::new();
    let mut files = None;
    if kernel.landlock > 0 {
        let (readable, closed) = places.readable();
        let (writable, more) = places.writable();
        notes.extend(closed.into_iter().chain(more));
        let plain = |paths: Vec<PathBuf>| paths.into_iter().map(PathBuf::into_os_string).collect();
        files = Some([plain(readable), plain(writable)]);
    }
    let lacks = lacks.into_iter();
    notes.extend(lacks.map(|lack| format!("sandbox: not complete: {lack}")));
    Ok(Built {
        sandbox: Some(Sandbox {
            files,
            is_filtered: kernel.seccomp,
            network,
        }),
        notes,
    })
}

fn refused(label: &str, reason: &str) -> Error {
    Error::new(format!(
        "`{label}` was not run: it has to be confined, and {reason}"
    ))
    .hint(
        "tell the user: the setting `sandbox` of the skill is `require`, `auto` would run it as \
         far confined as possible",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Confinement;
    use crate::sys::Env;
    use std::path::Path;

    fn built(mode: Mode, network: Network, kernel: Kernel) -> Result<Built, Error> {
        let confinement = Confinement {
            mode,
            network,
            allowed_paths: Vec::new(),
        };
        let dir = tempfile::tempdir().unwrap();
        let base = Env::new([("HOME", "/nowhere/home")], dir.path());
        let places = Places {
            skill_dir: dir.path(),
            project_dir: dir.path(),
            temp: dir.path(),
            interpreter: Path::new("/bin/sh"),
            confinement: &confinement,
            base: &base,
        };
        build("run.sh", &places, kernel)
    }

    /// Simulated kernels, none more capable than the running one.
    fn kernels() -> impl Iterator<Item = Kernel> {
        let at_hand = Kernel::at_hand();
        let versions = (0..8).filter(move |version| *version <= at_hand.landlock);
        versions.flat_map(move |landlock| {
            [false, true]
                .into_iter()
                .filter(move |seccomp| at_hand.seccomp || !seccomp)
                .map(move |seccomp| Kernel { landlock, seccomp })
        })
    }

    #[test]
    fn missing_requirements_are_refused_all_at_once() {
        for kernel in kernels() {
            for network in [Network::Open, Network::Restricted] {
                let lacks = kernel.lacks(network);
                match built(Mode::Require, network, kernel) {
                    Ok(built) => {
                        assert!(lacks.is_empty(), "{kernel:?}");
                        let sandbox = built.sandbox.unwrap();
                        assert!(sandbox.files.is_some() && sandbox.is_filtered);
                    }
                    Err(error) => {
                        let text = error.to_string();
                        assert!(text.starts_with("`run.sh` was not run"), "{text}");
                        assert!(!lacks.is_empty() && lacks.iter().all(|lack| text.contains(lack)));
                        assert!(error.next_step().is_some());
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_wanted_applies_as_far_as_possible() {
        for kernel in kernels() {
            for network in [Network::Open, Network::Restricted] {
                let built = built(Mode::Auto, network, kernel).unwrap();
                let notes = built.notes.join("\n");
                assert!(
                    kernel
                        .lacks(network)
                        .iter()
                        .all(|lack| notes.contains(lack))
                );
                let held = built
                    .sandbox
                    .map(|held| (held.files.is_some(), held.is_filtered));
                let expected = (kernel.landlock > 0, kernel.seccomp);
                assert_eq!(held, kernel.confines().then_some(expected), "{kernel:?}");
            }
        }
    }

    #[test]
    fn off_is_off_on_every_kernel() {
        for kernel in kernels() {
            let built = built(Mode::Off, Network::Restricted, kernel).unwrap();
            assert!(built.sandbox.is_none() && built.notes.is_empty());
        }
    }
}
