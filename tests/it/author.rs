//! Writing a skill, looking at it as a model will, and packing it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::Host;
use crate::host::{Has, write_at};

pub const DESCRIPTION: &str = "Fills PDF forms. Use when the user has a form to fill.";

/// Writes files below the project; the directory of the first.
pub fn write(host: &Host, files: &[(&str, &str)]) -> PathBuf {
    for (path, text) in files {
        let path = host.project().join(path);
        write_at(path, text);
    }
    host.project().join(files[0].0).parent().unwrap().to_owned()
}

pub fn skill(name: &str, more: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: {DESCRIPTION}\n{more}---\n{body}\n")
}

#[test]
fn a_new_skill_validates_wherever_it_is_made() {
    let host = Host::stdin();
    let places: [(&[&str], PathBuf); 5] = [
        (&[], host.project().to_owned()),
        (&["--dir", "a/b"], host.project().join("a/b")),
        (&["--layer", "personal"], host.home().join(".chibi/skills")),
        (
            &["--layer", "project"],
            host.project().join(".chibi/skills"),
        ),
        (&["--layer", "plugin"], host.skills_dir()),
    ];
    for (at, (flags, parent)) in places.iter().enumerate() {
        let name = format!("pdf-forms-{at}");
        let args = [
            &[
                "new",
                &name,
                "--description",
                DESCRIPTION,
                "--script",
                "py",
                "--restrict",
            ],
            *flags,
        ]
        .concat();
        host.succeeds(&args);
        let dir = parent.join(&name);
        assert!(dir.join("scripts/run.py").exists());
        let path = dir.to_str().unwrap();
        // In a layer the others are installed, and this one is like them.
        host.succeeds(&["validate", path])
            .has("0 errors")
            .lacks("no-when");
        host.succeeds(&["simulate", dir.join("tests/first.yaml").to_str().unwrap()]);
        host.fails(&args);
        fs::remove_dir_all(dir).unwrap();
    }
    assert_eq!(fs::read_dir(host.project().join("a/b")).unwrap().count(), 0);
}

/// Every file below a directory with its content.
fn snapshot(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            found.extend(snapshot(&entry.path()));
        } else {
            found.push((entry.path(), fs::read(entry.path()).unwrap()));
        }
    }
    found.sort();
    found
}

#[test]
fn try_prints_what_the_model_gets_and_changes_nothing() {
    let host = Host::stdin();
    let host = host
        .skill(
            "pdf",
            "allowed-tools: Read",
            "Fill $ARGUMENTS with the `Bash` tool.",
        )
        .file("pdf/scripts/run.py", "print()")
        .file("pdf/a.md", "x");
    let before = snapshot(host.home());
    let tried = host.succeeds(&["try", "pdf", "--arguments", "-form", "--host", "stdin"]);
    let dir = host.skills_dir().join("pdf");
    let by_path = host.succeeds(&[
        "try",
        dir.to_str().unwrap(),
        "--arguments",
        "-form",
        "--host",
        "stdin",
    ]);
    assert_eq!(snapshot(host.home()), before);
    host.starts().activates("pdf");
    let given = host.tool("skill_pdf", &json!({"arguments": "-form"}));
    assert_eq!(tried, format!("{given}\n"));
    assert_eq!(
        by_path.replace(
            &dir.canonicalize().unwrap().display().to_string(),
            &dir.display().to_string()
        ),
        tried
    );
}

#[test]
fn a_package_is_the_same_bytes_and_installs_as_the_same_skill() {
    let host = Host::stdin();
    let dir = write(
        &host,
        &[
            (
                "one/pdf/SKILL.md",
                &skill("pdf", "", "Run `scripts/run.sh`."),
            ),
            ("one/pdf/scripts/run.sh", "echo\n"),
            ("one/pdf/b/empty", ""),
            ("one/pdf/.DS_Store", "x"),
            ("one/pdf/.git/HEAD", "x"),
        ],
    );
    fs::set_permissions(
        dir.join("scripts/run.sh"),
        fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    symlink("scripts/run.sh", dir.join("link.sh")).unwrap();
    host.succeeds(&["package", "one/pdf"]);
    // The same files, made at another time in another order with another mask.
    let copy = write(
        &host,
        &[
            ("two/pdf/b/empty", ""),
            ("two/pdf/link.sh", "echo\n"),
            ("two/pdf/scripts/run.sh", "echo\n"),
            (
                "two/pdf/SKILL.md",
                &skill("pdf", "", "Run `scripts/run.sh`."),
            ),
        ],
    );
    let copy = copy.parent().unwrap();
    for script in ["link.sh", "scripts/run.sh"] {
        fs::set_permissions(copy.join(script), fs::Permissions::from_mode(0o711)).unwrap();
    }
    host.succeeds(&["package", "two/pdf", "--output", "other.zip"]);
    let read = |name: &str| fs::read(host.project().join(name)).unwrap();
    assert_eq!(read("pdf.zip"), read("other.zip"));
    let digest = |host: &Host| {
        let lock = host.lockfile();
        let text = lock.to_string();
        let at = text.find("\"sha256\":").unwrap();
        text[at..at + 80].to_owned()
    };
    host.succeeds(&["install", "./pdf.zip"]);
    let from_archive = digest(&host);
    host.succeeds(&["remove", "pdf"]);
    host.succeeds(&["install", "./two/pdf"]);
    assert_eq!(digest(&host), from_archive);
    // By name, it is the installed one.
    host.succeeds(&["package", "pdf", "-o", "third.zip"]);
    assert_eq!(read("third.zip"), read("pdf.zip"));
}

#[test]
fn a_model_gets_at_none_of_these_verbs() {
    let host = Host::stdin();
    for verb in ["new", "validate", "simulate", "package", "try"] {
        host.blocks("agent-skills", &json!({"args": [verb, "x"]}));
        for arguments in [
            json!({"action": verb, "skill_ref": "x"}),
            json!({"args": [verb, "x"]}),
        ] {
            let answer = host.pre_tool("skill_marketplace", &arguments);
            let answered = host.tool("skill_marketplace", &arguments);
            assert!(
                answer["block"] == true || answered.starts_with("Error: "),
                "{verb}: {answered}"
            );
        }
    }
    assert_eq!(
        fs::read_dir(host.project()).unwrap().count(),
        1,
        "only .git"
    );
}

#[test]
fn a_package_is_written_outside_the_skill_and_of_files_only() {
    let host = Host::stdin();
    let dir = host.project().join("pdf");
    fs::create_dir(&dir).unwrap();
    let text = "---\nname: pdf\ndescription: Fills forms. Use when asked to.\n---\nbody\n";
    fs::write(dir.join("SKILL.md"), text).unwrap();
    std::os::unix::fs::symlink("/dev/null", host.project().join("null.zip")).unwrap();
    for output in ["pdf/SKILL.md", "pdf/pdf.zip", "null.zip"] {
        host.fails(&["package", "./pdf", "--output", output]);
    }
    assert_eq!(fs::read_to_string(dir.join("SKILL.md")).unwrap(), text);
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
}

#[test]
fn try_prints_what_forked_skills_and_hooks_would_give() {
    let host = Host::stdin()
        .skill("poet", "context: fork", "Write $ARGUMENTS.")
        .skill("reads", "context: fork\nallowed-tools: Read", "Read it.")
        .skill("hooked", "hooks:\n  pre: scripts/a.sh", "Do it.");
    for name in ["poet", "hooked", "reads"] {
        let tried = host.succeeds(&["try", name, "--arguments", "a b", "--host", "stdin"]);
        host.starts();
        let got = host.tool(&format!("skill_{name}"), &json!({"arguments": "a b"}));
        assert_eq!(tried.trim_end(), got.trim_end(), "{name}");
        let is_forked = name != "hooked";
        assert_eq!(got.contains("It runs here"), is_forked, "{got}");
    }
    host.blocks("shell_exec", &json!({"command": "ls"}));
}
