//! An administrator's policy: what it forbids stays forbidden, whoever asks and in whichever way.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Command;

use serde_json::json;

use crate::Host;
use crate::host::finish;
use crate::layers::{codes, installed, is_offered, put, with_layers};

fn policy_file(host: &Host) -> PathBuf {
    host.home().join("enterprise/policy.toml")
}

/// A host under this policy.
fn under(host: Host, policy: &str) -> Host {
    let host = with_layers(host);
    fs::write(policy_file(&host), policy).unwrap();
    host
}

fn own(host: &Host, config: &str) {
    fs::write(host.plugin_dir().join("config.toml"), config).unwrap();
}

fn with_var(host: &mut Host, name: &str, value: &str) {
    *host = std::mem::replace(host, Host::stdin()).var(name, value);
}

type Way = (&'static str, &'static str, fn(&mut Host));

/// In each, `evil` is there and the policy forbids it.
#[test]
fn no_way_leads_round_what_the_policy_says_of_skills() {
    const BLOCK: &str = "[skills]\nblock = [\"evil*\"]\n";
    const ALLOW: &str = "[skills]\nallow = [\"acme-*\"]\n";
    const SOURCES: &str = "[sources]\nallow = [\"github.com/acme/*\"]\n";
    const SCRIPTS: &str = "[approval]\nrequire = [\"scripts\"]\n";
    const ALL: &str = "[approval]\nrequire = [\"all\"]\n";
    let ways: [Way; 31] = [
        ("plugin", BLOCK, |host| {
            put(&host.skills_dir(), "evil", "", "x");
        }),
        ("personal", BLOCK, |host| {
            put(&host.home().join(".agents/skills"), "evil", "", "x");
        }),
        ("enterprise", BLOCK, |host| {
            put(&host.home().join("enterprise/skills"), "evil", "", "x");
        }),
        ("project", BLOCK, |host| {
            put(&host.project().join(".agents/skills"), "evil", "", "x");
            host.succeeds(&["trust", "--always"]);
        }),
        (
            "letters of another case",
            "[skills]\nblock = [\"EVIL\"]",
            |host| put(&host.skills_dir(), "evil", "", "x"),
        ),
        ("a name in capitals", BLOCK, |host| {
            put(&host.skills_dir(), "x", "", "x");
            fs::write(
                host.skills_dir().join("x/SKILL.md"),
                "---\nname: EVIL\ndescription: d\n---\n",
            )
            .unwrap();
        }),
        ("a name in wide letters", BLOCK, |host| {
            put(&host.skills_dir(), "x", "", "x");
            fs::write(
                host.skills_dir().join("x/SKILL.md"),
                "---\nname: ｅｖｉｌ\ndescription: d\n---\n",
            )
            .unwrap();
        }),
        (
            "the directory's name blocked, another one inside",
            "[skills]\nblock = [\"blocked-dir\"]",
            |host| {
                put(&host.skills_dir(), "blocked-dir", "", "x");
                fs::write(
                    host.skills_dir().join("blocked-dir/SKILL.md"),
                    "---\nname: evil\ndescription: d\n---\n",
                )
                .unwrap();
            },
        ),
        (
            "a directory that is allowed, another name inside",
            ALLOW,
            |host| {
                put(&host.skills_dir(), "acme-tool", "", "x");
                fs::write(
                    host.skills_dir().join("acme-tool/SKILL.md"),
                    "---\nname: evil\ndescription: d\n---\n",
                )
                .unwrap();
            },
        ),
        ("a link", BLOCK, |host| {
            put(&host.home().join("real"), "evil", "", "x");
            symlink(
                host.home().join("real/evil"),
                host.skills_dir().join("fine"),
            )
            .unwrap();
        }),
        ("not allowed", ALLOW, |host| {
            put(&host.skills_dir(), "evil", "", "x");
        }),
        (
            "an empty list allows nothing",
            "[skills]\nallow = []",
            |host| put(&host.skills_dir(), "evil", "", "x"),
        ),
        ("enabled", BLOCK, |host| {
            put(&host.skills_dir(), "evil", "", "x");
            own(host, "[visibility]\nevil = \"on\"");
        }),
        ("approved", BLOCK, |host| {
            put(&host.skills_dir(), "evil", "", "x");
            host.succeeds(&["approve", "evil"]);
        }),
        ("an unknown source", SOURCES, |host| {
            put(&host.skills_dir(), "evil", "", "x");
        }),
        ("another source", SOURCES, |host| {
            from(host, "https://github.com/acme-evil/skills");
        }),
        ("a source that holds the other's name", SOURCES, |host| {
            from(host, "https://evil.example/github.com/acme/skills");
        }),
        ("a source with the other's name as user", SOURCES, |host| {
            from(host, "https://github.com/acme@evil.example/skills");
        }),
        (
            "a blocked source",
            "[sources]\nblock = [\"github.com/evil/*\"]",
            |host| from(host, "https://GitHub.com/Evil/skills"),
        ),
        ("a lockfile of the project's", SOURCES, |host| {
            put(&host.project().join(".chibi/skills"), "evil", "", "x");
            fs::write(
                host.project().join(".chibi/skills.lock.json"),
                lockfile("https://github.com/acme/skills"),
            )
            .unwrap();
            host.succeeds(&["trust", "--always"]);
        }),
        (
            "projects forbidden",
            "[project]\ntrust = \"never\"",
            |host| {
                put(&host.project().join(".chibi/skills"), "evil", "", "x");
                let key = host.project().canonicalize().unwrap();
                let record = json!({"version": 1, "entries": {key.to_str().unwrap(): "always"}});
                fs::write(host.plugin_dir().join("trust.json"), record.to_string()).unwrap();
            },
        ),
        ("an unapproved script", SCRIPTS, |host| scripted(host)),
        ("a script in a nested skill", SCRIPTS, |host| {
            put(&host.skills_dir(), "evil", "", "x");
            put(&host.skills_dir().join("evil"), "inner", "", "x");
            fs::write(host.skills_dir().join("evil/inner/run.sh"), "echo").unwrap();
        }),
        ("a script changed after its approval", SCRIPTS, |host| {
            scripted(host);
            host.succeeds(&["approve", "evil"]);
            assert!(is_offered(host, "evil"));
            fs::write(host.skills_dir().join("evil/run.sh"), "echo 2").unwrap();
        }),
        ("the approval of a namesake", ALL, |host| {
            put(&host.home().join(".agents/skills"), "evil", "", "good");
            host.succeeds(&["approve", "evil"]);
            fs::remove_dir_all(host.home().join(".agents")).unwrap();
            put(&host.skills_dir(), "evil", "", "bad");
        }),
        ("an approval that anybody can write", ALL, |host| {
            put(&host.skills_dir(), "evil", "", "x");
            host.succeeds(&["approve", "evil"]);
            fs::set_permissions(
                host.plugin_dir().join("approvals.json"),
                Permissions::from_mode(0o666),
            )
            .unwrap();
        }),
        ("a policy of its own that allows", BLOCK, |host| {
            put(&host.skills_dir(), "evil", "", "x");
            let mine = host.home().join("mine.toml");
            fs::write(&mine, "[skills]\nallow = [\"*\"]\nblock = []\n").unwrap();
            with_var(host, "AGENT_SKILLS_POLICY", mine.to_str().unwrap());
        }),
        ("a policy added by a variable", "", |host| {
            put(&host.skills_dir(), "evil", "", "x");
            let mine = host.home().join("mine.toml");
            fs::write(&mine, BLOCK).unwrap();
            with_var(host, "AGENT_SKILLS_POLICY", mine.to_str().unwrap());
        }),
        ("another plugin directory", BLOCK, |host| {
            let other = host.home().join("other");
            put(&other.join("skills"), "evil", "", "x");
            with_var(host, "AGENT_SKILLS_HOME", other.to_str().unwrap());
        }),
        ("another home", BLOCK, |host| {
            let other = host.home().join("other");
            put(&other.join(".chibi/skills"), "evil", "", "x");
            with_var(host, "HOME", other.to_str().unwrap());
        }),
        ("a configuration with a mistake", "", |host| {
            put(&host.skills_dir(), "evil", "", "x");
            own(host, "[visibility]\nevil = \"offf\"");
        }),
    ];
    for (way, policy, go) in ways {
        let mut host = under(Host::stdin(), policy);
        go(&mut host);
        assert!(!is_offered(&host, "evil"), "{way}");
        let hidden = |code: &String| code.starts_with("hidden-");
        assert!(codes(&host, "evil").iter().any(hidden), "{way}");
        host.knows_not("evil");
        for skill in ["evil", "plugin/evil", "personal/evil", "acme/evil"] {
            let read = host.tool(
                "read_skill_file",
                &json!({"skill": skill, "path": "SKILL.md"}),
            );
            assert!(read.starts_with("Error: "), "{way}: {skill}");
            let run = host.tool(
                "run_skill_script",
                &json!({"skill": skill, "script": "run.sh"}),
            );
            assert!(run.starts_with("Error: "), "{way}: {skill}");
        }
    }
}

fn scripted(host: &Host) {
    put(&host.skills_dir(), "evil", "", "x");
    fs::write(host.skills_dir().join("evil/run.sh"), "echo").unwrap();
}

fn lockfile(source: &str) -> String {
    json!({"version": 1, "skills": [{
        "id": "x", "name": "evil", "source": source, "kind": "git", "requested": "x", "ref": null,
        "commit": null, "path": "", "tree": null, "sha256": "", "files": {}, "license": null,
    }]})
    .to_string()
}

fn from(host: &Host, source: &str) {
    put(&host.skills_dir(), "evil", "", "x");
    fs::write(host.plugin_dir().join("skills.lock.json"), lockfile(source)).unwrap();
}

#[test]
fn what_the_policy_allows_is_offered() {
    for host in Host::both() {
        let policy = "[skills]\nallow = [\"go*\"]\nblock = [\"gone\"]\n[sources]\nallow = [\"github.com/acme/*\"]\n\
                      [approval]\nrequire = [\"scripts\"]\n";
        let host = under(host, policy);
        put(&host.skills_dir(), "good", "", "x");
        fs::write(
            host.plugin_dir().join("skills.lock.json"),
            lockfile("https://github.com/acme/skills").replace("evil", "good"),
        )
        .unwrap();
        assert!(is_offered(&host, "good"));
        fs::write(host.skills_dir().join("good/run.sh"), "echo ran").unwrap();
        assert!(!is_offered(&host, "good"));
        host.succeeds(&["approve", "good"]);
        assert!(is_offered(&host, "good"));
        let run = json!({"skill": "good", "script": "run.sh"});
        assert_eq!(host.tool("run_skill_script", &run), "ran\n");
    }
}

#[test]
fn a_policy_refuses_installs() {
    for host in Host::both() {
        let source = host.home().join("source");
        put(&source, "evil", "", "x");
        let source = source.join("evil");
        let host = under(host, "[skills]\nblock = [\"evil\"]");
        let told = host.fails(&["install", source.to_str().unwrap()]);
        assert!(told.contains("blocks skills named `evil`"), "{told}");
        fs::write(policy_file(&host), "[sources]\nblock = [\"/*\"]").unwrap();
        let told = host.fails(&["install", source.to_str().unwrap()]);
        assert!(told.contains("blocks the source"), "{told}");
        fs::write(policy_file(&host), "[sources\n").unwrap();
        assert!(
            host.fails(&["install", source.to_str().unwrap()])
                .contains("line 1")
        );
        assert!(!host.skills_dir().join("evil").exists());
        fs::write(policy_file(&host), "").unwrap();
        host.succeeds(&["install", source.to_str().unwrap()]);
    }
}

#[test]
fn denied_tools_are_denied_with_and_without_a_skill() {
    for host in Host::both() {
        let host = under(host, "[tools]\ndeny = [\"WebFetch\", \"Bash(rm:*)\"]")
            .skill("free", "", "")
            .skill("fetching", "allowed-tools: WebFetch Bash", "");
        own(
            &host,
            "enforce = \"off\"\nalways_allowed = [\"fetch_url\", \"shell_exec\"]",
        );
        let fetch = json!({"url": "https://example.com"});
        let rm = json!({"command": "rm -rf x"});
        let denied = || {
            let message = host.blocks("fetch_url", &fetch);
            assert!(
                message.contains("policy") && message.contains("WebFetch"),
                "{message}"
            );
            host.blocks("shell_exec", &rm);
            let command = json!({"tool_name": "shell_exec", "command": "rm -rf x"});
            assert_eq!(host.hook("pre_shell_exec", &command)["denied"], json!(true));
        };
        denied();
        host.allows("file_head", &json!({"path": "x"}));
        // Which tool is called, the policy has to know.
        assert_eq!(host.hook("pre_tool", &json!({}))["block"], json!(true));
        assert_eq!(
            host.hook("pre_fetch_url", &json!({}))["denied"],
            json!(true)
        );
        for skill in ["free", "fetching"] {
            host.activates(skill);
            denied();
        }
        let tools = json!({"tools": [{"name": "fetch_url", "type": "network"}]});
        assert!(
            host.hook("pre_api_tools", &tools)["exclude"]
                .to_string()
                .contains("fetch_url")
        );
    }
}

#[test]
fn floors_hold_whatever_is_configured() {
    let shell = json!({"command": "ls"});
    for (mode, blocked) in [("off", false), ("warn", false), ("restrict", true)] {
        for config in ["enforce = \"off\"", "enforce = \"warn\""] {
            let host = under(Host::stdin(), &format!("[enforce]\nmode = \"{mode}\"")).skill(
                "careful",
                "allowed-tools: Read",
                "",
            );
            own(&host, config);
            host.activates("careful");
            assert_eq!(
                host.pre_tool("shell_exec", &shell) != json!({}),
                blocked,
                "{mode} {config}"
            );
        }
    }
    for (floor, blocked) in [
        ("union", false),
        ("replace", false),
        ("ratchet", true),
        ("intersect", true),
    ] {
        let host = under(
            Host::environment(),
            &format!("[enforce]\nstacking = \"{floor}\""),
        )
        .skill("careful", "allowed-tools: Read", "")
        .skill("free", "", "");
        own(&host, "stacking = \"union\"");
        host.activates("careful").activates("free");
        assert_eq!(
            host.pre_tool("shell_exec", &shell) != json!({}),
            blocked,
            "{floor}"
        );
    }
    let host = under(Host::stdin(), "[enforce]\nmode = \"restrict\"");
    own(&host, "enforce = \"off\"");
    assert_eq!(
        host.succeeds(&["config", "get", "enforce"]),
        "enforce = \"restrict\"  # policy\n"
    );
}

#[test]
fn an_unreadable_policy_closes_everything_but_reading() {
    type Break = (&'static str, fn(&mut Host));
    let ways: [Break; 10] = [
        ("not TOML", |host| {
            fs::write(policy_file(host), "\n[skills\n").unwrap();
        }),
        ("an unknown table", |host| {
            fs::write(policy_file(host), "[skill]\nblock = []").unwrap();
        }),
        ("an unknown key", |host| {
            fs::write(policy_file(host), "[skills]\nblocked = []").unwrap();
        }),
        ("a wrong type", |host| {
            fs::write(policy_file(host), "[skills]\nblock = \"x\"").unwrap();
        }),
        ("a denial of nothing", |host| {
            fs::write(policy_file(host), "[tools]\ndeny = [\"\"]").unwrap();
        }),
        ("garbage", |host| {
            fs::write(policy_file(host), [0xff, 0, 0xfe]).unwrap();
        }),
        ("a directory", |host| {
            fs::create_dir(policy_file(host)).unwrap();
        }),
        ("a FIFO", |host| {
            assert!(
                Command::new("mkfifo")
                    .arg(policy_file(host))
                    .status()
                    .unwrap()
                    .success()
            );
        }),
        ("a link in a circle", |host| {
            symlink("policy.toml", policy_file(host)).unwrap();
        }),
        ("a named one that is missing", |host| {
            with_var(host, "AGENT_SKILLS_POLICY", "/no/such/policy.toml");
        }),
    ];
    for (way, spoil) in ways {
        for host in Host::both() {
            let mut host = with_layers(host).skill("free", "", "");
            spoil(&mut host);
            let message = host.blocks("shell_exec", &json!({"command": "ls"}));
            assert!(message.contains("cannot be read"), "{way}: {message}");
            host.blocks("write_file", &json!({"path": "x", "content": ""}));
            host.blocks("some_plugin_tool", &json!({}));
            host.blocks("run_skill_script", &json!({"skill": "free", "script": "x"}));
            host.blocks(
                "skill_marketplace",
                &json!({"action": "install", "skill_ref": "anthropics/skills@pdf"}),
            );
            host.allows("file_head", &json!({"path": "x"}));
            host.allows("skill_marketplace", &json!({"action": "list_installed"}));
            if way == "a denial of nothing" {
                continue;
            }
            assert!(!is_offered(&host, "free"), "{way}");
            let (_, told) = host.hook_with_stderr("post_system_prompt", &json!({}));
            assert!(told.contains("no skill is offered"), "{way}: {told}");
            assert!(
                codes(&host, "free").contains(&"hidden-policy".to_owned()),
                "{way}"
            );
        }
    }
}

/// Inside a mount namespace, `/etc` can be what it is on an administered machine.
#[test]
fn what_root_has_set_up_no_variable_takes_away() {
    let probe = Command::new("unshare")
        .args(["-rm", "mount", "-t", "tmpfs", "none", "/etc"])
        .output();
    if !probe.is_ok_and(|probe| probe.status.success()) {
        println!("skipped: this system gives no mount namespace to play root's /etc in");
        return;
    }
    let host = with_layers(Host::stdin());
    put(
        &host.home().join("enterprise/skills"),
        "corp",
        "",
        "the user's variable",
    );
    put(&host.home().join("etc/skills"), "corp", "", "root");
    put(&host.skills_dir(), "evil", "", "x");
    put(&host.skills_dir(), "worse", "", "x");
    put(&host.skills_dir(), "waits", "", "x");
    fs::write(
        policy_file(&host),
        "[skills]\nblock = [\"worse\"]\nallow = [\"*\"]",
    )
    .unwrap();
    fs::write(
        host.home().join("etc/policy.toml"),
        "[skills]\nblock = [\"evil\"]\n[approval]\nrequire = [\"all\"]\n",
    )
    .unwrap();
    host.succeeds(&["approve", "waits"]);
    assert!(host.plugin_dir().join("approvals.json").exists());
    // The script has no terminal.
    host.succeeds(&["config", "set", "unattended", "true"]);
    let script = r#"
        mount -t tmpfs none /etc && mkdir -p /etc/chibi && cp -r "$HOME/etc" /etc/chibi/agent-skills &&
        chmod -R go-w /etc/chibi && "$EXE" list-installed --json && "$EXE" approve waits >&2 &&
        "$EXE" list-installed --json && cat /etc/chibi/agent-skills/approvals.json >&2 &&
        chmod 666 /etc/chibi/agent-skills/approvals.json && "$EXE" list-installed --json"#;
    let mut command = host.command();
    let exe = command.get_program().to_owned();
    let mut shell = Command::new("unshare");
    shell.args(["-rm", "sh", "-c", script]).env("EXE", exe);
    shell.envs(
        command
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    shell
        .current_dir(host.project())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    command.stdin(std::process::Stdio::null());
    let ran = finish(&mut shell, b"");
    assert_eq!(ran.status, 0, "{ran:?}");
    let answers: Vec<serde_json::Value> = serde_json::Deserializer::from_str(&ran.stdout)
        .into_iter()
        .collect::<Result<_, _>>()
        .unwrap();
    let offered = |answer: usize| -> Vec<String> {
        let skills = answers[answer]["skills"].as_array().unwrap().iter();
        let names = skills.filter(|skill| skill["offered"] == true);
        names
            .map(|skill| {
                format!(
                    "{} {}",
                    skill["name"].as_str().unwrap(),
                    skill["description"].as_str().unwrap()
                )
            })
            .collect()
    };
    // The user's own approval does not count, nor the user's enterprise layer.
    assert_eq!(offered(0), ["corp From root."]);
    assert_eq!(offered(1), ["corp From root.", "waits From x."]);
    assert_eq!(
        offered(2),
        ["corp From root."],
        "others could have written it"
    );
    assert!(
        ran.stderr.contains("`waits` is approved") && ran.stderr.contains("\"waits\": \"sha256:"),
        "{}",
        ran.stderr
    );
    assert!(installed(&host).len() == 4);
}
