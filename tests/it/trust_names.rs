//! Trust is about files under their names: the files beside the skills cannot be exchanged for each
//! other by renaming them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::Host;
use crate::layers::{is_offered, put};
use crate::trust_ways::evil;

fn skills(host: &Host) -> PathBuf {
    host.project().join(".claude/skills")
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A project with these files beside its skill, which its user trusts.
fn trusted(beside: &[(&str, &str)]) -> Host {
    let host = Host::stdin();
    evil(&skills(&host));
    for (path, text) in beside {
        write(&skills(&host).join(path), text);
    }
    host.succeeds(&["trust", "--yes"]);
    assert!(is_offered(&host, "evil"));
    host
}

/// What is renamed, in order.
type Renames = &'static [(&'static str, &'static str)];

#[test]
fn renaming_what_is_beside_the_skills_asks_again() {
    let files: &[_] = &[("common.sh", "good"), ("common.sh.orig", "bad")];
    let dirs: &[_] = &[("lib/x.sh", "good"), ("lib.old/x.sh", "bad")];
    let mixed: &[_] = &[("lib/x.sh", "good"), ("x.sh", "bad")];
    let cases: [(&[(&str, &str)], Renames); 5] = [
        (
            files,
            &[("common.sh", "A.sh"), ("common.sh.orig", "common.sh")],
        ),
        (files, &[("common.sh.orig", "z.sh")]),
        (dirs, &[("lib", "a"), ("lib.old", "lib")]),
        (dirs, &[("lib.old", "lib.older")]),
        (mixed, &[("x.sh", "lib/y.sh")]),
    ];
    for (beside, renames) in cases {
        let host = trusted(beside);
        for (from, to) in renames {
            fs::rename(skills(&host).join(from), skills(&host).join(to)).unwrap();
        }
        assert!(!is_offered(&host, "evil"), "{renames:?}");
        host.succeeds(&["trust", "--yes"]);
        assert!(is_offered(&host, "evil"), "{renames:?}");
    }
}

#[test]
fn what_a_skills_file_names_counts_with_its_name() {
    let host = Host::stdin();
    put(&skills(&host), "other", "", "fine");
    let text = fs::read_to_string(skills(&host).join("other/SKILL.md")).unwrap();
    write(
        &skills(&host).join("other/SKILL.md"),
        &text.replace("other", "evil"),
    );
    write(&skills(&host).join("evil/SKILL.md"), "../other/SKILL.md");
    host.succeeds(&["trust", "--yes"]);
    assert!(is_offered(&host, "evil"));
    fs::rename(skills(&host).join("other"), skills(&host).join("third")).unwrap();
    write(&skills(&host).join("evil/SKILL.md"), "../third/SKILL.md");
    assert!(!is_offered(&host, "evil"));
}

/// Makes the record of the files beside the skills one of the version before, for these contents.
fn as_before(host: &Host, contents: &[&str]) {
    let mut hash = Sha256::new();
    for text in contents {
        hash.update([0; 8]);
        hash.update(b"f");
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
        hash.update(b"|");
    }
    let file = host.plugin_dir().join("trust.json");
    let mut record: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let holder = host.project().canonicalize().unwrap();
    let place = &mut record["entries"][holder.to_str().unwrap()][".claude/skills"];
    place["digest"] = format!("sha256:{:x}", hash.finalize()).into();
    fs::write(&file, record.to_string()).unwrap();
}

#[test]
fn a_record_without_names_asks_again_and_says_why() {
    let host = trusted(&[("common.sh", "good"), ("common.sh.orig", "bad")]);
    as_before(&host, &["good", "bad"]);
    assert!(!is_offered(&host, "evil"));
    for (words, told) in [
        (
            &["trust", "--list"],
            "recorded without names by an earlier version",
        ),
        (
            &["info", "evil"],
            "without the names of the files beside its skills",
        ),
    ] {
        let shown = host
            .succeeds(words)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(shown.contains(told), "{shown}");
    }
    host.succeeds(&["trust", "--yes"]);
    assert!(is_offered(&host, "evil"));
}

#[test]
fn a_record_of_no_files_beside_the_skills_still_counts() {
    let host = trusted(&[]);
    as_before(&host, &[]);
    assert!(is_offered(&host, "evil"));
    write(&skills(&host).join("common.sh"), "bad");
    assert!(!is_offered(&host, "evil"));
    assert!(
        !host
            .succeeds(&["trust", "--list"])
            .contains("without names")
    );
}

#[test]
fn a_projects_namesake_is_not_softened_for_the_users_skill() {
    let read = "---\nname: deploy\ndescription: d\nallowed-tools: Read\n---\n";
    let ls = json!({"command": "ls"});
    for is_users_too in [true, false] {
        let host = Host::stdin();
        write(
            &host.plugin_dir().join("config.toml"),
            "enforce_for = {deploy = \"off\"}",
        );
        let use_own = json!({"action": "use", "skill_ref": "plugin/deploy"});
        if is_users_too {
            write(&host.skills_dir().join("deploy/SKILL.md"), read);
            host.allows("skill_marketplace", &use_own);
            host.allows("shell_exec", &ls).starts();
        }
        let projects = format!("{read}The project's.\n");
        write(&skills(&host).join("deploy/SKILL.md"), &projects);
        host.succeeds(&["trust", "--yes"]);
        host.activates("deploy");
        let is_free = host.pre_tool("shell_exec", &ls) == json!({});
        assert_eq!(is_free, !is_users_too);
        if is_users_too {
            host.starts();
            host.allows("skill_marketplace", &use_own);
            host.allows("shell_exec", &ls);
        }
    }
}
