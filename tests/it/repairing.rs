//! A damaged skill is restored to what the lockfile says, and what was changed in it is kept.

use std::fs;

use crate::Host;
use crate::host::{Has, write_at};
use crate::market::{acme, skill};
use crate::repository::commit;

/// Two installed skills, one changed by hand and one gone, whose source has meanwhile moved on.
fn damaged(moves_on: bool) -> (Host, crate::repository::Hub) {
    let (host, hub) = acme(Host::stdin());
    host.succeeds(&["install", "acme/skills", "--all", "--yes"]);
    if moves_on {
        let dir = hub.dir().join("acme/skills");
        fs::write(dir.join("skills/csv/new"), "new").unwrap();
        commit(&dir);
    }
    write_at(
        host.skills_dir().join("pdf/SKILL.md"),
        skill("pdf") + "Mine.",
    );
    fs::remove_file(host.skills_dir().join("pdf/scripts/run.sh")).unwrap();
    fs::remove_dir_all(host.skills_dir().join("csv")).unwrap();
    (host, hub)
}

#[test]
fn verify_names_the_way_out_and_takes_it() {
    for moves_on in [false, true] {
        let (host, _hub) = damaged(moves_on);
        let told = host.person(&["verify"]);
        assert_eq!(told.status, 1);
        let way = "`agent-skills verify --fix csv pdf` restores what was installed";
        assert!(told.stdout.contains(way), "{}", told.stdout);
        let some = host.person(&["verify", "nothing", "csv", "pdf"]);
        some.stderr.has("the skill `nothing` is not installed");
        some.stdout.has(way);
        let doctor = host.person(&["doctor"]).stdout;
        doctor.has("agent-skills verify --fix pdf");
        doctor.has("agent-skills verify --fix csv");
        let fixed = host.succeeds(&["verify", "--fix"]);
        fixed.has("`csv` was restored\n");
        fixed.has("`pdf` was restored; your changes are kept in ");
        let kept = fixed
            .split("kept in ")
            .nth(1)
            .unwrap()
            .lines()
            .next()
            .unwrap();
        fs::read_to_string(format!("{kept}/SKILL.md"))
            .unwrap()
            .finishes("Mine.");
        host.succeeds(&["verify"]).has("2 skills are intact");
        assert!(!host.skills_dir().join("csv/new").exists());
        let again = host.succeeds(&["verify", "--fix", "pdf"]);
        assert_eq!(again, "Every skill is as it was installed.\n");
        host.fails(&["verify", "--fix", "pfd"])
            .has("did you mean `pdf`?");
    }
}

#[test]
fn update_force_restores_what_has_nothing_newer() {
    let (host, _hub) = damaged(false);
    let told = host.succeeds(&["update", "--force"]);
    told.has("`pdf` was restored").has("`csv` was restored");
    told.lacks("up to date");
    host.succeeds(&["verify"]).has("2 skills are intact");
    let told = host.succeeds(&["update", "--force"]);
    told.has("2 skills are up to date");
}

#[test]
fn what_is_in_two_layers_is_restored_where_it_is_damaged() {
    let (host, _hub) = damaged(false);
    let remedy = |host: &Host| host.person(&["doctor"]).stdout;
    remedy(&host).lacks("--layer");
    host.succeeds(&["install", "acme/skills@csv", "--layer", "personal", "--yes"]);
    let told = remedy(&host);
    let way = ["verify", "--fix", "csv", "--layer", "plugin"];
    assert!(told.contains(&way.join(" ")), "{told}");
    host.fails(&way[..3]).has("several layers");
    host.succeeds(&way);
    remedy(&host).lacks("verify --fix csv");
}

#[test]
fn without_a_record_nothing_is_said_to_be_intact() {
    let host = Host::stdin().skill("own", "", "b");
    for words in [&["verify"][..], &["verify", "--fix"]] {
        assert_eq!(host.succeeds(words), "The lockfile has no skill.\n");
    }
}

#[test]
fn nothing_is_changed_if_a_state_is_no_longer_there() {
    let (host, hub) = damaged(false);
    fs::remove_dir_all(hub.dir().join("acme/skills")).unwrap();
    host.fails(&["verify", "--fix"]);
    let text = fs::read_to_string(host.skills_dir().join("pdf/SKILL.md")).unwrap();
    assert!(text.ends_with("Mine."));
    assert!(!host.plugin_dir().join("stash").exists());
}
