//! What becomes of a proposal: who sees it and who decides, and what it meets when it is approved.

use std::fs;

use serde_json::json;

use crate::Host;
use crate::host::{Has, write_at};
use crate::market_sources::skill;
use crate::proposals::{TOOL, call, decisions, diff, list, propose, text};
use crate::repository::{Hub, files, rev};
use crate::terminal::converse;

#[test]
fn a_model_may_see_and_never_decide() {
    let host = Host::stdin().skill("pdf", "", "One.");
    let id = propose(&host, "pdf", &diff("One.", "1."));
    let before = files(&host.skills_dir());
    for verb in ["approve", "reject"] {
        for args in [
            json!(["proposals", verb, id, "--yes"]),
            json!(["proposals", verb, id]),
        ] {
            let arguments = json!({"args": args});
            if verb == "approve" || args.as_array().unwrap().len() == 3 {
                for tool in ["skill_marketplace", "agent-skills"] {
                    host.blocks(tool, &arguments);
                    host.tool(tool, &arguments).begins("Error: only a person");
                }
            }
        }
    }
    let look = json!({"args": ["proposals", "show", id]});
    host.allows("skill_marketplace", &look);
    host.tool("skill_marketplace", &look).has("why: ");
    // That is no command, and approves nothing.
    let odd = json!({"args": ["proposals", "--", "approve", id]});
    host.tool("skill_marketplace", &odd).begins("Error: ");
    assert_eq!(files(&host.skills_dir()), before);
    host.succeeds(&["proposals", "reject", &id, "--reason", "no"])
        .has("is as it was");
    assert_eq!(list(&host), json!([]));
    assert_eq!(decisions(&host), ["written", "rejected"]);
    // What was decided stays to be looked at, and is not decided again.
    host.succeeds(&["proposals", "show", &id])
        .has("why: It was wrong.\ncannot be applied: it was decided")
        .has("\nAs it was written:\n--- a/SKILL.md\n+++ b/SKILL.md\n");
    host.fails(&["proposals", "approve", &id, "--yes"])
        .has("there is no proposal");
    let again = propose(&host, "pdf", &diff("One.", "1."));
    assert_eq!(again, id);
    host.succeeds(&["proposals", "approve", &id, "--yes"]);
    host.succeeds(&["proposals", "show", &id, "--json"])
        .has("\"problem\": \"it was decided\"");
}

/// A shell that the host has started is not a person's.
#[cfg(target_os = "linux")]
#[test]
fn what_no_longer_applies_says_so_and_changes_nothing() {
    let host = Host::stdin()
        .skill("pdf", "", "One.\nTwo.")
        .skill("gone", "", "One.");
    let first = propose(&host, "pdf", &diff("One.", "1."));
    let rival = propose(&host, "pdf", &diff("One.", "Eins."));
    // The skill's own text may name its files by their whole path.
    let file = host.skills_dir().join("pdf/SKILL.md").display().to_string();
    let whole = diff("Two.", "2.")
        .replace("a/SKILL.md", &file)
        .replace("b/SKILL.md", &file);
    let other = propose(&host, "pdf", &whole);
    let vanished = propose(&host, "gone", &diff("One.", "1."));
    // Said twice, it is kept once.
    assert_eq!(propose(&host, "pdf", &diff("One.", "1.")), first);
    assert_eq!(list(&host).as_array().unwrap().len(), 4);
    host.succeeds(&["proposals", "approve", &first, "--yes"]);
    fs::remove_dir_all(host.skills_dir().join("gone")).unwrap();
    let before = files(&host.skills_dir());
    for (id, why) in [(&rival, "no line `One.`"), (&vanished, "no longer there")] {
        host.succeeds(&["proposals", "show", id])
            .has("cannot be applied")
            .has(why);
        host.fails(&["proposals", "approve", id, "--yes"])
            .has(why)
            .has("hint: ");
    }
    let listed = host.succeeds(&["proposals", "list"]);
    assert_eq!(listed.matches("cannot be applied").count(), 2, "{listed}");
    assert_eq!(files(&host.skills_dir()), before);
    host.succeeds(&["proposals", "approve", &other, "--yes"]);
    text(&host, "pdf/SKILL.md").finishes("1.\n2.\n");
    host.succeeds(&["proposals", "reject", &rival]);
    host.succeeds(&["proposals", "reject", &vanished]);
    host.fails(&["proposals", "show", "../../x"])
        .has("not the id of a proposal");
    assert_eq!(list(&host), json!([]));
}

#[test]
fn the_user_is_told_once_on_standard_error() {
    let host = Host::stdin().skill("pdf", "", "One.");
    let tells = || {
        let data = json!({"context_name": "default"});
        let (answer, stderr) = host.hook_with_stderr("post_system_prompt", &data);
        assert!(answer["inject"].is_string());
        stderr
    };
    assert_eq!(tells(), "");
    propose(&host, "pdf", &diff("One.", "1."));
    tells().has("1 proposal waits");
    assert_eq!(tells(), "");
    propose(&host, "pdf", &diff("One.", "Eins."));
    tells().has("2 proposals");
    assert_eq!(tells(), "");
}

#[test]
fn an_improved_skill_of_a_repository_counts_as_changed_by_hand() {
    let hub = Hub::new();
    let dir = hub.skills(&["pdf"]);
    let host = hub.host();
    host.succeeds(&["install", "acme/pdf"]);
    let lock = fs::read(host.plugin_dir().join("skills.lock.json")).unwrap();
    let id = propose(&host, "pdf", &diff("Body of pdf.", "A better body."));
    host.succeeds(&["proposals", "approve", &id, "--yes"]);
    for words in [&["list"][..], &["list", "--json"]] {
        let told = host.succeeds(words);
        assert!(
            told.contains("changed-since") || told.contains("\"changed\": true"),
            "{told}"
        );
    }
    let verified = host.person(&["verify"]);
    verified.stdout.has("changed SKILL.md");
    host.succeeds(&["update"]).has("up to date");
    write_at(
        dir.join("skills/pdf/SKILL.md"),
        skill("pdf").replace("Body", "New body"),
    );
    crate::repository::commit(&dir);
    host.succeeds(&["update"])
        .has("was changed both here and in its source")
        .has("--stash");
    host.succeeds(&["rollback", "pdf"]);
    host.succeeds(&["verify"]).has("pdf: intact");
    assert_eq!(
        fs::read(host.plugin_dir().join("skills.lock.json")).unwrap(),
        lock
    );
    host.succeeds(&["update"]);
    let pinned = "acme/skills@pdf#".to_owned() + &rev(&dir, "HEAD");
    host.succeeds(&["remove", "pdf"]);
    host.succeeds(&["install", &pinned]);
    host.tool(TOOL, &call("pdf", &diff("New body of pdf.", "x")))
        .has("pinned");
}

#[test]
fn a_broken_file_hides_no_proposal() {
    let host = Host::stdin().skill("pdf", "", "One.");
    let id = propose(&host, "pdf", &diff("One.", "1."));
    let dir = host.plugin_dir().join("proposals");
    fs::write(dir.join("0123456789ab.json"), "{").unwrap();
    let ran = host.person(&["proposals", "list", "--json"]);
    ran.stdout.has(&id);
    ran.stderr.has("is not a proposal");
    for number in 1..100 {
        host.tool(TOOL, &call("pdf", &diff("One.", &number.to_string())));
    }
    host.tool(TOOL, &call("pdf", &diff("One.", "2.")))
        .has("100 proposals");
}

#[test]
fn a_person_on_a_terminal_sees_the_change_and_is_asked() {
    let host = Host::stdin().skill("pdf", "allowed-tools: Read", "One.");
    let id = propose(&host, "pdf", &diff("allowed-tools: Read", "license: MIT"));
    let answers = |answer: &str| {
        let mut command = host.command();
        converse(command.args(["proposals", "approve", &id]), answer).0
    };
    answers("n\n")
        .has("It was wrong.")
        .has("-allowed-tools: Read")
        .has("ATTENTION")
        .has("every tool")
        .has("Apply it? [y/N]")
        .has("you said no");
    text(&host, "pdf/SKILL.md").has("allowed-tools");
    answers("y\n");
    text(&host, "pdf/SKILL.md").has("license: MIT");
}
