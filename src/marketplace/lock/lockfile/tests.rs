//! What a lockfile keeps, what it refuses, and where it is written.

use super::*;
use crate::skill::one_line;
use std::collections::BTreeMap;
use std::fs;

fn entry(name: &str) -> LockEntry {
    LockEntry {
        id: format!("https://github.com/o/r#skills/{name}"),
        name: InstalledName::parse(name).unwrap(),
        source: "https://github.com/o/r".to_owned(),
        address: None,
        kind: SourceKind::Git,
        requested: format!("o/{name}"),
        rev: None,
        commit: Some("a".repeat(40)),
        path: format!("skills/{name}"),
        tree: None,
        sha256: String::new(),
        files: Files::default(),
        license: None,
        signer: None,
        other: Map::new(),
    }
}

fn put(file: &mut Lockfile, entry: &LockEntry, scratch: &Dir) -> Result<()> {
    file.set(&[(&entry.name, Some(entry))], scratch)
}

#[test]
fn the_order_of_installs_does_not_show() {
    let texts = [["a", "b"], ["b", "a"]].map(|names| {
        let dir = tempfile::tempdir().unwrap();
        for name in names {
            let base = Base::own(dir.path().to_owned());
            let mut file = Lockfile::read(&base).unwrap();
            put(&mut file, &entry(name), &base.make().unwrap()).unwrap();
        }
        fs::read_to_string(dir.path().join("skills.lock.json")).unwrap()
    });
    assert_eq!(texts[0], texts[1]);
    assert!(texts[0].ends_with("}\n"));
}

#[test]
fn entries_are_replaced_and_taken_out_and_unknown_fields_kept() {
    let dir = tempfile::tempdir().unwrap();
    let mut with_field = entry("a");
    with_field
        .other
        .insert("later".to_owned(), Value::Bool(true));
    let base = Base::own(dir.path().to_owned());
    let scratch = base.make().unwrap();
    let mut file = Lockfile::read(&base).unwrap();
    put(&mut file, &entry("a"), &scratch).unwrap();
    put(&mut file, &with_field, &scratch).unwrap();
    put(&mut file, &entry("b"), &scratch).unwrap();
    let gone = entry("b").name;
    file.set(&[(&gone, None)], &scratch).unwrap();
    assert_eq!(Lockfile::read(&base).unwrap().entries, [with_field]);
}

#[test]
fn what_is_not_understood_is_never_overwritten() {
    for text in [
        "{\"version\":2,\"skills\":[{\"new\":1}],\"x\":{}}",
        "<<<<<<< HEAD\n{}\n=======\n",
        "{\"version\":1,\"skills\":[{}]}",
        "",
    ] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("skills.lock.json");
        fs::write(&path, text).unwrap();
        let base = Base::own(dir.path().to_owned());
        let error = Lockfile::read(&base).unwrap_err();
        let hint = error.next_step().unwrap();
        let resolves = hint.starts_with("resolve them");
        assert_eq!(resolves, text.contains("<<<<"), "{text}: {error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn text_from_a_repository_is_neither_a_path_nor_shown_raw() {
    let hostile = "\u{1b}[2J\u{202e}x";
    for (field, value) in [
        ("name", "../../x"),
        ("name", "/x"),
        ("name", ".."),
        ("name", hostile),
        ("id", hostile),
        ("source", hostile),
        ("kind", hostile),
        ("requested", hostile),
        ("ref", hostile),
        ("commit", hostile),
        ("commit", "ä"),
        ("path", hostile),
        ("path", "../.."),
        ("path", "/etc"),
        ("ref", "--upload-pack=x"),
        ("ref", "-u"),
        ("ref", "v1"),
        ("ref", "HEAD:.."),
        ("ref", "refs/heads/../x"),
        ("tree", hostile),
        ("tree", "--upload-pack=x"),
        ("tree", ""),
        ("tree", "main"),
        ("tree", "0123456789abcdefg0123456789abcdef0123456"),
        ("license", hostile),
        ("sha256", hostile),
        ("name", "-u"),
        ("name", "HEAD:.."),
        ("name", "a..b"),
        ("name", ":(top)x"),
    ] {
        let mut entry = serde_json::to_value(entry("pdf")).unwrap();
        entry[field] = value.into();
        let text = refused(&entry);
        assert_eq!(visible(&text), text, "{field}");
        let named = if field == "name" {
            &one_line(value)
        } else {
            "pdf"
        };
        let says_where =
            text.contains(&format!("`{named}`")) || text.contains(" at line 1 column ");
        assert!(says_where, "{field}: {text}");
    }
    for file in ["../../x", "/x", "a/../../x", ""] {
        let mut entry = serde_json::to_value(entry("pdf")).unwrap();
        entry["files"] = serde_json::json!({ file: "0" });
        assert!(refused(&entry).contains("list of files"), "{file}");
    }
}

fn refused(entry: &Value) -> String {
    let dir = tempfile::tempdir().unwrap();
    let text = serde_json::json!({"version": 1, "skills": [entry]}).to_string();
    fs::write(dir.path().join("skills.lock.json"), text).unwrap();
    let error = Lockfile::read(&Base::own(dir.path().to_owned())).unwrap_err();
    error.to_string()
}

#[test]
fn what_installs_write_is_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let base = Base::own(dir.path().to_owned());
    let id = "0123456789abcdef0123456789abcdef01234567";
    let kept = LockEntry {
        rev: Some("refs/heads/feature/x".to_owned()),
        tree: Some(id.to_owned()),
        license: Some(one_line("MIT\n and \u{202e}others")),
        files: BTreeMap::from([("1\u{fe0f}\u{20e3} Icon\r".to_owned(), "0+x".to_owned())]).into(),
        ..entry("acme--pdf")
    };
    let mut file = Lockfile::read(&base).unwrap();
    put(&mut file, &kept, &base.make().unwrap()).unwrap();
    assert_eq!(Lockfile::read(&base).unwrap().entries, [kept]);
}

#[test]
fn the_users_own_may_be_a_link_and_a_projects_may_not() {
    let dir = tempfile::tempdir().unwrap();
    let at = |path: &str| dir.path().join(path);
    fs::create_dir_all(at("home")).unwrap();
    fs::create_dir_all(at("elsewhere")).unwrap();
    fs::write(at("elsewhere/lock"), r#"{"version":1,"skills":[]}"#).unwrap();
    std::os::unix::fs::symlink("../elsewhere/lock", at("home/skills.lock.json")).unwrap();
    let shared = Base::shared(dir.path().to_owned(), EntryName::from_static("home"));
    let error = Lockfile::read(&shared).unwrap_err();
    assert!(error.to_string().contains("symbolic link"), "{error}");
    let own = Base::own(at("home"));
    let mut file = Lockfile::read(&own).unwrap();
    put(&mut file, &entry("a"), &own.make().unwrap()).unwrap();
    let text = fs::read_to_string(at("elsewhere/lock")).unwrap();
    assert!(text.contains("o/a") && at("home/skills.lock.json").is_symlink());
}

#[test]
fn the_owner_is_that_of_the_source() {
    assert_eq!(entry("a").owner().as_deref(), Some("o"));
}
