//! Skills that can only be guessed at or not be read: what their authors and their users are told.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::Host;
use crate::author::{skill, write};
use crate::policy_files::is_root;

#[test]
fn a_guessed_frontmatter_fails_its_author_and_still_loads() {
    let host = Host::stdin();
    let broken = "---\nname: x\ndescription: Use when: y\nallowed-tools: Read\n---\nDo it.\n";
    write(&host, &[("x/SKILL.md", broken)]);
    let installed = host.plugin_dir().join("skills/x");
    fs::create_dir_all(&installed).unwrap();
    fs::write(installed.join("SKILL.md"), broken).unwrap();
    let ran = host.person(&["validate", "x"]);
    let told = ran.stdout;
    assert_eq!(ran.status, 1, "{told}");
    assert!(
        told.contains("error: the frontmatter is not valid YAML"),
        "{told}"
    );
    let told = host.fails(&["package", "./x"]);
    assert!(told.contains("it has errors"), "{told}");
    let listed = host.json(&["list", "--json"])["skills"][0].clone();
    assert_eq!(
        (&listed["name"], &listed["offered"]),
        (&json!("x"), &json!(true)),
        "{listed}"
    );
}

#[test]
fn a_directory_that_cannot_be_read_is_said_to_be_so() {
    if is_root() {
        println!("skipped: root may read everything");
        return;
    }
    let host = Host::stdin();
    let installed = host.plugin_dir().join("skills/x");
    let own = host.project().join("x");
    for dir in [&installed, &own] {
        fs::create_dir_all(dir).unwrap();
        fs::write(dir.join("SKILL.md"), skill("x", "", "b")).unwrap();
        fs::set_permissions(dir, fs::Permissions::from_mode(0o000)).unwrap();
    }
    for words in [&["validate", "x"][..], &["list", "--json"]] {
        let told = host.person(words).stdout;
        assert!(
            told.contains("could not read") && told.contains("permission denied"),
            "{told}"
        );
    }
    for dir in [&installed, &own] {
        fs::set_permissions(dir, fs::Permissions::from_mode(0o755)).unwrap();
    }
}
