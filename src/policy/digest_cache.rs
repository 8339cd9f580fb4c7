//! Digests that consent goes by, kept between calls with the stamps of everything they cover. Where
//! the stamps are unchanged, the digest is known without reading a byte; anything else is digested
//! anew. What stamps cannot show is in docs/decisions.md.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize};

use crate::run_context::RunContext;
use crate::sys::stamp::{self, Stamp, Stamps, now};
use crate::sys::{cache_file, hash, limits};

/// Projects whose digests are kept.
const PROJECTS: usize = 50;
/// Changes with the format.
const MAGIC: &[u8; 16] = b"agent-skills dg2";

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
    asks: Asks,
    known: RefCell<BTreeMap<String, Known>>,
    has_learned: Cell<bool>,
}

/// What a call does with a skill, and so which of its stamps have to be unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Asks {
    /// Anything: all of them.
    #[default]
    ToUse,
    /// It names and describes skills to the model: those of the directory and of its `SKILL.md`.
    ToDisclose,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Known {
    digested: Digested,
    /// The directory that most paths are relative to.
    base: PathBuf,
    /// Of all that a disclosure shows.
    disclosed: Stamps,
    /// Of the rest, as bytes: a call that does not need them does not decode them either.
    #[serde(deserialize_with = "at_once")]
    rest: Vec<u8>,
}

/// Bytes as a whole, where serde reads a vector one by one.
fn at_once<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    <&[u8]>::deserialize(from).map(<[u8]>::to_vec)
}

impl DigestCache {
    /// The digests that are kept for the project of this run.
    pub fn of_project(ctx: &RunContext, asks: Asks) -> Self {
        let project = ctx.project_dir();
        let name = hash(project.as_os_str().as_encoded_bytes());
        let dir = ctx.store().dir().join("digests");
        Self::open(dir.join(format!("{name:016x}")), asks)
    }

    /// The cache in `place`; empty if there is none, or if anything about it is not as this program
    /// leaves it.
    fn open(place: PathBuf, asks: Asks) -> Self {
        let known = cache_file::read(&place, MAGIC, limits::DIGEST_CACHE)
            .and_then(|bytes| postcard::from_bytes(&bytes).ok());
        Self {
            place: Some(place),
            asks,
            known: RefCell::new(known.unwrap_or_default()),
            has_learned: Cell::new(false),
        }
    }

    /// The digest of what is at `path`, by `make` unless it is known. `of` says what kind of digest
    /// it is. To disclose a skill, the fewer stamps suffice if the digest is `agreed` to. If it is
    /// not, all are compared, so that a file that was changed back ends its refusal at once.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn digested(
        &self,
        of: &str,
        path: &Path,
        agreed: impl Fn(&str) -> bool,
        make: impl FnOnce() -> io::Result<(Digested, Stamps)>,
    ) -> io::Result<Digested> {
        // A path that is not UTF-8 is not kept.
        let (Some(_), Some(base), Some(shown)) = (&self.place, path.parent(), path.to_str()) else {
            return Ok(make()?.0);
        };
        let key = format!("{of} {shown}");
        let is_current = |known: &&Known| {
            let few = self.asks == Asks::ToDisclose && agreed(&known.digested.digest);
            known.is_unchanged(if few { Asks::ToDisclose } else { Asks::ToUse })
        };
        if let Some(known) = self.known.borrow().get(&key).filter(is_current) {
            return Ok(known.digested.clone());
        }
        let before = now();
        let (digested, stamps) = make()?;
        let mut known = self.known.borrow_mut();
        if let Some(now) = Known::new(path, base, &digested, stamps, before) {
            known.insert(key, now);
            self.has_learned.set(true);
        } else if known.remove(&key).is_some() {
            self.has_learned.set(true);
        }
        Ok(digested)
    }
}

impl Known {
    /// What to keep of the digest of `path`; `None` if a later change might not show in the stamps.
    fn new(
        path: &Path,
        base: &Path,
        digested: &Digested,
        stamps: Stamps,
        before: i128,
    ) -> Option<Self> {
        if !are_settled(&stamps, before) {
            return None;
        }
        let is_disclosed = |(one, _): &(PathBuf, _)| {
            let name = one.file_name().unwrap_or_default();
            one == path || one.parent() == Some(path) && name.eq_ignore_ascii_case("SKILL.md")
        };
        let (disclosed, rest): (Stamps, Stamps) = stamps.into_iter().partition(is_disclosed);
        Some(Self {
            digested: digested.clone(),
            base: base.to_owned(),
            disclosed: relative(disclosed, base),
            rest: postcard::to_allocvec(&relative(rest, base)).ok()?,
        })
    }

    fn is_unchanged(&self, asks: Asks) -> bool {
        let rest = || postcard::from_bytes::<Stamps>(&self.rest);
        let is_same = |stamps: &Stamps| stamp::all_unchanged(&self.base, stamps);
        is_same(&self.disclosed)
            && (asks == Asks::ToDisclose || rest().is_ok_and(|rest| is_same(&rest)))
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
        call_that(Asks::ToUse, None, place, dir)
    }

    /// As [`call`]; without an `agreed` digest any is agreed to.
    fn call_that(asks: Asks, agreed: Option<&str>, place: &Path, dir: &Path) -> (String, bool) {
        let cache = DigestCache::open(place.to_owned(), asks);
        let computed = Cell::new(false);
        let digested = cache.digested(
            "test",
            dir,
            |it| agreed.is_none_or(|one| one == it),
            || {
                computed.set(true);
                let (digest, stamps) = tree::digest_seen([dir], &mut |_, _| {})?;
                let skills = Vec::new();
                Ok((Digested { digest, skills }, stamps))
            },
        );
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
    fn a_disclosure_looks_at_what_it_shows_and_a_use_at_all() {
        let root = tempfile::tempdir().unwrap();
        let (place, dir) = (root.path().join("digests/one"), root.path().join("dir"));
        fs::create_dir_all(dir.join("scripts")).unwrap();
        let (skill, script) = (dir.join("SKILL.md"), dir.join("scripts/run.sh"));
        fs::write(&skill, "1").unwrap();
        fs::write(&script, "1").unwrap();
        sleep(SETTLED);
        let good = call(&place, &dir).0;
        let disclosed = || call_that(Asks::ToDisclose, Some(&good), &place, &dir);
        fs::write(&script, "2").unwrap();
        sleep(SETTLED);
        assert_eq!(disclosed(), (good.clone(), false));
        let bad = call(&place, &dir).0;
        assert_ne!(bad, good);
        assert_eq!(disclosed(), (bad, false), "known since the use");
        fs::write(&script, "1").unwrap();
        sleep(SETTLED);
        assert_eq!(disclosed(), (good.clone(), true), "changed back");
        for change in [&skill, &dir.join("new")] {
            assert_eq!(disclosed(), (good.clone(), false));
            fs::write(change, "2").unwrap();
            sleep(SETTLED);
            assert!(disclosed().0 != good);
            fs::write(&skill, "1").unwrap();
            sleep(SETTLED);
            disclosed();
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
