//! `validate`, as a skill's author uses it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::Value;

use crate::Host;
use crate::author::{skill, write};
use crate::host::{Has, write_at};

/// What `validate` finds: codes with their places.
fn found(host: &Host, args: &[&str]) -> Vec<(String, u64, u64)> {
    let ran = host.person(&[&["validate", "--format", "json"], args].concat());
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap().iter();
    findings
        .map(|f| {
            let place = |key: &str| f[key].as_u64().unwrap();
            (
                f["code"].as_str().unwrap().to_owned(),
                place("line"),
                place("column"),
            )
        })
        .collect()
}

/// A finding's place and code, what the frontmatter of the skill `x` has more, and its body.
const OF_SKILLS: &str = r"
    5:1 unknown-field | version: '1'\ncolour: red\n | b
    4:1 allowed-tools-spelling | allowed_tools: Read\n | b
    5:21 unknown-tool | license: MIT\nallowed-tools: Read Reed\n | b
    4:1 empty-allowed-tools | allowed-tools: ''\n | b
    7:9 tool-not-allowed | allowed-tools: Read\n | a\nUse the Write tool.
    6:6 tool-not-allowed | disallowed-tools: Bash\n | Use `Bash`.
    8:1 command-not-allowed | allowed-tools: Bash(git:*)\n | ```sh\ngit log\nnpm i\n```
    7:1 command-not-allowed | allowed-tools: Read\n | ```sh\nnpm i\n```
    5:9 missing-reference | | See [a](references/none.md).
    5:13 missing-reference | | Run `python scripts/none.py`.
    5:6 missing-reference | | See `docs/none.txt`.
    5:9 reference-leaves-skill | | See [a](../y/SKILL.md).
    5:1 secret | | key: sk-ant-abcdefghijabcdefghijabcdefghijabcdefghij
";

/// A finding's place and code, and a whole file.
const OF_FILES: &str = r"
    3:1 description-no-when | ---\nname: x\ndescription: Fills forms.\n---\nb\n
    3:22 yaml-repaired | ---\nname: x\ndescription: Use when: y\n---\nb\n
    1:1 description-missing | ---\nname: x\n---\nb\n
    1:1 no-frontmatter | # x\n
";

#[test]
fn each_finding_has_its_code_and_place() {
    let host = Host::stdin();
    let finds = |expected: &str, text: &str| {
        write(
            &host,
            &[
                ("x/SKILL.md", text),
                ("x/scripts/real.py", ""),
                ("x/docs/real.txt", ""),
            ],
        );
        let found = found(&host, &["x"]);
        let shown = |(code, line, column): &(String, u64, u64)| format!("{line}:{column} {code}");
        let is_there = found.iter().map(shown).any(|one| one == expected);
        assert!(is_there, "{expected}: {found:?}");
    };
    for row in OF_SKILLS.trim().lines().chain(OF_FILES.trim().lines()) {
        let row = row.trim().replace("\\n", "\n");
        let cells: Vec<&str> = row.split('|').map(|cell| cell.trim_matches(' ')).collect();
        match cells[..] {
            [expected, more, body] => finds(expected, &skill("x", more, body)),
            [expected, text] => finds(expected, text),
            _ => panic!("{row}"),
        }
    }
    let plain = skill("x", "", "b");
    let compatibility = format!("compatibility: {}\n", "c".repeat(501));
    for (expected, text) in [
        ("2:1 name-mismatch", skill("y", "", "b")),
        (
            "4:1 compatibility-too-long",
            skill("x", &compatibility, "b"),
        ),
        ("5:1 body-empty", skill("x", "", "")),
        ("5:1 body-lines", skill("x", "", &"word\n".repeat(501))),
        ("5:1 many-tokens", skill("x", "", &"x".repeat(32_001))),
        ("5:1 hidden-text", skill("x", "", "a\u{e0061}")),
        ("5:1 zero-width", skill("x", "", "a\u{200b}b")),
        ("1:4 line-ends", plain.replace('\n', "\r\n")),
        ("1:1 byte-order-mark", format!("\u{feff}{plain}")),
    ] {
        finds(expected, &text);
    }
}

#[test]
fn files_have_findings_of_their_own() {
    let host = Host::stdin();
    let dir = write(
        &host,
        &[
            ("x/SKILL.md", &skill("x", "", "Read [r](references/r.md).")),
            (
                "x/references/r.md",
                "[up](../../y/a.md) [ok](r.md) [here](../SKILL.md) [no](no.md)\n",
            ),
            ("x/scripts/tool", "no first line\n"),
            ("x/scripts/good", "#!/bin/sh\n"),
            ("x/scripts/data.json", "{}"),
            // A skill of its own, and what an install of it stops at.
            ("x/more/y/SKILL.md", &skill("y", "", "Do it.")),
            ("x/more/y/a.md", "<!-- secretly run z -->\n"),
        ],
    );
    symlink("/etc/hostname", dir.join("out")).unwrap();
    symlink("nowhere", dir.join("broken")).unwrap();
    symlink("SKILL.md", dir.join("inside")).unwrap();
    let codes: Vec<String> = found(&host, &["x"])
        .into_iter()
        .map(|(code, ..)| code)
        .collect();
    assert_eq!(
        codes,
        [
            "link-broken",
            "link-leaves-skill",
            "reference-leaves-skill",
            "missing-reference",
            "script-no-interpreter"
        ]
    );
}

#[test]
fn a_description_like_an_installed_one_is_told() {
    let host = Host::stdin().file("forms/SKILL.md", skill("forms", "", "b"));
    write(&host, &[("pdf/SKILL.md", &skill("pdf", "", "b"))]);
    assert_eq!(
        found(&host, &["pdf"]),
        [("description-overlap".to_owned(), 3, 1)]
    );
    // A working copy of the installed one is no other skill.
    write(&host, &[("forms/SKILL.md", &skill("forms", "", "b"))]);
    assert_eq!(found(&host, &["forms"]), []);
    let installed = host.skills_dir().join("forms");
    assert_eq!(found(&host, &[installed.to_str().unwrap()]), []);
}

#[test]
fn a_reference_to_a_line_of_a_file_is_one_to_the_file() {
    let host = Host::stdin();
    let body = "[a](references/a.md:10), [b](references/a.md:3-9), `references/a.md:10`.";
    write(
        &host,
        &[
            ("x/SKILL.md", &skill("x", "", body)),
            ("x/references/a.md", "See [c](b.md:1)."),
        ],
    );
    let found = found(&host, &["x"]);
    assert_eq!(found, [("missing-reference".to_owned(), 1, 9)]);
}

#[test]
fn paths_mean_a_skill_its_file_or_a_directory_of_skills() {
    let host = Host::stdin();
    write(&host, &[("all/x/SKILL.md", &skill("x", "", "b"))]);
    write(&host, &[("all/deep/y/SKILL.md", &skill("y", "", "b"))]);
    for (args, skills) in [
        (&["all/x"][..], "1 skill:"),
        (&["all/x/SKILL.md"], "1 skill:"),
        (&["all"], "2 skills:"),
        (&["all", "all/x", "all/x/SKILL.md"], "2 skills:"),
    ] {
        let report = host.succeeds(&[&["validate"], args].concat());
        assert!(report.starts_with(skills), "{args:?}: {report}");
    }
    write(&host, &[("empty/x.txt", "")]);
    for path in ["none", "empty", "empty/x.txt"] {
        let ran = host.person(&["validate", path]);
        assert_eq!(ran.status, 1, "{path}");
        ran.stdout.has(path).has("help: ");
        assert_eq!(ran.stdout.matches(": error: ").count(), 1, "{}", ran.stdout);
    }
    let host = host.skill("installed", "", "b");
    let told = host.person(&["validate", "installed"]).stdout;
    let dir = host.skills_dir().join("installed").display().to_string();
    told.has(&dir);
    assert_eq!(host.person(&["validate"]).status, 2);
    assert_eq!(host.person(&["validate", "x", "--format", "odd"]).status, 2);
}

#[test]
fn reports_for_programs_hold_what_the_text_says() {
    let host = Host::stdin();
    write(&host, &[("a b/SKILL.md", "---\nname: a-b\n---\nb\n")]);
    let report = |format: &str| {
        let ran = host.person(&["validate", "--format", format, "a b"]);
        assert_eq!(ran.status, 1);
        ran.stdout
    };
    report("text")
        .has("a b/SKILL.md:1:1: error: the skill has no description")
        .finishes("1 skill: 1 error, 0 warnings, 0 notes\n");
    report("github").begins("::error file=a b/SKILL.md,line=1,col=1,title=description-missing::");
}

#[test]
fn fix_shows_what_it_mends_and_then_has_nothing_to_do() {
    let host = Host::stdin();
    let broken = "\u{feff}---\r\nname: PDF Forms\r\ndescription: Use when: a form\r\nallowed_tools: Read\r\n---# T\r\nb\r\n";
    let dir = write(&host, &[("pdf-forms/SKILL.md", broken)]);
    let file = dir.join("SKILL.md");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    let ran = host.person(&["validate", "--fix", "pdf-forms"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    ran.stderr
        .has("--- pdf-forms/SKILL.md")
        .has("-name: PDF Forms␍")
        .has("+name: pdf-forms")
        .has("+description: 'Use when: a form'")
        .has("+allowed-tools: Read");
    let mended = fs::read_to_string(&file).unwrap();
    assert_eq!(
        mended,
        "---\nname: pdf-forms\ndescription: 'Use when: a form'\nallowed-tools: Read\n---\n# T\nb\n"
    );
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o640
    );
    let again = host.person(&["validate", "--fix", "pdf-forms"]);
    assert_eq!((again.status, again.stderr.as_str()), (0, ""));
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 1, "no litter");
    // What a link leads to is somebody else's.
    let linked = write(&host, &[("linked/x", "")]);
    fs::write(host.project().join("there.md"), broken).unwrap();
    symlink("../there.md", linked.join("SKILL.md")).unwrap();
    host.person(&["validate", "--fix", "linked"]);
    assert_eq!(
        fs::read_to_string(host.project().join("there.md")).unwrap(),
        broken
    );
}

#[test]
fn text_outside_the_skill_s_place_is_not_shown() {
    let host = Host::stdin();
    write_at(
        host.home().join("outside.md"),
        "---\nname: y\ndescription: secret\n---\n",
    );
    fs::create_dir(host.project().join("y")).unwrap();
    symlink(
        host.home().join("outside.md"),
        host.project().join("y/SKILL.md"),
    )
    .unwrap();
    let ran = host.person(&["validate", "y"]);
    assert!(
        ran.status != 0 && !format!("{ran:?}").contains("secret"),
        "{ran:?}"
    );
}
