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
fn a_script_runs_where_it_is_told_to() {
    for host in Host::both() {
        let host = host
            .script("pwd; [ -d \"$TMPDIR\" ] && touch \"$TMPDIR/x\" y; ls")
            .file("s/data/in", "");
        let skill = host.skills_dir().join("s").canonicalize().unwrap();
        let project = host.project().canonicalize().unwrap();
        let first_line = |workdir: &str| {
            let text = host.runs(json!({"workdir": workdir, "env": {}}));
            PathBuf::from(text.lines().next().unwrap_or_default())
        };
        assert_eq!(first_line("skill"), skill);
        assert_eq!(first_line("."), skill);
        assert_eq!(first_line("data"), skill.join("data"));
        assert_eq!(first_line("project"), project);
        let temp = host.runs(json!({"workdir": "temp"}));
        let (dir, rest) = temp.split_once('\n').unwrap();
        assert!(dir.ends_with("/tmp") && rest == "x\ny\n", "{temp}");
        assert!(!Path::new(dir).exists(), "it is gone after the run");
        assert!(!host.at("x").exists());
        let id = started(&host.runs(json!({"workdir": "temp", "background": true})));
        assert!(host.polls(&id).contains("/tmp\nx\ny\n"));
    }
}

#[test]
fn a_script_gets_the_documented_environment_and_no_secret() {
    for host in Host::both() {
        let host = host
            .script("env -0 | tr '\\0' '\\n'")
            .var("CHIBI_API_KEY", "host-secret")
            .var("OPENROUTER_API_KEY", "host-secret")
            .var("GITHUB_TOKEN", "user-secret")
            .var("HARMLESS", "value")
            .var("https_proxy", "http://proxy");
        let text = host.runs(json!({"env": {"FROM_CALLER": "1"}}));
        let has = |line: &str| text.lines().any(|l| l == line);
        let skill_dir = host.skills_dir().join("s");
        for line in [
            "HARMLESS=value",
            "https_proxy=http://proxy",
            "SKILL_NAME=s",
            "FROM_CALLER=1",
            &format!("SKILL_DIR={}", skill_dir.display()),
            &format!("PROJECT_DIR={}", host.project().display()),
            &format!("HOME={}", host.home().display()),
        ] {
            assert!(has(line), "{line}: {text}");
        }
        assert!(text.contains("PATH="));
        assert!(!text.contains("secret"), "{text}");
        for name in [
            "CHIBI_HOOK",
            "CHIBI_HOOK_DATA",
            "CHIBI_TOOL_NAME",
            "CHIBI_TOOL_ARGS",
        ] {
            assert!(!text.contains(&format!("{name}=")), "{name}");
        }
    }
}

#[test]
fn what_a_skill_needs_and_does_not_get_is_named_in_the_result() {
    let needs = r#"metadata: {"openclaw": {"requires": {"bins": ["no-such-program"], "env": ["MY_TOKEN"]}, "install": [{"kind": "brew", "formula": "no-such", "bins": ["no-such-program"]}]}}"#;
    for host in Host::both() {
        let host = host
            .skill("s", needs, "")
            .file("s/run.sh", "echo ran")
            .var("MY_TOKEN", "x");
        let text = host.runs(json!({}));
        assert!(text.starts_with("ran\n["), "{text}");
        assert!(
            text.contains("`no-such-program`") && text.contains("brew install no-such"),
            "{text}"
        );
        assert!(
            text.contains("`MY_TOKEN`") && text.contains("pass_env = [\"MY_TOKEN\"]"),
            "{text}"
        );
        let data: Value = serde_json::from_str(&host.runs(json!({"format": "json"}))).unwrap();
        assert_eq!(data["notes"].as_array().unwrap().len(), 2, "{data}");
    }
}

#[test]
fn what_a_script_was_missing_is_named_with_the_command_that_installs_it() {
    for host in Host::both() {
        let host = host
            .skill("s", "", "")
            .file("s/run.sh", "no-such-program")
            .file("s/a.py", "import no_such_module")
            .file("s/package.json", "{}")
            .file("s/a.js", "require('no-such-package')");
        let run = |script: &str| host.tool(RUN, &json!({"skill": "s", "script": script}));
        assert!(run("run.sh").contains("[the program `no-such-program` is missing: "));
        let python = run("a.py");
        assert!(
            python.contains("python3 -m pip install no_such_module`]"),
            "{python}"
        );
        if which("node") {
            let node = run("a.js");
            assert!(node.contains("/s' && npm install`]"), "{node}");
        }
        assert!(!host.at("node_modules").exists());
        let arguments = json!({"skill": "s", "script": "a.py", "background": true});
        let job = host.polls_to_the_end(&started(&host.tool(RUN, &arguments)));
        assert!(job.contains("pip install no_such_module"), "{job}");
    }
}

#[test]
fn python_with_a_list_of_packages_runs_under_uv() {
    use std::os::unix::fs::PermissionsExt;
    for host in Host::both() {
        let bin = host.home().join("bin");
        std::fs::create_dir(&bin).unwrap();
        let uv = bin.join("uv");
        std::fs::write(&uv, "#!/bin/sh\necho uv \"$@\"\n").unwrap();
        std::fs::set_permissions(&uv, PermissionsExt::from_mode(0o755)).unwrap();
        let path = format!("{}:/usr/bin:/bin", bin.display());
        let host = host
            .skill("s", "", "")
            .file("s/requirements.txt", "requests")
            .file("s/scripts/a.py", "print(1)")
            .file(
                "s/scripts/own.py",
                "# /// script\n# dependencies = []\n# ///\n",
            )
            .var("PATH", &path);
        let run = |script: &str| host.tool(RUN, &json!({"skill": "s", "script": script}));
        let listed = run("a.py");
        assert!(
            listed.starts_with("uv run --no-project --with-requirements /"),
            "{listed}"
        );
        assert!(listed.trim_end().ends_with("/s/scripts/a.py"), "{listed}");
        assert!(run("own.py").starts_with("uv run --script /"));
    }
}

/// Whether a program is installed; what needs one that is not says so and is passed over.
fn which(program: &str) -> bool {
    let found = std::process::Command::new(program)
        .arg("--version")
        .output()
        .is_ok();
    if !found {
        println!("passed over: {program} is not installed");
    }
    found
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
