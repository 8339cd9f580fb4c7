//! Confined scripts: what the kernel refuses them, from the script itself and from its children.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::process::Command;

use serde_json::json;

use crate::Host;
use crate::host::{Has, write_at};
use crate::scripts::started;

/// A host, where this kernel can do all that is tested here (Landlock since Linux 6.7).
fn confining() -> Option<Host> {
    let host = Host::stdin()
        .skill("s", ALL, "")
        .file("s/run.sh", "echo confined");
    let text = host.runs(&json!({}));
    let can = text == "confined\n";
    if !can {
        println!("passed over: this kernel cannot confine: {text}");
    }
    can.then(Host::stdin)
}

const ALL: &str = "execution: {sandbox: true, network: restricted}";

/// Tells for each command whether it could be done, by the script and by a child of it.
const ATTEMPTS: &str = r#"
    attempt() {
        if bash -c "$2" > /dev/null 2>&1; then echo "child $1: yes"; else echo "child $1: no"; fi
        if eval "$2" > /dev/null 2>&1; then echo "$1: yes"; else echo "$1: no"; fi
    }
"#;

fn attempts(host: Host, more: &str, commands: &str) -> (Host, Vec<String>) {
    let ssh = host.home().join(".ssh");
    write_at(ssh.join("id"), "key");
    let host = host
        .skill("s", more, "")
        .file("s/run.sh", format!("{ATTEMPTS}{commands}"));
    let text = host.runs(&json!({}));
    let lines = text.lines().map(str::to_owned).collect();
    (host, lines)
}

#[track_caller]
fn assert_answers(lines: &[String], what: &str, answer: &str) {
    for line in [
        format!("{what}: {answer}"),
        format!("child {what}: {answer}"),
    ] {
        assert!(lines.contains(&line), "{line}: {lines:?}");
    }
}

#[test]
fn a_confined_script_reads_and_writes_only_where_it_may() {
    let Some(host) = confining() else { return };
    let (host, lines) = attempts(
        host,
        ALL,
        r#"
        attempt ssh 'cat "$HOME/.ssh/id"'
        attempt list 'ls "$HOME"'
        attempt outside 'echo x > "$HOME/evil"'
        attempt skill 'echo x > "$SKILL_DIR/evil"'
        attempt remove 'rm "$SKILL_DIR/SKILL.md"'
        attempt tmp 'echo x > /tmp/agent-skills-evil'
        attempt state 'cat "$SKILL_DIR/../../state.json" || ls "$SKILL_DIR/../../jobs"'
        attempt inspect 'readlink /proc/'$PPID'/exe'
        attempt signal 'kill -0 '$PPID
        # Metadata is not the kernel's to refuse: `docs/guide.md#sandbox-linux` says so.
        attempt metadata 'stat "$HOME/.ssh/id" && chmod 600 "$HOME/.ssh/id"'
        attempt own 'cat "$SKILL_DIR/SKILL.md"'
        attempt project 'echo x > "$PROJECT_DIR/made" && cat "$PROJECT_DIR/made"'
        attempt temp 'echo x > "$TMPDIR/made" && cat "$TMPDIR/made"'
        attempt null 'echo x > /dev/null'
        attempt system 'ls /usr && cat /etc/passwd'
        attempt programs 'sort < /dev/null'
    "#,
    );
    for refused in [
        "ssh", "list", "outside", "skill", "remove", "tmp", "state", "inspect", "signal",
    ] {
        assert_answers(&lines, refused, "no");
    }
    for granted in [
        "own", "project", "temp", "null", "system", "programs", "metadata",
    ] {
        assert_answers(&lines, granted, "yes");
    }
    assert!(!host.home().join("evil").exists() && !host.at("evil").exists());
}

#[test]
fn a_confined_script_connects_to_nobody_and_serves_nobody() {
    let Some(host) = confining() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let attempt = format!(
        "attempt connect 'exec 9<>/dev/tcp/127.0.0.1/{port}'\n
        attempt serve 'python3 -c \"import socket; socket.socket().bind((str(), 0))\"'"
    );
    let (_host, lines) = attempts(host, ALL, &attempt);
    assert_answers(&lines, "connect", "no");
    assert_answers(&lines, "serve", "no");
    let host = Host::stdin();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let attempt = format!("attempt connect 'exec 9<>/dev/tcp/127.0.0.1/{port}'");
    let (_host, lines) = attempts(host, "execution: {sandbox: true}", &attempt);
    assert_answers(&lines, "connect", "yes");
}

#[test]
fn a_skill_that_asks_for_the_sandbox_opens_its_paths() {
    let Some(host) = confining() else { return };
    std::fs::create_dir(host.home().join("out")).unwrap();
    let (_host, lines) = attempts(
        host,
        r#"execution: {sandbox: true, allowed-paths: ["~/out"]}"#,
        r#"attempt out 'echo x > "$HOME/out/x"'; attempt beside 'echo x > "$HOME/x"'"#,
    );
    assert_answers(&lines, "out", "yes");
    assert_answers(&lines, "beside", "no");
}

#[test]
fn a_link_of_the_repository_opens_no_allowed_path() {
    let Some(host) = confining() else { return };
    std::fs::create_dir(host.home().join("config")).unwrap();
    let out = host.project().join("out");
    std::os::unix::fs::symlink(host.home().join("config"), out).unwrap();
    let (host, lines) = attempts(
        host,
        "execution: {sandbox: true, allowed-paths: [out]}",
        r#"attempt out 'echo x > "$PROJECT_DIR/out/x"'"#,
    );
    assert_answers(&lines, "out", "no");
    assert!(lines.iter().any(|line| line.contains("stays closed")));
    assert!(!host.home().join("config/x").exists());
}

#[test]
fn a_script_does_not_open_more_to_the_next_one() {
    let Some(host) = confining() else { return };
    for dir in ["out", "i", ".venv/bin"] {
        std::fs::create_dir_all(host.project().join(dir)).unwrap();
    }
    let path = format!("{}/.venv/bin:/usr/bin:/bin", host.project().display());
    let interpreter = host.project().join("i/sh");
    std::fs::copy("/bin/sh", &interpreter).unwrap();
    let config = "sandbox = \"require\"\n[skills.s]\nallowed_paths = [\"out\"]\n";
    host.config(config);
    let host = host.var("PATH", &path);
    let key = r#"attempt key 'cat "$HOME/.ssh/id"'; attempt write 'echo x > "$HOME/.ssh/x"'"#;
    let swap = r#"cd "$PROJECT_DIR" && for dir in out i .venv/bin; do
        mv "$dir" "$dir.old" && ln -s "$HOME/.ssh" "$dir" && echo placed; done"#;
    let (host, lines) = attempts(host, "", swap);
    assert_eq!(lines.iter().filter(|line| *line == "placed").count(), 3);
    // The interpreter whose directory was exchanged for the keys'.
    std::fs::copy("/bin/sh", host.home().join(".ssh/sh")).unwrap();
    for first in [String::new(), format!("#!{}\n", interpreter.display())] {
        let host = &host;
        std::fs::write(host.at("run.sh"), format!("{first}{ATTEMPTS}{key}")).unwrap();
        let text = host.runs(&json!({}));
        assert!(!text.contains(": yes") && !text.contains("key\n"), "{text}");
        assert_eq!(text.contains("key: no"), first.is_empty(), "{text}");
    }
}

#[test]
fn a_job_stays_confined() {
    let Some(host) = confining() else { return };
    let script = "while [ ! -e \"$PROJECT_DIR/go\" ]; do sleep 0.01; done
        cat \"$HOME/.ssh/id\" 2>/dev/null || echo refused; echo x > \"$TMPDIR/x\" && echo wrote";
    let host = host.skill("s", ALL, "").file("s/run.sh", script);
    let ssh = host.home().join(".ssh");
    write_at(ssh.join("id"), "key");
    let id = started(&host.runs(&json!({"background": true})));
    std::fs::write(host.project().join("go"), "").unwrap();
    host.polls_to_the_end(&id).has("refused\nwrote\n");
}

#[test]
fn without_being_asked_for_nothing_is_confined() {
    let host = Host::stdin();
    let (_host, lines) = attempts(host, "", r#"attempt ssh 'cat "$HOME/.ssh/id"'"#);
    assert_answers(&lines, "ssh", "yes");
}

#[test]
fn interpreters_work_in_the_sandbox() {
    let Some(host) = confining() else { return };
    let host = host
        .skill("s", ALL, "")
        .file("s/a.py", "import json, ssl, tempfile\ntempfile.mkstemp()\nprint('python')")
        .file("s/a.js", "require('fs').writeFileSync(process.env.TMPDIR + '/x', ''); console.log('node')")
        .file("s/git.sh", "git init -q \"$PROJECT_DIR/r\" && cd \"$PROJECT_DIR/r\" && git status > /dev/null && echo git");
    for (script, says) in [
        ("a.py", "python\n"),
        ("a.js", "node\n"),
        ("git.sh", "git\n"),
    ] {
        let program = says.trim_end();
        let installed = std::process::Command::new(program)
            .arg("--version")
            .output();
        if installed.is_err() {
            println!("passed over: {program} is not installed");
            continue;
        }
        let answer = host.tool(
            crate::scripts::RUN,
            &json!({"skill": "s", "script": script}),
        );
        answer.begins(says).lacks("[exit code");
    }
}

#[test]
fn a_home_among_or_around_the_programs_stays_closed() {
    let Some(host) = confining() else { return };
    let path = format!("{}:/:/usr/bin:/bin", host.home().display());
    let (_host, lines) = attempts(
        host.var("PATH", &path),
        ALL,
        r#"attempt ssh 'cat "$HOME/.ssh/id"'; attempt programs 'sort < /dev/null'"#,
    );
    assert_answers(&lines, "ssh", "no");
    assert_answers(&lines, "programs", "yes");
    let told = lines.iter().filter(|line| line.contains("programs in it"));
    assert_eq!(told.count(), 2, "{lines:?}");
    let host = Host::stdin();
    let config = host.plugin_dir().join("config.toml");
    std::fs::write(&config, "").unwrap();
    let project = host.home().join(".chibi");
    let host = host.var("CHIBI_PROJECT_ROOT", &project.display().to_string());
    let (_host, lines) = attempts(
        host,
        ALL,
        r#"
        attempt config 'echo evil >> "$SKILL_DIR/../../config.toml"'
        attempt other 'mkdir "$SKILL_DIR/../evil"'
    "#,
    );
    assert_answers(&lines, "config", "no");
    assert_answers(&lines, "other", "no");
    assert!(lines.iter().any(|line| line.contains("its project")));
    assert_eq!(std::fs::read_to_string(config).unwrap(), "");
}

/// What `reach.c` could do in a script of a skill with this frontmatter, by its name for it; `None`
/// where there is no compiler. It is told of this process, and of a port that is listened on.
fn reached(host: Host, more: &str) -> Option<BTreeMap<String, bool>> {
    let host = host
        .skill("s", more, "")
        .file("s/run.sh", "exec \"$SKILL_DIR/reach\" \"$@\"");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/reach.c");
    let mut compiler = Command::new("cc");
    compiler.args([
        "-o".as_ref(),
        host.at("reach").as_os_str(),
        source.as_ref(),
        "-lpthread".as_ref(),
    ]);
    if !compiler.status().is_ok_and(|status| status.success()) {
        println!("passed over: there is no C compiler");
        return None;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let name = format!("agent-skills-{}", std::process::id());
    // Of several threads, one has it already.
    let _abstract =
        SocketAddr::from_abstract_name(name).and_then(|at| UnixListener::bind_addr(&at));
    let port = listener.local_addr().unwrap().port();
    let args = [std::process::id().to_string(), port.to_string()];
    let text = host.runs(&json!({"args": args}));
    text.has("end:\n");
    let lines = text.lines().filter_map(|line| line.split_once(": "));
    Some(
        lines
            .map(|(what, answer)| (what.to_owned(), answer == "yes"))
            .collect(),
    )
}

/// What a confined script still does with itself and its own.
const OWN: [&str; 7] = [
    "own_limit",
    "own_nice",
    "own_affinity",
    "thread",
    "child",
    "pair",
    "routes",
];
/// What only a restricted network closes.
const NETWORK: [&str; 11] = [
    "fastopen_sendto",
    "fastopen_sendmsg",
    "fastopen_sendmmsg",
    "mptcp",
    "listen_unbound",
    "udp",
    "udp6",
    "vsock",
    "alg",
    "netlink_other",
    "high_bits",
];

#[test]
fn a_confined_script_does_not_escape_beside_landlock() {
    let Some(host) = confining() else { return };
    let Some(reached) = reached(host, ALL) else {
        return;
    };
    let could: Vec<_> = reached
        .iter()
        .filter(|(_, could)| **could)
        .map(|(what, _)| what.as_str())
        .collect();
    let mut own = OWN;
    own.sort_unstable();
    assert_eq!(could, own);
    assert!(reached.len() > OWN.len() + NETWORK.len() + 20);
}

#[test]
fn an_open_network_stays_open_in_the_sandbox() {
    let Some(host) = confining() else { return };
    let Some(reached) = reached(host, "execution: {sandbox: true}") else {
        return;
    };
    for open in ["udp", "listen_unbound"].iter().chain(&OWN) {
        assert!(reached[*open], "{open}");
    }
    for (what, could) in reached {
        let may = OWN.contains(&what.as_str()) || NETWORK.contains(&what.as_str());
        assert!(may || !could, "{what}");
    }
}
