//! Updates, removals and the catalog against real repositories.

use std::fs;

use super::two_skills;
use crate::marketplace::Market;
use crate::marketplace::install::{UpdateOptions, UpdateResult};
use crate::marketplace::testing::{World, everything, skill};

#[test]
fn a_new_commit_replaces_the_skill_and_the_same_one_does_not() {
    let world = World::new();
    let first = two_skills(&world);
    world.install("o/pdf").unwrap();
    world.install("o/ocr").unwrap();
    let update = || {
        let updated = world
            .with(|market| market.update(&[], UpdateOptions::default(), &mut |_| Ok(true)))
            .unwrap();
        updated
            .into_iter()
            .map(|one| one.change)
            .collect::<Vec<_>>()
    };
    assert_eq!(update(), [UpdateResult::UpToDate, UpdateResult::UpToDate]);
    let second = world.commit("o/skills", &[("skills/pdf/more.md", "x")]);
    let (from, to) = (Some(first), Some(second.clone()));
    assert_eq!(
        update(),
        [
            UpdateResult::Updated {
                from,
                to,
                dropped: Vec::new(),
                stashed: None,
            },
            UpdateResult::UpToDate
        ]
    );
    assert_eq!(world.read("pdf/more.md"), "x");
    assert_eq!(world.lockfile().matches(&second).count(), 2);

    world.write("plugin/skills/pdf", &[("SKILL.md", "mine")]);
    world.commit("o/skills", &[("skills/pdf/more.md", "y")]);
    assert!(
        matches!(&update()[0], UpdateResult::Kept { reason, .. } if reason.contains("changed both"))
    );
    assert_eq!(world.read("pdf/SKILL.md"), "mine");
}

#[test]
fn a_local_source_is_copied_again_when_it_has_changed() {
    let world = World::new();
    world.write("x", &[("SKILL.md", &skill("x"))]);
    world.install("./x").unwrap();
    world.write("x", &[("new", "1")]);
    let updated = world
        .with(|market| {
            market.update(&["x".to_owned()], UpdateOptions::default(), &mut |_| {
                Ok(true)
            })
        })
        .unwrap();
    assert!(
        matches!(updated[0].change, UpdateResult::Updated { .. }),
        "{updated:?}"
    );
    assert_eq!(world.read("x/new"), "1");
}

#[test]
fn a_skill_that_is_gone_upstream_is_kept() {
    let world = World::new();
    two_skills(&world);
    world.install("o/pdf").unwrap();
    world.git("o/skills", &["mv", "skills/pdf", "moved"]);
    world.commit("o/skills", &[]);
    let updated = world
        .with(|market| market.update(&[], UpdateOptions::default(), &mut |_| Ok(true)))
        .unwrap();
    assert!(
        matches!(&updated[0].change, UpdateResult::Failed { hint: Some(hint), .. } if hint.contains("`moved`"))
    );
    assert!(world.skill_file("pdf/SKILL.md").exists());
}

#[test]
fn the_lockfile_is_the_same_whatever_the_order() {
    let world = World::new();
    let other = World::new();
    let texts = [(&world, ["o/pdf", "o/ocr"]), (&other, ["o/ocr", "o/pdf"])].map(|(w, order)| {
        let date = "2020-01-01T00:00:00Z";
        two_skills(w);
        w.git(
            "o/skills",
            &[
                "-c",
                "core.logAllRefUpdates=false",
                "commit",
                "-q",
                "--amend",
                "--reset-author",
                "--date",
                date,
                "--allow-empty",
                "-m",
                "x",
            ],
        );
        for reference in order {
            w.install(reference).unwrap();
        }
        let text = w.lockfile();
        let commit = w.git("o/skills", &["rev-parse", "HEAD"]);
        let root = w.path("repos").display().to_string();
        text.replace(&commit, "COMMIT").replace(&root, "REPOS")
    });
    assert_eq!(texts[0], texts[1]);
    assert!(
        texts[0].contains("\"source\": \"https://github.com/o/skills\""),
        "{}",
        texts[0]
    );
}

#[test]
fn only_the_skill_of_the_name_or_owner_and_name_is_removed() {
    let world = World::new();
    two_skills(&world);
    let remove = |name: &str| {
        world.with(|market| {
            market
                .remove(name, |_, _| Ok(true))
                .map(|removed| removed.name.to_string())
        })
    };
    for reference in ["o/pdf", "o/ocr"] {
        world.install(reference).unwrap();
    }
    let before = everything(&world.path("plugin/skills"));
    for bad in [
        "..",
        ".",
        "",
        "/",
        "x/..",
        "../skills",
        "../../repos",
        "/etc",
        "o/..",
        "other/pdf",
        "pdf/",
        "nope",
    ] {
        let error = remove(bad).expect_err(bad);
        assert!(error.next_step().is_some());
        assert_eq!(everything(&world.path("plugin/skills")), before, "{bad}");
    }
    assert_eq!(
        remove("pfd").unwrap_err().next_step(),
        Some("did you mean `pdf`?")
    );
    assert_eq!(remove("O/pdf").unwrap(), "pdf");
    assert_eq!(
        remove("PDF OCR").unwrap_err().next_step(),
        Some("did you mean `pdf-ocr`?")
    );
    assert_eq!(remove("pdf-ocr").unwrap(), "pdf-ocr");
    assert!(!world.lockfile().contains("\"name\""));
    assert_eq!(everything(&world.path("plugin/skills")).len(), 0);
    assert!(!world.path("plugin/staging").exists());
}

#[test]
fn a_skill_put_there_by_hand_is_removed_by_its_directory() {
    let world = World::new();
    world.write("plugin/skills/folder", &[("SKILL.md", &skill("named"))]);
    let by_name = world
        .with(|market| market.remove("named", |_, _| Ok(true)))
        .unwrap_err();
    assert_eq!(by_name.next_step(), Some("did you mean `folder`?"));
    let removed = world
        .with(|market| market.remove("folder", |_, _| Ok(true)))
        .unwrap();
    assert_eq!((&*removed.name, removed.entry), ("folder", None));
}

#[test]
fn the_catalog_is_listed_searched_and_there_offline() {
    let world = World::new();
    let list = |offline: bool| {
        let mut notes = String::new();
        let listed = world.with(|market| {
            let market = Market { offline, ..market };
            market.search(&[], &mut |note| notes += note)
        });
        (
            listed.map(|all| all.into_iter().map(|one| one.name).collect::<Vec<_>>()),
            notes,
        )
    };
    assert!(list(true).0.is_err() && list(false).0.is_err());
    world.commit(
        "anthropics/skills",
        &[
            ("skills/pdf/SKILL.md", &skill("pdf")),
            ("template/SKILL.md", &skill("t")),
        ],
    );
    assert_eq!(list(false).0.unwrap(), ["pdf", "t"]);
    world.commit(
        "anthropics/skills",
        &[("skills/docx/SKILL.md", &skill("docx"))],
    );
    assert_eq!(list(true).0.unwrap(), ["pdf", "t"]);
    assert_eq!(list(false).0.unwrap(), ["docx", "pdf", "t"]);
    fs::rename(world.path("repos"), world.path("away")).unwrap();
    let (listed, notes) = list(false);
    assert_eq!(listed.unwrap(), ["docx", "pdf", "t"]);
    assert!(notes.contains("last one fetched"), "{notes}");
    let found = world
        .with(|market| market.search(&["pdf".to_owned()], &mut |_| {}))
        .unwrap();
    assert_eq!(found[0].reference, "anthropics/skills@pdf");
    fs::rename(world.path("away"), world.path("repos")).unwrap();
    assert_eq!(world.names("pdf").unwrap(), ["pdf"]);
}
