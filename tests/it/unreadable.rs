//! Skills that can only be guessed at or not be read: what their authors and their users are told.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::Host;
use crate::author::{skill, write};
use crate::host::{Has, write_at};
use crate::policy_files::is_root;

#[test]
fn a_guessed_frontmatter_fails_its_author_and_still_loads() {
    let host = Host::stdin();
    let broken = "---\nname: x\ndescription: Use when: y\nallowed-tools: Read\n---\nDo it.\n";
    write(&host, &[("x/SKILL.md", broken)]);
    let installed = host.plugin_dir().join("skills/x");
    write_at(installed.join("SKILL.md"), broken);
    let ran = host.person(&["validate", "x"]);
    let told = ran.stdout;
    assert_eq!(ran.status, 1, "{told}");
    told.has("error: the frontmatter is not valid YAML");
    host.fails(&["package", "./x"]).has("it has errors");
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
        write_at(dir.join("SKILL.md"), skill("x", "", "b"));
        fs::set_permissions(dir, fs::Permissions::from_mode(0o000)).unwrap();
    }
    for words in [&["validate", "x"][..], &["list", "--json"]] {
        host.person(words)
            .stdout
            .has("could not read")
            .has("permission denied");
    }
    for dir in [&installed, &own] {
        fs::set_permissions(dir, fs::Permissions::from_mode(0o755)).unwrap();
    }
}
