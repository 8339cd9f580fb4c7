//! The limits of one script, as far as the kernel can set them. The plugin decides them here, the
//! supervisor prepares them, and the script's process enters them; its children inherit them.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Confinement, Kernel, Mode, Network, Places};
use crate::error::{Error, Result};

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

/// Builds the sandbox for one script on this kernel, and notes its gaps; `None` if the script is not
/// confined.
///
/// # Errors
/// When confinement is required and the kernel cannot provide all of it.
pub fn build(
    label: &str,
    places: &Places,
    kernel: Kernel,
    notes: &mut Vec<String>,
) -> Result<Option<Sandbox>> {
    let Confinement { mode, network, .. } = *places.confinement;
    if mode == Mode::Off {
        return Ok(None);
    }
    let lacks = kernel.lacks(network);
    if mode == Mode::Require && !lacks.is_empty() {
        let lacks = lacks.join("; ");
        let text = format!("`{label}` was not run: it has to be confined, and {lacks}");
        return Err(Error::new(text).hint(
            "tell the user: the setting `sandbox` of the skill is `require`, `auto` would run it \
             as far confined as possible",
        ));
    }
    if !kernel.confines() {
        let lacks = lacks.join("; ");
        notes.push(format!("sandbox: `{label}` was not confined: {lacks}"));
        return Ok(None);
    }
    let plain = |paths: Vec<PathBuf>| paths.into_iter().map(PathBuf::into_os_string).collect();
    let files = (kernel.landlock > 0).then(|| places.open(notes).map(plain));
    let lacks = lacks.into_iter();
    notes.extend(lacks.map(|lack| format!("sandbox: not complete: {lack}")));
    Ok(Some(Sandbox {
        files,
        is_filtered: kernel.seccomp,
        network,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::Env;
    use std::path::Path;

    fn built(
        mode: Mode,
        network: Network,
        kernel: Kernel,
    ) -> Result<(Option<Sandbox>, Vec<String>)> {
        let mut notes = Vec::new();
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
        let sandbox = build("run.sh", &places, kernel, &mut notes)?;
        Ok((sandbox, notes))
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
                    Ok((sandbox, _)) => {
                        assert!(lacks.is_empty(), "{kernel:?}");
                        let sandbox = sandbox.unwrap();
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
                let (sandbox, notes) = built(Mode::Auto, network, kernel).unwrap();
                let notes = notes.join("\n");
                assert!(
                    kernel
                        .lacks(network)
                        .iter()
                        .all(|lack| notes.contains(lack))
                );
                let held = sandbox.map(|held| (held.files.is_some(), held.is_filtered));
                let expected = (kernel.landlock > 0, kernel.seccomp);
                assert_eq!(held, kernel.confines().then_some(expected), "{kernel:?}");
            }
        }
    }

    #[test]
    fn off_is_off_on_every_kernel() {
        for kernel in kernels() {
            let (sandbox, notes) = built(Mode::Off, Network::Restricted, kernel).unwrap();
            assert!(sandbox.is_none() && notes.is_empty());
        }
    }
}
