//! The limits in the kernel's form: a Landlock ruleset and a system call filter. The plugin decides
//! them, the supervisor builds them, and the script's process enters them; its children inherit
//! them.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::filter::{self, Filter};
use super::{Confinement, Kernel, Mode, Network, Places};
use crate::error::{Error, Result};

/// The confinement of a script.
#[derive(Debug, Serialize, Deserialize)]
pub struct Sandbox {
    /// What it may read and what it may change, if the kernel can restrict that.
    files: Option<[Vec<OsString>; 2]>,
    /// Whether its system calls are filtered.
    is_filtered: bool,
    network: Network,
}

/// A sandbox ready to be entered.
#[derive(Debug)]
pub struct Prepared {
    ruleset: Option<Ruleset>,
    filter: Option<Filter>,
}

impl Sandbox {
    /// Builds what the script's process will enter.
    ///
    /// # Errors
    /// The kernel's error number.
    pub fn prepare(&self) -> Result<Prepared, i32> {
        let files = self.files.as_ref();
        let filter = self.is_filtered.then(|| filter::compile(self.network));
        Ok(Prepared {
            ruleset: files
                .map(|files| landlock(self.network, files))
                .transpose()?,
            filter: filter.map(|made| made.ok_or(libc::ENOSYS)).transpose()?,
        })
    }
}

impl Prepared {
    /// Enters it irrevocably; returns the error number on failure.
    pub fn enter(self) -> Result<(), i32> {
        self.ruleset.map_or(Ok(()), restrict)?;
        self.filter.as_ref().map_or(Ok(()), Filter::enter)
    }
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
pub fn build(
    confinement: &Confinement,
    label: &str,
    places: &Places,
    kernel: Kernel,
) -> Result<Built> {
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

#[cfg(target_os = "linux")]
type Ruleset = landlock::RulesetCreated;

#[cfg(target_os = "linux")]
fn landlock(network: Network, [readable, writable]: &[Vec<OsString>; 2]) -> Result<Ruleset, i32> {
    use landlock::{
        ABI, Access, AccessFs, AccessNet, PathBeneath, PathFd, Ruleset, RulesetAttr,
        RulesetCreatedAttr, RulesetError, Scope, path_beneath_rules,
    };
    // The crate drops rights that an older kernel does not know; the important gaps were checked
    // before.
    let all = AccessFs::from_all(ABI::V5);
    let read = AccessFs::from_read(ABI::V5);
    let change = all & !AccessFs::IoctlDev;
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate;
    let made = || -> Result<_, RulesetError> {
        let mut ruleset = Ruleset::default()
            .handle_access(all)?
            .scope(Scope::from_all(ABI::V6))?;
        if network == Network::Restricted {
            ruleset = ruleset.handle_access(AccessNet::from_all(ABI::V4))?;
        }
        let mut ruleset = ruleset
            .create()?
            .add_rules(path_beneath_rules(readable, read))?
            .add_rules(path_beneath_rules(writable, change))?;
        for path in Places::devices() {
            if let Ok(path) = PathFd::new(path) {
                ruleset = ruleset.add_rule(PathBeneath::new(path, device))?;
            }
        }
        Ok(ruleset)
    };
    made().map_err(|error| errno_of(&error))
}

#[cfg(target_os = "linux")]
fn restrict(ruleset: Ruleset) -> Result<(), i32> {
    let status = ruleset.restrict_self().map_err(|error| errno_of(&error))?;
    // The kernel reported support, so a ruleset that restricts nothing is an error.
    match status.ruleset {
        landlock::RulesetStatus::NotEnforced => Err(libc::ENOSYS),
        _ => Ok(()),
    }
}

/// The system's error number at the end of the chain.
#[cfg(target_os = "linux")]
fn errno_of(error: &(dyn std::error::Error + 'static)) -> i32 {
    let chain = std::iter::successors(Some(error), |error| error.source());
    let mut numbers =
        chain.filter_map(|error| error.downcast_ref::<std::io::Error>()?.raw_os_error());
    numbers.next().unwrap_or(libc::EINVAL)
}

#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
enum Ruleset {}

#[cfg(not(target_os = "linux"))]
fn landlock(_: Network, _: &[Vec<OsString>; 2]) -> Result<Ruleset, i32> {
    Err(libc::ENOSYS)
}

#[cfg(not(target_os = "linux"))]
fn restrict(ruleset: Ruleset) -> Result<(), i32> {
    match ruleset {}
}

#[cfg(test)]
mod tests {
    use super::*;
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
            allowed_paths: &[],
            base: &base,
        };
        build(&confinement, "run.sh", &places, kernel)
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
