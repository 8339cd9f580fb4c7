//! The state after a change is interrupted at each of its steps.

use std::fs;
use std::path::Path;

use super::*;
use crate::marketplace::install::{Staging, clean};
use crate::marketplace::lock::KeptVersion;
use crate::marketplace::reference::SourceKind;

/// A plugin directory, and a staging directory whose command was killed.
struct Killed {
    plugin: tempfile::TempDir,
    base: Base,
    staging: Dir,
}

/// A skill's text and its entry's commit.
type InstallState = (Option<String>, Option<String>);

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

    fn skill(&self, name: &str) -> PathBuf {
        skills(&self.base).join(name)
    }

    /// Puts a skill in its place, with its entry.
    fn install(&self, at: &str, text: &str) {
        Self::put(&self.skill(at), text);
        let entry = entry(at, text);
        let mut lockfile = Lockfile::read(&self.base).unwrap();
        let new = [(&entry.name, Some(&entry))];
        lockfile.set(&new, &self.staging).unwrap();
    }

    /// Prepares a skill in its home.
    fn prepare(&self, at: &str, text: &str) -> SkillChange {
        let name = name(at);
        let dir = home(&self.staging, &name).unwrap();
        Self::put(&dir.path_of(name.entry()), text);
        let entry = entry(at, text);
        let files = FileChange::New(entry.sha256.clone());
        SkillChange::to(&name, Some(&entry), files, false)
    }

    fn changes(&self) -> Transaction<'_> {
        Transaction::begin(&self.base, &self.staging, Some(Duration::ZERO)).unwrap()
    }

    fn text(&self, at: &str) -> Option<String> {
        fs::read_to_string(self.skill(at).join("SKILL.md")).ok()
    }

    fn state(&self, at: &str) -> InstallState {
        let lockfile = Lockfile::read(&self.base).unwrap();
        let commit = lockfile.get(at).map(|entry| entry.commit.clone().unwrap());
        (self.text(at), commit)
    }

    /// Runs the recovery of the next command.
    fn recover(&self) {
        clean(&self.base, false);
        assert!(!self.plugin.path().join("staging").exists());
    }

    fn kept(&self, at: &str) -> Option<InstallState> {
        KeptVersion::of(&self.base, &name(at)).ok().map(state_of)
    }

    fn stashed(&self, at: &str) -> Option<InstallState> {
        let stashed = KeptVersion::in_stash(&self.base, &name(at)).unwrap();
        stashed.map(state_of)
    }
}

fn state_of(kept: KeptVersion) -> InstallState {
    let text = fs::read_to_string(kept.dir.path().join("SKILL.md")).ok();
    (text, kept.entry.and_then(|entry| entry.commit))
}

fn name(name: &str) -> InstalledName {
    InstalledName::parse(name).unwrap()
}

/// The entry of a skill whose only file is `text`, at the commit `text`.
fn entry(at: &str, text: &str) -> LockEntry {
    let dir = tempfile::tempdir().unwrap();
    Killed::put(dir.path(), text);
    let digest = Digest::read(dir.path()).unwrap();
    LockEntry {
        signer: None,
        id: format!("s#{at}"),
        name: name(at),
        source: "s".to_owned(),
        address: None,
        kind: SourceKind::Git,
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

fn refs(steps: &[SkillChange]) -> Vec<&SkillChange> {
    steps.iter().collect()
}

fn both(text: &str) -> InstallState {
    (Some(text.to_owned()), Some(text.to_owned()))
}

/// What is done to the skill `x`: what is there, what replaces it, and whether what was there is moved
/// to the stash.
#[derive(Debug, Clone, Copy)]
struct Case {
    old: Option<&'static str>,
    new: Option<&'static str>,
    /// What is kept until now.
    former: Option<&'static str>,
    stashes: bool,
    /// Whether the system can exchange directories.
    exchanges: bool,
}

const ACTIONS: usize = 9;

impl Case {
    fn step(self, killed: &Killed) -> SkillChange {
        let step = match self.new {
            Some(new) => killed.prepare("x", new),
            None => SkillChange::gone(&name("x")),
        };
        SkillChange {
            stash: self.stashes.then(|| name("x-1")),
            ..step
        }
    }

    /// Does the next thing that a change of it does on the disk; there are [`ACTIONS`] of them.
    fn act(self, killed: &Killed, step: &SkillChange, at: usize) {
        let (mut changes, x) = (killed.changes(), step.name.entry());
        let (skills, home) = (
            changes.skills().unwrap(),
            killed.staging.path_of(&NEW).join(&*step.name),
        );
        let home = || Dir::anchor(&home).unwrap();
        let in_three = !self.exchanges && self.old.is_some() && self.new.is_some();
        match at {
            0 => changes.intend(&[step]).unwrap(),
            1 if self.old.is_some() => {
                write_json(&home(), &ENTRY, &changes.lockfile().get("x"), 0o644).unwrap();
            }
            2 if !in_three => exchange(&home(), &skills, x).unwrap(),
            2 => skills.rename(x, &home(), &OLD).unwrap(),
            3 if in_three => home().rename(x, &skills, x).unwrap(),
            4 if in_three => home().rename(&OLD, &home(), x).unwrap(),
            5 => changes.record(&[step]).unwrap(),
            6 => {
                let previous = changes.dir.make_dir(&PREVIOUS).unwrap();
                if (self.old.is_some() || self.new.is_none()) && previous.has(x) {
                    let former = killed.staging.make_dir(&FORMER).unwrap();
                    previous.rename(x, &former, x).unwrap();
                }
            }
            7 => changes.keep(step).unwrap(),
            8 => changes.forget_intended().unwrap(),
            _ => {}
        }
    }

    fn put(self) -> Killed {
        let killed = Killed::new();
        if let Some(former) = self.former {
            let homes = killed.base.make().unwrap().make_dir(&PREVIOUS).unwrap();
            let home = homes.new_of_ours(name("x").entry()).unwrap();
            write_json(&home, &ENTRY, &Some(entry("x", former)), 0o644).unwrap();
            Killed::put(&home.path().join("x"), former);
        }
        if let Some(old) = self.old {
            killed.install("x", old);
        }
        killed
    }
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (old, new) in [
        (None, Some("new")),
        (Some("old"), Some("new")),
        (Some("old"), None),
    ] {
        // As after a rollback, what was kept until now may be what is restored.
        for former in [None, Some("new"), Some("former")] {
            for (stashes, exchanges) in [(false, true), (false, false), (true, true)] {
                cases.push(Case {
                    old,
                    new,
                    former,
                    stashes,
                    exchanges,
                });
            }
        }
    }
    cases
}

#[test]
fn a_change_killed_anywhere_is_carried_out() {
    for case in cases() {
        for until in 0..=ACTIONS {
            let killed = case.put();
            let step = case.step(&killed);
            for at in 0..until {
                case.act(&killed, &step, at);
                let now = killed.text("x");
                let is_whole = now.as_deref() == case.old || now.as_deref() == case.new;
                assert!(
                    is_whole || !case.exchanges && at == 2,
                    "{case:?} {at}: {now:?}"
                );
            }
            killed.recover();
            let old = case.old;
            let (now, kept, stashed) = match until {
                0 => (old, case.former, None),
                _ if case.stashes && old.is_some() => (case.new, old, old),
                _ if case.new.is_none() => (None, None, None),
                _ => (case.new, old.or(case.former), None),
            };
            let now = now.map_or((None, None), both);
            assert_eq!(killed.state("x"), now, "{case:?} {until}");
            assert_eq!(killed.kept("x"), kept.map(both), "{case:?} {until}");
            assert_eq!(killed.stashed("x"), stashed.map(both), "{case:?} {until}");
        }
    }
}

#[test]
fn of_many_changes_recovery_carries_out_what_is_left() {
    for done in 0..=4 {
        let killed = Killed::new();
        for at in ["b", "c", "d"] {
            killed.install(at, "old");
        }
        let noted = entry("d", "noted");
        let steps = [
            killed.prepare("a", "new"),
            killed.prepare("b", "new"),
            SkillChange::gone(&name("c")),
            SkillChange::noted(&noted),
        ];
        killed.changes().intend(&refs(&steps)).unwrap();
        for step in &steps[..done] {
            killed.changes().exchange(step).unwrap();
        }
        killed.recover();
        assert_eq!(
            ["a", "b"].map(|at| killed.state(at)),
            [both("new"), both("new")]
        );
        assert_eq!(killed.state("c"), (None, None));
        let noted = (Some("old".to_owned()), Some("noted".to_owned()));
        assert_eq!(killed.state("d"), noted);
        assert_eq!(killed.kept("b"), Some(both("old")));
    }
}

#[test]
fn an_error_at_any_skill_undoes_all_of_them() {
    for failing in ["b", "c", "d"] {
        let killed = Killed::new();
        for at in ["a", "b", "c", "d"] {
            killed.install(at, "old");
        }
        let shared = Base::shared(
            killed.plugin.path().join(".."),
            EntryName::parse(killed.plugin.path().file_name().unwrap()).unwrap(),
        );
        let steps = [
            SkillChange::gone(&name("a")),
            killed.prepare("b", "new"),
            killed.prepare("c", "new"),
            killed.prepare("d", "new"),
        ];
        let mut changes =
            Transaction::begin(&shared, &killed.staging, Some(Duration::ZERO)).unwrap();
        // Its home is one no longer.
        let home = killed.staging.path_of(&NEW).join(failing);
        let elsewhere = killed.plugin.path().join("elsewhere");
        fs::rename(&home, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &home).unwrap();
        changes.make(&refs(&steps)).unwrap_err();
        drop(changes);
        assert!(!killed.staging.has(&INTENDED));
        for at in ["a", "b", "c", "d"] {
            assert_eq!(killed.state(at), both("old"));
        }
    }
}

#[test]
fn a_lockfile_that_cannot_be_written_undoes_the_move() {
    let killed = Killed::new();
    Killed::put(&killed.skill("x"), "old");
    let steps = [killed.prepare("x", "new"), killed.prepare("y", "new")];
    let mut changes = killed.changes();
    fs::create_dir_all(killed.plugin.path().join("skills.lock.json/in-the-way")).unwrap();
    assert!(changes.make(&refs(&steps)).is_err());
    assert_eq!(killed.text("x").as_deref(), Some("old"));
    assert!(!killed.skill("y").exists() && !killed.staging.has(&INTENDED));
    assert!(!killed.plugin.path().join("previous").exists());
}

#[test]
fn what_somebody_changed_after_a_kill_is_left() {
    let killed = Killed::new();
    killed.install("x", "old");
    let step = killed.prepare("x", "new");
    killed.changes().intend(&[&step]).unwrap();
    killed.changes().exchange(&step).unwrap();
    Killed::put(&killed.skill("x"), "mine");
    killed.recover();
    assert_eq!(killed.text("x").as_deref(), Some("mine"));
    assert_eq!(killed.kept("x"), Some(both("old")));
}

#[test]
fn what_others_put_into_the_stash_is_not_in_the_way() {
    let killed = Killed::new();
    for theirs in ["x-4294967295", "x-1", "x-3", "x-01", "x-+7"] {
        let place = killed.plugin.path().join("stash").join(theirs);
        Killed::put(&place.join("x"), "theirs");
        fs::write(place.join(".entry.json"), "null").unwrap();
    }
    assert!(killed.stashed("x").is_none());
    for (text, number) in [("first", "x-2"), ("second", "x-4")] {
        Killed::put(&killed.skill("x"), text);
        let staging = Staging::new(&killed.base, Duration::ZERO).unwrap();
        let mut changes =
            Transaction::begin(&killed.base, staging.dir(), Some(Duration::ZERO)).unwrap();
        let mut step = SkillChange::gone(&name("x"));
        let path = changes.stash(&mut step).unwrap();
        assert!(path.ends_with(&format!("stash/{number}/x")), "{path}");
        changes.make(&[&step]).unwrap();
        assert_eq!(killed.stashed("x"), Some((Some(text.to_owned()), None)));
        assert_eq!(killed.state("x"), (None, None));
    }
}

#[test]
fn an_entry_proves_a_signer_only_where_it_was_checked() {
    let killed = Killed::new();
    let staging = Staging::new(&killed.base, Duration::ZERO).unwrap();
    let dir = staging.prepare(&name("x")).unwrap();
    Killed::put(dir.path(), "new");
    let mut entry = entry("x", "new");
    // As a repository may have foreseen it.
    entry.sha256 = Digest::read(dir.path()).unwrap().sha256;
    let step = SkillChange::new(&name("x"), &dir, Some(&entry)).unwrap();
    assert!(step.proven().is_none());
    let step = SkillChange::staged(&entry);
    assert!(step.proven().is_some());
}

#[test]
fn the_same_again_is_stashed_once() {
    let killed = Killed::new();
    for (text, number) in [("mine", 1), ("mine", 1), ("other", 2), ("mine", 3)] {
        Killed::put(&killed.skill("x"), text);
        let staging = Staging::new(&killed.base, Duration::ZERO).unwrap();
        let dir = staging.prepare(&name("x")).unwrap();
        Killed::put(dir.path(), "new");
        let mut changes =
            Transaction::begin(&killed.base, staging.dir(), Some(Duration::ZERO)).unwrap();
        let mut step = SkillChange::new(&name("x"), &dir, None).unwrap();
        let path = changes.stash(&mut step).unwrap();
        changes.make(&[&step]).unwrap();
        assert!(path.ends_with(&format!("stash/x-{number}/x")), "{path}");
        let kept = fs::read_to_string(Path::new(&path).join("SKILL.md"));
        assert_eq!(kept.unwrap(), text);
        assert_eq!(killed.kept("x"), Some((Some(text.to_owned()), None)));
    }
}

#[test]
fn what_is_intended_under_a_hostile_name_moves_nothing() {
    for name in ["../../x", "..", "a/b", "\u{1b}[2J", ".git"] {
        let killed = Killed::new();
        Killed::put(&killed.staging.path_of(&NEW).join("x/x"), "x");
        let step = serde_json::json!([{"name": name, "entry": null, "files": "Gone"}]);
        fs::write(killed.staging.path_of(&INTENDED), step.to_string()).unwrap();
        let error = recover(&killed.base, &killed.staging)
            .unwrap_err()
            .to_string();
        assert!(!error.contains('\u{1b}'), "{error:?}");
        clean(&killed.base, false);
        assert!(killed.staging.path_of(&NEW).join("x/x/SKILL.md").exists());
    }
}

#[test]
fn a_change_whose_earlier_state_has_no_room_is_refused() {
    for (in_the_way, told) in [
        ("previous/b/x", "was not put there by agent-skills"),
        ("previous", "keep an earlier state in"),
    ] {
        let killed = Killed::new();
        killed.install("a", "old");
        let path = killed.plugin.path().join(in_the_way);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "theirs").unwrap();
        let steps = [killed.prepare("a", "new"), killed.prepare("b", "new")];
        let error = killed.changes().make(&refs(&steps)).unwrap_err();
        assert!(error.to_string().contains(told), "{error}");
        assert!(error.next_step().is_some() && !killed.staging.has(&INTENDED));
        assert_eq!(killed.state("a"), both("old"));
    }
}

#[test]
fn an_earlier_state_without_room_is_lost_but_nothing_else() {
    let killed = Killed::new();
    for at in ["a", "b", "c"] {
        killed.install(at, "old");
    }
    let mut steps = [
        killed.prepare("a", "new"),
        SkillChange::gone(&name("b")),
        SkillChange::gone(&name("c")),
    ];
    steps[1].stash = Some(name("b-1"));
    killed.changes().intend(&refs(&steps)).unwrap();
    fs::write(killed.plugin.path().join("previous"), "theirs").unwrap();
    killed.recover();
    assert_eq!(killed.state("a"), both("new"));
    assert_eq!(killed.stashed("b"), Some(both("old")));
    assert_eq!(killed.state("c"), (None, None));
}

#[test]
fn what_another_command_made_after_a_kill_stays_recorded() {
    let killed = Killed::new();
    killed.install("b", "old");
    let steps = [killed.prepare("a", "new"), SkillChange::gone(&name("b"))];
    killed.changes().intend(&refs(&steps)).unwrap();
    for step in &steps {
        killed.changes().exchange(step).unwrap();
    }
    killed.install("a", "newer");
    killed.install("b", "newer");
    killed.recover();
    assert_eq!(killed.state("a"), both("newer"));
    assert_eq!(killed.state("b"), both("newer"));
}

#[test]
fn a_note_leaves_what_is_kept() {
    let killed = Killed::new();
    killed.install("x", "old");
    let new = killed.prepare("x", "new");
    killed.changes().make(&[&new]).unwrap();
    killed.prepare("x", "new");
    let noted = entry("x", "noted");
    killed
        .changes()
        .make(&[&SkillChange::noted(&noted)])
        .unwrap();
    assert_eq!(killed.kept("x"), Some(both("old")));
}

#[test]
fn an_undone_installation_writes_no_entry() {
    let killed = Killed::new();
    let step = killed.prepare("x", "new");
    for _ in 0..2 {
        killed.changes().exchange(&step).unwrap();
    }
    let home = home(&killed.staging, &step.name).unwrap();
    assert!(!home.has(&ENTRY) && home.has(step.name.entry()));
    assert!(!killed.skill("x").exists());
}
