//! What is left when a change is interrupted at each of its steps.

use super::*;
use crate::marketplace::lockfile::Kind;
use crate::marketplace::staging;

/// A plugin directory, and a staging directory whose command was killed.
struct Killed {
    plugin: tempfile::TempDir,
    staging: PathBuf,
}

impl Killed {
    fn new() -> Self {
        let plugin = tempfile::tempdir().unwrap();
        let staging = plugin.path().join("staging/1-0");
        fs::create_dir_all(&staging).unwrap();
        fs::create_dir_all(skills(plugin.path())).unwrap();
        Self { plugin, staging }
    }

    fn put(dir: &Path, text: &str) {
        fs::create_dir_all(dir).unwrap();
        fs::write(dir.join("SKILL.md"), text).unwrap();
    }

    fn skill(&self) -> PathBuf {
        skills(self.plugin.path()).join("x")
    }

    fn lock(&self, text: &str) {
        let mut lockfile = Lockfile::read(self.plugin.path()).unwrap();
        lockfile.put(entry(text), &self.staging).unwrap();
    }

    /// Runs the next command's recovery and answers the skill's text and the entry's commit.
    fn recovered(&self) -> (Option<String>, Option<String>) {
        staging::clean(self.plugin.path());
        assert!(!self.plugin.path().join("staging").exists());
        let lockfile = Lockfile::read(self.plugin.path()).unwrap();
        let commit = lockfile.get("x").map(|entry| entry.commit.clone().unwrap());
        (
            fs::read_to_string(self.skill().join("SKILL.md")).ok(),
            commit,
        )
    }
}

/// The entry of a skill whose one file is `text`, at the commit `text`.
fn entry(text: &str) -> LockEntry {
    let dir = tempfile::tempdir().unwrap();
    Killed::put(dir.path(), text);
    let digest = Digest::of(dir.path()).unwrap();
    LockEntry {
        id: "s#x".to_owned(),
        name: "x".to_owned(),
        source: "s".to_owned(),
        kind: Kind::Git,
        requested: "x".to_owned(),
        rev: None,
        commit: Some(text.to_owned()),
        path: "x".to_owned(),
        tree: None,
        sha256: digest.sha256,
        files: digest.files,
        license: None,
        other: serde_json::Map::new(),
    }
}

fn journal_of_new(staging: &Path) -> Result<()> {
    let entry = entry("new");
    let placed = Some(entry.sha256.clone());
    write_journal(staging, "x", Some(entry), placed)
}

fn both(text: &str) -> (Option<String>, Option<String>) {
    (Some(text.to_owned()), Some(text.to_owned()))
}

#[test]
fn an_install_killed_before_its_move_never_was_and_after_it_is_whole() {
    let killed = Killed::new();
    Killed::put(&killed.staging.join("new/x"), "new");
    journal_of_new(&killed.staging).unwrap();
    assert_eq!(killed.recovered(), (None, None));

    let killed = Killed::new();
    Killed::put(&killed.skill(), "new");
    journal_of_new(&killed.staging).unwrap();
    assert_eq!(killed.recovered(), both("new"));
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
            Killed::put(&old(&killed.staging), text);
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
    write_journal(&killed.staging, "x", None, None).unwrap();
    assert_eq!(killed.recovered(), both("old"));

    let killed = Killed::new();
    killed.lock("old");
    Killed::put(&killed.staging.join("gone"), "old");
    write_journal(&killed.staging, "x", None, None).unwrap();
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
            Killed::put(&old(&killed.staging), text);
        }
        write_journal(&killed.staging, "x", None, Some(entry("new").sha256)).unwrap();
        assert_eq!(killed.recovered(), (Some(expected.to_owned()), None));
        assert!(!killed.plugin.path().join("skills.lock.json").exists());
    }
}

#[test]
fn a_lockfile_that_cannot_be_written_undoes_the_move() {
    let plugin = tempfile::tempdir().unwrap();
    let staging = Staging::new(plugin.path(), Duration::ZERO).unwrap();
    let target = skills(plugin.path()).join("x");
    Killed::put(&target, "old");
    let staged = staging.dir().join("new/x");
    Killed::put(&staged, "new");
    let mut changes = Changes::begin(plugin.path(), Duration::ZERO).unwrap();
    fs::create_dir_all(plugin.path().join("skills.lock.json/in-the-way")).unwrap();
    assert!(
        changes
            .place(
                &staging,
                &staged,
                "x",
                Some(entry("new")),
                Existing::Replace
            )
            .is_err()
    );
    assert_eq!(fs::read_to_string(target.join("SKILL.md")).unwrap(), "old");
    fs::rename(&target, plugin.path().join("away")).unwrap();
    assert!(
        changes
            .place(&staging, &staged, "x", Some(entry("new")), Existing::Keep)
            .is_err()
    );
    assert!(!target.exists() && staged.exists() && !has_journal(staging.dir()));
}

#[test]
fn a_journal_with_a_hostile_name_moves_nothing() {
    let killed = Killed::new();
    Killed::put(&old(&killed.staging), "x");
    write_journal(&killed.staging, "../../x", None, None).unwrap();
    assert!(recover(killed.plugin.path(), &killed.staging).is_err());
    assert!(killed.staging.exists());
}
