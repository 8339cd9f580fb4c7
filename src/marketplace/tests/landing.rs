//! What of a repository lands in the skills directory: files and directories of one skill, and nothing
//! that could leave it.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::two_skills;
use crate::marketplace::InstallOptions;
use crate::marketplace::install::InstallStatus;
use crate::marketplace::testing::{World, everything, skill};

#[test]
fn what_lands_is_files_and_directories_only() {
    let world = World::new();
    let text = skill("s");
    world.commit(
        "o/r",
        &[
            ("LICENSE", "free"),
            ("shared/lib.py*", "lib"),
            ("s/SKILL.md", text.as_str()),
            ("s/run.sh*", "#!/bin/sh"),
            ("s/plain.txt", "x"),
            ("s/-o", "x"),
            ("s/--help", "x"),
            ("s/LICENSE@", "../LICENSE"),
            ("s/lib@", "../shared"),
            ("s/passwd@", "/etc/passwd"),
            ("s/out@", "../../../etc"),
            ("s/up@", ".."),
        ],
    );
    let installed = world.install("o/r/s").unwrap();
    assert_eq!(installed[0].dropped.len(), 3, "{:?}", installed[0].dropped);
    let dir = world.skill_file("s");
    let kept: Vec<String> = everything(&dir)
        .iter()
        .map(|path| {
            let kind = fs::symlink_metadata(path).unwrap();
            let mark = if kind.is_dir() {
                "/"
            } else if kind.permissions().mode() & 0o111 != 0 {
                "*"
            } else {
                ""
            };
            assert!(!kind.is_symlink());
            assert_eq!(kind.permissions().mode() & 0o022, 0, "{path:?}");
            format!("{}{mark}", path.strip_prefix(&dir).unwrap().display())
        })
        .collect();
    assert_eq!(
        kept,
        [
            "--help",
            "-o",
            "LICENSE",
            "SKILL.md",
            "lib/",
            "lib/lib.py*",
            "plain.txt",
            "run.sh*"
        ]
    );
    let local = world.install("./repos/o/r/s").unwrap();
    assert_eq!(
        (local[0].status.clone(), local[0].name.as_str()),
        (InstallStatus::New, "local--s")
    );
}

#[test]
fn a_root_skill_lands_without_git_and_without_the_other_skills() {
    let world = World::new();
    let root = "---\ndescription: d\n---\n";
    world.commit(
        "o/tool",
        &[
            ("SKILL.md", root),
            ("skills/x/SKILL.md", &skill("x")),
            ("lib/a", ""),
        ],
    );
    assert_eq!(world.names("o/tool/SKILL.md").unwrap(), ["tool"]);
    assert!(world.skill_file("tool/lib/a").exists());
    for gone in ["tool/.git", "tool/skills/x/SKILL.md"] {
        assert!(!world.skill_file(gone).exists(), "{gone}");
    }
    assert_eq!(
        world
            .names("./repos/o/tool/")
            .map_err(|e| e.contains("2 skills")),
        Err(true)
    );
}

#[test]
fn submodules_and_their_configuration_are_left_out() {
    let world = World::new();
    let other = world.commit("o/other", &[("x", "")]);
    world.commit(
        "o/r",
        &[
            ("SKILL.md", &skill("s")),
            (
                ".gitmodules",
                "[submodule \"m\"]\n\tpath = m\n\turl = ../other\n",
            ),
        ],
    );
    world.git(
        "o/r",
        &[
            "update-index",
            "--add",
            "--cacheinfo",
            &format!("160000,{other},m"),
        ],
    );
    world.git("o/r", &["commit", "-q", "-m", "m"]);
    let installed = world.install("o/r").unwrap();
    assert!(installed[0].dropped[0].contains("submodule"));
}

#[test]
fn names_that_could_leave_the_skills_directory_become_harmless() {
    let world = World::new();
    world.commit(
        "o/r",
        &[
            ("a/SKILL.md", &skill("../../../.ssh")),
            ("--help/SKILL.md", &skill("--help")),
        ],
    );
    let before = everything(&world.path("repos"));
    let all = InstallOptions {
        all: true,
        ..Default::default()
    };
    let names: Vec<String> = world
        .install_with("o/r", &all)
        .unwrap()
        .iter()
        .map(|one| one.name.clone())
        .collect();
    assert_eq!(names, ["help", "ssh"]);
    assert_eq!(everything(&world.path("repos")), before);
}

#[test]
fn a_local_fifo_is_refused_and_nothing_lands() {
    let world = World::new();
    world.write("x", &[("SKILL.md", &skill("x"))]);
    let fifo = world.path("x/pipe");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(fifo)
            .status()
            .unwrap()
            .success()
    );
    assert!(world.names("./x").unwrap_err().contains("FIFO"));
    assert!(!world.path("plugin/skills").exists() && !world.path("plugin/staging").exists());
}

#[test]
fn a_repository_that_changes_meanwhile_lands_as_it_was_shown() {
    let world = World::new();
    let commit = two_skills(&world);
    world
        .with(|market| {
            let mut confirm = |plan: &crate::marketplace::Plan| {
                assert_eq!(plan.commit.as_deref(), Some(commit.as_str()));
                world.commit(
                    "o/skills",
                    &[("skills/pdf/SKILL.md", "evil"), ("skills/pdf/x", "")],
                );
                Ok(true)
            };
            let options = InstallOptions::default();
            market.install("o/pdf", &options, &mut confirm, &mut |_| {})
        })
        .unwrap();
    assert_eq!(world.read("pdf/SKILL.md"), skill("pdf"));
    assert!(!world.skill_file("pdf/x").exists() && world.lockfile().contains(&commit));
}

#[test]
fn what_is_too_deep_is_left_out_and_told() {
    let world = World::new();
    let deep = format!("{}x.md", "d/".repeat(2000));
    let mut header = tar::Header::new_gnu();
    let text = skill("pdf");
    header.set_size(text.len() as u64);
    let mut tar = tar::Builder::new(Vec::new());
    tar.append_data(&mut header.clone(), "SKILL.md", text.as_bytes())
        .unwrap();
    tar.append_data(&mut header, &deep, text.as_bytes())
        .unwrap();
    std::fs::write(world.path("x.tar"), tar.into_inner().unwrap()).unwrap();
    let mut notes = String::new();
    let options = InstallOptions::default();
    let shown = world.with(|market| market.show("./x.tar", &options, &mut |note| notes += note));
    assert_eq!(shown.unwrap().skills[0].files, 1);
    assert!(
        notes.contains("1 paths of the source were left out"),
        "{notes}"
    );
    assert!(notes.contains("deeper than 24 directories"), "{notes}");
}
