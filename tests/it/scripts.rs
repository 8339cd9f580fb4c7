//! Scripts through the host: how they run, what they get, and what is said about bad input.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Host;
use crate::host::{Has, fifo};

pub const RUN: &str = "run_skill_script";

impl Host {
    /// A skill `s` with one bash script.
    pub fn script(self, content: &str) -> Self {
        self.skill("s", "", "").file("s/run.sh", content)
    }

    /// A call answers after so many seconds.
    pub fn answers_after(self, seconds: &str) -> Self {
        self.var("AGENT_SKILLS_CALL_SECONDS", seconds)
    }

    /// Runs `run.sh` with further arguments of the tool.
    #[track_caller]
    pub fn runs(&self, more: &Value) -> String {
        let mut arguments = json!({"skill": "s", "script": "run.sh"});
        arguments
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        self.tool(RUN, &arguments)
    }

    #[track_caller]
    pub fn polls(&self, id: &str) -> String {
        self.tool(RUN, &json!({"job": id}))
    }

    /// Polls until the job is over; everything it said on the way.
    #[track_caller]
    pub fn polls_to_the_end(&self, id: &str) -> String {
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

    pub fn at(&self, path: &str) -> PathBuf {
        self.skills_dir().join("s").join(path)
    }
}

/// The id on the line of its own.
pub fn job_id(text: &str) -> Option<String> {
    text.lines()
        .find_map(|line| Some(line.strip_prefix("job: ")?.to_owned()))
}

#[track_caller]
pub fn started(text: &str) -> String {
    job_id(text).unwrap_or_else(|| panic!("no job: {text}"))
}

#[test]
fn a_script_runs_where_it_is_told_to() {
    let host = Host::stdin()
        .script("pwd; [ -d \"$TMPDIR\" ] && touch \"$TMPDIR/x\" y; ls")
        .file("s/data/in", "");
    let skill = host.skills_dir().join("s").canonicalize().unwrap();
    let project = host.project().canonicalize().unwrap();
    let first_line = |workdir: &str| {
        let text = host.runs(&json!({"workdir": workdir, "env": {}}));
        PathBuf::from(text.lines().next().unwrap_or_default())
    };
    assert_eq!(first_line("skill"), skill);
    assert_eq!(first_line("."), skill);
    assert_eq!(first_line("data"), skill.join("data"));
    assert_eq!(first_line("project"), project);
    let temp = host.runs(&json!({"workdir": "temp"}));
    let (dir, rest) = temp.split_once('\n').unwrap();
    assert!(dir.ends_with("/tmp") && rest == "x\ny\n", "{temp}");
    assert!(!Path::new(dir).exists(), "it is gone after the run");
    assert!(!host.at("x").exists());
    let id = started(&host.runs(&json!({"workdir": "temp", "background": true})));
    assert!(host.polls(&id).contains("/tmp\nx\ny\n"));
}

#[test]
fn a_script_gets_the_documented_environment_and_no_secret() {
    let host = Host::stdin();
    let host = host
        .script("# FROM_CALLER\nenv -0 | tr '\\0' '\\n'")
        .var("CHIBI_API_KEY", "host-secret")
        .var("OPENROUTER_API_KEY", "host-secret")
        .var("GITHUB_TOKEN", "user-secret")
        .var("HARMLESS", "value")
        .var("https_proxy", "http://proxy");
    let text = host.runs(&json!({"env": {"FROM_CALLER": "1"}}));
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
    text.lacks("secret");
    for name in [
        "CHIBI_HOOK",
        "CHIBI_HOOK_DATA",
        "CHIBI_TOOL_NAME",
        "CHIBI_TOOL_ARGS",
    ] {
        assert!(!text.contains(&format!("{name}=")), "{name}");
    }
}

#[test]
fn a_scripts_parent_shows_it_nothing_that_it_was_given() {
    let host = Host::stdin();
    let host = host
        .script("tr '\\0' '\\n' < /proc/$PPID/environ")
        .var("CHIBI_API_KEY", "host-secret")
        .var("OPENROUTER_API_KEY", "host-secret")
        .var("HARMLESS", "value");
    let text = host.runs(&json!({}));
    // Root may look at it all the same, and sees names.
    text.lacks("=value");
    text.lacks("host-secret");
}

#[test]
fn what_a_skill_needs_and_does_not_get_is_named_in_the_result() {
    let needs = r#"metadata: {"openclaw": {"requires": {"bins": ["no-such-program"], "env": ["MY_TOKEN"]}}}"#;
    let host = Host::stdin()
        .skill("s", needs, "")
        .file("s/run.sh", "echo ran")
        .var("MY_TOKEN", "x");
    let text = host.runs(&json!({}));
    text.begins("ran\n[");
    text.has("`no-such-program`")
        .has("it is for the user to install");
    text.has("`MY_TOKEN`").has("pass_env = [\"MY_TOKEN\"]");
    assert_eq!(text.matches("\n[").count(), 2, "{text}");
}

#[track_caller]
fn is_explained(text: &str, part: &str) {
    text.begins("Error: ").has(part);
    assert!(text.lines().count() >= 2, "no next step: {text}");
}

#[test]
fn bad_input_is_explained_and_starts_nothing() {
    let host = Host::stdin().script("touch ran").file("s/dir/x", "");
    let skill = host.skills_dir().join("s");
    std::os::unix::fs::symlink("/bin/true", skill.join("out.sh")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", skill.join("zero.sh")).unwrap();
    fifo(&skill.join("fifo.sh"));
    for (arguments, part) in [
        (json!({}), "missing field `script`"),
        (json!({"script": "run.sh"}), "no skill is active"),
        (json!({"skill": "s"}), "missing field `script`"),
        (json!({"job": "nope"}), "there is no job `nope`"),
        (json!({"job": "../../state"}), "there is no job"),
        (json!({"job": "a\u{0}b"}), "there is no job"),
        (json!({"stop": true}), "`stop` needs `job`"),
    ] {
        is_explained(&host.tool(RUN, &arguments), part);
    }
    for (more, part) in [
        (json!({"timeout_secs": -1}), "above 0"),
        (json!({"timeout_secs": 0}), "above 0"),
        (json!({"timeout_secs": 1e9}), "at most 120"),
        (json!({"args": [[1]]}), "expected a string"),
        (json!({"args": ["a\u{0}b"]}), "NUL byte"),
        (json!({"env": {"A": "\u{0}"}}), "NUL byte"),
        (json!({"env": {"LD_PRELOAD": "x"}}), "LD_PRELOAD"),
        (json!({"env": {"NOT_NAMED": "x"}}), "NOT_NAMED"),
        (json!({"stdin": []}), "expected a string"),
        (json!({"script": "run\u{0}.sh"}), "NUL character"),
        (json!({"script": "dir"}), "`dir` is a directory"),
        (json!({"script": "fifo.sh"}), "not a regular file"),
        (json!({"script": "out.sh"}), "leaves the skill"),
        (json!({"script": "zero.sh"}), "leaves the skill"),
        (json!({"script": "../s/../../x"}), "outside the skill"),
        (json!({"workdir": "/etc"}), "outside the skill"),
        (json!({"workdir": "../.."}), "outside the skill"),
        (json!({"workdir": "no"}), "no directory `no`"),
        (json!({"workdir": "run.sh"}), "not a directory"),
        (json!({"skill": "../.."}), "there is no skill"),
    ] {
        is_explained(&host.runs(&more), part);
    }
    assert!(!host.at("ran").exists());
    assert!(!host.plugin_dir().join("jobs").exists());
}
