//! The limits in the form the kernel takes: a Landlock ruleset, made before the fork. The script's
//! process only has to enter it, and whatever it starts is in it too.

use std::os::fd::OwnedFd;
use std::path::PathBuf;

use super::{Confinement, Mode, Network, Places};
use crate::error::{Error, Result};

/// A sandbox to enter, and remarks on what it is not.
#[derive(Debug, Default)]
pub struct Built {
    /// `None` when the script is not confined.
    pub ruleset: Option<OwnedFd>,
    /// What the caller should know.
    pub notes: Vec<String>,
}

/// Makes the sandbox for one script.
///
/// # Errors
/// When it is required and this system cannot do all that it is to do.
pub fn build(confinement: &Confinement, label: &str, places: &Places) -> Result<Built> {
    if confinement.mode == Mode::Off {
        return Ok(Built::default());
    }
    let abi = kernel_abi();
    let lacks = acceptable(confinement, label, abi)?;
    if abi == 0 {
        return Ok(Built {
            ruleset: None,
            notes: vec![format!("sandbox: the script was not confined: {NONE}")],
        });
    }
    let (readable, mut notes) = places.readable();
    let (writable, more) = places.writable();
    notes.extend(more);
    notes.extend(lacks.map(|lack| format!("sandbox: not complete: {lack}")));
    match landlock(confinement.network, &readable, &writable) {
        Ok(Some(ruleset)) => Ok(Built {
            ruleset: Some(ruleset),
            notes,
        }),
        Ok(None) => Err(refused(label, NONE)),
        Err(reason) => Err(refused(label, &reason)),
    }
}

const NONE: &str = "this system has no Landlock (Linux 5.13 with it enabled)";

/// What a kernel with this version of Landlock leaves undone, if that may be so.
fn acceptable(confinement: &Confinement, label: &str, abi: i32) -> Result<Option<&'static str>> {
    match what_is_lacking(confinement.network, abi) {
        Some(lack) if confinement.mode == Mode::Require => Err(refused(label, lack)),
        lack => Ok(lack),
    }
}

/// What this kernel cannot do of what is asked for, at worst first.
fn what_is_lacking(network: Network, abi: i32) -> Option<&'static str> {
    match abi {
        ..=0 => Some(NONE),
        1 | 2 => Some("this kernel cannot forbid to truncate files (Linux 6.2 can)"),
        3 if network == Network::Restricted => {
            Some("this kernel cannot restrict the network (Linux 6.7 can)")
        }
        _ => None,
    }
}

/// What of confining scripts this system cannot do, a fragment.
pub fn lacking(network: Network) -> Option<&'static str> {
    what_is_lacking(network, kernel_abi())
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

/// The version of Landlock that this kernel speaks, 0 for none.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn kernel_abi() -> i32 {
    /// Asks for the version instead of making a ruleset.
    const VERSION: libc::c_uint = 1;
    let none = std::ptr::null::<libc::c_void>();
    // SAFETY: with this flag the kernel takes no structure and only answers a number.
    let abi = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, none, 0_usize, VERSION) };
    i32::try_from(abi).unwrap_or(0).max(0)
}

#[cfg(not(target_os = "linux"))]
fn kernel_abi() -> i32 {
    0
}

#[cfg(target_os = "linux")]
fn landlock(
    network: Network,
    readable: &[PathBuf],
    writable: &[PathBuf],
) -> Result<Option<OwnedFd>, String> {
    use landlock::{
        ABI, Access, AccessFs, AccessNet, PathBeneath, PathFd, Ruleset, RulesetAttr,
        RulesetCreatedAttr, RulesetError, Scope, path_beneath_rules,
    };
    // What an older kernel does not know of these is left out by the crate; what matters of that
    // has been looked at before.
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
    made().map(Into::into).map_err(|error| error.to_string())
}

#[cfg(not(target_os = "linux"))]
fn landlock(_: Network, _: &[PathBuf], _: &[PathBuf]) -> Result<Option<OwnedFd>, String> {
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_required_and_cannot_be_had_is_a_refusal_with_the_reason() {
        let held = |mode, network| Confinement {
            mode,
            network,
            allowed_paths: Vec::new(),
        };
        let required = held(Mode::Require, Network::Restricted);
        for (abi, part) in [
            (0, "no Landlock"),
            (2, "truncate"),
            (3, "restrict the network"),
        ] {
            let error = acceptable(&required, "run.sh", abi).unwrap_err();
            assert!(
                error.to_string().starts_with("`run.sh` was not run"),
                "{error}"
            );
            assert!(error.to_string().contains(part), "{error}");
            assert!(error.next_step().is_some());
            let auto = acceptable(&held(Mode::Auto, Network::Restricted), "run.sh", abi);
            assert!(auto.unwrap().unwrap().contains(part));
        }
        assert_eq!(acceptable(&required, "run.sh", 4).unwrap(), None);
        assert!(acceptable(&held(Mode::Require, Network::Open), "run.sh", 3).is_ok());
    }

    #[test]
    fn what_each_kernel_lacks_is_known() {
        let lacks = |abi, network| what_is_lacking(abi, network).is_some();
        for (abi, open, restricted) in [
            (0, true, true),
            (1, true, true),
            (2, true, true),
            (3, false, true),
            (4, false, false),
            (9, false, false),
        ] {
            assert_eq!(lacks(Network::Open, abi), open, "{abi}");
            assert_eq!(lacks(Network::Restricted, abi), restricted, "{abi}");
        }
    }
}
