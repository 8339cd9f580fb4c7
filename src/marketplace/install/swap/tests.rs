//! The state after a change is interrupted at each of its steps.

use std::fs;
use std::path::Path;

use super::*;
use crate::marketplace::install::staging::NEW;
use crate::marketplace::lock::lock_fields::LockPath;
use crate::marketplace::lock::lockfile::Kind;

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
        let root = root.make_dir(&EntryName::of("staging")).unwrap();
        let staging = root.new_of_ours(&EntryName::of("1-0")).unwrap();
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

    fn lock(&self, text: &str) {
        let mut lockfile = Lockfile::read(&self.base).unwrap();
        lockfile.put(entry(text), &self.staging).unwrap();
    }

    /// Runs the recovery of the next command; returns the skill's text and the entry's commit.
    fn recovered(&self) -> (Option<String>, Option<String>) {
        crate::marketplace::install::litter::clean(&self.base);
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
    let digest = Digest::of(dir.path()).unwrap();
    LockEntry {
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
    write_journal(staging, &name("x"), Some(entry), placed)
}

fn both(text: &str) -> (Option<String>, Option<String>) {
    (Some(text.to_owned()), Some(text.to_owned()))
}

#[test]
fn an_install_killed_before_its_move_never_was_and_after_it_is_whole() {
    let killed = Killed::new();
    Killed::put(&killed.staging.path().join("new/x"), "new");
    journal_of_new(&killed.staging).unwrap();
    assert_eq!(killed.recovered(), (None, None));

    let killed = Killed::new();
    Killed::put(&killed.skill(), "new");
    journal_of_new(&killed.staging).unwrap();
    assert_eq!(killed.recovered(), both("new"));
}

#[test]
fn of_several_installs_killed_between_their_moves_those_that_moved_have_their_entries() {
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
            });
        }
        write_journals(&killed.staging, &journals).unwrap();
        killed.recovered();
        let lockfile = Lockfile::read(&killed.base).unwrap();
        let known = names.iter().filter(|name| lockfile.get(name).is_some());
        assert_eq!(known.count(), moved);
    }
}

#[test]
fn several_that_are_placed_are_in_the_lockfile_and_what_is_there_is_kept() {
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
    let mut changes = Changes::begin(&base, Duration::ZERO).unwrap();
    let staged: Vec<_> = staged.iter().map(|(place, entry)| (place, entry)).collect();
    assert_eq!(
        changes.place_new(&staging, &staged).unwrap(),
        [true, false, true]
    );
    let lockfile = Lockfile::read(&base).unwrap();
    let known = ["a", "b", "c"].map(|name| lockfile.get(name).is_some());
    assert_eq!(known, [true, false, true]);
    let text = |name: &str| fs::read_to_string(skills(&base).join(name).join("SKILL.md")).unwrap();
    assert_eq!(["a", "b", "c"].map(text), ["new", "mine", "new"]);
    assert!(!staging.dir().has(&JOURNAL));
}

#[test]
fn an_update_killed_anywhere_leaves_the_old_or_the_new_skill_with_its_entry() {
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
            Killed::put(&killed.staging.path_of(&OLD), text);
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
fn a_removal_killed_anywhere_leaves_the_skill_or_nothing_of_it() {
    let killed = Killed::new();
    killed.lock("old");
    Killed::put(&killed.skill(), "old");
    write_journal(&killed.staging, &name("x"), None, None).unwrap();
    assert_eq!(killed.recovered(), both("old"));

    let killed = Killed::new();
    killed.lock("old");
    Killed::put(&killed.staging.path().join("gone"), "old");
    write_journal(&killed.staging, &name("x"), None, None).unwrap();
    assert_eq!(killed.recovered(), (None, None));
}

#[test]
fn a_change_of_a_skill_from_nowhere_killed_anywhere_leaves_the_old_or_the_new_one() {
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
            Killed::put(&killed.staging.path_of(&OLD), text);
        }
        write_journal(&killed.staging, &name("x"), None, Some(entry("new").sha256)).unwrap();
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
    let mut changes = Changes::begin(&base, Duration::ZERO).unwrap();
    fs::create_dir_all(plugin.path().join("skills.lock.json/in-the-way")).unwrap();
    let mut place = |existing| {
        let entry = Some(entry("new"));
        changes.place(&staging, &staged, &name("x"), entry, existing)
    };
    assert!(place(Existing::Replace).is_err());
    assert_eq!(fs::read_to_string(target.join("SKILL.md")).unwrap(), "old");
    fs::rename(&target, plugin.path().join("away")).unwrap();
    assert!(place(Existing::Keep).is_err());
    assert!(!target.exists() && staged.path().exists() && !staging.dir().has(&JOURNAL));
}

#[test]
fn a_journal_with_a_hostile_name_moves_nothing() {
    for name in ["../../x", "..", "a/b", "\u{1b}[2J", ".git"] {
        let killed = Killed::new();
        Killed::put(&killed.staging.path_of(&OLD), "x");
        let journal = serde_json::json!({"name": name, "entry": null, "placed": null});
        fs::write(killed.staging.path_of(&JOURNAL), journal.to_string()).unwrap();
        let error = recover(&killed.base, &killed.staging)
            .unwrap_err()
            .to_string();
        assert!(!error.contains('\u{1b}'), "{error:?}");
        crate::marketplace::install::litter::clean(&killed.base);
        assert!(killed.staging.path().join("old/SKILL.md").exists());
    }
}

/// The skill's text and its entry's commit in `previous/x`.
fn kept(killed: &Killed) -> Option<(Option<String>, Option<String>)> {
    let previous = previous::read(&killed.base, &name("x")).ok()?;
    let text = fs::read_to_string(previous.dir.path().join("SKILL.md")).ok();
    Some((text, previous.entry.and_then(|entry| entry.commit)))
}

/// Performs the steps of a replacement up to a kill. Returns whether the new skill is in place.
fn replacement(killed: &Killed, exchanges: bool, until: usize) -> bool {
    let root = killed.base.make().unwrap();
    let (skills, x) = (root.open_dir(&SKILLS).unwrap(), name("x"));
    let within = killed.staging.open_dir(&NEW).unwrap();
    let old = entry("old");
    let steps: [(&dyn Fn(), bool); 7] = [
        (&|| journal_of_new(&killed.staging).unwrap(), false),
        (
            &|| previous::make_room(&root, &killed.staging, &x, Some(&old)).unwrap(),
            false,
        ),
        (
            &|| {
                if exchanges {
                    assert!(within.exchange(x.entry(), &skills, x.entry()).unwrap());
                } else {
                    skills.rename(x.entry(), &killed.staging, &OLD).unwrap();
                }
            },
            exchanges,
        ),
        (
            &|| {
                if !exchanges {
                    within.rename(x.entry(), &skills, x.entry()).unwrap();
                }
            },
            true,
        ),
        (&|| killed.lock("new"), true),
        (
            &|| {
                let old = replaced(&killed.staging, &within, x.entry());
                previous::keep(&root, &killed.staging, &x, old).unwrap();
            },
            true,
        ),
        (&|| remove_journal(&killed.staging).unwrap(), true),
    ];
    let mut is_new = false;
    for (step, moves) in &steps[..until] {
        step();
        is_new = *moves;
        // Even before recovery, readers find a whole skill.
        let present = fs::read_to_string(killed.skill().join("SKILL.md")).ok();
        let found = kept(killed).and_then(|kept| kept.0);
        assert!(
            found.is_none() || found != present,
            "{found:?} at {until} steps"
        );
    }
    is_new
}

#[test]
fn what_is_kept_is_the_state_before_wherever_a_replacement_is_killed() {
    // As after a rollback, in which the kept state is the one that is restored.
    for former in [Some("new"), None] {
        for (exchanges, until) in [true, false]
            .into_iter()
            .flat_map(|e| (0..=7).map(move |n| (e, n)))
        {
            let killed = Killed::new();
            killed.lock("old");
            Killed::put(&killed.skill(), "old");
            Killed::put(&killed.staging.path().join("new/x"), "new");
            if let Some(text) = former {
                let homes = killed.plugin.path().join("previous");
                let homes = Dir::make_anchor(&homes).unwrap();
                let kept = homes.new_of_ours(name("x").entry()).unwrap();
                let json = serde_json::to_vec(&Some(entry(text))).unwrap();
                fs::write(kept.path().join("entry.json"), json).unwrap();
                Killed::put(&kept.path().join("skill"), text);
            }
            let is_new = replacement(&killed, exchanges, until);
            let case = format!("{former:?}, exchange: {exchanges}, {until} steps");
            let (now, earlier) = if is_new {
                ("new", Some("old"))
            } else {
                ("old", former)
            };
            assert_eq!(killed.recovered(), both(now), "{case}");
            assert_eq!(kept(&killed), earlier.map(both), "{case}");
        }
    }
}

#[test]
fn a_removal_killed_anywhere_keeps_the_earlier_state_with_the_skill() {
    for is_gone in [false, true] {
        let killed = Killed::new();
        killed.lock("old");
        Killed::put(&killed.skill(), "old");
        let root = killed.base.make().unwrap();
        previous::make_room(&root, &killed.staging, &name("x"), Some(&entry("older"))).unwrap();
        Killed::put(&killed.staging.path().join("new/x"), "older");
        let within = killed.staging.open_dir(&NEW).unwrap();
        let x = name("x");
        previous::keep(&root, &killed.staging, &x, (&within, x.entry())).unwrap();
        write_journal(&killed.staging, &name("x"), None, None).unwrap();
        previous::set_aside(&root, &killed.staging, &name("x")).unwrap();
        if is_gone {
            let gone = killed.staging.path_of(&GONE);
            fs::rename(killed.skill(), gone).unwrap();
        }
        let expected = if is_gone { (None, None) } else { both("old") };
        assert_eq!(killed.recovered(), expected);
        let expected = (!is_gone).then(|| both("older"));
        assert_eq!(kept(&killed), expected);
    }
}

#[test]
fn a_change_takes_nothing_over_that_another_has_left_in_its_staging_directory() {
    let killed = Killed::new();
    for left in [&OLD, &GONE, &KEPT, &FORMER] {
        Killed::put(&killed.staging.path_of(left), "another's");
    }
    Killed::put(&killed.skill(), "old");
    Killed::put(&killed.staging.path().join("new/x"), "new");
    let placed = Some(entry("new").sha256);
    begin_journal(&killed.staging, &name("x"), None, placed).unwrap();
    assert_eq!(killed.recovered(), (Some("old".to_owned()), None));
    assert_eq!(kept(&killed), None);
    assert!(!killed.plugin.path().join("previous").exists());
}
