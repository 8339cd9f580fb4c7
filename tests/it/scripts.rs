//! Scripts through the host: how they run, and what becomes of those that take long.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Host;
use crate::host::Generation;

const RUN: &str = "run_skill_script";

/// Leaves three processes behind: a plain child, one in a session of its own, and a daemon.
const LITTER: &str = r#"
    left() { while [ ! -s "$1" ]; do sleep 0.01; done; }
    sleep 300 & echo $! > plain
    setsid bash -c 'echo $$ > session; exec sleep 300' &
    (setsid bash -c '(trap "" TERM HUP; echo $BASHPID > daemon; sleep 300; :) & disown' &)
    left session; left daemon; echo $$ > own
"#;

impl Host {
    /// A skill `s` with one bash script.
    fn script(self, content: &str) -> Self {
        self.skill("s", "", "").file("s/run.sh", content)
    }

    /// A call answers after so many seconds.
    fn answers_after(self, seconds: &str) -> Self {
        self.var("AGENT_SKILLS_CALL_SECONDS", seconds)
    }

    /// Runs `run.sh` with further arguments of the tool.
    #[track_caller]
    fn runs(&self, more: Value) -> String {
        let mut arguments = json!({"skill": "s", "script": "run.sh"});
        arguments
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        self.tool(RUN, &arguments)
    }

    #[track_caller]
    fn polls(&self, id: &str) -> String {
        self.tool(RUN, &json!({"job": id}))
    }

    /// Polls until the job is over; everything it said on the way.
    #[track_caller]
    fn polls_to_the_end(&self, id: &str) -> String {
        let mut all = String::new();
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let text = self.polls(id);
            all += &text;
            if job_id(&text).is_none() {
                return all;
            }
            assert!(Instant::now() < deadline, "{all}");
        }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.skills_dir().join("s").join(path)
    }
}

/// The id on the line of its own.
fn job_id(text: &str) -> Option<String> {
    text.lines()
        .find_map(|line| Some(line.strip_prefix("job: ")?.to_owned()))
}

#[track_caller]
fn started(text: &str) -> String {
    job_id(text).unwrap_or_else(|| panic!("no job: {text}"))
}

fn eventually(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !condition() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether the process whose id is in that file is there.
fn runs(file: &Path) -> bool {
    let pid = std::fs::read_to_string(file).unwrap();
    Path::new("/proc").join(pid.trim()).exists()
}

#[track_caller]
fn assert_all_gone(host: &Host) {
    for file in ["plain", "session", "daemon", "own"] {
        assert!(!runs(&host.at(file)), "{file}");
    }
}

#[test]
fn a_script_that_outlasts_its_call_becomes_a_job_that_is_polled_to_its_end() {
    for host in Host::both() {
        let host = host
            .script(
                "echo one; echo oops >&2; while [ ! -e go ]; do sleep 0.01; done; echo two; exit 3",
            )
            .answers_after("0.3");
        let first = host.runs(json!({}));
        let id = started(&first);
        assert!(
            first.starts_with("one\n[stderr]\noops\n[still running after 0."),
            "{first}"
        );
        assert!(
            id.bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_'),
            "{id}"
        );
        let (second, third) = (host.polls(&id), host.polls(&id));
        assert!(
            second.starts_with("(no output)\n[still running after "),
            "{second}"
        );
        assert_ne!(
            second, third,
            "two identical answers look like a loop to the host"
        );
        std::fs::write(host.at("go"), "").unwrap();
        let last = host.polls(&id);
        assert!(
            last.starts_with("two\n[exit code: 3]\n[the job ended after "),
            "{last}"
        );
        assert!(host.polls(&id).starts_with("(no output)\n[exit code: 3]\n"));
    }
}

#[test]
fn in_the_background_it_is_a_job_at_once() {
    for host in Host::both() {
        let host = host.script("while [ ! -e go ]; do sleep 0.01; done; echo done");
        let began = Instant::now();
        let id = started(&host.runs(json!({"background": true})));
        assert!(began.elapsed() < Duration::from_secs(5));
        std::fs::write(host.at("go"), "").unwrap();
        let last = host.polls(&id);
        assert!(last.starts_with("done\n[exit code: 0]\n"), "{last}");
    }
}

#[test]
fn stopping_a_job_ends_all_that_it_started() {
    for host in Host::both() {
        let host = host
            .script(&format!("{LITTER} echo ready; sleep 300"))
            .answers_after("5");
        let id = started(&host.runs(json!({"background": true})));
        eventually("started", || {
            host.at("own").exists() && runs(&host.at("own"))
        });
        let text = host.tool(RUN, &json!({"job": id, "stop": true}));
        assert!(text.contains("[the job stopped after "), "{text}");
        assert_all_gone(&host);
        // Stopping what is over says how it ended.
        let again = host.tool(RUN, &json!({"job": id, "stop": true}));
        assert!(again.contains("[the job stopped after "), "{again}");
    }
}

#[test]
fn the_total_limit_holds_even_if_nobody_asks_again() {
    for host in Host::both() {
        let host = host
            .script(&format!("{LITTER} echo ready; sleep 300"))
            .answers_after("5");
        let id = started(&host.runs(json!({"background": true, "timeout_secs": 1.5})));
        eventually("started", || host.at("own").exists());
        eventually("ended by itself", || !runs(&host.at("own")));
        let text = host.polls(&id);
        assert!(text.contains("ready\ntimed out after 1.5 s"), "{text}");
        assert_all_gone(&host);
    }
}

#[test]
fn until_the_id_is_printed_our_death_ends_it_all() {
    for host in Host::both() {
        let host = host.script(&format!("{LITTER} sleep 300"));
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
}

#[test]
fn a_job_whose_id_nobody_could_read_ends_with_us() {
    for host in Host::both() {
        let host = host
            .script("echo $$ > own; exec sleep 300")
            .answers_after("0.5");
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut plugin = call(&host, Stdio::from(writer)).spawn().unwrap();
        feed(&mut plugin);
        plugin.wait().unwrap();
        eventually("gone", || !runs(&host.at("own")));
    }
}

/// The executable about to run the script, its answer going to `stdout`.
fn call(host: &Host, stdout: Stdio) -> std::process::Command {
    let mut command = host.command();
    command
        .env("CHIBI_TOOL_NAME", RUN)
        .stdout(stdout)
        .stderr(Stdio::null());
    match host.generation() {
        Generation::Environment => command.env("CHIBI_TOOL_ARGS", CALL),
        Generation::Stdin => command.stdin(Stdio::piped()),
    };
    command
}

const CALL: &str = r#"{"skill":"s","script":"run.sh"}"#;

fn feed(plugin: &mut std::process::Child) {
    if let Some(mut stdin) = plugin.stdin.take() {
        std::io::Write::write_all(&mut stdin, CALL.as_bytes()).unwrap();
    }
}

#[test]
fn a_job_belongs_to_its_conversation_and_to_nobody_else() {
    for mut host in Host::both() {
        host = host.script("sleep 300").answers_after("0.2");
        host.session("one")
            .hook("post_system_prompt", &json!({"context_name": "work"}));
        let id = started(&host.runs(json!({"background": true})));
        host.session("two")
            .hook("post_system_prompt", &json!({"context_name": "play"}));
        let unknown = host
            .polls("abcdefgh23456789")
            .replace("abcdefgh23456789", &id);
        assert!(unknown.starts_with("Error: there is no job `"), "{unknown}");
        assert_eq!(
            host.polls(&id),
            unknown,
            "a foreign job is as unknown as any"
        );
        assert_eq!(host.tool(RUN, &json!({"job": id, "stop": true})), unknown);
        host.session("three")
            .hook("post_system_prompt", &json!({"context_name": "work"}));
        assert!(
            host.polls(&id).contains("still running"),
            "the next prompt of the conversation"
        );
        host.tool(RUN, &json!({"job": id, "stop": true}));
    }
}

#[test]
fn without_a_conversation_it_belongs_to_the_session() {
    for mut host in Host::both() {
        host = host.script("sleep 300").answers_after("0.2");
        let id = started(&host.runs(json!({"background": true})));
        assert!(
            host.session("other")
                .polls(&id)
                .starts_with("Error: there is no job")
        );
        host.session("host")
            .tool(RUN, &json!({"job": id, "stop": true}));
    }
}

#[test]
fn input_and_output_go_on_after_the_call() {
    // More input than pipes hold, read only after the call is over.
    let host = Host::stdin()
        .script("while [ ! -e go ]; do sleep 0.01; done; wc -c; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end")
        .answers_after("0.3");
    let id = started(&host.runs(json!({"stdin": "y".repeat(3_000_000)})));
    std::fs::write(host.at("go"), "").unwrap();
    let all = host.polls_to_the_end(&id);
    assert!(all.contains("3000000\n"), "{}", &all[..200]);
    assert!(
        all.contains("truncated") && all.contains("x\nend\n"),
        "the end is there"
    );
    let dir = host.plugin_dir().join("jobs").join(&id);
    let kept = std::fs::metadata(dir.join("stdout")).unwrap().len();
    assert!(kept <= 1024 * 1024 + 8, "{kept}");
}

#[test]
fn a_supervisor_that_is_killed_is_told() {
    let host = Host::stdin()
        .script("echo $PPID > supervisor; sleep 300")
        .answers_after("5");
    let id = started(&host.runs(json!({"background": true})));
    eventually("started", || {
        host.at("supervisor").exists() && runs(&host.at("supervisor"))
    });
    let pid = std::fs::read_to_string(host.at("supervisor")).unwrap();
    let killed = std::process::Command::new("kill")
        .args(["-9", pid.trim()])
        .status()
        .unwrap();
    assert!(killed.success());
    let text = host.polls(&id);
    assert!(text.contains("its supervisor was killed"), "{text}");
}

#[test]
fn a_job_is_private_and_cleaned_up_a_day_after_its_end() {
    use std::os::unix::fs::PermissionsExt;
    let host = Host::stdin().script("echo hi").answers_after("5");
    let id = started(&host.runs(json!({"background": true})));
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
fn as_json_everything_has_its_key() {
    for host in Host::both() {
        let host = host.script("echo out; echo err >&2; exit 4");
        let answer: Value = serde_json::from_str(&host.runs(json!({"format": "json"}))).unwrap();
        assert!(answer["duration_ms"].as_u64().unwrap() < 10_000);
        let expected = json!({
            "path": "run.sh", "exit_code": 4, "signal": null, "stdout": "out\n",
            "stderr": "err\n", "duration_ms": answer["duration_ms"], "timed_out": false,
            "truncated": false, "job": null,
        });
        assert_eq!(answer, expected);
        let answer = host.runs(json!({"format": "json", "background": true}));
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let id = answer["job"].as_str().unwrap();
        let ended = host.tool(RUN, &json!({"job": id, "format": "json"}));
        let ended: Value = serde_json::from_str(&ended).unwrap();
        assert_eq!(
            (&ended["exit_code"], &ended["job"]),
            (&json!(4), &Value::Null)
        );
        assert_eq!(ended["stdout"], "out\n");
    }
}

#[test]
fn bad_input_is_explained_and_starts_nothing() {
    for host in Host::both() {
        let host = host.script("touch ran").file("s/dir/x", "");
        let skill = host.skills_dir().join("s");
        std::os::unix::fs::symlink("/bin/true", skill.join("out.sh")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", skill.join("zero.sh")).unwrap();
        let fifo = std::process::Command::new("mkfifo")
            .arg(skill.join("fifo.sh"))
            .status();
        assert!(fifo.unwrap().success());
        for (arguments, part) in [
            (json!({}), "missing field `skill`"),
            (json!({"skill": "s"}), "missing field `script`"),
            (json!({"job": "nope"}), "there is no job `nope`"),
            (json!({"job": "../../state"}), "there is no job"),
            (json!({"job": "a\u{0}b"}), "there is no job"),
            (json!({"stop": true}), "`stop` needs `job`"),
            (
                json!({"skill": "s", "script": "run.sh", "timeout_secs": -1}),
                "positive number",
            ),
            (
                json!({"skill": "s", "script": "run.sh", "timeout_secs": 0}),
                "positive number",
            ),
            (
                json!({"skill": "s", "script": "run.sh", "timeout_secs": 1e9}),
                "more than a script",
            ),
            (
                json!({"skill": "s", "script": "run.sh", "args": [1]}),
                "expected a string",
            ),
            (
                json!({"skill": "s", "script": "run.sh", "args": ["a\u{0}b"]}),
                "NUL byte",
            ),
            (
                json!({"skill": "s", "script": "run.sh", "env": {"A": "\u{0}"}}),
                "NUL byte",
            ),
            (
                json!({"skill": "s", "script": "run\u{0}.sh"}),
                "NUL character",
            ),
            (
                json!({"skill": "s", "script": "dir"}),
                "`dir` is a directory",
            ),
            (
                json!({"skill": "s", "script": "fifo.sh"}),
                "not a regular file",
            ),
            (json!({"skill": "s", "script": "out.sh"}), "leads outside"),
            (json!({"skill": "s", "script": "zero.sh"}), "leads outside"),
            (
                json!({"skill": "s", "script": "../s/../../x"}),
                "outside the skill",
            ),
            (
                json!({"skill": "s", "script": "run.sh", "workdir": "/etc"}),
                "outside the skill",
            ),
            (
                json!({"skill": "s", "script": "run.sh", "workdir": "../.."}),
                "outside the skill",
            ),
            (
                json!({"skill": "s", "script": "run.sh", "workdir": "no"}),
                "no directory `no`",
            ),
            (
                json!({"skill": "s", "script": "run.sh", "workdir": "run.sh"}),
                "not a directory",
            ),
            (
                json!({"skill": "../..", "script": "run.sh"}),
                "there is no skill",
            ),
        ] {
            let text = host.tool(RUN, &arguments);
            assert!(text.starts_with("Error: "), "{arguments}: {text}");
            assert!(text.contains(part), "{arguments}: {text}");
            assert!(text.lines().count() >= 2, "no next step: {text}");
        }
        assert!(!host.at("ran").exists());
        assert!(!host.plugin_dir().join("jobs").exists());
    }
}
