//! Commands beside protected places, as skills document them and as an attacker writes them: each
//! row says whether a list lets one pass. The rows are read from `honest_commands.jsonl`, and from
//! the file that `HONEST` names if it is set. `SKILLDIR` stands for the skill's directory.

use std::fs;

use serde::Deserialize;
use serde_json::json;

use crate::Host;

#[derive(Deserialize)]
struct Row {
    class: String,
    allow: String,
    command: String,
    passes: bool,
}

/// What comes out otherwise than a row says, with the answer.
fn wrong(text: &str) -> Vec<String> {
    let read =
        |line: &str| serde_json::from_str(line).unwrap_or_else(|err| panic!("{line}: {err}"));
    let rows: Vec<Row> = text
        .lines()
        .filter(|line| !line.is_empty())
        .map(read)
        .collect();
    let mut lists: Vec<&str> = rows.iter().map(|row| row.allow.as_str()).collect();
    lists.sort_unstable();
    lists.dedup();
    let mut wrong = Vec::new();
    for list in lists {
        let yaml = format!("allowed-tools: {}", json!(list));
        let host = Host::stdin().skill("honest", &yaml, "");
        let host = host
            .file("honest/scripts/run.sh", "")
            .file("honest/scripts/run.py", "");
        let dir = host.skills_dir().join("honest").display().to_string();
        fs::create_dir_all(host.project().join("sub")).unwrap();
        assert_eq!(host.pre_tool_here("skill_honest", &json!({})), json!({}));
        for row in rows.iter().filter(|row| row.allow == list) {
            let command = row.command.replace("SKILLDIR", &dir);
            let answer = host.pre_tool_here("shell_exec", &json!({"command": command}));
            if answer["block"].is_null() != row.passes {
                let told = answer["message"]
                    .as_str()
                    .unwrap_or("passes")
                    .replace('\n', " ");
                wrong.push(format!(
                    "{} [{list}] {}\n    {told}",
                    row.class, row.command
                ));
            }
        }
    }
    wrong
}

#[test]
fn each_row_comes_out_as_it_says() {
    let wrong = wrong(include_str!("honest_commands.jsonl"));
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn rows_from_elsewhere_come_out_as_they_say() {
    let Some(file) = std::env::var_os("HONEST") else {
        return;
    };
    let wrong = wrong(&fs::read_to_string(file).unwrap());
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}
