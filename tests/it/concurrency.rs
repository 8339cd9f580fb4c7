//! Many hosts at once share one state file: it stays whole, and each session gets the answer that
//! is right for it.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;

use serde_json::{Value, json};

use crate::Host;
use crate::host::finish;

const HOSTS: usize = 16;
const ACTIVATIONS: usize = 24;
/// How often a lock is tried that is not had within the two seconds of each try.
const TRIES: usize = 20;
const LOCKED: &str = "locked by another process";

/// A host process of its own: a shell that calls the plugin as chibi does, activating `reads` and
/// `runs` by turns. `$1` activations, so an even number ends with `runs`. Then it asks about a tool
/// of each; then it waits for a line before it asks again. The first half of the activations uses
/// the older protocol, the rest the newer one. A lock
/// that a starved machine does not get in time is tried again, as the answer says.
const HOST: &str = r#"
    old() { CHIBI_HOOK=$1 CHIBI_HOOK_DATA=$2 "$EXE" </dev/null; echo; }
    new() { printf '%s' "$2" | CHIBI_HOOK=$1 "$EXE"; echo; }
    ask() {
        old pre_tool '{"tool_name":"shell_exec","arguments":{"command":"ls"}}'
        new pre_tool '{"tool_name":"file_head","arguments":{"path":"x"}}'
    }
    old on_start '{}'
    i=0
    while [ $i -lt $1 ]; do
        i=$((i+1))
        [ $((i % 2)) = 1 ] && skill=reads || skill=runs
        [ $((i * 2)) -le $1 ] && call=old || call=new
        data="{\"tool_name\":\"skill_$skill\",\"arguments\":{}}"
        tries=0
        while [ $tries -lt $2 ]; do
            tries=$((tries+1))
            # Not in `$(…)`: that is a process of its own, and so another session.
            $call pre_tool "$data" >answer.$$; read -r answer <answer.$$
            case $answer in *"$3"*) ;; *) break ;; esac
        done
        echo "$answer"
    done
    ask
    echo asked
    read line
    ask
"#;

fn host() -> Host {
    Host::environment()
        .skill("reads", "allowed-tools: Read", "")
        .skill("runs", "allowed-tools: Bash", "")
        .skill("free", "", "")
}

/// A running [`HOST`].
struct Shell {
    child: Child,
    stdout: BufReader<ChildStdout>,
    said: Vec<String>,
    activations: usize,
}

impl Shell {
    fn start(host: &Host, activations: usize) -> Self {
        let mut child = Command::new("sh")
            .args(["-c", HOST, "sh", &activations.to_string()])
            .args([&TRIES.to_string(), LOCKED])
            .current_dir(host.project())
            .env("EXE", env!("CARGO_BIN_EXE_agent-skills"))
            .env("HOME", host.home())
            .env("AGENT_SKILLS_HOME", host.plugin_dir())
            .env_remove("AGENT_SKILLS_SESSION")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self {
            child,
            stdout,
            said: Vec::new(),
            activations,
        }
    }

    /// Reads on until a line says this, or to the end.
    fn says(&mut self, what: Option<&str>) {
        for line in self.stdout.by_ref().lines() {
            let line = line.unwrap();
            let found = what == Some(&line);
            self.said.push(line);
            if found {
                return;
            }
        }
        assert_eq!(what, None, "{:?}", self.said);
    }

    /// Lets it ask again and checks every answer: `{}` for everything but what the last skill
    /// forbids.
    fn ends_rightly(mut self) {
        drop(self.child.stdin.take());
        self.says(None);
        assert!(self.child.wait().unwrap().success());
        let (lines, activations) = (&self.said, self.activations);
        assert_eq!(lines.len(), 1 + activations + 2 + 1 + 2, "{lines:?}");
        assert!(
            lines[..=activations].iter().all(|line| line == "{}"),
            "{lines:?}"
        );
        for asked in [
            &lines[activations + 1..activations + 3],
            &lines[activations + 4..],
        ] {
            let shell = asked[0].contains("\"block\":true") && asked[0].contains("`reads`");
            let read = asked[1].contains("\"block\":true") && asked[1].contains("`runs`");
            let last_reads = self.last() == "reads";
            assert_eq!((shell, read), (last_reads, !last_reads), "{asked:?}");
        }
    }

    /// The skill it activates last.
    fn last(&self) -> &'static str {
        if self.activations % 2 == 1 {
            "reads"
        } else {
            "runs"
        }
    }
}

/// A test that fails ends its hosts.
impl Drop for Shell {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn state(host: &Host) -> Value {
    let text = fs::read_to_string(host.plugin_dir().join("state.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Nothing but the plugin's own files: no temporary one of whoever wrote last.
#[track_caller]
fn no_litter(host: &Host) {
    let entries = fs::read_dir(host.plugin_dir()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let ours = [
        "audit.jsonl",
        "audit.lock",
        "refusals",
        "skills",
        "state.json",
        "state.lock",
    ];
    let litter: Vec<_> = names
        .filter(|name| !ours.contains(&name.as_str()))
        .collect();
    assert_eq!(litter, [""; 0]);
}

#[test]
fn sixteen_hosts_activate_without_disturbing_another() {
    let host = host();
    let mut shells: Vec<_> = (0..HOSTS)
        .map(|at| Shell::start(&host, ACTIVATIONS - at % 2))
        .collect();
    // Every host has activated all its skills before the first one ends, so each is in the file.
    for shell in &mut shells {
        shell.says(Some("asked"));
    }
    let state = state(&host);
    assert_eq!(state["version"], 1);
    let sessions = state["sessions"].as_object().unwrap();
    assert_eq!(sessions.len(), HOSTS);
    for shell in &shells {
        let key = format!("{}-", shell.child.id());
        let (_, session) = sessions.iter().find(|(k, _)| k.starts_with(&key)).unwrap();
        let last = session["activated"].as_array().unwrap().last().unwrap();
        assert_eq!(last["name"], shell.last());
    }
    no_litter(&host);
    for shell in shells {
        shell.ends_rightly();
    }
    // The next start, of any host, forgets those that ended.
    host.starts();
    assert_eq!(self::state(&host)["sessions"], json!({}));
    no_litter(&host);
}

#[test]
fn starts_of_other_hosts_lift_no_restriction() {
    let host = host();
    let shells: Vec<_> = (0..4).map(|_| Shell::start(&host, 25)).collect();
    thread::scope(|scope| {
        for storm in 0..4 {
            let host = &host;
            scope.spawn(move || {
                for round in 0..25 {
                    let mut command = host.command();
                    let name = format!("storm-{storm}-{}", round % 3);
                    command
                        .env("AGENT_SKILLS_SESSION", name)
                        .env("CHIBI_HOOK", "on_start")
                        .env("CHIBI_HOOK_DATA", "{}");
                    let ran = finish(&mut command, b"");
                    assert_eq!((ran.status, ran.stdout.as_str()), (0, "{}"), "{ran:?}");
                }
            });
        }
    });
    for shell in shells {
        shell.ends_rightly();
    }
    no_litter(&host);
}
