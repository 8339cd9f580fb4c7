//! The state after a change is interrupted at each of its steps.

mod kept;

use std::fs;
use std::path::Path;

use super::journal::{begin_journal, remove_journal, write_journal};
use super::*;
use crate::marketplace::install::Staging;
use crate::marketplace::install::staging::JOURNAL;
use crate::marketplace::lock::LockPath;
use crate::marketplace::lock::previous::{FORMER, KEPT};
use crate::marketplace::reference::Kind;

/// A plugin directory, and a staging directory whose command was killed.
struct Killed {
    plugin: tempfile::TempDir,
    base: Base,
    staging: Dir,
}

impl Killed {
    fn new() -> Self {
        let plugin = tempfile::tempdir().unwrap();
        let base = Base::own(plugin.path().to_owned());
        let root = base.make().unwrap();
        root.make_dir(&SKILLS).unwrap();
        let root = root.make_dir(&EntryName::from_static("staging")).unwrap();
        let staging = root.new_of_ours(&EntryName::from_static("1-0")).unwrap();
        Self {
            plugin,
            base,
            staging,
        }
    }

    fn put(dir: &Path, text: &str) {
        fs::create_dir_all(dir).unwrap();
        fs::write(dir.join("SKILL.md"), text).unwrap();
    }

    fn skill(&self) -> PathBuf {
        skills(&self.base).join("x")
    }

    /// Where the change of the skill moves things to.
    fn aside(&self) -> Dir {
        let all = self.staging.make_dir(&ASIDE).unwrap();
        all.make_dir(name("x").entry()).unwrap()
    }

    fn lock(&self, text: &str) {
        let mut lockfile = Lockfile::read(&self.base).unwrap();
        let entry = entry(text);
        let new = [(&entry.name, Some(&entry))];
        lockfile.set(&new, &self.staging).unwrap();
    }

    /// Runs the recovery of the next command; returns the skill's text and the entry's commit.
    fn recovered(&self) -> (Option<String>, Option<String>) {
        crate::marketplace::install::litter::clean(&self.base, false);
        assert!(!self.plugin.path().join("staging").exists());
        let lockfile = Lockfile::read(&self.base).unwrap();
        let commit = lockfile.get("x").map(|entry| entry.commit.clone().unwrap());
        (
            fs::read_to_string(self.skill().join("SKILL.md")).ok(),
            commit,
        )
    }
}

fn name(name: &str) -> InstalledName {
    InstalledName::parse(name).unwrap()
}

/// The entry of a skill whose only file is `text`, at the commit `text`.
fn entry(text: &str) -> LockEntry {
    let dir = tempfile::tempdir().unwrap();
    Killed::put(dir.path(), text);
    let digest = Digest::read(dir.path()).unwrap();
    LockEntry {
        signer: None,
        evidence: None,
        id: "s#x".to_owned(),
        name: name("x"),
        source: "s".to_owned(),
        address: None,
        kind: Kind::Git,
        requested: "x".to_owned(),
        rev: None,
        commit: Some(text.to_owned()),
        path: LockPath::parse("x").unwrap(),
        tree: None,
        sha256: digest.sha256,
        files: digest.files,
        license: None,
        other: serde_json::Map::new(),
    }
}

fn journal_of_new(staging: &Dir) -> Result<()> {
    let entry = entry("new");
    let placed = Some(entry.sha256.clone());
    write_journal(staging, &[journal(Some(entry), placed)])
}

fn journal(entry: Option<LockEntry>, placed: Option<String>) -> Journal {
    let name = name("x");
    Journal {
        name,
        entry,
        placed,
        stash: None,
    }
}

fn both(text: &str) -> (Option<String>, Option<String>) {
    (Some(text.to_owned()), Some(text.to_owned()))
}

#[test]
fn an_install_killed_anywhere_is_carried_out() {
    let killed = Killed::new();
    Killed::put(&killed.staging.path().join("new/x"), "new");
    journal_of_new(&killed.staging).unwrap();
    assert_eq!(killed.recovered(), both("new"));

    let killed = Killed::new();
    Killed::put(&killed.skill(), "new");
    journal_of_new(&killed.staging).unwrap();
    assert_eq!(killed.recovered(), both("new"));
}

#[test]
fn installs_that_moved_before_a_kill_have_their_entries() {
    for moved in 0..=3 {
        let killed = Killed::new();
        let names = ["a", "b", "c"].map(name);
        let mut journals = Vec::new();
        for (at, name) in names.iter().enumerate() {
            let entry = LockEntry {
                name: name.clone(),
                id: format!("s#{name}"),
                ..entry("new")
            };
            if at < moved {
                Killed::put(&skills(&killed.base).join(&**name), "new");
            }
            journals.push(Journal {
                name: name.clone(),
                placed: Some(entry.sha256.clone()),
                entry: Some(entry),
                stash: None,
            });
        }
        write_journal(&killed.staging, &journals).unwrap();
        killed.recovered();
        let lockfile = Lockfile::read(&killed.base).unwrap();
        let known = names.iter().filter(|name| lockfile.get(name).is_some());
        assert_eq!(known.count(), moved);
    }
}

#[test]
fn several_placed_skills_are_locked_and_present_ones_kept() {
    let plugin = tempfile::tempdir().unwrap();
    let base = Base::own(plugin.path().to_owned());
    let staging = Staging::new(&base, Duration::ZERO).unwrap();
    Killed::put(&skills(&base).join("b"), "mine");
    let mut staged = Vec::new();
    for wanted in ["a", "b", "c"].map(name) {
        let place = staging.place_for(&wanted).unwrap();
        place.make().unwrap();
        Killed::put(&place.path(), "new");
        let id = format!("s#{wanted}");
        let entry = LockEntry {
            name: wanted,
            id,
            ..entry("new")
        };
        staged.push((place, entry));
    }
    let mut changes = Changes::begin(&base, staging.dir(), Duration::ZERO).unwrap();
    let staged = staged.iter().map(|(place, entry)| (place, Some(entry)));
    let staged: Vec<_> = staged.collect();
    assert_eq!(changes.place_new(&staged).unwrap(), [true, false, true]);
    let lockfile = Lockfile::read(&base).unwrap();
    let known = ["a", "b", "c"].map(|name| lockfile.get(name).is_some());
    assert_eq!(known, [true, false, true]);
    let text = |name: &str| fs::read_to_string(skills(&base).join(name).join("SKILL.md")).unwrap();
    assert_eq!(["a", "b", "c"].map(text), ["new", "mine", "new"]);
    assert!(!staging.dir().has(&JOURNAL));
}

#[test]
fn an_update_killed_anywhere_leaves_one_skill_with_its_entry() {
    for (installed, set_aside, expected) in [
        (Some("old"), None, "old"),
        (None, Some("old"), "old"),
        (Some("new"), Some("old"), "new"),
    ] {
        let killed = Killed::new();
        killed.lock("old");
        if let Some(text) = installed {
            Killed::put(&killed.skill(), text);
        }
        if let Some(text) = set_aside {
            Killed::put(&killed.aside().path_of(&OLD), text);
        }
        journal_of_new(&killed.staging).unwrap();
        assert_eq!(
            killed.recovered(),
            both(expected),
            "{installed:?} {set_aside:?}"
        );
    }
}

#[test]
fn a_removal_killed_anywhere_is_carried_out() {
    for (stashes, until) in [false, true]
        .into_iter()
        .flat_map(|s| (0..3).map(move |n| (s, n)))
    {
        let killed = Killed::new();
        killed.lock("old");
        Killed::put(&killed.skill(), "changed");
        let (root, x, old) = (killed.base.make().unwrap(), name("x"), entry("old"));
        let place = stashes.then(|| stash::make_place(&root, &x, Some(&old)).unwrap());
        let to = place.as_ref().map_or_else(
            || killed.aside().path_of(&GONE),
            |place| killed.plugin.path().join("stash").join(&**place).join("x"),
        );
        let journal = Journal {
            stash: place,
            ..journal(None, None)
        };
        write_journal(&killed.staging, &[journal]).unwrap();
        if until > 0 {
            previous::set_aside(&root, &killed.aside(), &x).unwrap();
        }
        if until > 1 {
            fs::rename(killed.skill(), to).unwrap();
        }
        assert_eq!(killed.recovered(), (None, None), "{until}");
        let last = stash::last(&killed.base, &x).unwrap();
        assert_eq!(last.is_some(), stashes, "{until}");
        if let Some((place, kept)) = last {
            let staging = Staging::new(&killed.base, Duration::ZERO).unwrap();
            let mut changes = Changes::begin(&killed.base, staging.dir(), Duration::ZERO).unwrap();
            changes.bring_back(&x, (&place, &kept)).unwrap();
            drop(changes);
            drop(staging);
            let back = (Some("changed".to_owned()), Some("old".to_owned()));
            assert_eq!(killed.recovered(), back, "{until}");
        }
    }
}

#[test]
fn what_others_put_into_the_stash_is_not_in_the_way() {
    let killed = Killed::new();
    let (root, x) = (killed.base.make().unwrap(), name("x"));
    for theirs in ["x-4294967295", "x-1", "x-3", "x-01", "x-+7"] {
        let place = killed.plugin.path().join("stash").join(theirs);
        Killed::put(&place.join("x"), "theirs");
        fs::write(place.join("entry.json"), "null").unwrap();
    }
    assert!(stash::last(&killed.base, &x).unwrap().is_none());
    for (text, number) in [("first", "x-2"), ("second", "x-4")] {
        let place = stash::make_place(&root, &x, None).unwrap();
        assert_eq!(&*place, number);
        let place = killed.plugin.path().join("stash").join(number);
        Killed::put(&place.join("x"), text);
        let (_, kept) = stash::last(&killed.base, &x).unwrap().unwrap();
        let kept = fs::read_to_string(kept.dir.path().join("SKILL.md"));
        assert_eq!(kept.unwrap(), text);
    }
}

#[test]
fn a_change_without_source_killed_anywhere_leaves_one_skill() {
    for (installed, set_aside, expected) in [
        (Some("old"), None, "old"),
        (None, Some("old"), "old"),
        (Some("new"), Some("old"), "new"),
    ] {
        let killed = Killed::new();
        if let Some(text) = installed {
            Killed::put(&killed.skill(), text);
        }
        if let Some(text) = set_aside {
            Killed::put(&killed.aside().path_of(&OLD), text);
        }
        let placed = Some(entry("new").sha256);
        write_journal(&killed.staging, &[journal(None, placed)]).unwrap();
        assert_eq!(killed.recovered(), (Some(expected.to_owned()), None));
        assert!(!killed.plugin.path().join("skills.lock.json").exists());
    }
}

#[test]
fn a_lockfile_that_cannot_be_written_undoes_the_move() {
    let plugin = tempfile::tempdir().unwrap();
    let base = Base::own(plugin.path().to_owned());
    let staging = Staging::new(&base, Duration::ZERO).unwrap();
    let target = skills(&base).join("x");
    Killed::put(&target, "old");
    let staged = staging.place_for(&name("x")).unwrap();
    Killed::put(&staged.path(), "new");
    let mut changes = Changes::begin(&base, staging.dir(), Duration::ZERO).unwrap();
    fs::create_dir_all(plugin.path().join("skills.lock.json/in-the-way")).unwrap();
    let entry = entry("new");
    assert!(changes.replace(&staged, Some(&entry)).is_err());
    assert_eq!(fs::read_to_string(target.join("SKILL.md")).unwrap(), "old");
    fs::rename(&target, plugin.path().join("away")).unwrap();
    assert!(changes.place_new(&[(&staged, Some(&entry))]).is_err());
    assert!(!target.exists() && staged.path().exists() && !staging.dir().has(&JOURNAL));
}

#[test]
fn a_journal_with_a_hostile_name_moves_nothing() {
    for name in ["../../x", "..", "a/b", "\u{1b}[2J", ".git"] {
        let killed = Killed::new();
        Killed::put(&killed.aside().path_of(&OLD), "x");
        let journal = serde_json::json!({"name": name, "entry": null, "placed": null});
        fs::write(killed.staging.path_of(&JOURNAL), journal.to_string()).unwrap();
        let error = recover(&killed.base, &killed.staging)
            .unwrap_err()
            .to_string();
        assert!(!error.contains('\u{1b}'), "{error:?}");
        crate::marketplace::install::litter::clean(&killed.base, false);
        assert!(killed.aside().path().join("old/SKILL.md").exists());
    }
}
