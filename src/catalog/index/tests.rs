//! Whatever happens on disk, a catalog read with an index equals one read without.

use std::fs::{self, File, FileTimes};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::catalog::{Catalog, Layer, eligibility::EligibilityRules, testing::context};
use crate::policy::SkillUse;

struct World {
    dir: tempfile::TempDir,
}

/// Longer than the clock's tick: earlier writes are settled.
const SETTLED: Duration = Duration::from_millis(40);

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["one", "two", "outside"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        Self { dir }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn skill(&self, path: &str, name: &str, description: &str) {
        let dir = self.at(path);
        fs::create_dir_all(&dir).unwrap();
        let text = format!("---\nname: {name}\ndescription: {description}\n---\nb\n");
        fs::write(dir.join("SKILL.md"), text).unwrap();
    }

    fn roots(&self) -> Vec<Root> {
        let dirs = [self.at("one"), self.at("two")];
        let layer = Layer::Plugin;
        dirs.map(|dir| Root { layer, dir }).into()
    }

    fn file(&self) -> PathBuf {
        self.at("index/x")
    }
    fn index(&self) -> Index {
        Index::open(self.file(), "key".to_owned())
    }

    fn catalog(&self, index: &mut Index) -> Catalog {
        let facts = context(self.dir.path());
        Catalog::read(
            &self.roots(),
            &EligibilityRules::new(&facts, SkillUse::Any),
            index,
        )
    }

    /// The answer as `--schema` obtains it: from the index, or derived from the catalog and stored.
    fn answer(&self) -> String {
        let mut index = self.index();
        if let Some(kept) = index.answer(&self.roots(), "a") {
            return kept.text;
        }
        let text = shown(&self.catalog(&mut index));
        index.store(answer(&text));
        text
    }

    /// The answer without an index.
    fn truth(&self) -> String {
        let none = self.at("none");
        shown(&self.catalog(&mut Index::open(none, String::new())))
    }
}

fn answer(text: &str) -> Answer {
    let rendered = CatalogText {
        text: text.to_owned(),
        ..CatalogText::default()
    };
    ("a".to_owned(), rendered)
}

fn shown(catalog: &Catalog) -> String {
    format!("{:#?}", catalog.entries())
}

#[test]
fn what_is_kept_is_taken_and_nothing_is_parsed_again() {
    let world = World::new();
    world.skill("one/a", "a", "written");
    sleep(SETTLED);
    assert_eq!(world.answer(), world.truth());
    // A forged index is believed, which proves that the files were not read.
    let stored = StoredIndex::open(&world.file(), "key").unwrap();
    let kept = String::from_utf8(stored.cached().to_vec()).unwrap();
    let found = DirectoryListing {
        roots: stored.roots.clone(),
        cached: kept.replace("written", "indexed").into_bytes(),
    };
    write(&world.file(), "key", &found, &[answer("kept")]);
    assert_eq!(world.answer(), "kept");
    let description = |index: &mut Index| {
        let catalog = world.catalog(index);
        let skill = catalog.by_tool("skill_a").unwrap();
        skill.description.clone().unwrap()
    };
    assert_eq!(description(&mut world.index()), "indexed");
    // An index under another key is ignored, and a changed skill is read.
    let mut foreign = Index::open(world.file(), "another".to_owned());
    assert_eq!(description(&mut foreign), "written");
    world.skill("one/a", "a", "changed");
    assert_eq!(description(&mut world.index()), "changed");
    assert_eq!(world.answer(), world.truth());
}

#[test]
fn one_skill_that_changed_is_read_and_the_others_are_not() {
    let world = World::new();
    world.skill("one/a", "a", "written");
    world.skill("one/b", "b", "written");
    sleep(SETTLED);
    world.answer();
    let stored = StoredIndex::open(&world.file(), "key").unwrap();
    let kept = String::from_utf8(stored.cached().to_vec()).unwrap();
    let found = DirectoryListing {
        roots: stored.roots.clone(),
        cached: kept.replace("written", "indexed").into_bytes(),
    };
    write(&world.file(), "key", &found, &[]);
    world.skill("one/b", "b", "another");
    let catalog = world.catalog(&mut world.index());
    let described = |tool| catalog.by_tool(tool).unwrap().description.clone().unwrap();
    assert_eq!(
        (&*described("skill_a"), &*described("skill_b")),
        ("indexed", "another")
    );
}

#[test]
fn what_changed_within_a_tick_is_never_taken_from_the_index() {
    let world = World::new();
    for n in 0..50 {
        world.skill("one/a", "a", &format!("{n:03}"));
        assert_eq!(world.answer(), world.truth());
    }
}

#[test]
fn whatever_is_odd_about_the_file_means_that_there_is_none() {
    let world = World::new();
    world.skill("one/a", "a", "d");
    world.skill("two/b", "b", "d");
    sleep(SETTLED);
    let truth = world.answer();
    let whole = fs::read(world.file()).unwrap();
    let write = |bytes: &[u8]| {
        let _ = fs::remove_file(world.file());
        fs::write(world.file(), bytes).unwrap();
        fs::set_permissions(world.file(), fs::Permissions::from_mode(0o600)).unwrap();
    };
    for length in (0..whole.len()).step_by(7) {
        write(&whole[..length]);
        assert_eq!(
            shown(&world.catalog(&mut world.index())),
            truth,
            "{length} bytes"
        );
    }
    for at in (0..whole.len()).step_by(7) {
        let mut broken = whole.clone();
        broken[at] ^= 0x41;
        write(&broken);
        let mut index = world.index();
        assert!(
            index
                .answer(&world.roots(), "a")
                .is_none_or(|kept| kept.text == truth)
        );
        assert_eq!(shown(&world.catalog(&mut index)), truth, "byte {at}");
    }
    write(&whole);
    fs::set_permissions(world.file(), fs::Permissions::from_mode(0o666)).unwrap();
    assert!(
        StoredIndex::open(&world.file(), "key").is_none(),
        "anybody could have written it"
    );
    fs::remove_file(world.file()).unwrap();
    fs::create_dir(world.file()).unwrap();
    assert_eq!(world.answer(), truth);
    fs::remove_dir_all(world.at("index")).unwrap();
    fs::write(world.at("index"), "no directory").unwrap();
    assert_eq!(world.answer(), truth);
}

#[test]
fn indexes_do_not_pile_up() {
    let world = World::new();
    for n in 0..CATALOG_INDEXES + 5 {
        let mut index = Index::open(world.at(&format!("index/{n}")), "key".to_owned());
        world.catalog(&mut index);
        index.store(answer("x"));
    }
    let kept = fs::read_dir(world.at("index")).unwrap().count();
    assert!(kept <= CATALOG_INDEXES, "{kept}");
}

#[test]
fn a_name_is_resolved_by_the_entries_that_have_it() {
    let world = World::new();
    world.skill("one/a", "a", "d");
    world.skill("one/other", "a", "contends");
    world.skill("two/b", "b", "d");
    sleep(SETTLED);
    world.answer();
    let about = |written: &str| {
        let index = world.index();
        let roots = world.roots();
        let facts = context(world.dir.path());
        Catalog::part(
            written,
            &roots,
            &EligibilityRules::new(&facts, SkillUse::Any),
            &index,
        )
    };
    for (written, entries) in [("skill_a", 2), ("A", 2), ("other", 2), ("b", 1)] {
        let found = about(written).map(|catalog| catalog.entries().len());
        // `other` is a directory whose skill is shadowed by another.
        let expected = (written != "other").then_some(entries);
        assert_eq!(found, expected, "{written}");
    }
    assert!(about("skill_c").is_none() && about("..").is_none() && about("").is_none());
    // Changed skills are read again; if entries were added, everything is.
    world.skill("one/a", "z", "d");
    assert!(about("skill_a").is_some_and(|catalog| catalog.entries().len() == 2));
    world.skill("two/c", "c", "d");
    assert!(about("skill_b").is_none());
}

#[derive(Debug, Clone)]
enum Edit {
    Write(usize, usize, u8),
    WriteWithOldTime(usize, usize, u8),
    Replace(usize, usize, u8),
    Rename(usize, usize),
    Remove(usize),
    LinkDirectory(usize, usize),
    LinkFile(usize, usize),
    LowerCase(usize),
    PlainFile(usize),
    Settle,
}

const PLACES: [&str; 5] = ["one/a", "one/b", "two/a", "two/c--d", "outside/o"];
const NAMES: [&str; 3] = ["a", "b", "c"];

fn edit() -> impl Strategy<Value = Edit> {
    let place = 0..PLACES.len();
    let written = (place.clone(), 0..NAMES.len(), any::<u8>());
    prop_oneof![
        written
            .clone()
            .prop_map(|(at, name, n)| Edit::Write(at, name, n)),
        written
            .clone()
            .prop_map(|(at, name, n)| Edit::WriteWithOldTime(at, name, n)),
        written.prop_map(|(at, name, n)| Edit::Replace(at, name, n)),
        (place.clone(), place.clone()).prop_map(|(from, to)| Edit::Rename(from, to)),
        place.clone().prop_map(Edit::Remove),
        (place.clone(), place.clone()).prop_map(|(at, to)| Edit::LinkDirectory(at, to)),
        (place.clone(), place.clone()).prop_map(|(at, to)| Edit::LinkFile(at, to)),
        place.clone().prop_map(Edit::LowerCase),
        place.prop_map(Edit::PlainFile),
        Just(Edit::Settle),
    ]
}

fn remove(path: &Path) {
    let _ = fs::remove_file(path);
    let _ = fs::remove_dir_all(path);
}

/// Those that fail change nothing.
fn apply(world: &World, edit: &Edit) {
    let place = |at: &usize| world.at(PLACES[*at]);
    let text =
        |name: &usize, n: &u8| format!("---\nname: {}\ndescription: d{n:03}\n---\n", NAMES[*name]);
    let write = |at: &usize, name: &usize, n: &u8| {
        let _ = fs::create_dir(place(at));
        fs::write(place(at).join("SKILL.md"), text(name, n))
    };
    let file = |at: &usize| place(at).join("SKILL.md");
    let _ = match edit {
        Edit::Write(at, name, n) => write(at, name, n),
        Edit::WriteWithOldTime(at, name, n) => {
            let before = fs::metadata(file(at)).and_then(|metadata| metadata.modified());
            write(at, name, n).and_then(|()| {
                let times = FileTimes::new().set_modified(before?);
                File::options().write(true).open(file(at))?.set_times(times)
            })
        }
        Edit::Replace(at, name, n) => {
            let aside = place(at).join("new");
            fs::write(&aside, text(name, n)).and_then(|()| fs::rename(aside, file(at)))
        }
        Edit::Rename(from, to) => {
            if from != to {
                remove(&place(to));
            }
            fs::rename(place(from), place(to))
        }
        Edit::Remove(at) => {
            remove(&place(at));
            Ok(())
        }
        Edit::LinkDirectory(at, to) => {
            remove(&place(at));
            symlink(place(to), place(at))
        }
        Edit::LinkFile(at, to) => {
            remove(&file(at));
            symlink(file(to), file(at))
        }
        Edit::LowerCase(at) => fs::rename(file(at), place(at).join("skill.md")),
        Edit::PlainFile(at) => {
            remove(&place(at));
            fs::write(place(at), "a file")
        }
        Edit::Settle => {
            sleep(SETTLED);
            Ok(())
        }
    };
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn no_edit_leaves_anything_stale(edits in prop::collection::vec(edit(), 1..14)) {
        let world = World::new();
        for (place, name) in PLACES.into_iter().zip(NAMES.into_iter().cycle()) {
            world.skill(place, name, "d000");
        }
        sleep(SETTLED);
        world.answer();
        for edit in &edits {
            apply(&world, edit);
            let truth = world.truth();
            prop_assert_eq!(&world.answer(), &truth, "after {:?}", edit);
            let with_index = shown(&world.catalog(&mut world.index()));
            prop_assert_eq!(&with_index, &truth, "after {:?}", edit);
        }
    }
}

#[test]
fn a_linked_directory_that_goes_and_comes_back_is_seen() {
    for has_skill in [true, false] {
        let world = World::new();
        fs::create_dir(world.at("outside/x")).unwrap();
        let _ = has_skill.then(|| world.skill("outside/x", "x", "d"));
        symlink(world.at("outside/x"), world.at("one/x")).unwrap();
        sleep(SETTLED);
        assert_eq!(world.answer(), world.truth());
        for (from, to) in [("outside/x", "away"), ("away", "outside/x")] {
            fs::rename(world.at(from), world.at(to)).unwrap();
            assert_eq!(world.answer(), world.truth());
        }
        assert_eq!(world.answer().contains("skill_x"), has_skill);
    }
}

#[test]
fn a_root_that_cannot_be_read_is_not_kept_as_an_empty_one() {
    let world = World::new();
    let (dirs, _) = list(&world.at("one"));
    sleep(SETTLED);
    assert!(dirs.is_empty());
    // Permissions do not stop root, so a file acts as the unreadable directory.
    fs::write(world.at("file"), "x").unwrap();
    sleep(SETTLED);
    assert!(list(&world.at("file")).1.is_none());
    assert!(list(&world.at("one")).1.is_some());
}
