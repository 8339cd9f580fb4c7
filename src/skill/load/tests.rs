use super::*;
use crate::sys::dir::swapping::while_swapped;
use std::fs;

fn skill(
    dir_name: &str,
    file: &str,
    text: impl AsRef<[u8]>,
) -> (tempfile::TempDir, Result<Skill, Diagnostic>) {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join(dir_name);
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join(file), text).unwrap();
    let loaded = Skill::load(&dir);
    (root, loaded)
}

#[test]
fn the_exact_file_name_is_preferred_to_lower_case() {
    let (root, found) = skill("x", "skill.md", "---\nname: low\ndescription: d\n---\n");
    assert_eq!(found.unwrap().name.as_str(), "low");
    fs::write(
        root.path().join("x/SKILL.md"),
        "---\nname: up\ndescription: d\n---\n",
    )
    .unwrap();
    assert_eq!(
        Skill::load(&root.path().join("x")).unwrap().name.as_str(),
        "up"
    );
}

#[test]
fn a_file_that_only_names_another_is_no_link() {
    let (_root, found) = skill("x", "SKILL.md", "../y/SKILL.md\n");
    let found = found.unwrap();
    assert!(!found.is_offered());
    assert_eq!(found.body().unwrap(), "../y/SKILL.md");
}

#[test]
fn of_what_is_outside_only_a_linked_skill_file_is_read() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(
        outside.path().join("secret"),
        "---\nname: s\ndescription: d\n---\n",
    )
    .unwrap();
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("x");
    fs::create_dir(&dir).unwrap();
    std::os::unix::fs::symlink(outside.path().join("secret"), dir.join("SKILL.md")).unwrap();
    assert_eq!(Skill::load(&dir).unwrap_err().code(), "unreadable");
    // In a store it has such a name.
    let stored = outside.path().join("0ab1-hm_SKILL.md");
    fs::rename(outside.path().join("secret"), &stored).unwrap();
    fs::remove_file(dir.join("SKILL.md")).unwrap();
    std::os::unix::fs::symlink(&stored, dir.join("SKILL.md")).unwrap();
    let skill = Skill::load(&dir).unwrap();
    assert_eq!(skill.name.as_str(), "s");
    assert_eq!(skill.body().unwrap(), "");
}

#[test]
fn a_fifo_or_an_oversized_file_is_unreadable_and_does_not_hang() {
    let root = tempfile::tempdir().unwrap();
    let fifo = root.path().join("SKILL.md");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(
        Skill::load(root.path()).unwrap_err().code(),
        "no-skill-file"
    );
    let big = vec![b'x'; usize::try_from(limits::SKILL_FILE).unwrap() + 1];
    assert_eq!(
        skill("x", "SKILL.md", big).1.unwrap_err().code(),
        "unreadable"
    );
}

#[test]
fn no_instructions_are_read_outside_while_links_are_swapped_in() {
    while_swapped(|dir| {
        let [plain, linked] = ["plain", "link"].map(|file| read(dir, &dir.join(file)));
        for bytes in plain.iter().chain(&linked) {
            assert_eq!(bytes, b"inside");
        }
        plain.is_ok() || linked.is_ok()
    });
}

fn with_fields(file: &str, yaml: &str) -> Skill {
    let dir = Path::new("/skills/x");
    let text = format!("---\nname: x\ndescription: d\n{yaml}\n---\n!`id`\n");
    Skill::parse(dir, dir.join(file), text.as_bytes()).unwrap()
}

#[test]
fn what_can_be_cached_comes_back_as_it_was() {
    for yaml in [
        "",
        "license: \"\\u202e \\0 \\U0001F600\"",
        "metadata: {a: 1, b: -2, c: [true, null, {d: ''}], e: 18446744073709551615}",
        "allowed-tools:\nhooks: {pre: a.sh, Stop: x}",
        "when: 2026-01-02\nname: Y Y",
        "a: b: c\nallowed-tools: Read",
    ] {
        let skill = with_fields(FILE, yaml);
        assert!(skill.can_be_cached(), "{yaml}");
        let again = Skill::from_cached(&skill.dir, &skill.to_cached());
        assert_eq!(again, Some(skill), "{yaml}");
    }
}

#[test]
fn files_of_another_name_are_read_again() {
    assert!(!with_fields("skill.md", "").can_be_cached());
}
