//! Installs against real repositories.

use std::fs;

use super::two_skills;
use crate::marketplace::InstallOptions;
use crate::marketplace::install::InstallStatus;
use crate::marketplace::testing::{World, skill};

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
        error.contains("nothing matches") && error.contains("skills/pdf"),
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
    let statuses: Vec<InstallStatus> = world
        .install_with("o/skills", &all)
        .unwrap()
        .into_iter()
        .map(|one| one.status)
        .collect();
    assert_eq!(statuses, [InstallStatus::Already, InstallStatus::New]);
    let error = world.install_with("o/skills@pdf", &all).unwrap_err();
    assert!(error.to_string().contains("names one skill already"));
}

#[test]
fn an_installed_skill_is_left_and_update_suggested() {
    let world = World::new();
    two_skills(&world);
    world.install("o/pdf").unwrap();
    world.write("plugin/skills/pdf", &[("mine.txt", "x")]);
    let again = world.install("o/pdf").unwrap();
    assert_eq!(again[0].status, InstallStatus::Already);
    let summary = again[0].summary();
    assert!(
        summary.contains("already installed") && summary.contains("update pdf"),
        "{summary}"
    );
    assert_eq!(world.read("pdf/mine.txt"), "x");
}

#[test]
fn a_server_without_filters_is_fetched_whole() {
    let world = World::new();
    two_skills(&world);
    world.git("o/skills", &["config", "uploadpack.allowFilter", "false"]);
    assert_eq!(world.names("o/pdf").unwrap(), ["pdf"]);
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
    assert_eq!(declined.unwrap()[0].status, InstallStatus::Declined);
    let plan = shown.unwrap();
    assert_eq!(
        (plan.source.as_str(), plan.skills[0].files),
        ("https://github.com/o/skills", 1)
    );
    assert!(!world.path("plugin/skills").exists() && world.lockfile().is_empty());
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
    let statuses: Vec<(String, InstallStatus)> = std::thread::scope(|scope| {
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
            .filter(|(n, status)| n == name && *status == InstallStatus::New);
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
            assert_eq!(one.status, InstallStatus::New);
            assert!(crate::skill::Skill::load(&one.dir).is_ok());
        }
        installed += skills.len();
    }
    crate::sys::warn(format_args!("{installed} skills installed"));
}
