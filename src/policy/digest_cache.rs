//! Digests that consent goes by, kept between calls with the stamps of everything they cover. Where
//! every stamp is unchanged, the digest is known without reading a byte; anything else is digested
//! anew. What stamps cannot show is in docs/decisions.md.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::run_context::RunContext;
use crate::sys::stamp::{self, Stamp, Stamps, now};
use crate::sys::{cache_file, hash, limits};

/// Projects whose digests are kept.
const PROJECTS: usize = 50;
/// Changes with the format.
const MAGIC: &[u8; 16] = b"agent-skills dg1";

/// A digest, and what was seen while it was computed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digested {
    /// The digest.
    pub digest: String,
    /// The digests of the `SKILL.md` files in it, see [`Skill::digest`](crate::skill::Skill).
    pub skills: Vec<String>,
}

/// The digests of one project's parts and of the skills that are used in it. The default keeps
/// nothing.
#[derive(Debug, Default)]
pub struct DigestCache {
    /// `None` if nothing is kept.
    place: Option<PathBuf>,
    known: RefCell<BTreeMap<String, Known>>,
    has_learned: Cell<bool>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Known {
    digested: Digested,
    /// The directory that most paths are relative to.
    base: PathBuf,
    stamps: Stamps,
}

impl DigestCache {
    /// The digests that are kept for the project of this run.
    pub fn of_project(ctx: &RunContext) -> Self {
        let project = ctx.project_dir();
        let name = hash(project.as_os_str().as_encoded_bytes());
        let dir = ctx.store().dir().join("digests");
        Self::open(dir.join(format!("{name:016x}")))
    }

    /// The cache in `place`; empty if there is none, or if anything about it is not as this program
    /// leaves it.
    fn open(place: PathBuf) -> Self {
        let known = cache_file::read(&place, MAGIC, limits::DIGEST_CACHE)
            .and_then(|bytes| postcard::from_bytes(&bytes).ok());
        Self {
            place: Some(place),
            known: RefCell::new(known.unwrap_or_default()),
            has_learned: Cell::new(false),
        }
    }

    /// The digest of what is at `path`, by `make` unless it is known. `of` says what kind of digest
    /// it is.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn digested(
        &self,
        of: &str,
        path: &Path,
        make: impl FnOnce() -> io::Result<(Digested, Stamps)>,
    ) -> io::Result<Digested> {
        // A path that is not UTF-8 is not kept.
        let (Some(_), Some(base), Some(shown)) = (&self.place, path.parent(), path.to_str()) else {
            return Ok(make()?.0);
        };
        let key = format!("{of} {shown}");
        let is_current = |known: &&Known| stamp::all_unchanged(&known.base, &known.stamps);
        if let Some(known) = self.known.borrow().get(&key).filter(is_current) {
            return Ok(known.digested.clone());
        }
        let before = now();
        let (digested, stamps) = make()?;
        let mut known = self.known.borrow_mut();
        if are_settled(&stamps, before) {
            let known_now = Known {
                digested: digested.clone(),
                base: base.to_owned(),
                stamps: relative(stamps, base),
            };
            known.insert(key, known_now);
            self.has_learned.set(true);
        } else if known.remove(&key).is_some() {
            self.has_learned.set(true);
        }
        Ok(digested)
    }
}

/// Whether any change since `before`, when nothing had been looked at yet, shows in the stamps.
fn are_settled(stamps: &Stamps, before: i128) -> bool {
    let mut each = stamps.iter();
    each.all(|(_, stamp)| stamp.is_none_or(|stamp| stamp.is_settled(before)))
}

fn relative(stamps: Stamps, base: &Path) -> Stamps {
    let shorten = |(path, stamp): (PathBuf, Option<Stamp>)| {
        let below = path.strip_prefix(base).ok();
        let below = below.filter(|below| !below.as_os_str().is_empty());
        (below.map(Path::to_owned).unwrap_or(path), stamp)
    };
    stamps.into_iter().map(shorten).collect()
}

impl Drop for DigestCache {
    /// Keeps what was learned. Best effort: it can be computed again.
    fn drop(&mut self) {
        let (Some(place), true) = (&self.place, self.has_learned.get()) else {
            return;
        };
        let known = self.known.get_mut();
        known.retain(|key, _| {
            key.split_once(' ')
                .is_some_and(|(_, path)| Path::new(path).exists())
        });
        if let Ok(bytes) = postcard::to_allocvec(known) {
            cache_file::replace(place, MAGIC, &bytes, PROJECTS);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::thread::sleep;
    use std::time::Duration;

    use super::*;
    use crate::sys::tree;

    const SETTLED: Duration = Duration::from_millis(40);

    /// The digest of `dir` by a new call, and whether it had to be computed.
    fn call(place: &Path, dir: &Path) -> (String, bool) {
        let cache = DigestCache::open(place.to_owned());
        let computed = Cell::new(false);
        let digested = cache.digested("test", dir, || {
            computed.set(true);
            let (digest, stamps) = tree::digest_seen([dir], &mut |_, _| {})?;
            let skills = Vec::new();
            Ok((Digested { digest, skills }, stamps))
        });
        (digested.unwrap().digest, computed.get())
    }

    #[test]
    fn kept_until_anything_that_it_covers_changes() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        let place = at("digests/one");
        fs::create_dir_all(at("dir/sub")).unwrap();
        fs::write(at("outside"), "1").unwrap();
        fs::write(at("dir/sub/a"), "1").unwrap();
        symlink(at("outside"), at("dir/link")).unwrap();
        symlink(at("missing"), at("dir/dangling")).unwrap();
        let mut seen = call(&place, &at("dir")).0;
        let changes: [&dyn Fn(); 6] = [
            &|| fs::write(at("dir/sub/a"), "2").unwrap(),
            &|| fs::set_permissions(at("dir/sub/a"), fs::Permissions::from_mode(0o755)).unwrap(),
            &|| fs::write(at("dir/sub/b"), "").unwrap(),
            &|| fs::write(at("outside"), "2").unwrap(),
            &|| fs::write(at("missing"), "there now").unwrap(),
            &|| fs::remove_dir_all(at("dir/sub")).unwrap(),
        ];
        for change in changes {
            sleep(SETTLED);
            call(&place, &at("dir"));
            assert_eq!(call(&place, &at("dir")), (seen.clone(), false));
            change();
            // At once, and again: what changed a moment ago is not kept.
            let (now, computed) = call(&place, &at("dir"));
            assert!(computed && now != seen);
            assert_eq!(call(&place, &at("dir")), (now.clone(), true));
            seen = now;
        }
    }

    #[test]
    fn a_file_damaged_or_writable_by_others_is_not_believed() {
        let root = tempfile::tempdir().unwrap();
        let (place, dir) = (root.path().join("digests/one"), root.path().join("dir"));
        fs::create_dir(&dir).unwrap();
        fs::write(dir.join("a"), "1").unwrap();
        sleep(SETTLED);
        let computed = || call(&place, &dir).1;
        assert!(computed() && !computed());
        fs::set_permissions(&place, fs::Permissions::from_mode(0o622)).unwrap();
        assert!(computed() && !computed());
        let mut bytes = fs::read(&place).unwrap();
        for damage in [0, 20, bytes.len() - 1] {
            bytes[damage] ^= 1;
            fs::write(&place, &bytes).unwrap();
            assert!(computed() && !computed(), "{damage}");
        }
    }
}
