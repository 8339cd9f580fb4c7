//! `SKILL.md` as strangers write it, through the real program: what is forgiven and what it means.

use agent_skills::catalog::Entry;
use serde_json::json;

use crate::Host;
use crate::host::Has;

/// A host whose only skill is this file in the directory `x`.
pub fn with_file(host: Host, text: impl AsRef<[u8]>) -> Host {
    host.file("x/SKILL.md", text)
}

/// The one skill's tool and its description in the schema.
#[track_caller]
fn offered(host: &Host) -> (String, String) {
    let schema = host.skill_schema();
    assert_eq!(schema.len(), 1, "{schema:?}");
    let text = |key: &str| schema[0][key].as_str().unwrap().to_owned();
    (text("name"), text("description"))
}

/// The one skill's remarks, by code.
pub fn codes(host: &Host) -> Vec<String> {
    let catalog = host.catalog();
    let remarks = catalog.entries().iter().flat_map(Entry::diagnostics);
    remarks.map(|remark| remark.code()).collect()
}

/// The body as the model gets it.
#[track_caller]
pub fn body(host: &Host) -> String {
    let (tool, _) = offered(host);
    let text = host.tool(&tool, &json!({}));
    let (_, text) = text.split_once(">\n").unwrap();
    let (body, _) = text.rsplit_once("\n\nSkill directory: ").unwrap();
    body.to_owned()
}

#[test]
fn odd_fences_are_forgiven() {
    let plain = "---\nname: x\ndescription: Does it.\n---\nBody.\n";
    for (text, note) in [
        (plain.to_owned(), None),
        (format!("\u{feff}{plain}"), None),
        (plain.replace('\n', "\r\n"), None),
        (plain.replace("---", "---  "), None),
        (plain.replace("---", "---\u{a0}"), None),
        (format!("\n\n{plain}"), None),
        (format!("<!-- a\nb -->\n{plain}"), None),
        (plain.trim_end().to_owned(), None),
        (
            format!("# Title\n\n{plain}"),
            Some("text-before-frontmatter"),
        ),
        (
            format!("```markdown\n{plain}```\n"),
            Some("wrapped-in-fence"),
        ),
        (format!("````md\n{plain}````"), Some("wrapped-in-fence")),
        (plain.replace("---\nBody.", "---Body."), Some("glued-fence")),
        (plain.replacen("---\n", "", 1), Some("no-opening-fence")),
    ] {
        let host = with_file(Host::stdin(), &text);
        let (tool, description) = offered(&host);
        assert_eq!(tool, "skill_x", "{text:?}");
        assert_eq!(description, "Activate the skill `x`: Does it.", "{text:?}");
        assert_eq!(body(&host), "Body.", "{text:?}");
        assert_eq!(codes(&host), Vec::from_iter(note), "{text:?}");
    }
}

#[test]
fn only_the_first_block_is_frontmatter() {
    let written =
        "# T\n\n---\n\nA rule above.\n\n---\nname: example\nallowed-tools: Bash\n---\nEnd.";
    let host = with_file(
        Host::stdin(),
        format!("---\nname: x\ndescription: d\nallowed-tools: Read\n---\n{written}\n"),
    );
    assert_eq!(offered(&host).0, "skill_x");
    assert_eq!(body(&host), written);
    host.blocks("shell_exec", &json!({"command": "ls"}));
}

#[test]
fn descriptions_keep_their_text_whatever_yaml_makes_of_it() {
    for (yaml, shown) in [
        ("description: Use when: x", "Use when: x"),
        ("description: **Bold** text", "**Bold** text"),
        ("description: `cmd` does x", "`cmd` does x"),
        ("description: @scope/x", "@scope/x"),
        ("description: %done", "%done"),
        ("description: [a, b]", "a, b"),
        ("description: 3", "3"),
        ("description: one\n  two\n  three", "one two three"),
        ("description: >-\n  one\n  two", "one two"),
        ("description: |\n  one\n  two\n", "one two"),
        ("description: \"one\n  two\"", "one two"),
        ("description: \"one\ntwo\"", "one two"),
        ("description: 'it''s'", "it's"),
        ("description: \"a \\\"b\\\" \\u00e9\"", "a \"b\" é"),
        ("description: d\nargument-hint: [a] [b]", "d"),
        ("description: d\nmetadata: {\"a\":{\"b\":[\"c\"]}}", "d"),
        (
            "description: d\nmetadata: {\"emoji\":\"\\ud83d\\ude00\"}",
            "d",
        ),
        ("description: d\nmetadata: {\"a\":{\"b\":[\"c\"]}", "d"),
        ("description: d\nmetadata: '{\"a\": 1}'", "d"),
        ("description: d\nmetadata:", "d"),
        ("description: d\nmetadata:\n  version: 1\n  version: 2", "d"),
        ("description: d\nunknown_field: x\n1: y", "d"),
        ("description: d # a comment", "d"),
    ] {
        let host = with_file(Host::stdin(), format!("---\nname: x\n{yaml}\n---\nBody.\n"));
        let (tool, description) = offered(&host);
        assert_eq!(tool, "skill_x", "{yaml}");
        assert_eq!(
            description,
            format!("Activate the skill `x`: {shown}"),
            "{yaml}"
        );
        assert_eq!(body(&host), "Body.", "{yaml}");
    }
}

#[test]
fn argument_hints_are_shown_as_they_were_meant() {
    for (hint, shown) in [("[a] [b]", "[a] [b]"), ("\"<file>\"", "&lt;file&gt;")] {
        let text = format!("---\nname: x\ndescription: d\nargument-hint: {hint}\n---\n");
        let host = with_file(Host::stdin(), text);
        let schema = host.skill_schema();
        let described = schema[0]["parameters"]["properties"]["arguments"]["description"].clone();
        described.as_str().unwrap().has(shown);
    }
}

#[test]
fn names_become_keys_that_are_neither_paths_nor_options() {
    let longer = "b".repeat(65);
    let cut = "b".repeat(64);
    for (written, name) in [
        ("yes", "yes"),
        ("123", "123"),
        ("true", "true"),
        ("", "x"),
        ("~", "x"),
        ("\"...\"", "x"),
        ("ce:work", "ce-work"),
        ("obra/superpowers@x", "obra-superpowers-x"),
        ("PDF OCR", "pdf-ocr"),
        ("-2chat", "2chat"),
        ("../x", "x"),
        ("../../etc/passwd", "etc-passwd"),
        ("--help", "help"),
        ("my_skill", "my-skill"),
        ("my--skill", "my-skill"),
        ("\"a\\nb\\u001b[2J\"", "a-b-2j"),
        ("\"p\\u200bd\\u3164f\"", "p-d-f"),
        ("<system>", "system"),
        (&longer, &cut),
    ] {
        let host = with_file(
            Host::stdin(),
            format!("---\nname: {written}\ndescription: d\n---\nB\n"),
        );
        let (tool, description) = offered(&host);
        assert_eq!(
            description,
            format!("Activate the skill `{name}`: d"),
            "{written}"
        );
        assert!(tool.len() <= 64 && tool.starts_with("skill_"), "{tool}");
        let text = host.tool(&tool, &json!({}));
        let head = format!("<skill_content name=\"{name}\">\nB\n");
        text.begins(&head);
        let read = json!({"skill": name, "path": "SKILL.md"});
        host.tool("read_skill_file", &read).begins("---\n");
    }
}

#[test]
fn tool_lists_in_every_form_restrict() {
    for list in [
        "allowed-tools: Read, Grep",
        "allowed-tools: \"Read, Grep\"",
        "allowed-tools: Read Grep",
        "allowed-tools:\n- Read\n- Grep",
        "allowed-tools: [Read, Grep]",
        "allowed-tools:\n  - Read Grep",
        "allowed-tools: Read | Grep",
        "allowed-tools: \"- Read - Grep\"",
        "allowed-tools: [\"WebFetch(domain\": \"x)\", Read, Grep]",
        "allowed-tools: Bash(git log:*, git diff:*) Read Grep",
        "allowed_tools: Read, Grep",
        "allowedTools: [Read, Grep]",
        "\"allowed-tools\": Read, Grep",
        "tools: Read, Grep",
        // With something that is not YAML around it.
        "argument-hint: [a] [b]\nallowed-tools: Read, Grep",
        "argument-hint: [a] [b]\nallowed-tools:\n  - Read\n  - Grep",
        "argument-hint: [a] [b]\n\"allowed-tools\": Read, Grep",
        "argument-hint: [a] [b]\nallowed-tools : Read, Grep",
        "argument-hint: [a] [b]\nallowed_tools: Read, Grep",
    ] {
        let host = Host::stdin();
        let text = format!("---\nname: x\ndescription: d\n{list}\n---\n");
        let host = with_file(host, text);
        host.activates("x");
        host.blocks("shell_exec", &json!({"command": "ls"}));
        host.allows("file_head", &json!({"path": "a"}));
        host.allows("grep_files", &json!({"pattern": "a"}));
    }
}

#[test]
fn an_empty_list_allows_nothing_and_a_missing_value_everything() {
    for (list, restricts) in [
        ("allowed-tools: \"\"", true),
        ("allowed-tools: []", true),
        ("allowed-tools: {}", true),
        ("allowed-tools: Bash(", true),
        ("allowed-tools: false", true),
        ("allowed-tools:", false),
        ("allowed-tools: null", false),
        ("license: MIT", false),
    ] {
        let host = with_file(
            Host::stdin(),
            format!("---\nname: x\ndescription: d\n{list}\n---\n"),
        );
        host.activates("x");
        let shell = json!({"command": "ls"});
        if restricts {
            host.blocks("shell_exec", &shell);
            host.blocks("file_head", &json!({"path": "a"}));
        } else {
            host.allows("shell_exec", &shell);
        }
    }
}
