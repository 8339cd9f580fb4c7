//! Installs against real repositories.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::two_skills;
use crate::marketplace::install::add::Status;
use crate::marketplace::options::InstallOptions;
use crate::marketplace::testing::{World, everything, skill};

#[test]
fn every_form_installs_from_a_real_repository() {
    for (reference, name) in [
        ("o/pdf", "pdf"),
        ("o/skills@pdf", "pdf"),
        ("o/skills@pdf-ocr#main", "pdf-ocr"),
        ("o/skills/skills/pdf", "pdf"),
        ("o/skills/ocr", "pdf-ocr"),
        ("github:o/skills@pdf", "pdf"),
        ("https://github.com/o/skills/tree/main/skills/pdf", "pdf"),
        (
            "https://github.com/o/skills/tree/feature/x/skills/new",
            "new",
        ),
        ("https://github.com/o/skills.git#v1@", ""),
        ("o/skills@pdf#v1", "pdf"),
        ("FILE@pdf", "pdf"),
        ("./repos/o/skills/skills/pdf", "pdf"),
        ("~/repos/o/skills/skills/pdf/", "pdf"),
    ] {
        let world = World::new();
        two_skills(&world);
        world.git("o/skills", &["tag", "-a", "-m", "t", "v1"]);
        world.git("o/skills", &["checkout", "-q", "-b", "feature/x"]);
        world.commit("o/skills", &[("skills/new/SKILL.md", &skill("new"))]);
        world.git("o/skills", &["checkout", "-q", "main"]);
        let file = format!("file://{}", world.path("repos/o/skills").display());
        let installed = world.names(&reference.replace("FILE", &file));
        if name.is_empty() {
            assert!(installed.is_err(), "{reference}");
            continue;
        }
        assert_eq!(installed.unwrap(), [name], "{reference}");
        assert!(world.read(&format!("{name}/SKILL.md")).contains(name));
        assert!(!world.path("plugin/staging").exists());
    }
}

#[test]
fn a_commit_that_is_no_tip_can_be_named() {
    let world = World::new();
    let old = two_skills(&world);
    world.commit("o/skills", &[("skills/pdf/SKILL.md", &skill("pdf2"))]);
    assert_eq!(
        world.names(&format!("o/skills@pdf#{old}")).unwrap(),
        ["pdf"]
    );
    assert!(world.lockfile().contains(&format!("\"commit\": \"{old}\"")));
}

#[test]
fn owner_slash_name_falls_through_its_three_readings() {
    let world = World::new();
    two_skills(&world);
    world.commit(
        "o/tool",
        &[("SKILL.md", &skill("the-tool")), ("lib/x.py", "")],
    );
    world.commit("o/agent-skills", &[("extra/SKILL.md", &skill("extra"))]);
    assert_eq!(world.names("o/pdf").unwrap(), ["pdf"]);
    assert_eq!(world.names("o/tool").unwrap(), ["the-tool"]);
    assert_eq!(world.names("o/extra").unwrap(), ["extra"]);
    let error = world.names("o/nothing").unwrap_err();
    assert!(
        error.contains("nothing fits") && error.contains("skills/pdf"),
        "{error}"
    );
    let error = world.names("nobody/nothing").unwrap_err();
    assert!(error.contains("check the spelling"), "{error}");
}

#[test]
fn several_skills_are_listed_and_all_or_some_can_be_had() {
    let world = World::new();
    two_skills(&world);
    let error = world.names("o/skills").unwrap_err();
    assert!(
        error.contains("pdf (skills/pdf) — Does pdf") && error.contains("--all"),
        "{error}"
    );
    let some = InstallOptions {
        skills: vec!["ocr".to_owned()],
        ..Default::default()
    };
    assert_eq!(world.install_with("o/skills", &some).unwrap().len(), 1);
    let all = InstallOptions {
        all: true,
        ..Default::default()
    };
    let statuses: Vec<Status> = world
        .install_with("o/skills", &all)
        .unwrap()
        .into_iter()
        .map(|one| one.status)
        .collect();
    assert_eq!(statuses, [Status::Already, Status::New]);
    let error = world.install_with("o/skills@pdf", &all).unwrap_err();
    assert!(error.to_string().contains("names one skill already"));
}

#[test]
fn a_skill_that_is_there_already_is_left_and_the_way_to_update_told() {
    let world = World::new();
    two_skills(&world);
    world.install("o/pdf").unwrap();
    world.write("plugin/skills/pdf", &[("mine.txt", "x")]);
    let again = world.install("o/pdf").unwrap();
    assert_eq!(again[0].status, Status::Already);
    let summary = again[0].summary();
    assert!(
        summary.contains("already installed") && summary.contains("update pdf"),
        "{summary}"
    );
    assert_eq!(world.read("pdf/mine.txt"), "x");
}

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
        (Status::New, "local--s")
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
fn a_server_without_filters_is_fetched_whole() {
    let world = World::new();
    two_skills(&world);
    world.git("o/skills", &["config", "uploadpack.allowFilter", "false"]);
    assert_eq!(world.names("o/pdf").unwrap(), ["pdf"]);
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
fn a_person_who_says_no_has_nothing_installed() {
    let world = World::new();
    two_skills(&world);
    let mut shown = None;
    let declined = world.with(|market| {
        let mut confirm = |plan: &crate::marketplace::Plan| {
            assert!(!world.path("plugin/skills/pdf").exists());
            shown = Some(plan.clone());
            Ok(false)
        };
        market.install(
            "o/pdf",
            &InstallOptions::default(),
            &mut confirm,
            &mut |_| {},
        )
    });
    assert_eq!(declined.unwrap()[0].status, Status::Declined);
    let plan = shown.unwrap();
    assert_eq!(
        (plan.source.as_str(), plan.skills[0].files),
        ("https://github.com/o/skills", 1)
    );
    assert!(!world.path("plugin/skills").exists() && world.lockfile().is_empty());
}

#[test]
fn a_repository_that_changes_while_it_is_looked_at_does_not_change_what_lands() {
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
fn failures_of_git_are_told_apart() {
    let world = World::new();
    two_skills(&world);
    for (reference, words) in [
        ("github:o/none", "check the spelling"),
        ("github:o/skills#none", "no branch or tag is called `none`"),
        ("o/skills@none", "there is no skill `none`"),
        ("o/skills/no/path", "there is no skill `no/path`"),
        ("http://127.0.0.1:1/o/r", "check the network"),
    ] {
        let error = world.names(reference).unwrap_err();
        assert!(error.contains(words), "{reference}: {error}");
    }
}

#[test]
fn one_skill_installed_by_many_at_once_is_there_once_and_whole() {
    let world = World::new();
    two_skills(&world);
    let statuses: Vec<(String, Status)> = std::thread::scope(|scope| {
        let installs = ["o/pdf", "o/pdf", "o/ocr", "o/pdf", "o/ocr", "o/pdf"];
        let threads = installs.map(|reference| {
            let world = &world;
            scope.spawn(move || world.install(reference).unwrap().remove(0))
        });
        threads
            .into_iter()
            .map(|t| t.join().unwrap())
            .map(|i| (i.name.clone(), i.status))
            .collect()
    });
    for name in ["pdf", "pdf-ocr"] {
        let new = statuses
            .iter()
            .filter(|(n, status)| n == name && *status == Status::New);
        assert_eq!(new.count(), 1, "{statuses:?}");
    }
    assert_eq!(world.lockfile().matches("\"name\"").count(), 2);
    assert!(!world.path("plugin/staging").exists());
}

/// The real collections, each as its own repository. Skipped if they are not available.
#[test]
fn every_skill_of_the_corpus_installs_from_its_collection() {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    if !corpus.is_dir() {
        crate::sys::warn(format_args!("skipped: there is no {}", corpus.display()));
        return;
    }
    let mut installed = 0;
    for (collection, least) in [
        ("anthropics+skills", 9),
        ("expo+skills", 26),
        ("getsentry+skills", 27),
        ("obra+superpowers", 14),
    ] {
        let world = World::new();
        let repo = collection.replace('+', "/");
        fs::create_dir_all(world.path("repos").join(&repo)).unwrap();
        let copied = std::process::Command::new("cp")
            .args(["-R", "--no-preserve=mode"])
            .arg(corpus.join(collection).join("."))
            .arg(world.path("repos").join(&repo))
            .status();
        assert!(copied.unwrap().success());
        world.commit(&repo, &[]);
        let all = InstallOptions {
            all: true,
            ..Default::default()
        };
        let skills = world.install_with(&format!("github:{repo}"), &all).unwrap();
        assert!(skills.len() >= least, "{collection}: {}", skills.len());
        for one in &skills {
            assert_eq!(one.status, Status::New);
            assert!(crate::skill::Skill::load(&one.dir).is_ok());
        }
        installed += skills.len();
    }
    crate::sys::warn(format_args!("{installed} skills installed"));
}
