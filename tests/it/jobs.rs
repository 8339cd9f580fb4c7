//! Jobs: scripts that outlast the call that started them.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::Host;
use crate::host::{Has, write_at};
use crate::scripts::{RUN, started};

/// Leaves three processes behind: a plain child, one in a session of its own, and a daemon.
const LITTER: &str = r#"
    left() { while [ ! -s "$1" ]; do sleep 0.01; done; }
    sleep 300 & echo $! > plain
    setsid bash -c 'echo $$ > session; exec sleep 300' &
    (setsid bash -c '(trap "" TERM HUP; echo $BASHPID > daemon; sleep 300; :) & disown' &)
    left session; left daemon; echo $$ > own
"#;

fn eventually(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !condition() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether the process whose id is in that file is there.
fn runs(file: &Path) -> bool {
    // A file that is still being written names no process yet.
    let pid = std::fs::read_to_string(file).unwrap();
    let pid = pid.trim().parse::<u32>();
    pid.is_ok_and(|pid| Path::new("/proc").join(pid.to_string()).exists())
}

#[track_caller]
fn assert_all_gone(host: &Host) {
    for file in ["plain", "session", "daemon", "own"] {
        assert!(!runs(&host.at(file)), "{file}");
    }
}

#[test]
fn a_script_that_outlasts_its_call_becomes_a_job() {
    let host = Host::stdin()
        .script("echo one; echo oops >&2; while [ ! -e go ]; do sleep 0.01; done; echo two; exit 3")
        .answers_after("0.3");
    let first = host.runs(&json!({}));
    let id = started(&first);
    first.begins("one\n[stderr]\noops\n[still running after 0.");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    assert!(id.chars().all(is_plain), "{id}");
    let (second, third) = (host.polls(&id), host.polls(&id));
    second.begins("(no output)\n[still running after ");
    assert_ne!(
        second, third,
        "two identical answers look like a loop to the host"
    );
    std::fs::write(host.at("go"), "").unwrap();
    host.polls(&id)
        .begins("two\n[exit code: 3]\n[the job ended after ");
    host.polls(&id).begins("(no output)\n[exit code: 3]\n");
}

#[test]
fn stopping_a_job_ends_all_that_it_started() {
    let host = Host::stdin()
        .script(&format!("{LITTER} echo ready; sleep 300"))
        .answers_after("5");
    let id = started(&host.runs(&json!({"background": true})));
    eventually("started", || {
        host.at("own").exists() && runs(&host.at("own"))
    });
    host.tool(RUN, &json!({"job": id, "stop": true}))
        .has("[the job stopped after ");
    assert_all_gone(&host);
    // Stopping what is over says how it ended.
    host.tool(RUN, &json!({"job": id, "stop": true}))
        .has("[the job stopped after ");
}

#[test]
fn the_total_limit_holds_even_if_nobody_asks_again() {
    let host = Host::stdin()
        .script(&format!("{LITTER} echo ready; sleep 300"))
        .answers_after("5");
    let id = started(&host.runs(&json!({"background": true, "timeout_secs": 1.5})));
    eventually("started", || host.at("own").exists());
    eventually("ended by itself", || !runs(&host.at("own")));
    host.polls(&id).has("ready\ntimed out after 1.5 s");
    assert_all_gone(&host);
}

#[test]
fn until_the_id_is_printed_our_death_ends_it_all() {
    let host = Host::stdin().script(&format!("{LITTER} sleep 300"));
    let mut plugin = call(&host, Stdio::null()).spawn().unwrap();
    feed(&mut plugin);
    eventually("started", || host.at("own").exists());
    plugin.kill().unwrap();
    plugin.wait().unwrap();
    eventually("gone", || {
        !runs(&host.at("own")) && !runs(&host.at("daemon"))
    });
    eventually("all gone", || {
        !runs(&host.at("session")) && !runs(&host.at("plain"))
    });
}

#[test]
fn a_job_whose_id_nobody_could_read_ends_with_us() {
    let host = Host::stdin()
        .script("echo $$ > own; exec sleep 300")
        .answers_after("0.5");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut plugin = call(&host, Stdio::from(writer)).spawn().unwrap();
    feed(&mut plugin);
    plugin.wait().unwrap();
    eventually("gone", || !runs(&host.at("own")));
}

/// The executable about to run the script, its answer going to `stdout`.
fn call(host: &Host, stdout: Stdio) -> std::process::Command {
    let mut command = host.command();
    command.env("CHIBI_TOOL_NAME", RUN).stdin(Stdio::piped());
    command.stdout(stdout).stderr(Stdio::null());
    command
}

const CALL: &str = r#"{"skill":"s","script":"run.sh"}"#;

fn feed(plugin: &mut std::process::Child) {
    let mut stdin = plugin.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, CALL.as_bytes()).unwrap();
}

#[test]
fn a_job_belongs_to_its_conversation_and_to_nobody_else() {
    let mut host = Host::stdin().script("sleep 300").answers_after("0.2");
    host.session("one")
        .hook("post_system_prompt", &json!({"context_name": "work"}));
    let id = started(&host.runs(&json!({"background": true})));
    host.session("two")
        .hook("post_system_prompt", &json!({"context_name": "play"}));
    let unknown = host
        .polls("abcdefgh23456789")
        .replace("abcdefgh23456789", &id);
    unknown.begins("Error: there is no job `");
    // A foreign job is as unknown as any.
    assert_eq!(host.polls(&id), unknown);
    assert_eq!(host.tool(RUN, &json!({"job": id, "stop": true})), unknown);
    host.session("three")
        .hook("post_system_prompt", &json!({"context_name": "work"}));
    host.polls(&id).has("still running");
    host.tool(RUN, &json!({"job": id, "stop": true}));
}

#[test]
fn without_a_conversation_it_belongs_to_the_session() {
    let mut host = Host::stdin().script("sleep 300").answers_after("0.2");
    let id = started(&host.runs(&json!({"background": true})));
    host.session("other")
        .polls(&id)
        .begins("Error: there is no job");
    host.session("host")
        .tool(RUN, &json!({"job": id, "stop": true}));
}

#[test]
fn input_and_output_go_on_after_the_call() {
    // More input than pipes hold, read only after the call is over.
    let host = Host::stdin()
        .script("while [ ! -e go ]; do sleep 0.01; done; wc -c; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end")
        .answers_after("0.3");
    let id = started(&host.runs(&json!({"stdin": "y".repeat(3_000_000)})));
    std::fs::write(host.at("go"), "").unwrap();
    let all = host.polls_to_the_end(&id);
    assert!(all.contains("3000000\n"), "{}", &all[..200]);
    all.has("truncated").has("x\nend\n");
    let dir = host.plugin_dir().join("jobs").join(&id);
    let kept = std::fs::metadata(dir.join("stdout")).unwrap().len();
    assert!(kept <= 1024 * 1024 + 8, "{kept}");
}

#[test]
fn a_supervisor_that_is_killed_is_told() {
    let host = Host::stdin()
        .script("echo $PPID > supervisor; exec sleep 300")
        .answers_after("5");
    let id = started(&host.runs(&json!({"background": true})));
    eventually("started", || {
        host.at("supervisor").exists() && runs(&host.at("supervisor"))
    });
    let pid = std::fs::read_to_string(host.at("supervisor")).unwrap();
    let killed = std::process::Command::new("kill")
        .args(["-9", pid.trim()])
        .status()
        .unwrap();
    assert!(killed.success());
    host.polls(&id).has("its supervisor was killed");
}

#[test]
fn a_job_is_private_and_cleaned_up_a_day_after_its_end() {
    use std::os::unix::fs::PermissionsExt;
    let host = Host::stdin().script("echo hi").answers_after("5");
    let id = started(&host.runs(&json!({"background": true})));
    host.polls_to_the_end(&id);
    let dir = host.plugin_dir().join("jobs").join(&id);
    assert_eq!(
        std::fs::metadata(&dir).unwrap().permissions().mode() & 0o777,
        0o700
    );
    let age = |hours: u64| {
        let then = std::time::SystemTime::now() - Duration::from_secs(hours * 3600);
        std::fs::File::open(dir.join("exit"))
            .unwrap()
            .set_modified(then)
            .unwrap();
        host.polls("abcdefgh23456789");
    };
    age(23);
    assert!(dir.exists());
    age(25);
    assert!(!dir.exists());
}

#[test]
fn a_person_sees_every_job_and_can_follow_one() {
    let host = Host::stdin()
        .script("echo one; sleep 1; echo two; exit 3")
        .answers_after("0.2");
    host.succeeds(&["jobs"]).begins("No jobs.");
    let id = started(&host.runs(&json!({})));
    host.succeeds(&["jobs"]).has(&id).has("running");
    let followed = host.person(&["jobs", "--follow", &id]);
    assert_eq!(
        (followed.stdout.as_str(), followed.status),
        ("one\ntwo\n", 1)
    );
    let json = &host.json(&["jobs", "--json"])["jobs"];
    assert_eq!(
        (&json[0]["id"], &json[0]["exit_code"]),
        (&json!(id), &json!(3))
    );
    host.fails(&["jobs", "--follow", "nonsense"]).has("no job");
}

#[test]
fn a_restricted_skill_can_wait_for_its_own_jobs() {
    let host = Host::stdin().skill("careful", "allowed-tools: Read", "");
    host.activates("careful");
    host.allows(RUN, &json!({"job": "abcdefgh23456789"}));
    host.allows(RUN, &json!({"job": "abcdefgh23456789", "stop": true}));
    host.blocks(RUN, &json!({"skill": "s", "script": "run.sh"}));
}

#[test]
fn an_install_that_outlasts_the_call_goes_on_as_a_job() {
    let hub = crate::repository::Hub::new();
    hub.repository(
        "acme/skills",
        &[(
            "skills/pdf/SKILL.md",
            "---\nname: pdf\ndescription: d\n---\n",
        )],
    );
    // A git that takes its time.
    let bin = tempfile::tempdir().unwrap();
    let git = bin.path().join("git");
    let real = which::which("git").unwrap();
    write_at(
        &git,
        format!("#!/bin/sh\nsleep 0.5\nexec '{}' \"$@\"\n", real.display()),
    );
    std::fs::set_permissions(&git, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!(
        "{}:{}",
        bin.path().display(),
        std::env::var("PATH").unwrap()
    );
    let host = Host::stdin()
        .var("AGENT_SKILLS_GITHUB_BASE", &hub.base())
        .var("PATH", &path)
        .answers_after("0.3");
    let install = json!({"action": "install", "skill_ref": "acme/pdf"});
    let id = started(&host.tool("skill_marketplace", &install));
    host.polls_to_the_end(&id).has("installed `pdf`");
    assert!(host.skills_dir().join("pdf/SKILL.md").exists());
}

#[test]
fn what_scripts_get_and_how_they_are_confined_is_configured() {
    let host = Host::stdin()
        .script("echo \"$MY_TOKEN\"; echo x > \"$HOME/outside\" && echo written")
        .var("MY_TOKEN", "secret-value");
    let configured = |text: &str| {
        host.config(text);
        host.runs(&json!({}))
    };
    configured("").lacks("secret-value");
    configured("pass_env = \"all\"").has("secret-value");
    configured("[skills.s]\npass_env = [\"MY_TOKEN\"]").has("secret-value");
    configured("script_seconds = 0").begins("Error: ");
    configured("sandbox = \"of\"").has("line 1");
}
