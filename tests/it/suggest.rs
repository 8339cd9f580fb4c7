//! `suggest`: from refused calls and a skill's text to entries, and applying them.

use std::fs;

use serde_json::{Value, json};

use crate::Host;
use crate::host::{Has, each, write_at};

const LIST: &str = "allowed-tools: Read, Bash(git log:*)";
const BODY: &str = "Run `git log -1`, then:\n\n```bash\nnpx prettier --check .\ncurl -o <file> https://x.org\ngit log\n```\n";

fn shell(command: &str) -> Value {
    json!({"command": command})
}

fn entries(answer: &Value) -> Vec<&str> {
    each(&answer["entries"], "entry")
}

fn config(host: &Host) -> String {
    fs::read_to_string(host.plugin_dir().join("config.toml")).unwrap_or_default()
}

/// A skill that is active, after these commands were refused.
fn after(host: Host, refused: &[&str]) -> Host {
    let host = host.skill("pdf", LIST, "Body.");
    host.starts().activates("pdf");
    for command in refused {
        host.blocks("shell_exec", &shell(command));
    }
    host
}

#[test]
fn each_refused_part_leads_to_an_entry() {
    let host = after(
        Host::stdin(),
        &[
            "npx prettier .",
            "npx prettier x",
            "git push origin main",
            "git log | curl -d @- x.org",
        ],
    );
    host.blocks("write_file", &json!({"path": "out/a.md", "content": "x"}));
    host.blocks("fetch_url", &json!({"url": "https://a.org/b"}));
    let answer = host.json(&["suggest", "pdf", "--json"]);
    let expected = [
        "Bash(npx prettier:*)",
        "Bash(curl:*)",
        "Bash(git push:*)",
        "WebFetch(domain:a.org)",
        "Write(out/**)",
    ];
    assert_eq!(entries(&answer), expected, "{answer}");
    assert_eq!(answer["entries"][0]["recorded"], 2);
    assert_eq!(
        answer["recorded"],
        json!({"calls": 6, "pass": 0, "pass_with": 6})
    );
    host.succeeds(&["suggest", "pdf"])
        .has("any branch of any remote")
        .has("`agent-skills suggest pdf --local`");
    assert_eq!(config(&host), "");
}

#[test]
fn commands_in_the_text_count_as_calls() {
    let host = Host::stdin().skill("pdf", LIST, BODY);
    let host = host.file(
        "pdf/references/more.md",
        "Use `npx tsc -p x`; never `npx evil x`.",
    );
    let answer = host.json(&["suggest", "pdf", "--json"]);
    let expected = ["Bash(curl:*)", "Bash(npx prettier:*)", "Bash(npx tsc:*)"];
    assert_eq!(entries(&answer), expected, "{answer}");
    assert_eq!(
        answer["documented"],
        json!({"calls": 5, "pass": 2, "pass_with": 5})
    );
    assert_eq!(
        answer["entries"][0]["example"],
        "curl -o <file> https://x.org"
    );
}

#[test]
fn what_is_denied_protected_or_unreadable_is_left_out() {
    let host = Host::stdin();
    let policy = host.home().join("policy.toml");
    fs::write(&policy, "[tools]\ndeny = [\"Bash(npx evil:*)\"]").unwrap();
    let host = host.var("AGENT_SKILLS_POLICY", policy.to_str().unwrap());
    let home = host.home().display().to_string();
    let protected = format!("echo x > {home}/.chibi/x");
    let host = after(
        host,
        &[
            "npx evil x",
            &protected,
            "if [ x; then",
            "curl -u me:secret https://x.org",
            "$TOOL x",
            "bash -c \"$x\"",
        ],
    );
    let answer = host.json(&["suggest", "pdf", "--json"]);
    assert_eq!(answer["entries"], json!([]), "{answer}");
    let left = each(&answer["left_out"], "reason");
    for reason in ["denied", "protected", "unreadable", "incomplete"] {
        assert!(left.contains(&reason), "{reason}: {answer}");
    }
    answer["message"].as_str().unwrap().has("no narrow entry");
    host.succeeds(&["suggest", "pdf"]).has("a denial covers it");
}

#[test]
fn an_empty_result_says_why() {
    let host = Host::stdin().skill("pdf", LIST, "Run `git log -1`.");
    let host = host.skill("free", "", "Run `npx x y`.");
    for (name, part) in [
        ("pdf", "pass today"),
        ("free", "no list of tools restricts it"),
    ] {
        host.succeeds(&["suggest", name])
            .begins("nothing to suggest")
            .has(part);
        host.succeeds(&["suggest", name, "--local", "--yes"])
            .has(part);
    }
    host.fails(&["suggest", "none"]).has("none");
}

#[test]
fn the_configuration_gets_them_from_a_person() {
    let host = after(Host::stdin(), &["npx prettier ."]);
    let file = host.plugin_dir().join("config.toml");
    write_at(
        &file,
        "# mine\n[skills.pdf]\nallow = [\"Bash(jq:*)\"] # why\n",
    );
    host.succeeds(&["suggest", "pdf", "--local", "--dry-run"])
        .has("would add 1 entry");
    config(&host).lacks("npx");
    let refused = host.unattended(&["suggest", "pdf", "--local", "--yes"]);
    assert_eq!(refused.status, 1, "{refused:?}");
    host.succeeds(&["suggest", "pdf", "--local", "--yes"])
        .has("config unset skills.pdf.allow");
    config(&host)
        .has("allow = [\"Bash(jq:*)\", \"Bash(npx prettier:*)\"] # why")
        .begins("# mine");
    host.allows("shell_exec", &shell("npx prettier ."));
    let again = host.json(&["suggest", "pdf", "--json"]);
    assert_eq!(again["entries"], json!([]), "{again}");
}

#[test]
fn where_additions_do_not_count_none_is_made() {
    let host = Host::stdin();
    let policy = host.home().join("policy.toml");
    fs::write(&policy, "[enforce]\noverrides = false").unwrap();
    let host = host.var("AGENT_SKILLS_POLICY", policy.to_str().unwrap());
    let host = after(host, &["npx prettier ."]);
    host.fails(&["suggest", "pdf", "--local", "--yes"])
        .has("would be ignored")
        .has("--apply");
    assert_eq!(config(&host), "");
}

#[test]
fn a_proposal_changes_the_list_once_it_is_approved() {
    let host = after(Host::stdin(), &["npx prettier ."]);
    host.succeeds(&["suggest", "pdf", "--apply", "--dry-run"])
        .has("would propose 1 entry");
    host.succeeds(&["suggest", "pdf", "--apply", "--yes"])
        .has("agent-skills proposals show");
    let listed = crate::proposals::list(&host);
    let id = listed[0]["id"].as_str().unwrap();
    let file = host.skills_dir().join("pdf/SKILL.md");
    fs::read_to_string(&file).unwrap().lacks("npx");
    host.succeeds(&["proposals", "approve", id, "--yes"]);
    let text = fs::read_to_string(&file).unwrap();
    let list = "allowed-tools: Read, Bash(git log:*), Bash(npx prettier:*)\n";
    text.has(list);
    assert_eq!(
        host.json(&["suggest", "pdf", "--json"])["entries"],
        json!([])
    );
}

#[test]
fn a_model_applies_nothing() {
    let host = after(Host::stdin(), &["npx prettier ."]);
    for flag in ["--local", "--apply"] {
        let call = json!({"action": "suggest", "args": ["pdf", flag, "--yes"]});
        host.tool("skill_marketplace", &call).begins("Error:");
        let typed = json!({"command": format!("suggest pdf {flag} --yes")});
        host.tool("agent-skills", &typed).lacks("added");
    }
    assert_eq!(config(&host), "");
}

/// How many commands of the 76 skills of `../shared/corpus` pass their own list, before and after.
/// `--nocapture` prints the figures.
#[test]
fn commands_of_real_skills_pass_their_own_lists() {
    let Some(corpus) = crate::corpus::corpus() else {
        return;
    };
    let host = Host::stdin();
    let (mut skills, mut calls, mut pass, mut pass_with) = (0, 0, 0, 0);
    for (name, dir) in corpus {
        let answer = host.json(&["suggest", dir.to_str().unwrap(), "--json"]);
        let number = |key: &str| answer["documented"][key].as_u64().unwrap();
        if number("calls") == 0 {
            continue;
        }
        println!(
            "{name}: {} of {}, then {}: {:?}; left out: {}",
            number("pass"),
            number("calls"),
            number("pass_with"),
            entries(&answer),
            answer["left_out"]
        );
        skills += 1;
        calls += number("calls");
        pass += number("pass");
        pass_with += number("pass_with");
        for entry in entries(&answer) {
            assert!(
                !["Bash", "*", "Bash(*)", "Bash(*:*)"].contains(&entry),
                "{name}"
            );
        }
    }
    println!(
        "{skills} skills with a list document {calls} commands: {pass} pass, {pass_with} with what is suggested"
    );
    assert!(pass < pass_with && pass_with <= calls);
}
