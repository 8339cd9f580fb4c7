//! The limits in the kernel's form (Linux): a Landlock ruleset and a system call filter.

use crate::script::prelude::*;
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};

use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};

use super::{Network, filter, places};

impl Sandbox {
    /// Confines this process irrevocably.
    ///
    /// # Errors
    /// The kernel's error number.
    pub fn enter(&self) -> Result<(), i32> {
        if let Some(files) = &self.files {
            let ruleset = ruleset(self.network, files);
            let status = ruleset.and_then(RulesetCreated::restrict_self);
            // The kernel reported support, so a ruleset that restricts nothing is an error.
            if status.map_err(|error| errno_of(&error))?.ruleset == RulesetStatus::NotEnforced {
                return Err(libc::ENOSYS);
            }
        }
        if self.is_filtered {
            filter::enter(&filter::compile(self.network).ok_or(libc::ENOSYS)?)?;
        }
        Ok(())
    }
}

fn ruleset(
    network: Network,
    [readable, writable]: &[Vec<OsString>; 2],
) -> Result<RulesetCreated, RulesetError> {
    // The crate drops rights that an older kernel does not know; the important gaps were checked
    // before.
    let all = AccessFs::from_all(ABI::V5);
    let read = AccessFs::from_read(ABI::V5);
    let change = all & !AccessFs::IoctlDev;
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate;
    let mut ruleset = Ruleset::default()
        .handle_access(all)?
        .scope(Scope::from_all(ABI::V6))?;
    if network == Network::Restricted {
        ruleset = ruleset.handle_access(AccessNet::from_all(ABI::V4))?;
    }
    let mut ruleset = ruleset
        .create()?
        .add_rules(rules(readable, read))?
        .add_rules(rules(writable, change))?;
    for path in places::DEVICES {
        if let Ok(path) = PathFd::new(path) {
            ruleset = ruleset.add_rule(PathBeneath::new(path, device))?;
        }
    }
    Ok(ruleset)
}

/// What `access` permits for each path that exists, opened without following links: one that was
/// put there since the path was chosen opens nothing.
fn rules(
    paths: &[OsString],
    access: BitFlags<AccessFs>,
) -> impl Iterator<Item = Result<PathBeneath<OwnedFd>, RulesetError>> {
    let opened = paths.iter().filter_map(|path| opened(path.as_ref()).ok());
    opened.map(move |(file, is_dir)| {
        let of_file = if is_dir {
            access
        } else {
            access & AccessFs::from_file(ABI::V5)
        };
        Ok(PathBeneath::new(file, of_file))
    })
}

/// Opens a path to name it to the kernel, and tells whether it is a directory. None of its names may
/// be a link.
pub(super) fn opened(path: &Path) -> rustix::io::Result<(OwnedFd, bool)> {
    // Step by step: some containers refuse `openat2`.
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = openat(CWD, "/", flags, Mode::empty())?;
    let below = path.strip_prefix("/").map_err(|_| Errno::INVAL)?;
    for name in below {
        file = openat(&file, name, flags, Mode::empty())?;
    }
    let kind = FileType::from_raw_mode(fstat(&file)?.st_mode);
    if kind.is_symlink() {
        return Err(Errno::LOOP);
    }
    Ok((file, kind.is_dir()))
}

/// The system's error number at the end of the chain.
fn errno_of(error: &(dyn std::error::Error + 'static)) -> i32 {
    let chain = std::iter::successors(Some(error), |error| error.source());
    let mut numbers =
        chain.filter_map(|error| error.downcast_ref::<std::io::Error>()?.raw_os_error());
    numbers.next().unwrap_or(libc::EINVAL)
}

impl Kernel {
    /// The running kernel, with the newest version of Landlock whose every restriction it accepts; later
    /// ones add none that we use.
    pub fn at_hand() -> Self {
        let accepts = |version: &i32| {
            let abi = ABI::from(*version);
            let required = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
            let mut made = required.handle_access(AccessFs::from_all(abi));
            if abi >= ABI::V4 {
                made = made.and_then(|made| made.handle_access(AccessNet::from_all(abi)));
            }
            if abi >= ABI::V6 {
                made = made.and_then(|made| made.scope(Scope::from_all(abi)));
            }
            made.is_ok()
        };
        Self {
            landlock: (1..=6).rev().find(accepts).unwrap_or(0),
            seccomp: filter::available(),
        }
    }
}
