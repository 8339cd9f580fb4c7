//! Whoever does what a message names as the next step, word by word, gets out.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::Host;
use crate::author::{skill, write};
use crate::decisions::shell;
use crate::host::{Has, write_at};
use crate::market::acme;
use crate::policy_files::is_root;
use crate::terminal::converse;

/// Runs the first command that `said` has in backticks.
#[track_caller]
fn take(host: &Host, said: &str) {
    let quoted = said.split('`').skip(1).step_by(2);
    let mut steps = quoted.filter(|it| {
        ["mv ", "chmod ", "agent-skills "]
            .iter()
            .any(|p| it.starts_with(p))
    });
    let step = steps.next().unwrap_or_else(|| panic!("{said}"));
    let script = step.replace("agent-skills ", "\"$A\" ");
    let (told, status) = converse(&mut shell(host, &script), "");
    assert_eq!(status, 0, "{step}: {told}");
}

fn damage(file: &Path, how: &str) {
    let _ = fs::remove_file(file);
    match how {
        "directory" => fs::create_dir(file).unwrap(),
        "link" => symlink("/no/such/place", file).unwrap(),
        _ => fs::write(file, "{").unwrap(),
    }
    if how == "closed" {
        fs::set_permissions(file, fs::Permissions::from_mode(0o000)).unwrap();
    }
}

#[test]
fn a_damaged_file_is_moved_away_or_opened() {
    let (host, _hub) = acme(Host::stdin());
    for (file, words) in [
        ("skills.lock.json", &["verify"][..]),
        ("trust.json", &["trust", "--list"]),
        ("approvals.json", &["approve", "--list"]),
        ("sources.json", &["source", "list"]),
        ("config.toml", &["config", "list"]),
    ] {
        for how in ["garbage", "directory", "link", "closed"] {
            // A mistake in a line is corrected there; root opens everything.
            if (how, file) == ("garbage", "config.toml") || how == "closed" && is_root() {
                continue;
            }
            let path = host.plugin_dir().join(file);
            damage(&path, how);
            let told = host.fails(words);
            let named = format!("`{}`", path.display());
            told.has(&named);
            let checks = host.person(&["doctor"]).stdout;
            let step = told.split("hint: ").nth(1).unwrap().trim_end();
            assert!(checks.contains(step), "{file} {how}: {step}: {checks}");
            take(&host, step);
            if how == "closed" {
                fs::remove_file(&path).unwrap();
            }
            host.succeeds(words);
            let moved = path.with_file_name(format!("{file}.damaged"));
            let _ = fs::remove_file(&moved).or_else(|_| fs::remove_dir(&moved));
        }
    }
}

#[test]
fn an_installed_skill_that_is_gone_comes_back_or_is_forgotten() {
    let (host, _hub) = acme(Host::stdin());
    host.succeeds(&["install", "acme/skills", "--all", "--yes"]);
    let dir = host.skills_dir().join("pdf");
    for words in [
        &["info", "pdf"][..],
        &["update", "pdf"],
        &["disable", "pdf"],
        &["rollback", "pdf"],
        &["check", "pdf", "--tool", "Read"],
    ] {
        fs::remove_dir_all(&dir).unwrap();
        take(&host, &host.fails(words));
        assert!(dir.join("SKILL.md").exists(), "{words:?}");
    }
    fs::remove_dir_all(&dir).unwrap();
    host.succeeds(&["remove", "pdf"]);
    host.succeeds(&["verify"]).lacks("pdf");
    // What is in its place is not taken for it, nor lost.
    fs::remove_dir_all(host.skills_dir().join("csv")).unwrap();
    fs::write(host.skills_dir().join("csv"), "mine").unwrap();
    take(&host, &host.fails(&["verify", "--fix"]));
    host.succeeds(&["verify", "--fix"])
        .has("`csv` was restored");
    let kept = fs::read_to_string(host.skills_dir().join("csv.damaged")).unwrap();
    assert_eq!(kept, "mine");
}

#[test]
fn a_damaged_skill_has_one_way_out_in_doctor() {
    let (host, _hub) = acme(Host::stdin());
    host.succeeds(&["install", "acme/skills", "--all", "--yes"]);
    fs::remove_file(host.skills_dir().join("pdf/SKILL.md")).unwrap();
    let checks = host.person(&["doctor"]).stdout;
    assert_eq!(checks.matches("`pdf`").count(), 1, "{checks}");
    checks.has("agent-skills verify --fix pdf");
    host.succeeds(&["verify", "--fix", "pdf"]);
    host.person(&["doctor"]).stdout.lacks("`pdf`");
}

#[test]
fn closed_files_are_opened_and_hide_no_other_skill() {
    if is_root() {
        println!("skipped: root may read everything");
        return;
    }
    let (host, _hub) = acme(Host::stdin());
    host.succeeds(&["install", "acme/skills", "--all", "--yes"]);
    let own = host.project().join("x");
    write(
        &host,
        &[("x/SKILL.md", &skill("x", "", "b")), ("x/a/b", "")],
    );
    let close = |path: &Path| fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
    for path in ["pdf", "pdf/SKILL.md"] {
        close(&host.skills_dir().join(path));
        let told = host.person(&["verify"]).stdout;
        told.has("pdf: unreadable").has("csv: intact");
        take(&host, &told);
        host.succeeds(&["verify"]).has("2 skills are intact");
    }
    for path in ["a/b", "a"] {
        close(&own.join(path));
        let told = host.person(&["validate", "x"]).stdout;
        told.has(&format!(
            "error: could not read `{path}`: permission denied"
        ));
        host.fails(&["package", "./x"]);
        take(&host, told.split("help: ").nth(1).unwrap());
    }
    host.succeeds(&["package", "./x"]);
}

#[test]
fn what_is_misspelt_has_one_suggestion() {
    let (host, _hub) = acme(Host::stdin());
    host.succeeds(&["source", "add", "acme/skills"]);
    host.succeeds(&["install", "acme/skills@pdf", "--yes"]);
    host.succeeds(&["approve", "pdf", "--yes"]);
    host.config("scop = 'context'\n");
    for (words, meant) in [
        (&["config", "list"][..], "did you mean `scope`?"),
        (&["config", "unset", "scpe"], "did you mean `scope`?"),
        (&["install", "csvs"], "did you mean `csv`?"),
        (&["show", "csvs@acme-skills"], "did you mean `csv`?"),
        (&["approve", "--revoke", "pfd"], "did you mean `pdf`?"),
    ] {
        let told = host.fails(words);
        let once = |what: &str| told.matches(what).count() < 2;
        told.has(meant);
        assert!(once("did you mean") && once("was left out"), "{told}");
    }
    host.succeeds(&["config", "unset", "scop"]);
    let told = host.person(&["check", "pdf", "--tool", "Raed"]).stderr;
    told.has("did you mean `Read`?");
    let dir = host.project().join(".chibi/skills/mine");
    write_at(dir.join("SKILL.md"), skill("mine", "", "b"));
    let told = host.fails(&["trust", "--skill", "mne"]);
    told.has("did you mean `mine`?");
}
