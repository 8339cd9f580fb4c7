//! No change takes a skill's name: what is offered under which name after installs and updates.

use crate::error::Error;
use crate::marketplace::install::{UpdateOptions, UpdateResult};
use crate::marketplace::testing::{World, everything, skill};
use crate::marketplace::{InstallOptions, InstalledName, offered_name};
use crate::skill::Skill;

fn update(world: &World) -> Vec<UpdateResult> {
    let options = UpdateOptions::default();
    let updated = world.with(|market| market.update(&[], options, &mut |_| Ok(true)));
    updated.unwrap().into_iter().map(|one| one.change).collect()
}

/// The name under which each directory's skill is offered.
fn offered(world: &World) -> Vec<(String, String)> {
    let dirs = world.with(|market| market.directories());
    let named = |dir: &InstalledName| {
        let path = world.skill_file(dir);
        let skill = Skill::load(&path).unwrap();
        (dir.to_string(), offered_name(&path, &skill).to_string())
    };
    dirs.iter().map(named).collect()
}

#[test]
fn an_update_keeps_the_name_of_its_skill() {
    for (new, is_kept) in [
        (skill("pdf2"), true),
        (
            skill("deploy").replace("---\n#", "priority: 10\n---\n#"),
            true,
        ),
        (skill("PDF").replace("Does", "Also does"), false),
        (skill("x").replace("name: x\n", ""), false),
    ] {
        let world = World::new();
        world.commit("o/skills", &[("skills/pdf/SKILL.md", &skill("pdf"))]);
        world.install("o/pdf").unwrap();
        world.write("plugin/skills/deploy", &[("SKILL.md", &skill("deploy"))]);
        world.commit("o/skills", &[("skills/pdf/SKILL.md", &new)]);
        let change = update(&world).remove(0);
        let told = format!("{change:?}");
        assert_eq!(
            matches!(change, UpdateResult::Failed { .. }),
            is_kept,
            "{told}"
        );
        let next_step = "remove the skill and install it again";
        assert!(
            !is_kept || told.contains("not `pdf`") && told.contains(next_step),
            "{told}"
        );
        let names = offered(&world);
        assert!(names.iter().all(|(dir, name)| dir == name), "{names:?}");
    }
}

#[test]
fn what_was_kept_under_another_name_stays_kept() {
    let world = World::new();
    world.write("x", &[("SKILL.md", &skill("x"))]);
    world.install("./x").unwrap();
    world.write("x", &[("new", "1")]);
    update(&world);
    let kept = everything(&world.path("plugin/previous"));
    let kept = kept.iter().find(|path| path.ends_with("SKILL.md")).unwrap();
    std::fs::write(kept, skill("deploy")).unwrap();
    let error = world.with(|market| market.rollback("x")).unwrap_err();
    assert!(error.to_string().contains("`deploy`, not `x`"), "{error}");
    assert_eq!(world.read("x/SKILL.md"), skill("x"));
}

#[test]
fn a_skill_whose_name_is_taken_is_installed_beside() {
    let named = |name: &str| InstallOptions {
        name: Some(name.to_owned()),
        ..InstallOptions::default()
    };
    let world = World::new();
    world.write("g", &[("SKILL.md", &skill("guard"))]);
    world.write("s/foo", &[("SKILL.md", &skill("foo"))]);
    world.write("plugin/skills/helper", &[("SKILL.md", &skill("deploy"))]);
    world.write("s/deploy", &[("SKILL.md", &skill("deploy"))]);
    world.write("s/local-foo", &[("SKILL.md", &skill("local-foo"))]);
    world.install_with("./g", &named("foo")).unwrap();
    for reference in ["./s/foo", "./s/deploy", "./s/local-foo"] {
        world.install(reference).unwrap();
    }
    let now = offered(&world);
    let expected = [
        ("foo--", "foo"),
        ("helper", "deploy"),
        ("local--deploy", "local-deploy"),
        ("local--foo", "local-foo"),
        ("local--local-foo", "local-local-foo"),
    ];
    let expected = expected.map(|(dir, name)| (dir.to_owned(), name.to_owned()));
    assert_eq!(now, expected);
    world.write("other", &[("SKILL.md", &skill("x"))]);
    for name in ["foo", "local-foo", "deploy"] {
        let error = world.install_with("./other", &named(name)).unwrap_err();
        assert!(error.to_string().contains("from somewhere else"), "{error}");
    }
    let created = world
        .with(|market| market.create("deploy", &skill("deploy"), "a proposal", &mut |_| Ok(true)));
    assert!(created.unwrap_err().to_string().contains("as `helper`"));
}

#[test]
fn a_restored_source_has_not_taken_another_name() {
    for name in ["deploy", "z"] {
        let world = World::new();
        world.write("x", &[("SKILL.md", &skill("x"))]);
        world.install("./x").unwrap();
        world.write("plugin/skills/deploy", &[("SKILL.md", &skill("deploy"))]);
        std::fs::remove_dir_all(world.skill_file("x")).unwrap();
        world.write("x", &[("SKILL.md", &skill(name))]);
        let restored = world.with(|market| market.restore(false, &mut |_| Ok(true), &mut |_| {}));
        let error = restored.unwrap_err().to_string();
        assert!(error.contains("not `x`"), "{error}");
        assert!(!world.skill_file("x").exists());
    }
}

#[test]
fn a_name_alone_means_exactly_its_directory() {
    let world = World::new();
    world.commit("acme/s", &[("skills/pdf/SKILL.md", &skill("pdf"))]);
    world.commit("o/s", &[("skills/pdf/SKILL.md", &skill("pdf"))]);
    for reference in ["o/s@pdf", "acme/s@pdf"] {
        world.install(reference).unwrap();
    }
    world.write("x", &[("SKILL.md", &skill("x"))]);
    let named = InstallOptions {
        name: Some("mine".to_owned()),
        ..InstallOptions::default()
    };
    world.install_with("./x", &named).unwrap();
    let meant = |written: &str| {
        let told = |error: Error| format!("{error} | {}", error.next_step().unwrap());
        let meant = world.with(|market| market.installed(written));
        meant.map(|name| name.to_string()).map_err(told)
    };
    for (written, directory) in [
        ("pdf", "pdf"),
        ("o/pdf", "pdf"),
        ("acme--pdf", "acme--pdf"),
        // By the name that `list` shows.
        ("acme-pdf", "acme--pdf"),
        ("acme/pdf", "acme--pdf"),
        ("pdf@Acme", "acme--pdf"),
        ("mine", "mine--"),
        ("mine--", "mine--"),
    ] {
        assert_eq!(meant(written).unwrap(), directory, "{written}");
    }
    std::fs::remove_dir_all(world.skill_file("pdf")).unwrap();
    for (written, hint) in [
        ("pdf", "`agent-skills remove pdf` forgets it"),
        ("o/pdf", "`acme--pdf` alone means it"),
    ] {
        let error = meant(written).unwrap_err();
        assert!(error.ends_with(hint), "{written}: {error}");
    }
    std::fs::write(world.skill_file("acme--pdf/SKILL.md"), skill("other")).unwrap();
    assert_eq!(meant("acme/pdf").unwrap(), "acme--pdf");
}
