//! Real process trees on a pseudo-terminal: below an agent nothing is decided; when it has ended, beside
//! it, and in a person's own programs, a person decides. Programs of agents are played by shells of
//! their names.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use agent_skills::host::agent::Agent;

use crate::Host;
use crate::decisions::{IN_A_HOST, shell};
use crate::host::{Has, write_at};
use crate::terminal::converse;

/// What people were locked out of, each with what it says once it is let through.
const LOCKED_OUT: [(&str, &str); 6] = [
    ("deactivate", "active"),
    ("trust --yes", "nothing"),
    ("install --yes ./one", "already"),
    ("hosts remove codex --yes", "not connected"),
    ("config set enforce warn", "enforce"),
    ("remove none", "none"),
];

const REFUSED: &str = "only a person at their own terminal";

/// Each of [`LOCKED_OUT`], with its refusals counted.
fn all() -> String {
    let calls = LOCKED_OUT.map(|(words, _)| format!("\"$A\" {words}; "));
    format!("{} echo done", calls.concat())
}

fn host() -> Host {
    let host = Host::stdin();
    let dir = host.project().join("one");
    fs::create_dir(&dir).unwrap();
    write_at(
        dir.join("SKILL.md"),
        "---\nname: one\ndescription: d\n---\n",
    );
    host
}

/// A shell under another name, at this path below the home.
fn program(host: &Host, path: &str) -> PathBuf {
    let path = host.home().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::copy("/bin/sh", &path).unwrap();
    path
}

fn written(host: &Host, path: &str, text: &str) -> PathBuf {
    let path = host.home().join(path);
    write_at(&path, text);
    path
}

/// What is shown at a terminal by a shell that runs `script`, with how often it refuses.
fn refusals(host: &Host, script: &str) -> (String, usize) {
    let (said, _) = converse(&mut shell(host, script), "");
    said.has("done");
    let refusals = said.matches(REFUSED).count();
    (said, refusals)
}

#[track_caller]
fn decides(host: &Host, script: &str) {
    let (said, refusals) = refusals(host, script);
    assert_eq!(refusals, 0, "{script}: {said}");
}

#[track_caller]
fn is_below(host: &Host, script: &str, agent: &str) {
    let (said, refusals) = refusals(host, script);
    // The model's tool may remove, and finds nothing.
    assert_eq!(refusals, LOCKED_OUT.len() - 1, "{script}: {said}");
    let why = format!("and this runs below `{agent}` (process ");
    said.has(&why);
}

fn quoted(path: &Path) -> String {
    format!("'{}'", path.display())
}

/// Runs all of it below this program.
fn below(program: &Path) -> String {
    format!("{} -c '{}; :'", quoted(program), all())
}

#[cfg(target_os = "linux")]
#[test]
fn below_every_agents_program_nothing_is_decided() {
    let host = host();
    host.config("unattended = true\n");
    for agent in Agent::ALL {
        for name in agent.table().programs {
            let program = program(&host, &format!("agents/{name}"));
            is_below(&host, &below(&program), name);
        }
    }
    let version = program(&host, ".local/share/claude/versions/2.1.330");
    is_below(&host, &below(&version), "claude");
    let link = host.home().join("linked/codex");
    fs::create_dir(link.parent().unwrap()).unwrap();
    symlink("/bin/sh", &link).unwrap();
    is_below(&host, &below(&link), "codex");
}

#[cfg(target_os = "linux")]
#[test]
fn below_an_agent_that_an_interpreter_runs_nothing_is_decided() {
    let host = host();
    let text = format!("{}; :", all());
    let node = program(&host, "bin/node");
    for (path, agent) in [
        ("npm/bin/gemini", "gemini"),
        (
            "lib/node_modules/@google/gemini-cli/dist/index.js",
            "gemini",
        ),
        ("lib/node_modules/@qwen-code/qwen-code/cli.js", "qwen"),
        ("home/bin/claude", "claude"),
    ] {
        let script = written(&host, path, &text);
        is_below(
            &host,
            &format!("{} {}", quoted(&node), quoted(&script)),
            agent,
        );
        is_below(&host, &format!("sh {}", quoted(&script)), agent);
    }
}

#[test]
fn in_a_persons_own_programs_a_person_decides() {
    let host = host();
    for name in [
        "cursor",
        "code",
        "tmux: server",
        "sshd",
        "claude-notes",
        "chibi-scheme",
    ] {
        let program = program(&host, &format!("usr/{name}"));
        decides(&host, &below(&program));
    }
    let text = format!("{}; :", all());
    let notes = written(&host, "claude-notes/run.sh", &text);
    decides(&host, &format!("sh {} claude", quoted(&notes)));
    let node = program(&host, "bin/node");
    let build = written(&host, "claude/build.js", &text);
    decides(
        &host,
        &format!("{} {} gemini", quoted(&node), quoted(&build)),
    );
    decides(&host, &format!("sh -c '{}; :' claude", all()));
}

/// As over ssh, in tmux and under `script`: other sessions, other terminals, a parent that has gone.
#[cfg(target_os = "linux")]
#[test]
fn in_another_session_or_without_its_parent_a_person_decides() {
    let host = host();
    let text = written(&host, "all", &all());
    let all = format!("sh {}", quoted(&text));
    decides(&host, &format!("setsid -w {all}"));
    decides(&host, &format!("script -qec \"{all}\" /dev/null"));
    // Its parent ends first; the terminal stays.
    let orphan = format!("sh -c 'exec <&3; sleep 0.1; sh {}' &", text.display());
    decides(&host, &format!("exec 3<&0; sh -c \"{orphan}\""));
}

/// What Claude Code's hook is called with, in this order: a prompt, a skill, a subagent's call.
const SESSION: &str = r#"
    hook() { printf %s "{\"session_id\":\"s\",\"cwd\":\"$PWD\",\"prompt_id\":\"$1\",$2}" | "$A" hook claude-code >&2; }
    prompt() { hook "$1" '"hook_event_name":"UserPromptSubmit","prompt":"x"'; }
    activate() { hook "$1" '"hook_event_name":"PreToolUse","tool_name":"Skill","tool_input":{"skill":"careful"}'; }
    subagent() { hook "$1" '"hook_event_name":"PreToolUse","agent_id":"a","tool_name":"Read","tool_input":{"file_path":"x"}'; }
"#;

#[cfg(target_os = "linux")]
#[test]
fn when_an_agent_has_ended_and_beside_it_a_person_decides() {
    let host = host();
    let skill = "---\nname: careful\ndescription: d\nallowed-tools: Read\n---\n";
    written(&host, ".claude/skills/careful/SKILL.md", skill);
    let claude = quoted(&program(&host, "agents/claude"));
    for session in [
        // A run that only loads a skill.
        "activate 1;",
        "prompt 1; activate 1;",
        // Resumed.
        "prompt 1; activate 1; prompt 2; activate 2;",
        "prompt 1; activate 1; subagent 1;",
    ] {
        let session = written(
            &host,
            "session",
            &format!("{SESSION}\n{session}\n{}\n", all()),
        );
        let session = quoted(&session);
        is_below(&host, &format!("{claude} {session}"), "claude");
        let state = fs::read_to_string(host.plugin_dir().join("state.json")).unwrap();
        state.has("careful");
        // What ran it has ended, in this shell and in another.
        decides(
            &host,
            &format!("{claude} {session} >/dev/null 2>&1; {}", all()),
        );
        decides(&host, &all());
        // It runs, and a person is in the next terminal.
        let beside = format!(
            "{claude} -c 'cat; :' <\"$PWD/pipe\" & exec 9>\"$PWD/pipe\"; {}; exec 9>&-; wait",
            all()
        );
        decides(&host, &format!("mkfifo pipe; {beside}; rm pipe"));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn when_a_session_of_chibi_has_ended_a_person_decides() {
    let host = host();
    is_below(&host, &format!("{IN_A_HOST} sh -c '{}'; :", all()), "sh");
    let ended = written(&host, "session", &format!("{IN_A_HOST} :\n"));
    decides(&host, &format!("sh {} ; {}", quoted(&ended), all()));
    decides(&host, &all());
}

/// Without a terminal, as in a container: a yes changes, the configuration decides.
#[test]
fn without_a_terminal_a_yes_changes_and_a_file_decides() {
    let host = host();
    assert_eq!(host.unattended(&["install", "--yes", "./one"]).status, 0);
    assert_eq!(host.unattended(&["remove", "one"]).status, 1);
    assert_eq!(host.unattended(&["remove", "one", "--yes"]).status, 0);
    let ran = host.unattended(&["deactivate"]);
    ran.ends(1).stderr.has("`unattended = true`");
    host.config("unattended = true\n");
    assert_eq!(host.unattended(&["deactivate"]).status, 0);
}
