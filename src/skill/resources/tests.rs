//! Which paths lead to a file of the skill, and which lead out of it.

use super::*;
use crate::sys::dir::swapping::{SECRET, while_swapped};
use crate::sys::files;
use proptest::prelude::*;
use std::fs;
use std::os::unix::fs::symlink;

fn tree(files: &[&str]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for file in files {
        let path = root.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "text").unwrap();
    }
    root
}

#[test]
fn paths_that_leave_are_refused() {
    let dir = Path::new("/skills/x");
    for bad in [
        "",
        ".",
        "..",
        "../y",
        "a/../../y",
        "/etc/passwd",
        "/skills/x/../y/z",
        "a\0b",
        "a/..",
    ] {
        assert!(SkillPath::parse(bad, dir).is_err(), "{bad:?}");
    }
    for (good, path) in [
        ("a/b", "a/b"),
        ("./a", "a"),
        ("a/../b", "b"),
        ("/skills/x/a", "a"),
        ("-o", "-o"),
    ] {
        assert_eq!(
            SkillPath::parse(good, dir).unwrap().as_path(),
            Path::new(path)
        );
    }
}

#[test]
fn links_that_leave_are_refused_and_links_inside_are_followed() {
    let outside = tree(&["secret"]);
    let root = tree(&["a/real"]);
    symlink(outside.path().join("secret"), root.path().join("out")).unwrap();
    symlink(outside.path(), root.path().join("outdir")).unwrap();
    symlink("a/real", root.path().join("in")).unwrap();
    symlink("..", root.path().join("a/up")).unwrap();
    let resolve = |p: &str| {
        SkillPath::parse(p, root.path())
            .unwrap()
            .resolve(root.path())
    };
    assert!(
        resolve("out")
            .unwrap_err()
            .to_string()
            .contains("leaves the skill")
    );
    assert!(
        resolve("outdir/secret")
            .unwrap_err()
            .to_string()
            .contains("leaves the skill")
    );
    assert!(resolve("in").unwrap().ends_with("a/real"));
    assert!(resolve("a/up/a/real").is_ok());
    assert!(
        resolve("a")
            .unwrap_err()
            .to_string()
            .contains("is a directory")
    );
    let paths = Resource::all(root.path()).into_iter().map(|r| r.path);
    assert_eq!(
        paths.collect::<Vec<_>>(),
        [Path::new("a/real"), Path::new("in")]
    );
}

#[test]
fn a_missing_file_is_answered_with_what_is_there() {
    let root = tree(&["SKILL.md", "references/a.md", "b.md"]);
    let error = SkillPath::parse("c", root.path())
        .unwrap()
        .resolve(root.path())
        .unwrap_err();
    assert_eq!(
        error.next_step(),
        Some("the skill has b.md, references/a.md")
    );
}

#[test]
fn nested_skills_and_build_litter_are_not_listed() {
    let root = tree(&[
        "SKILL.md",
        "a",
        "sub/SKILL.md",
        "sub/b",
        ".git/c",
        "node_modules/d/e",
    ]);
    let found = Resource::all(root.path());
    assert_eq!((found.len(), &*found[0].path), (1, Path::new("a")));
}

#[test]
fn what_was_found_inside_is_never_read_outside() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("file"), "secret").unwrap();
    for swapped in ["a/file", "a", "a/b"] {
        let root = tree(&["a/b/file", "a/file"]);
        symlink("a/b/file", root.path().join("link")).unwrap();
        let found = |path| {
            let path = SkillPath::parse(path, root.path()).unwrap();
            path.find(root.path()).unwrap()
        };
        let found = ["a/file", "a/b/file", "link"].map(found);
        let open = |(root, _, below): &(PathBuf, PathBuf, EntryPath)| {
            Dir::anchor(root).and_then(|root| root.open_below(below))
        };
        assert!(found.iter().all(|found| open(found).is_ok()));
        let place = root.path().join(swapped);
        fs::rename(&place, root.path().join("aside")).unwrap();
        let to = if swapped == "a/file" { "file" } else { "" };
        symlink(outside.path().join(to), &place).unwrap();
        for found in found {
            // Whatever still exists belongs to the skill.
            if let Ok((file, metadata)) = open(&found) {
                let bytes = files::read_file_capped(&file, metadata.len(), 99).unwrap();
                assert_eq!(bytes, b"text", "{swapped}: {found:?}");
            }
        }
    }
}

#[test]
fn nothing_outside_is_read_while_links_are_swapped_in() {
    while_swapped(|skill| {
        let listing = Resource::all(skill);
        let is_outside = |resource: &Resource| {
            resource.path.ends_with("only-outside") || resource.size == SECRET.len() as u64
        };
        assert!(!listing.iter().any(is_outside), "{listing:?}");
        let mut seen = false;
        for path in ["0/file", "link", "plain"] {
            let path = SkillPath::parse(path, skill).unwrap();
            if let Ok((_, file, metadata)) = path.open(skill) {
                let bytes = files::read_file_capped(&file, metadata.len(), 99).unwrap();
                assert_eq!(bytes, b"inside");
                seen = true;
            }
        }
        seen && !listing.is_empty()
    });
}

proptest! {
    #[test]
    fn a_parsed_path_stays_inside(written in "(\\.\\.|\\.|/|a|b|~|-|\\\\| ){0,12}") {
        if let Ok(path) = SkillPath::parse(&written, Path::new("/skills/x")) {
            prop_assert!(path.as_path().components().all(|c| matches!(c, Component::Normal(_))));
        }
    }
}
