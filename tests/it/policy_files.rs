//! A policy that is there counts, or closes: what cannot be read, leads nowhere or could be somebody
//! else's is never taken for no policy.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::PathBuf;

use serde_json::json;

use crate::Host;
use crate::host::{Has, write_at};
use crate::layers::{codes, is_offered, with_layers};

fn policy(host: &Host) -> PathBuf {
    host.home().join("enterprise/policy.toml")
}

fn mode(path: &PathBuf, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

pub fn is_root() -> bool {
    let home = tempfile::tempdir().unwrap();
    chown(home.path(), Some(65_533), None).is_ok()
}

/// A skill `s` in this directory below the home directory.
fn skills(host: &Host, dir: &str) {
    let skill = host.home().join(dir).join("s");
    write_at(
        skill.join("SKILL.md"),
        "---\nname: s\ndescription: D.\n---\n",
    );
}

type Way = (&'static str, fn(&Host), &'static str);

const NOWHERE: &str = "dangling link";
const WRITABLE: &str = "every user may write it";
const DENIED: &str = "Permission denied";
const ANOTHER: &str = "belongs to another user";

fn enterprise(host: &Host, below: &str) -> PathBuf {
    host.home().join("enterprise").join(below)
}

/// An empty policy, and `below` the administrator's directory something of this mode.
fn open(host: &Host, below: &str, bits: u32) {
    fs::write(policy(host), "").unwrap();
    mode(&enterprise(host, below), bits);
}

/// In each, something of a policy is there, and the reason why it cannot be relied on.
const SPOILED: [Way; 14] = [
    (
        "a link that leads nowhere",
        |host| link(host, "/no/such/policy", "policy.toml"),
        NOWHERE,
    ),
    (
        "a link to a link that leads nowhere",
        |host| {
            link(host, "other", "policy.toml");
            link(host, "missing", "other");
        },
        NOWHERE,
    ),
    (
        "a directory that leads nowhere",
        |host| {
            fs::remove_dir_all(enterprise(host, "")).unwrap();
            symlink("/no/such/directory", host.home().join("enterprise")).unwrap();
        },
        NOWHERE,
    ),
    (
        "a directory that is gone",
        |host| fs::remove_dir_all(enterprise(host, "")).unwrap(),
        "does not exist",
    ),
    (
        "a file where the directory should be",
        |host| {
            fs::remove_dir_all(enterprise(host, "")).unwrap();
            fs::write(host.home().join("enterprise"), "").unwrap();
        },
        "enterprise",
    ),
    (
        "a policy that everybody may write",
        |host| open(host, "policy.toml", 0o666),
        WRITABLE,
    ),
    (
        "a directory that everybody may write",
        |host| open(host, "", 0o777),
        WRITABLE,
    ),
    (
        "a directory that everybody may write, without a policy",
        |host| mode(&enterprise(host, ""), 0o777),
        WRITABLE,
    ),
    (
        "a policy that is not UTF-8",
        |host| fs::write(policy(host), b"[tools]\ndeny = [\"Bash\"] # \xe9").unwrap(),
        "line 2: it is not UTF-8",
    ),
    (
        "a link to a policy that everybody may write",
        |host| {
            let other = host.home().join("other.toml");
            fs::write(&other, "").unwrap();
            mode(&other, 0o666);
            link(host, other.to_str().unwrap(), "policy.toml");
        },
        WRITABLE,
    ),
    // Others may add what the administrator's directory does not hold yet.
    (
        "a directory to which everybody may add",
        |host| mode(&enterprise(host, ""), 0o1777),
        WRITABLE,
    ),
    (
        "skills to which everybody may add",
        |host| {
            skills(host, "enterprise/skills");
            mode(&enterprise(host, "skills"), 0o1777);
        },
        WRITABLE,
    ),
    // A skill of the administrator would free its name.
    (
        "a skill that is a link to nothing",
        |host| {
            skills(host, "enterprise/skills");
            link(host, "/gone", "skills/x");
        },
        "No such file",
    ),
    (
        "a skill's file that is a link to nothing",
        |host| {
            skills(host, "enterprise/skills");
            fs::remove_file(enterprise(host, "skills/s/SKILL.md")).unwrap();
            link(host, "/gone", "skills/s/SKILL.md");
        },
        "No such file",
    ),
];

fn link(host: &Host, to: &str, below: &str) {
    symlink(to, enterprise(host, below)).unwrap();
}

fn closed(host: &Host, below: &str) {
    skills(host, "enterprise/skills");
    mode(&enterprise(host, below), 0);
}

/// The same, for whoever is not root.
const HIDDEN: [Way; 2] = [
    (
        "a skill that cannot be read",
        |host| closed(host, "skills/s"),
        DENIED,
    ),
    (
        "a skill's file that cannot be read",
        |host| closed(host, "skills/s/SKILL.md"),
        DENIED,
    ),
];

fn given(host: &Host, below: &str, user: Option<u32>, group: Option<u32>) {
    open(host, "policy.toml", 0o664);
    chown(enterprise(host, below), user, group).unwrap();
}

/// The same, which only root can make.
const ANOTHERS: [Way; 3] = [
    (
        "another user's policy",
        |host| given(host, "policy.toml", Some(65_533), None),
        ANOTHER,
    ),
    (
        "another user's directory",
        |host| given(host, "", Some(65_533), None),
        ANOTHER,
    ),
    (
        "another group's policy",
        |host| given(host, "policy.toml", None, Some(65_533)),
        "other users' group",
    ),
];

#[test]
fn an_unreliable_policy_closes_and_doctor_says_why() {
    let mut ways = SPOILED.to_vec();
    if !is_root() {
        ways.extend(HIDDEN);
    }
    closes_and_doctor_says_why(ways);
}

#[test]
fn another_users_policy_closes_as_root() {
    if is_root() {
        closes_and_doctor_says_why(ANOTHERS.to_vec());
    } else {
        println!("skipped: only root can give a policy to another user");
    }
}

fn closes_and_doctor_says_why(ways: Vec<Way>) {
    for (at, (way, spoil, why)) in ways.into_iter().enumerate() {
        let host = if at % 2 == 0 {
            Host::stdin()
        } else {
            Host::environment()
        };
        let host = with_layers(host).skill("free", "", "");
        host.allows("shell_exec", &json!({"command": "ls"}));
        spoil(&host);
        let message = host.blocks("shell_exec", &json!({"command": "ls"}));
        assert!(message.contains(why), "{way}: {message}");
        host.allows("file_head", &json!({"path": "x"}));
        assert!(!is_offered(&host, "free"), "{way}");
        assert!(
            codes(&host, "free").contains(&"hidden-policy".to_owned()),
            "{way}"
        );
        let told = host.person(&["doctor"]).stdout;
        assert!(told.replace('\n', " ").contains(why), "{way}: {told}");
    }
}

#[test]
fn an_unreadable_enterprise_layer_keeps_every_name() {
    let host = with_layers(Host::stdin()).skill("free", "", "");
    assert!(is_offered(&host, "free"));
    symlink("/no/such/skills", host.home().join("enterprise/skills")).unwrap();
    assert!(!is_offered(&host, "free"));
    let (_, told) = host.hook_with_stderr("post_system_prompt", &json!({}));
    told.has("enterprise skills");
    host.blocks("shell_exec", &json!({"command": "ls"}));
}

#[test]
fn what_is_well_kept_counts() {
    let host = with_layers(Host::stdin()).skill("free", "", "");
    for (file, directory) in [(0o600, 0o700), (0o644, 0o755), (0o444, 0o555)] {
        let _ = fs::remove_file(policy(&host));
        fs::write(policy(&host), "[tools]\ndeny = [\"WebFetch\"]\n").unwrap();
        mode(&policy(&host), file);
        mode(&host.home().join("enterprise"), directory);
        host.allows("shell_exec", &json!({"command": "ls"}));
        host.blocks("fetch_url", &json!({"url": "https://example.com"}));
        mode(&host.home().join("enterprise"), 0o755);
    }
    // A policy may be a link, as configuration managers make them.
    fs::rename(policy(&host), host.home().join("kept.toml")).unwrap();
    symlink("../kept.toml", policy(&host)).unwrap();
    host.blocks("fetch_url", &json!({"url": "https://example.com"}));
}
