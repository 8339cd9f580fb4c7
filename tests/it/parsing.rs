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
