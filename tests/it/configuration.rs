//! The configuration: what is in force, where it comes from, and changing it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::Host;
use crate::host::{Has, write_at};

#[test]
fn every_value_says_where_it_comes_from() {
    let host = Host::stdin().policy("[enforce]\nstacking = \"intersect\"\n");
    let own = host.plugin_dir().join("config.toml");
    let project = host.project().join(".chibi/agent-skills.toml");
    write_at(&own, "tenant = \"acme\"\n[audit]\noutput_bytes = 10\n");
    write_at(&project, "script_reads = \"block\"\n");
    host.succeeds(&["trust", "--yes"]);
    let (own, project) = (own.to_str().unwrap(), project.to_str().unwrap());
    for (key, value, origin) in [
        ("enforce", "\"restrict\"", "default"),
        ("proposals", "true", "default"),
        ("tenant", "\"acme\"", own),
        ("audit.output_bytes", "10", own),
        ("script_reads", "\"block\"", project),
        ("stacking", "\"intersect\"", "policy"),
    ] {
        assert_eq!(
            host.succeeds(&["config", "get", key]),
            format!("{key} = {value}  # {origin}\n")
        );
    }
    let listed = host.json(&["config", "list", "--json"])["settings"].clone();
    let listed: Vec<Value> = serde_json::from_value(listed).unwrap();
    let tenant = listed.iter().find(|one| one["key"] == "tenant").unwrap();
    assert_eq!(
        (&tenant["value"], &tenant["origin"]),
        (&json!("acme"), &json!(own))
    );
    assert_eq!(tenant["values"], "a text");
    let lines = host.succeeds(&["config", "list"]);
    for one in listed {
        let key = one["key"].as_str().unwrap();
        let (start, about) = (format!("{key} = "), one["about"].as_str().unwrap());
        let is_its = |line: &str| line.starts_with(&start) && line.contains(about);
        assert!(lines.lines().any(is_its), "{key}: {lines}");
    }
}

#[test]
fn setting_a_value_keeps_comments_and_refuses_mistakes() {
    let host = Host::stdin();
    let file = host.plugin_dir().join("config.toml");
    fs::write(&file, "# my own\nenforce = \"restrict\" # strict\n").unwrap();
    host.succeeds(&["config", "set", "enforce", "warn"]);
    host.succeeds(&["config", "set", "proposals", "false"]);
    host.succeeds(&["config", "set", "always_allowed", "[\"my_notes\"]"]);
    host.succeeds(&["config", "set", "audit.output_bytes", "100"]);
    host.succeeds(&["config", "set", "tenant", "7"]);
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(
        text,
        "# my own\nenforce = \"warn\" # strict\nproposals = false\nalways_allowed = [\"my_notes\"]\n\
         tenant = \"7\"\n\n[audit]\noutput_bytes = 100\n"
    );
    for (key, value) in [
        ("enforce", "maybe"),
        ("max_activ", "3"),
        ("audit.output_bytes", "-1"),
    ] {
        host.fails(&["config", "set", key, value]);
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn a_dry_run_says_what_would_be_set() {
    let host = Host::stdin();
    let file = host.plugin_dir().join("config.toml");
    let dry = host.succeeds(&["config", "set", "tenant=7", "--dry-run"]);
    assert_eq!(dry, "would set tenant to 7\n");
    host.fails(&["config", "set", "scope=forever", "--dry-run"]);
    assert!(!file.exists());
    host.succeeds(&["config", "set", "tenant=7"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "tenant = \"7\"\n");
}

#[test]
fn a_mistake_is_named_by_line_to_people_and_closes_for_hooks() {
    let host = Host::stdin().skill("pdf", "", "");
    host.config("\n\nenforcement = \"off\"\n");
    for args in [&["config", "list"][..], &["config", "get", "enforce"]] {
        let told = host.fails(args);
        told.has("line 3").has("enforcement");
    }
    let (answer, told) = host.hook_with_stderr("post_system_prompt", &json!({}));
    assert!(answer == json!({}) && told.contains("line 3"), "{told}");
    assert!(host.succeeds(&["list"]).contains("bad configuration"));
}

/// What the first column of a table of docs/configuration.md names.
fn documented(heading: &str) -> BTreeSet<String> {
    let text = include_str!("../../docs/configuration.md");
    let table = text.split(&format!("| {heading} |")).nth(1).unwrap();
    let rows = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let names = rows.flat_map(|row| row.split('|').nth(1).unwrap().split('`').skip(1).step_by(2));
    names.map(str::to_owned).collect()
}

#[test]
fn the_reference_names_exactly_the_accepted_keys() {
    let host = Host::stdin();
    let listed = host.succeeds(&["config", "list"]);
    let lines = listed.lines().map(|line| line.split(' ').next().unwrap());
    let keys = lines.map(|key| key.trim_end_matches(".GLOB").to_owned());
    let keys: BTreeSet<String> = keys.collect();
    assert_eq!(documented("key"), keys);
    // Each default in bold is the one that holds.
    let text = include_str!("../../docs/configuration.md");
    let rows = text.lines().filter(|line| line.starts_with("| `"));
    let defaults = rows.filter_map(|row| {
        let mut columns = row.split(" | ");
        let key = columns.next()?.trim_start_matches("| ").split('`').nth(1)?;
        let default = columns.next()?.split("**`").nth(1)?.split('`').next()?;
        Some((key, default))
    });
    let mut compared = 0;
    for (key, default) in defaults {
        let told = host.succeeds(&["config", "get", key]);
        let value = told
            .split(" = ")
            .nth(1)
            .unwrap()
            .split("  #")
            .next()
            .unwrap();
        // What is a number of seconds may be written with a fraction.
        let value = value.trim_matches('"').trim_end_matches(".0");
        assert_eq!(value, default, "{key}");
        compared += 1;
    }
    assert!(compared > 10, "{compared}");
}

#[test]
fn every_variable_that_the_program_reads_is_documented() {
    fn sources(dir: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(dir).unwrap().flatten() {
            if entry.path().is_dir() {
                sources(&entry.path(), found);
            } else {
                found.push(fs::read_to_string(entry.path()).unwrap());
            }
        }
    }
    let mut texts = Vec::new();
    sources(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut texts,
    );
    let documented = documented("variable");
    for text in texts {
        // A variable is a whole literal; a sentence may begin with one.
        for part in text.split("\"AGENT_SKILLS_").skip(1) {
            let word = part.split('"').next().unwrap().split(' ').next().unwrap();
            let name = format!("AGENT_SKILLS_{word}");
            // One pattern stands for all of them.
            assert!(
                documented.contains(&name) || name.ends_with(['*', '_']),
                "{name}"
            );
        }
    }
}

/// Its author calls it `My Skill`.
fn spelt(config: &str) -> Host {
    let text = "---\nname: My Skill\ndescription: d\nallowed-tools: Read\n---\nBody.\n";
    let host = Host::stdin().file("my-skill/SKILL.md", text);
    host.config(config);
    host
}

#[test]
fn a_setting_means_its_skill_in_any_spelling() {
    let ls = json!({"command": "ls"});
    for key in ["my-skill", "My Skill", "MY-SKILL", "my_skill"] {
        spelt(&format!("visibility = {{\"{key}\" = \"off\"}}")).knows_not("my-skill");
        let host = spelt(&format!("[skills.\"{key}\"]\nallow = [\"Bash(ls:*)\"]"));
        host.activates("my-skill").allows("shell_exec", &ls);
        let host = spelt(&format!("catalog = {{\"*\" = [\"{key}\"]}}"));
        host.activates("my-skill");
        let host = spelt(&format!("[skills.\"{key}\"]\nsandbox = \"require\""));
        let own = host.plugin_dir().join("config.toml");
        let line = format!(
            "skills.my-skill.sandbox = \"require\"  # {}\n",
            own.display()
        );
        assert_eq!(
            host.succeeds(&["config", "get", &format!("skills.{key}")]),
            line
        );
        let doctor = host.person(&["doctor"]).stdout;
        doctor.lacks("names no existing skill");
    }
    let host = spelt("");
    let key = "skills.My Skill.sandbox";
    let told = host.succeeds(&["config", "set", key, "require"]);
    told.begins("skills.my-skill.sandbox = \"require\"");
}

#[test]
fn a_setting_that_means_no_skill_is_told() {
    for key in ["plugin/my-skill", "my-skill@acme", "my-*", "*"] {
        for table in [
            format!("visibility = {{\"{key}\" = \"off\"}}"),
            format!("[skills.\"{key}\"]\nsandbox = \"require\""),
        ] {
            let host = spelt(&table);
            let told = host.fails(&["config", "list"]);
            assert!(
                told.contains("line ") && told.contains(key),
                "{table}: {told}"
            );
            host.knows_not("my-skill");
        }
        let set = ["config", "set", &format!("skills.{key}.sandbox"), "require"];
        assert!(spelt("").fails(&set).contains("was not changed"), "{key}");
    }
    let host = spelt("visibility = {other = \"off\"}");
    let doctor = host.person(&["doctor"]).stdout;
    doctor.has("`visibility.other` in the configuration names no existing skill");
}

#[test]
fn a_misspelt_agent_is_answered_with_the_nearest() {
    let host = Host::stdin();
    for (words, nearest) in [
        (&["config", "set", "hosts.gemni.mode", "restrict"][..], true),
        (&["config", "get", "hosts.gemni.mode"], true),
        (&["config", "unset", "hosts.gemni.mode"], true),
        (&["config", "set", "hosts.nobody.mode", "restrict"], false),
    ] {
        let error = host.fails(words);
        let meant = error.contains("did you mean `hosts.gemini.mode`?");
        assert_eq!(meant, nearest, "{error}");
    }
    host.succeeds(&["config", "set", "hosts.gemini.mode", "restrict"]);
}
