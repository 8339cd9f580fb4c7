//! The cases of the reference library (`skills-ref` of agentskills/agentskills): what its tests accept has
//! no finding here, and what they reject has one. On purpose we differ in what follows from a finding: the
//! reference refuses the skill, here it loads with what can be read. Cases about files that are not there
//! are the caller's.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use skill_format::{Level, Skill, Source, lint, split};

/// The codes of all findings. That its descriptions do not say when to use the skill is not its subject.
fn codes(directory: &str, text: &str) -> Vec<String> {
    let skill = Skill::parse(directory, text.as_bytes()).unwrap();
    let found = lint(&skill, &Source::new(text.to_owned())).into_iter();
    let codes = found.map(|found| found.code);
    codes.filter(|code| code != "description-no-when").collect()
}

fn file(yaml: &str) -> String {
    format!("---\n{yaml}\n---\nBody\n")
}

#[test]
fn what_the_reference_accepts_has_no_finding() {
    let described = "description: A test skill";
    for (directory, yaml) in [
        ("my-skill", "name: my-skill"),
        (
            "my-skill",
            "name: my-skill\nlicense: MIT\nmetadata:\n  author: Test",
        ),
        (
            "my-skill",
            "name: my-skill\nallowed-tools: Bash(jq:*) Bash(git:*)",
        ),
        (
            "my-skill",
            "name: my-skill\ncompatibility: Requires Python 3.11+",
        ),
        ("技能", "name: 技能"),
        ("мой-навык", "name: мой-навык"),
        ("навык", "name: навык"),
    ] {
        let text = file(&format!("{yaml}\n{described}"));
        assert_eq!(codes(directory, &text), [""; 0], "{yaml}");
    }
}

#[test]
fn what_the_reference_rejects_has_a_finding() {
    let long = "a".repeat(70);
    let named = |name: &str| file(&format!("name: {name}\ndescription: A test skill"));
    let with = |more: &str| {
        file(&format!(
            "name: my-skill\ndescription: A test skill\n{more}"
        ))
    };
    for (directory, text, found) in [
        // Names.
        ("MySkill", named("MySkill"), &["name-altered"][..]),
        (&*long, named(&long), &["name-too-long"]),
        ("-my-skill", named("-my-skill"), &["name-altered"]),
        ("my--skill", named("my--skill"), &["name-altered"]),
        ("my_skill", named("my_skill"), &["name-altered"]),
        ("НАВЫК", named("НАВЫК"), &["name-altered"]),
        ("wrong-name", named("correct-name"), &["name-mismatch"]),
        // Fields.
        (
            "my-skill",
            file("description: A test skill"),
            &["name-missing"],
        ),
        ("my-skill", file("name: my-skill"), &["description-missing"]),
        (
            "my-skill",
            with("unknown_field: should not be here"),
            &["unknown-field"],
        ),
        (
            "my-skill",
            with(&format!("compatibility: {}", "x".repeat(550))),
            &["compatibility-too-long"],
        ),
        (
            "my-skill",
            file(&format!(
                "name: my-skill\ndescription: {}",
                "x".repeat(1100)
            )),
            &["description-too-long"],
        ),
        // Frontmatter.
        (
            "my-skill",
            "# No frontmatter here".to_owned(),
            &["no-frontmatter", "name-missing", "description-missing"],
        ),
        (
            "my-skill",
            "---\nname: my-skill\ndescription: A test skill\n".to_owned(),
            &["unclosed-frontmatter", "body-empty"],
        ),
        (
            "my-skill",
            file("name: [invalid\ndescription: broken"),
            &["yaml-repaired", "name-altered", "name-mismatch"],
        ),
        (
            "my-skill",
            file("- just\n- a\n- list"),
            &["yaml-repaired", "name-missing", "description-missing"],
        ),
    ] {
        assert_eq!(codes(directory, &text), found, "{text}");
    }
}

/// The reference normalizes a name and its directory before it compares them, and so do we: the name is
/// that of the directory. Here it is noted that the file has it in another form.
#[test]
fn a_decomposed_name_is_that_of_its_directory() {
    let text = file("name: cafe\u{301}\ndescription: A test skill");
    let skill = Skill::parse("café", text.as_bytes()).unwrap();
    assert_eq!(skill.name.as_str(), "café");
    assert_eq!(codes("café", &text), ["name-altered"]);
    assert!(
        skill
            .diagnostics
            .iter()
            .all(|found| found.level() == Level::Note)
    );
}

#[test]
fn properties_and_body_are_those_of_the_reference() {
    let text = "---\nname: my-skill\ndescription: A test skill\nlicense: MIT\nmetadata:\n  author: Test Author\n  \
                version: 1.0\nallowed-tools: Bash(jq:*) Bash(git:*)\n---\n# My Skill\n\nInstructions here.\n";
    let skill = Skill::parse("my-skill", text.as_bytes()).unwrap();
    let properties = skill.properties();
    assert_eq!(properties["name"], "my-skill");
    assert_eq!(properties["description"], "A test skill");
    assert_eq!(properties["license"], "MIT");
    assert_eq!(properties["metadata"]["author"], "Test Author");
    // A version is what is written, not a number.
    assert_eq!(properties["metadata"]["version"], "1.0");
    assert_eq!(properties["allowed-tools"], "Bash(jq:*) Bash(git:*)");
    assert_eq!(
        split(text).instructions(),
        "# My Skill\n\nInstructions here."
    );
}
