//! `skills.NAME.allow`: entries that a user adds to a skill's own list, for whom they count, and where
//! they are named as the source.

use std::fs;

use serde_json::{Value, json};

use crate::Host;
use crate::host::{Has, write_at};

const LIST: &str = "allowed-tools: Read, Bash(git log:*)";
const CONFIG: &str = "[skills.pdf]\nallow = [\"Bash(npx:*)\"]\n";

fn shell(command: &str) -> Value {
    json!({"command": command})
}

#[test]
fn an_added_entry_grants_and_is_named_as_the_source() {
    let host = Host::stdin().skill("pdf", LIST, "Body.").configured(CONFIG);
    host.starts().activates("pdf");
    host.allows("shell_exec", &shell("npx prettier ."));
    host.allows("shell_exec", &shell("git log"));
    host.blocks("shell_exec", &shell("curl x.org"));
    let log = host.json(&["audit", "--event", "tool", "--json"]);
    let by = |event: &Value| event["by"].as_str().unwrap().to_owned();
    let log: Vec<String> = log["events"].as_array().unwrap().iter().map(by).collect();
    let named = "the configuration: Bash(npx:*)".to_owned();
    assert!(log.contains(&named), "{log:?}");
    let info = host.succeeds(&["info", "pdf"]);
    info.has("(from the configuration)");
    let added = host.json(&["info", "pdf", "--json"])["restriction"]["added"].clone();
    assert_eq!(added, json!(["Bash(npx:*)"]));
    let npx = ["check", "pdf", "--tool", "Bash", "--arg", "command=npx x"];
    host.succeeds(&npx).has("an entry of the configuration");
    let part = host.json(&[&npx[..], &["--json"]].concat())["parts"][0].clone();
    assert_eq!(part["source"], "the configuration");
    let policy = host.succeeds(&["policy"]);
    policy.has("allow: the configuration adds");
}

#[test]
fn an_added_entry_overrules_no_denial() {
    let list = "allowed-tools: Read\ndisallowed-tools: Bash(npx:*)";
    let skill = Host::stdin().skill("pdf", list, "Body.");
    let by_skill = skill.configured(CONFIG);
    let skill = Host::stdin().skill("pdf", LIST, "Body.");
    let by_user = skill.configured(&format!("deny = [\"Bash(npx:*)\"]\n{CONFIG}"));
    let skill = Host::stdin().skill("pdf", LIST, "Body.");
    let by_policy = skill
        .configured(CONFIG)
        .policy("[tools]\ndeny = [\"Bash(npx:*)\"]");
    for host in [by_skill, by_user, by_policy] {
        host.starts().activates("pdf");
        host.blocks("shell_exec", &shell("npx x")).has("denies it");
    }
}

#[test]
fn a_skill_without_a_list_stays_unrestricted() {
    let host = Host::stdin().skill("pdf", "", "Body.").configured(CONFIG);
    host.starts().activates("pdf");
    host.allows("shell_exec", &shell("curl x.org"));
    assert_eq!(
        host.json(&["info", "pdf", "--json"])["restriction"],
        Value::Null
    );
}

#[test]
fn a_policy_decides_whether_added_entries_count() {
    for (policy, counts) in [
        ("[enforce]\noverrides = false", false),
        ("[enforce]\nmode = \"restrict\"", false),
        ("[enforce]\nmode = \"restrict\"\noverrides = true", true),
        ("[enforce]\nmode = \"off\"", true),
    ] {
        let host = Host::stdin().skill("pdf", LIST, "Body.").configured(CONFIG);
        let host = host.policy(policy);
        host.starts().activates("pdf");
        if counts {
            host.allows("shell_exec", &shell("npx x"));
            continue;
        }
        host.blocks("shell_exec", &shell("npx x"));
        let info = host.succeeds(&["info", "pdf", "--offline"]);
        assert!(info.contains("entries-not-added"), "{policy}: {info}");
        let doctor = host.person(&["doctor"]).stdout;
        doctor.has("`pdf` loads with warnings: entries-not-added");
        let shown = host.succeeds(&["policy"]);
        shown.has("skills.pdf.allow = []");
        shown.has("is ignored");
    }
}

#[test]
fn a_project_adds_nothing() {
    let text = "---\nname: pdf\ndescription: d\nallowed-tools: Read, Bash(git log:*)\n---\nBody\n";
    let host = Host::stdin().configured(CONFIG);
    let theirs = host.project().join(".chibi/skills/pdf");
    write_at(theirs.join("SKILL.md"), text);
    host.succeeds(&["trust", "--yes"]);
    // The name means the project's skill as long as it is the only one.
    host.starts().activates("pdf");
    host.allows("shell_exec", &shell("npx x"));
    let host = host.skill("pdf", LIST, "Body.");
    host.blocks("shell_exec", &shell("npx x"));
    let project = host.project().join(".chibi/agent-skills.toml");
    fs::write(&project, "[skills.pdf]\nallow = [\"Bash(npx:*)\"]").unwrap();
    host.succeeds(&["trust", "--yes"]);
    host.fails(&["config", "list"]).has("skills");
}

#[test]
fn an_added_skill_entry_limits_no_activation() {
    let config = "[skills.pdf]\nallow = [\"Skill(other)\"]\n";
    let host = Host::stdin().skill("pdf", LIST, "Body.");
    let host = host.skill("other", "", "Body.").configured(config);
    let host = host.skill("third", "", "Body.");
    host.starts().activates("pdf");
    host.allows("skill_third", &json!({}));
}

#[test]
fn an_entry_without_meaning_is_a_mistake_of_the_file() {
    let config = "[skills.pdf]\nallow = [\"Bash(git\"]\n";
    let host = Host::stdin().skill("pdf", LIST, "Body.").configured(config);
    let error = host.fails(&["config", "list"]);
    error.has("line 2");
    error.has("`Bash(git`: a parenthesis or quote is not closed");
    let refused = host.fails(&["config", "set", "skills.pdf.allow", "Bash()"]);
    assert!(
        refused.contains("grants nothing") || refused.contains("line 2"),
        "{refused}"
    );
}
