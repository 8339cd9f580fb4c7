//! What is reported of skill files that cannot be offered, and how files in unusual places are taken.

use std::fs;

use agent_skills::catalog::Entry;
use serde_json::json;

use crate::Host;
use crate::host::{Has, fifo};
use crate::parsing::{codes, with_file};

#[test]
fn what_cannot_be_offered_is_reported() {
    for (text, code) in [
        ("", "no-frontmatter"),
        ("# Only a body\n", "no-frontmatter"),
        ("---\nname: x\n---\nBody.", "description-missing"),
        ("---\nname: x\ndescription:\n---\n", "description-missing"),
        (
            "---\nname: x\ndescription: ' '\n---\n",
            "description-missing",
        ),
        (
            "---\nname: x\ndescription: \"\\u200b\"\n---\n",
            "description-missing",
        ),
        ("---\n- just\n- a\n- list\n---\n", "description-missing"),
        ("---\n---\n", "description-missing"),
        ("../outside/SKILL.md", "no-frontmatter"),
    ] {
        let host = with_file(Host::stdin(), text).skill("good", "", "").file(
            "../outside/SKILL.md",
            "---\nname: out\ndescription: d\n---\n",
        );
        assert_eq!(host.skill_tools(), ["skill_good"], "{text:?}");
        assert!(
            codes(&host).iter().any(|c| c == code),
            "{text:?}: {:?}",
            codes(&host)
        );
        host.tool("skill_x", &json!({})).begins("Error: ");
    }
}

#[test]
fn one_bad_skill_never_hides_the_others() {
    let host = Host::stdin()
        .skill("a-good", "", "")
        .skill("z-good", "", "")
        .file("no-frontmatter/SKILL.md", "x")
        .file("binary/SKILL.md", b"\0\xff\xfe\x01---\n")
        .file("utf16/SKILL.md", b"\xff\xfe-\0-\0-\0\n\0")
        .file("large/SKILL.md", vec![b'x'; 3 * 1024 * 1024])
        .file("empty/notes.md", "")
        .file("---/SKILL.md", "---\ndescription: d\n---\n")
        .file("nested/SKILL.md/x", "a directory of that name")
        .file("README.md", "no skill")
        .file(
            ".hidden/SKILL.md",
            "---\nname: hidden\ndescription: d\n---\n",
        );
    let dir = host.skills_dir();
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, dir.join(name)).unwrap();
    link("..", "up");
    link("loop", "loop");
    link("gone", "gone");
    link("a-good/SKILL.md", "file");
    fs::create_dir(dir.join("fifo")).unwrap();
    fifo(&dir.join("fifo/SKILL.md"));
    assert_eq!(host.skill_tools(), ["skill_a-good", "skill_z-good"]);
    assert_eq!(host.prompt().matches("\n- ").count(), 2);
    host.activates("z-good");
    let catalog = host.catalog();
    for entry in catalog.entries() {
        let good = entry.name().ends_with("-good");
        let reason = entry.reason_not_offered();
        assert_eq!(reason.is_none(), good, "{}", entry.name());
        assert_ne!(reason.as_deref(), Some(""), "{}", entry.name());
    }
    for bad in [
        "no-frontmatter",
        "binary",
        "utf16",
        "large",
        "empty",
        "---",
        "nested",
        "fifo",
    ] {
        let reported = |entry: &Entry| entry.dir.ends_with(bad);
        assert!(catalog.entries().iter().any(reported), "{bad}");
    }
}

#[test]
fn of_two_skills_with_one_name_one_is_offered() {
    let host = Host::stdin();
    let text = |body: &str| format!("---\nname: calendar\ndescription: d\n---\n{body}\n");
    let host = host
        .file("a/SKILL.md", text("the first"))
        .file("b/SKILL.md", text("the second"));
    assert_eq!(host.skill_tools(), ["skill_calendar"]);
    host.tool("skill_calendar", &json!({})).has("the first");
    assert!(codes(&host).contains(&"duplicate-name".to_owned()));
    assert_eq!(host.prompt().matches("\n- ").count(), 1);
    // A directory of the name is the better claim.
    let host = host.file("calendar/SKILL.md", text("the third"));
    host.tool("skill_calendar", &json!({})).has("the third");
    // One that is not offered takes no name from another.
    let host = host.file("calendar/SKILL.md", "---\nname: calendar\n---\n");
    host.tool("skill_calendar", &json!({})).has("the first");
}

#[test]
fn a_skill_inside_a_skill_is_not_offered() {
    let host = Host::stdin()
        .skill("x", "", "Outer.")
        .file("x/a.md", "")
        .file(
            "x/sub/SKILL.md",
            "---\nname: sub\ndescription: d\n---\nInner.\n",
        )
        .file("x/sub/b.md", "");
    std::os::unix::fs::symlink("..", host.skills_dir().join("x/up")).unwrap();
    assert_eq!(host.skill_tools(), ["skill_x"]);
    let text = host.tool("skill_x", &json!({}));
    text.has(">a.md<").lacks("b.md");
    assert_eq!(text.matches("<file>").count(), 1, "{text}");
}
