use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::thread::sleep;
use std::time::Duration;

use super::*;
use crate::sys::tree;

const SETTLED: Duration = Duration::from_millis(40);

fn place(root: &Path) -> PathBuf {
    root.join("digests/one")
}

/// The digest of `dir` by a new call, and whether it had to be computed.
fn call(place: &Path, dir: &Path) -> (String, bool) {
    let cache = DigestCache::open(place.to_owned(), SkillUse::Any, None);
    let computed = Cell::new(false);
    let digested = cache.digested("test", dir, || {
        computed.set(true);
        tree::digest_and_stamps([dir])
    });
    (digested.unwrap(), computed.get())
}

#[test]
fn kept_until_anything_that_it_covers_changes() {
    let root = tempfile::tempdir().unwrap();
    let at = |path: &str| root.path().join(path);
    let place = place(root.path());
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

/// Whether `dir` is known to be as a record with this stamp has it, for a call that uses it so.
fn is_agreed(place: &Path, dir: &Path, skill_use: SkillUse, record: Stamp) -> bool {
    let cache = DigestCache::open(place.to_owned(), skill_use, Some(record));
    cache.agreed("test", dir)
}

#[test]
fn a_disclosure_looks_at_what_it_shows_and_a_use_at_all() {
    let root = tempfile::tempdir().unwrap();
    let (place, dir) = (place(root.path()), root.path().join("dir"));
    fs::create_dir_all(dir.join("scripts")).unwrap();
    let (skill, script) = (dir.join("SKILL.md"), dir.join("scripts/run.sh"));
    fs::write(&skill, "1").unwrap();
    fs::write(&script, "1").unwrap();
    let record = Stamp([1; 7]);
    let agreed = |skill_use| is_agreed(&place, &dir, skill_use, record);
    for (change, shows) in [(&script, false), (&skill, true), (&dir.join("new"), true)] {
        sleep(SETTLED);
        call(&place, &dir);
        assert!(
            !agreed(SkillUse::Disclose),
            "nobody compared it with the record"
        );
        DigestCache::open(place.clone(), SkillUse::Any, Some(record)).agree("test", &dir);
        assert!(agreed(SkillUse::Disclose) && agreed(SkillUse::Any));
        fs::write(change, "2").unwrap();
        assert_eq!(agreed(SkillUse::Disclose), !shows);
        assert!(!agreed(SkillUse::Any));
    }
}

#[test]
fn an_agreement_ends_with_any_change_of_the_record() {
    let root = tempfile::tempdir().unwrap();
    let (place, dir) = (place(root.path()), root.path().join("dir"));
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("SKILL.md"), "1").unwrap();
    sleep(SETTLED);
    call(&place, &dir);
    let open = |record| DigestCache::open(place.clone(), SkillUse::Any, record);
    let record = Stamp([1; 7]);
    open(Some(record)).agree("test", &dir);
    assert!(open(Some(record)).agreed("test", &dir));
    for other in [None, Some(Stamp([2; 7]))] {
        assert!(!open(other).agreed("test", &dir));
        open(other).agree("test", &dir);
    }
    assert!(open(Some(Stamp([2; 7]))).agreed("test", &dir));
    assert!(!open(Some(record)).agreed("test", &dir));
    open(None).agree("test", &dir);
    assert!(
        !open(None).agreed("test", &dir),
        "a record that may change unseen"
    );
}

#[test]
fn a_file_damaged_or_writable_by_others_is_not_believed() {
    let root = tempfile::tempdir().unwrap();
    let (place, dir) = (place(root.path()), root.path().join("dir"));
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

#[test]
fn a_note_is_kept_until_all_are_forgotten() {
    let state = tempfile::tempdir().unwrap();
    let place = state.path().join("digests/one");
    let open = || DigestCache::open(place.clone(), SkillUse::Any, None);
    open().note("signature", state.path(), "key why");
    let noted = || open().noted("signature", state.path());
    assert_eq!(noted().as_deref(), Some("key why"));
    assert_eq!(open().noted("other", state.path()), None);
    DigestCache::forget(state.path());
    assert_eq!(noted(), None);
}
