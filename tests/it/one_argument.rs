//! One argument that holds a whole command: the documented form on every host, and what a model
//! makes of it.

use serde_json::{Value, json};

use crate::Host;
use crate::host::Has;
use crate::market::{acme, skill};
use crate::repository::Hub;

/// The tool and the arguments that a chibi of this version makes of what was typed; `None` if it
/// refuses. Of 0.4 only `-P` is known.
pub fn call(version: &str, line: &str) -> Option<(String, Value)> {
    let words = shlex::split(line).unwrap();
    let [program, flag, tool, rest @ ..] = &*words else {
        panic!("{line}")
    };
    assert_eq!(program, "chibi");
    let as_json = |text: &str| serde_json::from_str(text).ok();
    let arguments = match (version, flag.as_str(), rest) {
        ("0.4", "-P", words) | ("0.5", "-p", words) => json!({"args": words}),
        ("0.5", "-P", []) => json!({}),
        ("0.5", "-P", words) => as_json(&words.join(" "))?,
        ("0.10", "-p", [line]) => json!({"args": shlex::split(line)?}),
        ("0.10", "-P", [text]) => as_json(text)?,
        _ => return None,
    };
    Some((tool.clone(), arguments))
}

fn host(version: &str) -> Host {
    match version {
        "0.10" => Host::stdin(),
        _ => Host::environment(),
    }
}

/// The rows of README's table: the versions of each, and what is typed.
fn documented() -> Vec<(Vec<&'static str>, &'static str)> {
    let readme = include_str!("../../README.md");
    let rows = readme.lines().filter_map(|line| {
        let (versions, typed) = line.strip_prefix("| ")?.split_once(" | `chibi ")?;
        let versions = match versions {
            "0.5 and later" => vec!["0.5", "0.10"],
            one => vec![one],
        };
        let start = line.len() - typed.len() - "chibi ".len();
        Some((versions, line[start..].strip_suffix("` |")?))
    });
    rows.collect()
}

#[test]
fn the_documented_command_installs_on_every_host() {
    let rows = documented();
    let all: Vec<&str> = rows.iter().flat_map(|(all, _)| all.clone()).collect();
    assert_eq!(all, ["0.5", "0.10", "0.4"]);
    for (versions, typed) in rows {
        for version in versions {
            let hub = Hub::new();
            hub.repository(
                "anthropics/skills",
                &[("skills/pdf/SKILL.md", &skill("pdf"))],
            );
            let host = host(version).var("AGENT_SKILLS_GITHUB_BASE", &hub.base());
            let (tool, arguments) = call(version, typed).unwrap();
            let told = host.tool(&tool, &arguments);
            told.has("\ninstalled `pdf`");
            // A host's call installs beside the plugin unless told otherwise.
            assert!(host.skills_dir().join("pdf/SKILL.md").exists());
        }
    }
}

#[test]
fn quoted_words_reach_the_command_on_every_host() {
    for version in ["0.4", "0.5", "0.10"] {
        let host = host(version).skill("pdf", "", "body");
        let flag = if version == "0.4" { "-P" } else { "-p" };
        let typed = [
            r#"agent-skills "info 'pdf'""#,
            r#"agent-skills "--verbose info pdf""#,
            r#"agent-skills " info	pdf ""#,
        ];
        for typed in typed {
            let (tool, arguments) = call(version, &format!("chibi {flag} {typed}")).unwrap();
            host.tool(&tool, &arguments).has("Does pdf.");
        }
        let (tool, arguments) = call(version, &format!("chibi {flag} agent-skills ''")).unwrap();
        host.tool(&tool, &arguments).has("Usage: agent-skills");
        // On the older hosts the words may stand alone, too.
        let alone = call(version, &format!("chibi {flag} agent-skills info pdf"));
        assert_eq!(alone.is_none(), version == "0.10");
    }
}

/// What a model may write where `pre_tool` must see the installation of `acme/pdf`, which no
/// configured source has.
const INSTALLS: [&str; 8] = [
    "install acme/pdf",
    "install -- acme/pdf",
    "  install\tacme/pdf  ",
    "install\nacme/pdf",
    "'install' \"acme/pdf\"",
    "i\\nstall acme''/pdf",
    "--quiet install acme/pdf",
    "add acme/pdf # list",
];

/// What runs nothing, whoever allows it.
const NOTHING: [&str; 8] = [
    "'install acme/pdf'",
    "\"install acme/pdf\"",
    "install\\ acme/pdf",
    "list; install acme/pdf",
    "list $(install acme/pdf)",
    "list `install acme/pdf`",
    "list | install acme/pdf",
    "list \"install acme/pdf",
];

#[test]
fn a_models_whole_command_is_decided_as_it_is_run() {
    let played = Host::stdin();
    let (host, _hub) = acme(played);
    for line in INSTALLS {
        for args in [json!(line), json!([line])] {
            let arguments = json!({"args": args});
            host.blocks("skill_marketplace", &arguments);
            host.blocks("agent-skills", &arguments);
        }
    }
    for line in NOTHING {
        for args in [json!(line), json!([line])] {
            host.tool("skill_marketplace", &json!({"args": args}))
                .begins("Error: ");
        }
    }
    assert!(!host.skills_dir().join("pdf").exists());
    for line in [
        "trust --always",
        "config set enforce off",
        "'config' set enforce off",
        "install --accept-findings anthropics/skills@pdf",
        "install --layer personal anthropics/skills@pdf",
        "list --yes",
    ] {
        host.blocks("skill_marketplace", &json!({"args": [line]}));
    }
}

#[test]
fn a_whole_command_is_compared_with_denials_as_words_are() {
    let policy = "[tools]\ndeny = [\"skill_marketplace(action:update, skill_ref:q)\", \
                  \"skill_marketplace(args:info pdf)\"]\n";
    let host = crate::policy::under(Host::stdin(), policy).skill("q", "", "");
    for line in [
        "update q",
        "'update' \"q\"",
        "up\\date q",
        "update",
        "info 'pdf'",
    ] {
        for args in [json!(line), json!([line])] {
            host.blocks("skill_marketplace", &json!({"args": args}));
        }
    }
    host.allows("skill_marketplace", &json!({"args": "info other"}));
}

#[test]
fn under_a_restriction_a_whole_command_contacts_no_host() {
    let played = Host::stdin();
    let host = played.skill("strict", "allowed-tools: Read", "");
    host.activates("strict");
    host.allows("skill_marketplace", &json!({"args": ["search pdf"]}));
    let line = "search https://evil.example/x";
    for args in [
        json!(line),
        json!([line]),
        json!(line.split(' ').collect::<Vec<_>>()),
    ] {
        host.blocks("skill_marketplace", &json!({"args": args}));
    }
}

/// In a shell an argument is one word: a denial of `Bash(agent-skills install:*)` would not see
/// others in it.
#[test]
fn a_shells_argument_is_not_split() {
    let (host, _hub) = acme(Host::stdin());
    let ran = host.person(&["install acme/pdf"]);
    assert_eq!(ran.status, 2, "{ran:?}");
    // Nor what a call has split already.
    let mut command = host.command();
    command
        .env("AGENT_SKILLS_BY_HOST", "1")
        .arg("install acme/pdf");
    let ran = crate::host::finish(&mut command, b"");
    ran.stdout.begins("Error: ");
    assert!(!host.skills_dir().join("pdf").exists());
}
