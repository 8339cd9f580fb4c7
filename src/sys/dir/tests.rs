//! How a `Dir` treats links, FIFOs and forged marks.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use std::time::Duration;

use super::*;

/// A directory of ours among others, and one outside that must stay unchanged.
struct Place {
    root: tempfile::TempDir,
    dir: Dir,
}

const NAME: EntryName = EntryName::from_static("x");
const OTHER: EntryName = EntryName::from_static("y");

impl Place {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("dir")).unwrap();
        fs::create_dir_all(root.path().join("canary/sub")).unwrap();
        for file in ["canary/file", "canary/sub/file"] {
            fs::write(root.path().join(file), "untouched").unwrap();
        }
        let dir = Dir::anchor(&root.path().join("dir")).unwrap().shared();
        Self { root, dir }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.path().join("dir").join(path)
    }

    fn assert_canary(&self) {
        for file in ["canary/file", "canary/sub/file"] {
            let text = fs::read_to_string(self.root.path().join(file)).unwrap();
            assert_eq!(text, "untouched");
        }
        for dir in ["canary", "canary/sub"] {
            let entries = fs::read_dir(self.root.path().join(dir)).unwrap();
            assert_eq!(entries.count(), if dir == "canary" { 2 } else { 1 });
        }
    }
}

fn is_link(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ELOOP)
}

#[test]
fn no_method_follows_a_link() {
    for target in ["../canary", "../canary/file", "../canary/new", "/", "x"] {
        let place = Place::new();
        symlink(target, place.at("x")).unwrap();
        symlink("../canary", place.at("way")).unwrap();
        let dir = &place.dir;
        let path = |text| EntryPath::parse(text).unwrap();
        let refused = [
            dir.open_dir(&NAME).err(),
            dir.find_dir(&NAME).err(),
            dir.open_file(&NAME).err(),
            dir.open_below(&path("x")).err(),
            dir.open_below(&path("way/file")).err(),
            dir.open_below(&path("way/sub/file")).err(),
            dir.read(&NAME, 10).err(),
            dir.make_dir(&NAME).err(),
            dir.append(&NAME, 0o600).err(),
            dir.create_below(&path("way/new"), 0o600).err(),
            dir.create_below(&path("way/new/new"), 0o600).err(),
            dir.remove_ours(&NAME).err(),
        ];
        for (number, error) in refused.into_iter().enumerate() {
            let error = error.unwrap_or_else(|| panic!("{target}: {number}"));
            assert!(is_link(&error), "{target}: {number}: {error}");
        }
        for there in [dir.new_dir(&NAME).err(), dir.create(&NAME, 0o600).err()] {
            assert_eq!(there.unwrap().kind(), io::ErrorKind::AlreadyExists);
        }
        assert!(dir.lock(&NAME, Duration::ZERO).is_err());
        assert_eq!(dir.kind(&NAME).unwrap(), Some(EntryKind::Link));
        assert_eq!(dir.read_link(&NAME).unwrap(), Path::new(target));
        // Moving and replacing affect the link itself.
        dir.rename(&NAME, dir, &OTHER).unwrap();
        dir.replace(&OTHER, b"file", 0o600, Durable::No).unwrap();
        assert_eq!(fs::read(place.at("y")).unwrap(), b"file");
        place.assert_canary();
    }
}

#[test]
fn what_is_below_is_read_and_made() {
    let place = Place::new();
    let path = EntryPath::parse("a/b/c").unwrap();
    let file = place.dir.create_below(&path, 0o755).unwrap();
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o700, 0o700);
    assert!(place.dir.create_below(&path, 0o755).is_err());
    fs::write(place.at("a/b/c"), "text").unwrap();
    let (file, metadata) = place.dir.open_below(&path).unwrap();
    assert_eq!(
        crate::sys::files::read_file_capped(&file, metadata.len(), 9).unwrap(),
        b"text"
    );
    let missing = EntryPath::parse("a/b/d").unwrap();
    let error = place.dir.open_below(&missing).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}

#[test]
fn a_fifo_is_neither_read_written_locked_nor_waited_for() {
    let place = Place::new();
    let made = std::process::Command::new("mkfifo")
        .arg(place.at("x"))
        .status();
    assert!(made.unwrap().success());
    assert!(place.dir.read(&NAME, 10).is_err());
    assert!(place.dir.append(&NAME, 0o600).is_err());
    assert!(place.dir.lock(&NAME, Duration::ZERO).is_err());
    assert_eq!(place.dir.kind(&NAME).unwrap(), Some(EntryKind::Other));
}

#[test]
fn only_a_directory_with_its_own_mark_is_removed() {
    let place = Place::new();
    let dir = &place.dir;
    let ours = dir.new_of_ours(&NAME).unwrap();
    symlink("../../canary", place.at("x/link")).unwrap();
    fs::create_dir_all(place.at("x/a/b")).unwrap();
    symlink("/", place.at("x/a/b/root")).unwrap();
    fs::write(place.at("x/a/f"), "").unwrap();
    // A mark as a repository could contain it: right except for the inode number.
    fs::create_dir(place.at("y")).unwrap();
    fs::write(place.at("y/kept"), "").unwrap();
    for forged in [
        String::new(),
        "1\n".to_owned(),
        fs::read_to_string(place.at("x/.agent-skills")).unwrap(),
    ] {
        fs::write(place.at("y/.agent-skills"), forged).unwrap();
        assert!(dir.remove_ours(&OTHER).is_err() && place.at("y/kept").exists());
    }
    assert!(ours.is_ours());
    dir.remove_ours(&NAME).unwrap();
    assert!(!place.at("x").exists());
    dir.remove_ours(&NAME).unwrap();
    place.assert_canary();
    // The user's own directory, moved with its content to another disk.
    let own = Dir::anchor(dir.path()).unwrap();
    own.remove_ours(&OTHER).unwrap();
    assert!(!place.at("y").exists());
}

#[test]
fn what_a_kill_left_without_a_mark_goes_alone() {
    let place = Place::new();
    fs::create_dir(place.at("x")).unwrap();
    place.dir.remove_ours(&NAME).unwrap();
    fs::create_dir(place.at("x")).unwrap();
    fs::write(place.at("x/.agent-skills"), "").unwrap();
    place.dir.remove_ours(&NAME).unwrap();
    assert!(!place.at("x").exists());
    // If the mark is a link, a directory or a file with other text, or anything lies beside it, the
    // directory is not ours.
    fs::create_dir(place.at("x")).unwrap();
    symlink("../../canary/file", place.at("x/.agent-skills")).unwrap();
    assert!(place.dir.remove_ours(&NAME).is_err() && place.dir.remove_blank(&NAME).is_err());
    fs::remove_file(place.at("x/.agent-skills")).unwrap();
    fs::write(place.at("x/.agent-skills"), "").unwrap();
    fs::write(place.at("x/kept"), "").unwrap();
    assert!(place.dir.remove_ours(&NAME).is_err() && place.dir.remove_blank(&NAME).is_err());
    assert!(place.at("x/kept").exists());
    place.assert_canary();
}

#[test]
fn what_lies_in_ours_is_ours_however_deep() {
    let place = Place::new();
    let ours = place.dir.new_of_ours(&NAME).unwrap();
    let mut at = ours.new_dir(&OTHER).unwrap();
    for _ in 0..5 * 64 {
        at = at.new_dir(&OTHER).unwrap();
        at.create(&NAME, 0o600).unwrap();
    }
    ours.remove_ours(&OTHER).unwrap();
    assert!(ours.is_ours() && !ours.has(&OTHER));
    place.dir.remove_ours(&NAME).unwrap();
    assert!(!place.dir.has(&NAME));
}

#[test]
fn two_directories_are_exchanged_whole_or_not_at_all() {
    let place = Place::new();
    fs::create_dir_all(place.at("x/was-x")).unwrap();
    fs::create_dir_all(place.at("y/was-y")).unwrap();
    let dir = &place.dir;
    let swapped = dir.exchange(&NAME, dir, &OTHER).unwrap();
    assert_eq!(place.at("y/was-x").exists(), swapped);
    assert_eq!(place.at("x/was-y").exists(), swapped);
    let missing = EntryName::from_static("missing");
    assert!(dir.exchange(&NAME, dir, &missing).is_err() || !swapped);
    place.assert_canary();
}

#[test]
fn a_failed_replacement_keeps_the_old_file_and_no_litter() {
    let place = Place::new();
    fs::create_dir_all(place.at("x/full")).unwrap();
    let replaced = place.dir.replace(&NAME, b"new", 0o600, Durable::Yes);
    assert!(replaced.is_err());
    assert_eq!(place.dir.entries().unwrap(), [(NAME, EntryKind::Dir)]);
    assert!(place.dir.create_unseen().is_ok());
    assert_eq!(place.dir.entries().unwrap().len(), 1);
}

#[test]
fn an_anchor_may_be_a_link_and_stays_what_it_was() {
    let place = Place::new();
    let link = place.root.path().join("link");
    symlink("dir", &link).unwrap();
    let dir = Dir::anchor(&link).unwrap();
    // A directory that later takes its place is not ours.
    fs::remove_file(&link).unwrap();
    symlink("canary", &link).unwrap();
    dir.new_dir(&NAME).unwrap();
    assert!(place.at("x").is_dir());
    place.assert_canary();
    assert!(Dir::anchor(&place.root.path().join("canary/file")).is_err());
    let made = Dir::make_anchor(&place.at("p/q")).unwrap();
    made.new_dir(&NAME).unwrap();
    assert!(place.at("p/q/x").is_dir());
}

#[test]
fn several_files_are_replaced_or_none() {
    let place = Place::new();
    fs::write(place.at("x"), "old").unwrap();
    let both = [(NAME, &b"new"[..]), (OTHER, &b"new"[..])];
    fs::create_dir(place.at("y")).unwrap();
    assert!(place.dir.replace_all(&both, 0o644).is_err());
    assert_eq!(fs::read_to_string(place.at("x")).unwrap(), "old");
    assert_eq!(fs::read_dir(place.at("")).unwrap().count(), 2);
    fs::remove_dir(place.at("y")).unwrap();
    place.dir.replace_all(&both, 0o644).unwrap();
    for name in ["x", "y"] {
        assert_eq!(fs::read_to_string(place.at(name)).unwrap(), "new");
    }
}
