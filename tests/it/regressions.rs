//! Defects of an earlier plugin of this kind, each test named after one. Those of restrictions are in
//! `regressions_restriction.rs`, those of installing in `market_defects.rs`.

use serde_json::json;

use crate::Host;
use crate::host::Has;

pub fn shell(command: &str) -> serde_json::Value {
    json!({"command": command})
}

#[test]
fn defect_06_a_skill_name_that_is_a_path() {
    let host = Host::stdin()
        .skill("x", "", "")
        .file("x/run.sh", "echo ran")
        .file("../../SKILL.md", "---\nname: up\ndescription: d\n---\n")
        .file("../../run.sh", "echo ran outside")
        .file("../../secret", "the secret");
    let absolute = host.home().join(".chibi/plugins").display().to_string();
    for skill in [
        "../..",
        "..",
        ".",
        "",
        "x/../../..",
        "./../..",
        "/",
        absolute.as_str(),
    ] {
        host.tool(
            "read_skill_file",
            &json!({"skill": skill, "path": "secret"}),
        )
        .begins("Error: ");
        let ran = host.tool(
            "run_skill_script",
            &json!({"skill": skill, "script": "run.sh"}),
        );
        ran.begins("Error: ");
        host.tool(&format!("skill_{skill}"), &json!({}))
            .begins("Error: ");
    }
}

#[test]
fn defect_16_tool_names_that_providers_refuse() {
    let host = Host::stdin();
    let names = [
        "a".repeat(64),
        "a".repeat(58),
        "é".repeat(64),
        "marketplace".to_owned(),
    ];
    let mut host = host;
    for name in &names {
        host = host.skill(name, "allowed-tools: Read", &format!("Body of {name}."));
    }
    let tools = host.tool_names();
    assert_eq!(host.skill_tools().len(), names.len());
    for tool in &tools {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        assert!(tool.len() <= 64 && tool.chars().all(fits), "{tool}");
        assert_eq!(tools.iter().filter(|other| *other == tool).count(), 1);
    }
    // What `pre_tool` makes of such a name is the skill, too.
    for tool in &host.skill_tools() {
        host.starts().allows(tool, &json!({}));
        host.blocks("shell_exec", &shell("ls"));
        host.tool(tool, &json!({})).has("Body of ");
    }
}

#[test]
fn defect_23_the_answer_does_not_tell_the_skills_directory() {
    let host = Host::stdin().skill("x", "", "Run {baseDir}/a.sh and ${CLAUDE_SKILL_DIR}/b.sh.");
    let dir = host.skills_dir().join("x").display().to_string();
    let text = host.tool("skill_x", &json!({}));
    text.has(&format!("\nSkill directory: {dir}\n"));
    text.has(&format!("Run {dir}/a.sh and {dir}/b.sh."));
}

#[test]
fn defect_24_tools_for_skills_are_shown_without_any() {
    let host = Host::stdin();
    let tools = json!({"context_name": "c", "tools": []});
    let hidden = host.hook("pre_api_tools", &tools);
    let needs_skills = ["read_skill_file", "run_skill_script"];
    let hides = |hidden: &serde_json::Value, tool: &str| {
        hidden["exclude"].as_array().unwrap().contains(&json!(tool))
    };
    assert!(
        needs_skills.iter().all(|tool| hides(&hidden, tool)),
        "{hidden}"
    );
    assert_eq!(host.prompt(), "");
    // One that is not offered is none.
    let host = host.file("x/SKILL.md", "no frontmatter");
    let hidden = host.hook("pre_api_tools", &tools);
    assert!(
        needs_skills.iter().all(|tool| hides(&hidden, tool)),
        "{hidden}"
    );
    let host = host.skill("y", "", "");
    let hidden = host.hook("pre_api_tools", &tools);
    assert!(
        !needs_skills.iter().any(|tool| hides(&hidden, tool)),
        "{hidden}"
    );
}
