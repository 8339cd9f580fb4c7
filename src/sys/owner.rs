//! Who owns a file, as far as this process can tell. A user namespace shows every unmapped owner as
//! one overflow id, which identifies nobody.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::io::Errno;

use super::files::kernel_text;
use super::process::effective_user;

/// The owner of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// Root of this namespace, the only root that can be recognised.
    Root,
    /// The effective user of this process.
    Us,
    /// Another user.
    Other,
    /// Not shown by the user namespace of this process.
    Unknown,
}

impl Owner {
    /// The message about a file whose owner is unknown.
    pub const UNKNOWN: &'static str = "this user namespace does not show whose it is";

    /// The owner according to `metadata`.
    pub fn from_metadata(metadata: &Metadata) -> Self {
        Self::classify(metadata.uid(), effective_user(), is_shown)
    }

    fn classify(uid: u32, us: u32, is_shown: impl Fn(u32) -> bool) -> Self {
        match uid {
            0 => Self::Root,
            uid if !is_shown(uid) => Self::Unknown,
            uid if uid == us => Self::Us,
            _ => Self::Other,
        }
    }
}

/// A change to a directory that another user must not be able to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// To replace or remove what is in it. In a sticky directory only the owner can.
    Replace,
    /// Also to add something to it.
    Add,
}

/// Why another user could have written the file at `path` or made this change to a directory;
/// `None` if nobody could. Root's group and the user's private group, which many systems create, do
/// not count as other users.
pub fn others_may_write(path: &Path, metadata: &Metadata, change: Change) -> Option<&'static str> {
    match Owner::from_metadata(metadata) {
        Owner::Root | Owner::Us => {}
        Owner::Other => return Some("it belongs to another user"),
        Owner::Unknown => return Some(Owner::UNKNOWN),
    }
    let sticky = change == Change::Replace && metadata.is_dir() && metadata.mode() & 0o1000 != 0;
    let group = ![0, rustix::process::getegid().as_raw()].contains(&metadata.gid());
    if metadata.mode() & 0o002 != 0 && !sticky {
        return Some("every user may write it");
    }
    if metadata.mode() & 0o020 == 0 || sticky {
        return None;
    }
    if group {
        return Some("other users' group may write it");
    }
    has_access_list(path).then_some("its access control list may let others write it")
}

/// Whether `path` has an access control list. The bits of its group are then the most that the list
/// grants to any user or group (`acl(5)`). In doubt it has one.
fn has_access_list(path: &Path) -> bool {
    let mut value = [0; 64];
    let found = rustix::fs::getxattr(path, "system.posix_acl_access", &mut value);
    !matches!(found, Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::NOSYS))
}

/// Whether `uid` identifies one user. The overflow id does so only if the namespace maps it;
/// without `/proc` that is unknown, and it does not count.
fn is_shown(uid: u32) -> bool {
    if cfg!(not(target_os = "linux")) {
        return true;
    }
    let overflow = kernel_text("/proc/sys/kernel/overflowuid");
    let overflow = overflow.trim().parse().ok();
    if uid != overflow.unwrap_or(65_534) {
        return true;
    }
    maps(&kernel_text("/proc/self/uid_map"), uid)
}

/// Whether a user id map in the format of `/proc/self/uid_map` covers `uid`. Each line contains the
/// first id inside, the first id outside, and the count (`user_namespaces(7)`).
fn maps(map: &str, uid: u32) -> bool {
    map.lines().any(|line| {
        let numbers: Vec<u64> = line
            .split_whitespace()
            .filter_map(|number| number.parse().ok())
            .collect();
        matches!(numbers[..], [inside, _, count] if (inside..inside + count).contains(&uid.into()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn who_is_not_shown_is_nobody() {
        for (uid, us, shown, owner) in [
            (0, 0, true, Owner::Root),
            (0, 7, true, Owner::Root),
            (7, 7, true, Owner::Us),
            (8, 7, true, Owner::Other),
            (65_534, 65_534, true, Owner::Us),
            (65_534, 7, true, Owner::Other),
            (65_534, 7, false, Owner::Unknown),
            // Without any map, this process itself is shown as the overflow user.
            (65_534, 65_534, false, Owner::Unknown),
        ] {
            assert_eq!(
                Owner::classify(uid, us, |_| shown),
                owner,
                "{uid} {us} {shown}"
            );
        }
    }

    #[test]
    fn a_list_for_a_group_of_ours_counts_as_others() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, "").unwrap();
        let mode = |mode| std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        let why = || others_may_write(&path, &path.metadata().unwrap(), Change::Replace);
        mode(0o660);
        assert_eq!(why(), None);
        // Version 2: owner, user 4711, group, mask and others; each a tag, permissions and an id.
        let entry = |tag: u16, perm: u16, id: u32| {
            [
                &tag.to_le_bytes()[..],
                &perm.to_le_bytes(),
                &id.to_le_bytes(),
            ]
            .concat()
        };
        let none = u32::MAX;
        let entries = [
            entry(1, 6, none),
            entry(2, 6, 4711),
            entry(4, 0, none),
            entry(16, 6, none),
            entry(32, 0, none),
        ];
        let list = [&2_u32.to_le_bytes()[..], &entries.concat()].concat();
        let flags = rustix::fs::XattrFlags::empty();
        // Not every file system has them.
        if rustix::fs::setxattr(&path, "system.posix_acl_access", &list, flags).is_err() {
            return;
        }
        assert!(why().unwrap().contains("access control list"));
        mode(0o640);
        assert_eq!(why(), None);
    }

    #[test]
    fn a_map_says_who_has_a_number() {
        let all = "         0          0 4294967295\n";
        for (map, shown) in [
            (all, true),
            ("0 1000 1\n", false),
            ("0 1000 1\n1 100000 65536\n", true),
            ("0 100000 65534\n", false),
            ("", false),
            ("0 x", false),
        ] {
            assert_eq!(maps(map, 65_534), shown, "{map}");
        }
    }
}
