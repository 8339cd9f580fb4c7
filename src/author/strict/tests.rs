//! The reference validator's 40 cases (docs/spec/skills.md#strict-validation), and strictyaml
//! 1.7.3's results for unusual YAML.

use std::fs;
use std::path::{Path, PathBuf};

use super::*;
use crate::author::strict::yaml::parse;

struct Skills(tempfile::TempDir);

impl Skills {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn dir(&self, name: &str) -> PathBuf {
        let dir = self.0.path().join(name);
        fs::create_dir_all(&dir).unwrap();
        dir
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path.parent().unwrap().to_owned()
    }

    fn skill(&self, name: &str, more: &str) -> PathBuf {
        self.write(
            &format!("{name}/SKILL.md"),
            &format!("---\nname: {name}\ndescription: A test skill\n{more}---\n# My Skill\n"),
        )
    }
}

fn messages(dir: &Path) -> Vec<String> {
    validate(dir)
        .into_iter()
        .map(|problem| problem.message)
        .collect()
}

fn parse_error(text: &str) -> String {
    parse_frontmatter(text).unwrap_err().message
}

fn read_error(dir: &Path) -> String {
    read_properties(dir).unwrap_err().to_string()
}

#[test]
fn p1_to_p5_frontmatter() {
    let fields =
        parse_frontmatter("---\nname: my-skill\ndescription: A test skill\n---\n# My Skill\n");
    let expected = serde_json::json!({"name": "my-skill", "description": "A test skill"});
    assert_eq!(
        serde_json::Value::Object(fields.unwrap()).to_string(),
        expected.to_string(),
        "P1"
    );
    for (case, text, said) in [
        (
            "P2",
            "# No frontmatter here",
            "must start with YAML frontmatter",
        ),
        (
            "P3",
            "---\nname: my-skill\ndescription: A test skill\n",
            "not properly closed",
        ),
        (
            "P4",
            "---\nname: [invalid\ndescription: broken\n---\n",
            "Invalid YAML",
        ),
        (
            "P5",
            "---\n- just\n- a\n- list\n---\n",
            "must be a YAML mapping",
        ),
    ] {
        assert!(parse_error(text).contains(said), "{case}");
    }
}

#[test]
fn p6_to_p15_properties() {
    let skills = Skills::new();
    let json = |dir: &Path| {
        serde_json::from_str::<serde_json::Value>(&read_properties(dir).unwrap().to_json()).unwrap()
    };
    let read = json(&skills.skill("my-skill", "license: MIT\n"));
    assert_eq!(
        (&read["name"], &read["license"]),
        (&"my-skill".into(), &"MIT".into()),
        "P6"
    );
    let metadata = skills.skill("m", "metadata:\n  author: Test Author\n  version: 1.0\n");
    assert_eq!(
        json(&metadata)["metadata"],
        serde_json::json!({"author": "Test Author", "version": "1.0"}),
        "P7"
    );
    let empty = skills.dir("empty");
    assert!(read_error(&empty).contains("SKILL.md not found"), "P8");
    let nameless = skills.write("a/SKILL.md", "---\ndescription: d\n---\n");
    assert!(
        read_error(&nameless).contains("Missing required field in frontmatter: name"),
        "P9"
    );
    let silent = skills.write("b/SKILL.md", "---\nname: b\n---\n");
    assert!(
        read_error(&silent).contains("Missing required field in frontmatter: description"),
        "P10"
    );
    let both = skills.skill("both", "");
    skills.write("both/skill.md", "x");
    assert_eq!(find_skill_md(&both), Some(both.join("SKILL.md")), "P11");
    let lower = skills.write("lower/skill.md", "---\nname: lower\ndescription: d\n---\n");
    assert!(
        find_skill_md(&lower)
            .unwrap()
            .file_name()
            .unwrap()
            .eq_ignore_ascii_case("skill.md"),
        "P12"
    );
    assert_eq!(find_skill_md(&empty), None, "P13");
    assert_eq!(json(&lower)["name"], "lower", "P14");
    let tools = json(&skills.skill("t", "allowed-tools: Bash(jq:*) Bash(git:*)\n"));
    assert_eq!(tools["allowed-tools"], "Bash(jq:*) Bash(git:*)", "P15");
}

#[test]
fn t1_to_t4_prompt() {
    assert_eq!(
        to_prompt(&[]).unwrap(),
        "<available_skills>\n</available_skills>",
        "T1"
    );
    let skills = Skills::new();
    let one = to_prompt(&[skills.skill("my-skill", "")]).unwrap();
    for part in [
        "<name>\nmy-skill\n</name>",
        "<description>\nA test skill\n</description>",
        "<location>",
        "SKILL.md",
    ] {
        assert!(one.contains(part), "T2: {part}");
    }
    let two = to_prompt(&[skills.skill("skill-a", ""), skills.skill("skill-b", "")]).unwrap();
    assert_eq!(
        (
            two.matches("<skill>").count(),
            two.matches("</skill>").count()
        ),
        (2, 2),
        "T3"
    );
    assert!(two.contains("skill-a") && two.contains("skill-b"), "T3");
    let special = skills.write(
        "s/SKILL.md",
        "---\nname: s\ndescription: Use <foo> & <bar> tags\n---\n",
    );
    let escaped = to_prompt(&[special]).unwrap();
    for part in ["&lt;foo&gt;", "&amp;", "&lt;bar&gt;"] {
        assert!(escaped.contains(part), "T4: {part}");
    }
    assert!(
        !escaped.contains("<foo>") && !escaped.contains("<bar>"),
        "T4"
    );
}

#[test]
fn v2_to_v4_paths_have_one_error_each() {
    let skills = Skills::new();
    let file = skills.write("file.txt", "x").join("file.txt");
    for (case, path, said) in [
        ("V2", skills.0.path().join("nonexistent"), "does not exist"),
        ("V3", file, "Not a directory"),
        ("V4", skills.dir("empty"), "Missing required file: SKILL.md"),
    ] {
        let found = messages(&path);
        assert!(
            found.len() == 1 && found[0].contains(said),
            "{case}: {found:?}"
        );
    }
}

#[test]
fn v1_and_v5_to_v21_frontmatter() {
    let long = |c: &str, n: usize| c.repeat(n);
    let cases: Vec<(&str, &str, String, &str, &[&str])> = vec![
        ("V1", "my-skill", "my-skill".into(), "", &[]),
        ("V5", "MySkill", "MySkill".into(), "", &["lowercase"]),
        ("V6", "", long("a", 70), "", &["exceeds", "character limit"]),
        (
            "V7",
            "-my-skill",
            "-my-skill".into(),
            "",
            &["cannot start or end with a hyphen"],
        ),
        (
            "V8",
            "my--skill",
            "my--skill".into(),
            "",
            &["consecutive hyphens"],
        ),
        (
            "V9",
            "my_skill",
            "my_skill".into(),
            "",
            &["invalid characters"],
        ),
        (
            "V10",
            "wrong-name",
            "correct-name".into(),
            "",
            &["must match skill name"],
        ),
        (
            "V11",
            "my-skill",
            "my-skill".into(),
            "unknown_field: should not be here\n",
            &["Unexpected fields"],
        ),
        (
            "V12",
            "my-skill",
            "my-skill".into(),
            "license: MIT\nmetadata:\n  author: Test\n",
            &[],
        ),
        (
            "V13",
            "my-skill",
            "my-skill".into(),
            "allowed-tools: Bash(jq:*) Bash(git:*)\n",
            &[],
        ),
        ("V14", "技能", "技能".into(), "", &[]),
        ("V15", "мой-навык", "мой-навык".into(), "", &[]),
        ("V16", "навык", "навык".into(), "", &[]),
        ("V17", "НАВЫК", "НАВЫК".into(), "", &["lowercase"]),
        (
            "V19",
            "my-skill",
            "my-skill".into(),
            "compatibility: Requires Python 3.11+\n",
            &[],
        ),
        ("V21", "caf\u{e9}", "cafe\u{301}".into(), "", &[]),
    ];
    for (case, dir, name, more, said) in cases {
        let skills = Skills::new();
        let dir = if dir.is_empty() {
            name.clone()
        } else {
            dir.to_owned()
        };
        let text = format!("---\nname: {name}\ndescription: A test skill\n{more}---\nBody\n");
        let found = messages(&skills.write(&format!("{dir}/SKILL.md"), &text));
        if said.is_empty() {
            assert_eq!(found, Vec::<String>::new(), "{case}");
        } else {
            assert!(
                found
                    .iter()
                    .any(|text| said.iter().all(|part| text.contains(part))),
                "{case}: {found:?}"
            );
        }
    }
    let skills = Skills::new();
    let text = format!("---\nname: x\ndescription: {}\n---\n", long("x", 1100));
    let found = messages(&skills.write("x/SKILL.md", &text));
    assert!(
        found[0].contains("exceeds") && found[0].contains("1024"),
        "V18: {found:?}"
    );
    let found = messages(&skills.skill("y", &format!("compatibility: {}\n", long("x", 550))));
    assert!(
        found[0].contains("exceeds") && found[0].contains("500"),
        "V20: {found:?}"
    );
}

#[test]
fn quirks_decide_as_the_reference_does() {
    for (valid, text) in [
        (false, "\u{feff}---\nname: q\ndescription: d\n---\n"),
        (false, "\n---\nname: q\ndescription: d\n---\n"),
        (true, "---\r\nname: q\r\ndescription: d\r\n---\r\n"),
        (true, "---# comment\nname: q\ndescription: d\n---\n"),
        (true, "---\nname: q\ndescription: a --- b\n"),
        (true, "---\nname: q\ndescription: d\n---# Title\n"),
        (true, "---\nname: q\ndescription: d\ncompatibility:\n---\n"),
        (
            true,
            "---\nname: q\ndescription: d\nallowed-tools:\n  - Read\n---\n",
        ),
        (
            false,
            "---\nname: q\ndescription: d\ncompatibility:\n  - a\n---\n",
        ),
        (false, "---\nname: q\nname: q\ndescription: d\n---\n"),
        (false, "---\nname:\ndescription: '  '\n---\n"),
        (false, "---\n---\n"),
        (false, ""),
    ] {
        let skills = Skills::new();
        let found = messages(&skills.write("q/SKILL.md", text));
        assert_eq!(found.is_empty(), valid, "{text:?}: {found:?}");
    }
    // Combining marks are alphabetic in Rust, but not in Python.
    let skills = Skills::new();
    assert!(messages(&skills.skill("हिन्दी", ""))[0].contains("invalid characters"));
}

#[test]
fn properties_are_python_s_json() {
    let skills = Skills::new();
    let dir = skills.write(
        "m/SKILL.md",
        "---\nname: m\ndescription: \"café \u{1F600}\"\nmetadata:\n  version: 1.10\n  n:\n    a: b's\n  l:\n    - x\n---\n",
    );
    assert_eq!(
        read_properties(&dir).unwrap().to_json(),
        "{\n  \"name\": \"m\",\n  \"description\": \"caf\\u00e9 \\ud83d\\ude00\",\n  \"metadata\": {\n    \
         \"version\": \"1.10\",\n    \"n\": \"{'a': \\\"b's\\\"}\",\n    \"l\": \"['x']\"\n  }\n}"
    );
}

#[test]
fn yaml_is_accepted_and_rejected_as_strictyaml_does() {
    for accepted in [
        "name: a [b]",
        "d: foo\n  [bar] baz\n",
        "a: 'it''s' # [c]",
        "a:\n    b: 1\n    c: 2\n",
        "a:\n- x\n- y\nb: z\n",
        "a: |\n  x [y]\n  &z\n",
        "? a\n: b",
        "a: \"x\ny\"",
        "a: x\n  - y\n",
        "a:\n  - b: c\n    d: e\n",
        " a: b\n c: d\n",
        "a: b\n...\n",
        "x:\n   a: 1\n   b:\n    c: 2\n",
        "a: b\n# [x]\nc: d",
    ] {
        assert!(
            parse(accepted).is_ok(),
            "{accepted:?}: {:?}",
            parse(accepted)
        );
    }
    for rejected in [
        "a: [b]",
        "a: {}",
        "- {a: b}",
        "a: &x b",
        "&a b: c",
        "a: *x",
        "a: !!str b",
        "a: ! b",
        "a:\n  b: 1\nc:\n    d: 2\n",
        "a: b\na: c",
        "a:\n  v: 1\n  v: 2",
        "a:\tb",
        "a: @b",
        "a: b: c",
        "<<: x",
        "a: b\n---\nc: d",
        "a: - b",
    ] {
        assert!(parse(rejected).is_err(), "{rejected:?}");
    }
    let text = |yaml: &str, value: &str| assert!(reads_as(yaml, "a", value), "{yaml}");
    text("a: 1.10", "1.10");
    text("a: ~", "~");
    text("a: yes", "yes");
    text("a: 2020-01-01", "2020-01-01");
}
