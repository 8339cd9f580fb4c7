//! A policy that is there counts, or closes: what cannot be read, leads nowhere or could be somebody
//! else's is never taken for no policy.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::PathBuf;

use serde_json::json;

use crate::Host;
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
    fs::create_dir_all(&skill).unwrap();
    fs::write(
        skill.join("SKILL.md"),
        "---\nname: s\ndescription: D.\n---\n",
    )
    .unwrap();
}

type Way = (&'static str, fn(&Host), &'static str);

/// In each, something of a policy is there, and the reason why it cannot be relied on.
fn spoiled() -> Vec<Way> {
    vec![
        (
            "a link that leads nowhere",
            |host| {
                symlink("/no/such/policy", policy(host)).unwrap();
            },
            "leads nowhere",
        ),
        (
            "a link to a link that leads nowhere",
            |host| {
                symlink("other", policy(host)).unwrap();
                symlink("missing", host.home().join("enterprise/other")).unwrap();
            },
            "leads nowhere",
        ),
        (
            "a directory that leads nowhere",
            |host| {
                fs::remove_dir_all(host.home().join("enterprise")).unwrap();
                symlink("/no/such/directory", host.home().join("enterprise")).unwrap();
            },
            "leads nowhere",
        ),
        (
            "a directory that is gone",
            |host| {
                fs::remove_dir_all(host.home().join("enterprise")).unwrap();
            },
            "is not there",
        ),
        (
            "a file where the directory should be",
            |host| {
                fs::remove_dir_all(host.home().join("enterprise")).unwrap();
                fs::write(host.home().join("enterprise"), "").unwrap();
            },
            "enterprise",
        ),
        (
            "a policy that everybody may write",
            |host| {
                fs::write(policy(host), "").unwrap();
                mode(&policy(host), 0o666);
            },
            "every user may write it",
        ),
        (
            "a directory that everybody may write",
            |host| {
                fs::write(policy(host), "").unwrap();
                mode(&host.home().join("enterprise"), 0o777);
            },
            "every user may write it",
        ),
        (
            "a directory that everybody may write, without a policy",
            |host| {
                mode(&host.home().join("enterprise"), 0o777);
            },
            "every user may write it",
        ),
        (
            "a policy that is not UTF-8",
            |host| {
                fs::write(policy(host), b"[tools]\ndeny = [\"Bash\"] # \xe9").unwrap();
            },
            "line 2: it is not UTF-8",
        ),
        (
            "a link to a policy that everybody may write",
            |host| {
                let other = host.home().join("other.toml");
                fs::write(&other, "").unwrap();
                mode(&other, 0o666);
                symlink(&other, policy(host)).unwrap();
            },
            "every user may write it",
        ),
    ]
}

/// The same, where others may add what the administrator's directory does not hold yet.
fn opened() -> [Way; 2] {
    [
        (
            "a directory to which everybody may add",
            |host| {
                mode(&host.home().join("enterprise"), 0o1777);
            },
            "every user may write it",
        ),
        (
            "skills to which everybody may add",
            |host| {
                skills(host, "enterprise/skills");
                mode(&host.home().join("enterprise/skills"), 0o1777);
            },
            "every user may write it",
        ),
    ]
}

/// The same, where a skill of the administrator would free its name.
fn freed() -> [Way; 2] {
    [
        (
            "a skill that is a link to nothing",
            |host| {
                skills(host, "enterprise/skills");
                symlink("/gone", host.home().join("enterprise/skills/x")).unwrap();
            },
            "No such file",
        ),
        (
            "a skill's file that is a link to nothing",
            |host| {
                skills(host, "enterprise/skills");
                let file = host.home().join("enterprise/skills/s/SKILL.md");
                fs::remove_file(&file).unwrap();
                symlink("/gone", file).unwrap();
            },
            "No such file",
        ),
    ]
}

/// The same, for whoever is not root.
fn hidden() -> [Way; 2] {
    [
        (
            "a skill that cannot be read",
            |host| {
                skills(host, "enterprise/skills");
                mode(&host.home().join("enterprise/skills/s"), 0);
            },
            "Permission denied",
        ),
        (
            "a skill's file that cannot be read",
            |host| {
                skills(host, "enterprise/skills");
                mode(&host.home().join("enterprise/skills/s/SKILL.md"), 0);
            },
            "Permission denied",
        ),
    ]
}

/// The same, which only root can make.
fn anothers() -> [Way; 3] {
    [
        (
            "another user's policy",
            |host| {
                fs::write(policy(host), "").unwrap();
                chown(policy(host), Some(65_533), None).unwrap();
            },
            "belongs to another user",
        ),
        (
            "another user's directory",
            |host| {
                fs::write(policy(host), "").unwrap();
                chown(host.home().join("enterprise"), Some(65_533), None).unwrap();
            },
            "belongs to another user",
        ),
        (
            "another group's policy",
            |host| {
                fs::write(policy(host), "").unwrap();
                chown(policy(host), None, Some(65_533)).unwrap();
                mode(&policy(host), 0o664);
            },
            "other users' group",
        ),
    ]
}

#[test]
fn an_unreliable_policy_closes_and_doctor_says_why() {
    let mut ways = spoiled();
    ways.extend(opened());
    ways.extend(freed());
    if !is_root() {
        ways.extend(hidden());
    }
    closes_and_doctor_says_why(ways);
}

#[test]
fn another_users_policy_closes_as_root() {
    if is_root() {
        closes_and_doctor_says_why(anothers().into());
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
    assert!(told.contains("enterprise skills"), "{told}");
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
