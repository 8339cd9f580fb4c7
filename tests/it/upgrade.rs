//! Files that earlier versions of the program wrote are read: an upgrade in the middle of a session
//! loosens nothing and forgets nothing. `upgrade/1` has trust in its first format,
//! `upgrade/2` is of the version before the redesign of the rooms.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::host::Host;

const VERSIONS: [[(&str, &str); 4]; 2] = [
    [
        ("state.json", include_str!("upgrade/1/state.json")),
        ("trust.json", include_str!("upgrade/1/trust.json")),
        ("approvals.json", include_str!("upgrade/1/approvals.json")),
        (
            "skills.lock.json",
            include_str!("upgrade/1/skills.lock.json"),
        ),
    ],
    [
        ("state.json", include_str!("upgrade/2/state.json")),
        ("trust.json", include_str!("upgrade/2/trust.json")),
        ("approvals.json", include_str!("upgrade/2/approvals.json")),
        (
            "skills.lock.json",
            include_str!("upgrade/2/skills.lock.json"),
        ),
    ],
];

/// A home as an earlier version left it: `reader` is active, `tool` is installed and approved, and
/// the project with `local` is trusted.
fn left_by(version: [(&str, &str); 4], mut host: Host) -> Host {
    let write = |path: std::path::PathBuf, text: &str, mode: u32| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let (skills, project) = (host.skills_dir(), host.project().to_owned());
    write(
        skills.join("reader/SKILL.md"),
        "---\nname: reader\ndescription: Reads.\nallowed-tools: Read Bash(git status *)\n---\nRead.\n",
        0o644,
    );
    write(
        skills.join("tool/SKILL.md"),
        "---\nname: tool\ndescription: A tool with a script.\n---\nRun it.\n",
        0o644,
    );
    write(
        skills.join("tool/scripts/hi.sh"),
        "#!/bin/sh\necho hi\n",
        0o755,
    );
    write(
        project.join(".chibi/skills/local/SKILL.md"),
        "---\nname: local\ndescription: Local.\n---\nLocal.\n",
        0o644,
    );
    let plugin = host.plugin_dir();
    for (name, text) in version {
        let text = text
            .replace("{PLUGIN}", plugin.to_str().unwrap())
            .replace(
                "{PROJECT}",
                project.canonicalize().unwrap().to_str().unwrap(),
            )
            .replace("{SOURCE}", "/tmp/source");
        write(plugin.join(name), &text, 0o600);
    }
    host.session("before");
    host
}

fn each(check: impl Fn(Host)) {
    for version in VERSIONS {
        for host in Host::both() {
            check(left_by(version, host));
        }
    }
}

#[test]
fn a_live_session_stays_restricted() {
    each(|host| {
        host.allows("shell_exec", &json!({"command": "git status -s"}));
        let refused = host.blocks("shell_exec", &json!({"command": "make"}));
        assert!(refused.contains("`reader`"), "{refused}");
        host.starts();
        host.allows("shell_exec", &json!({"command": "make"}));
    });
}

#[test]
fn an_installed_skill_is_known_unchanged() {
    each(|host| {
        let answer = host.json(&["verify", "--json"]);
        assert_eq!(answer["skills"][0]["name"], "tool", "{answer}");
        host.succeeds(&["verify"]);
    });
}

#[test]
fn a_trusted_project_stays_trusted() {
    each(|host| {
        assert!(host.tool_names().contains(&"skill_local".to_owned()));
    });
}

#[test]
fn an_approved_skill_stays_approved() {
    each(|host| {
        let policy = host.home().join("policy.toml");
        fs::write(&policy, "[approval]\nrequire = [\"scripts\"]\n").unwrap();
        let host = host.var("AGENT_SKILLS_POLICY", policy.to_str().unwrap());
        assert!(host.tool_names().contains(&"skill_tool".to_owned()));
        fs::write(host.skills_dir().join("tool/scripts/hi.sh"), "echo other\n").unwrap();
        assert!(!host.tool_names().contains(&"skill_tool".to_owned()));
    });
}
