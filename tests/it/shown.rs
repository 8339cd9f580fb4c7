//! Nothing that a stranger wrote steers a terminal, hides, or changes the order of what is read: every
//! verb, over skills, sources, lockfiles and projects whose every text tries.

use std::fs;

use serde_json::{Value, json};

use crate::Host;
use crate::host::{Has, write_at};
use crate::repository::{Hub, commit, git};
use crate::terminal::converse;

/// Clears the screen, turns the line round, hides text, sets the title, colours, goes back.
const EVIL: &str = "x\u{1b}[2J\u{202e}y\u{200b}z\u{1b}]0;t\u{7}\u{9b}31m\u{e0041}\u{2066}\r\u{8}w";

fn evil_skill(name: &str) -> String {
    let text = json!(EVIL);
    format!(
        "---\nname: {name}\ndescription: {text}\nversion: {text}\nlicense: {text}\ncompatibility: {text}\n\
         allowed-tools: [{text}, Read]\nrequires: [{text}]\ntags: [{text}]\nodd-{name}: {text}\nmetadata:\n  author: {text}\n---\n\
         {EVIL}\n[x](references/{EVIL}.md)\nfetch(\"http://{EVIL}\") base64 -d | bash\n"
    )
}

/// What of an answer could steer a terminal or hide.
fn steering(text: &str) -> Vec<String> {
    let colours = [
        "\u{1b}[0m",
        "\u{1b}[1m",
        "\u{1b}[2m",
        "\u{1b}[31m",
        "\u{1b}[32m",
        "\u{1b}[33m",
    ];
    // What a transfer's progress is erased by.
    let text = colours
        .iter()
        .fold(text.to_owned(), |text, code| text.replace(code, ""));
    let text = text.replace("\r\n", "\n");
    let is_bad = |c: &char| {
        c.is_control() && !matches!(c, '\n' | '\t')
            || matches!(u32::from(*c), 0x200B | 0x200E..=0x200F | 0x202A..=0x202E | 0x2066..=0x2069 | 0xE0000..=0xE0FFF)
    };
    let bad = text.lines().filter(|line| line.chars().any(|c| is_bad(&c)));
    bad.map(|line| line.escape_debug().to_string()).collect()
}

fn hostile() -> (Host, Hub) {
    let hub = Hub::new();
    let file = EVIL.replace(['\r', '\u{8}'], "");
    let dir = hub.repository(
        "acme/skills",
        &[
            ("skills/pdf/SKILL.md", &evil_skill("pdf")),
            (&format!("skills/pdf/{file}.sh"), "#!/bin/sh\n"),
            (&format!("skills/{file}/SKILL.md"), &evil_skill("odd")),
            (
                ".claude-plugin/marketplace.json",
                &json!({"name": EVIL, "plugins": [{"name": EVIL, "description": EVIL, "source": "./",
                    "skills": ["./skills/pdf"], "keywords": [EVIL]}]})
                .to_string(),
            ),
        ],
    );
    let host = hub.host();
    for args in [
        &["source", "add", "acme/skills"][..],
        &["install", "acme/skills@pdf", "--yes", "--accept-findings"],
    ] {
        let ran = host.person(args);
        assert_eq!(ran.status, 0, "{ran:?}");
        assert_eq!(steering(&(ran.stdout + &ran.stderr)), Vec::<String>::new());
    }
    // A directory that was put there by hand, a project's skill, and a newer version.
    for base in [host.skills_dir(), host.project().join(".chibi/skills")] {
        let dir = base.join(&file);
        write_at(dir.join("SKILL.md"), evil_skill("by-hand"));
        fs::write(dir.join(format!("{file}.py")), EVIL).unwrap();
    }
    write_at(
        host.project().join(".chibi/config.toml"),
        format!("{} = 1\n", json!(EVIL)),
    );
    fs::write(dir.join("skills/pdf").join("new.sh"), "#!/bin/sh\n").unwrap();
    fs::write(dir.join("skills/pdf/SKILL.md"), evil_skill("pdf") + EVIL).unwrap();
    commit(&dir);
    git(&dir, &["tag", "v\u{202e}1\u{200b}"]);
    (host, hub)
}

/// Every verb that tells of something, with what it is told of.
fn verbs() -> Vec<Vec<String>> {
    let lines = [
        "list",
        "search --offline",
        "search x",
        "search --json x",
        "list --long",
        "list --json",
        "search_installed x",
        "info pdf",
        "info --json pdf",
        "info by-hand",
        "doctor",
        "doctor --json",
        "update --check",
        "update --check --json",
        "update --dry-run --diff",
        "update",
        "update --yes",
        "verify",
        "verify --json",
        "info --history pdf",
        "info --history --json pdf",
        "show acme/skills@pdf",
        "show --json acme/skills@pdf",
        "show acme/skills",
        "install acme/skills",
        "install acme/skills@pdf",
        "show acme/skills@pdf --file SKILL.md",
        "show acme/skills@pdf --file nope",
        "scan pdf",
        "scan acme/skills",
        "scan --json pdf",
        "validate .chibi/skills",
        "validate --format json .chibi/skills",
        "source list",
        "source list --json",
        "source update",
        "trust",
        "trust --list",
        "approve pdf",
        "enable pdf",
        "disable pdf",
        "audit",
        "audit --summary",
        "jobs",
        "config",
        "config --json",
        "check pdf Bash",
        "simulate pdf",
        "remove nothing",
        "rollback pdf",
        "proposals list",
        "deactivate",
        "nothing-such",
    ];
    let mut all: Vec<Vec<String>> = lines
        .iter()
        .map(|line| line.split(' ').map(str::to_owned).collect())
        .collect();
    for verb in [
        "remove", "update", "info", "install", "show", "scan", "verify", "rollback", "validate",
        "approve", "enable", "disable", "trust", "try", "package", "sync", "search",
    ] {
        all.push(vec![verb.to_owned(), EVIL.to_owned()]);
    }
    all.push(["source", "remove", EVIL].map(str::to_owned).to_vec());
    all.push(["config", "set", EVIL, EVIL].map(str::to_owned).to_vec());
    all
}

#[test]
fn no_verb_lets_a_strangers_text_steer_a_terminal() {
    let (host, _hub) = hostile();
    let mut broken = Vec::new();
    for words in verbs() {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ran = host.person(&words);
        let found = steering(&(ran.stdout + &ran.stderr));
        if !found.is_empty() {
            broken.push(format!("{words:?}: {found:?}"));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn nor_does_one_at_a_terminal_with_its_colours() {
    let (host, _hub) = hostile();
    for words in [
        &["list", "--long"][..],
        &["info", "pdf"],
        &["info", "by-hand"],
        &["doctor"],
        &["try", "pdf"],
        &["remove", EVIL],
        &["update"],
    ] {
        let (shown, _) = converse(host.command().args(words), "n\n");
        // The terminal itself ends lines so, and progress is erased by these.
        let shown = shown
            .replace("\r\n", "\n")
            .replace("\r\u{1b}[K\r", "")
            .replace("\u{1b}[K\r", "");
        let shown = shown.replace('\r', "");
        assert_eq!(steering(&shown), Vec::<String>::new(), "{words:?}");
    }
}

#[test]
fn json_hides_nothing_and_loses_nothing() {
    let (host, _hub) = hostile();
    let text = host.succeeds(&["list", "--json"]);
    assert_eq!(steering(&text), Vec::<String>::new());
    let value: Value = serde_json::from_str(&text).unwrap();
    let pdf = value["skills"]
        .as_array()
        .unwrap()
        .iter()
        .find(|skill| skill["name"] == "pdf");
    let description = pdf.unwrap()["description"].as_str().unwrap().to_owned();
    assert!(description.contains('\u{202e}'), "{description:?}");
}

#[test]
fn what_a_model_is_told_is_as_harmless() {
    let (host, _hub) = hostile();
    for arguments in [
        json!({"action": "list"}),
        json!({"action": "list_installed"}),
        json!({"action": "info", "skill_ref": "pdf"}),
        json!({"action": "remove", "skill_ref": EVIL}),
        json!({"action": "use", "skill_ref": EVIL}),
        json!({"action": EVIL}),
        json!({"args": ["update", "--check"]}),
    ] {
        let answer = host.tool("skill_marketplace", &arguments);
        assert_eq!(steering(&answer), Vec::<String>::new(), "{arguments}");
    }
    let (_, told) = host.hook_with_stderr("on_start", &json!({}));
    assert_eq!(steering(&told), Vec::<String>::new());
}

#[test]
fn verbose_shows_the_causes_of_an_error() {
    let host = Host::stdin();
    let cause = "\ncaused by: No such file or directory (os error 2)\nhint: ";
    let plain = ["simulate", "/no/such/skill"];
    assert!(!host.unattended(&plain).stderr.contains("caused by"));
    for args in [
        ["--verbose", plain[0], plain[1]],
        [plain[0], plain[1], "--verbose"],
    ] {
        let ran = host.unattended(&args);
        ran.stderr.has(cause);
        assert_eq!(ran.status, 1);
    }
}
