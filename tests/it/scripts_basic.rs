//! `run_skill_script`: what a script is given, what runs it, and what comes back.

use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::Host;
use crate::host::Has;

#[track_caller]
pub fn run(host: &Host, script: &str, mut more: Value) -> String {
    more["skill"] = json!("x");
    more["script"] = json!(script);
    host.tool("run_skill_script", &more)
}

/// A host whose skill `x` has this one script, `a.sh`.
pub fn with_script(host: Host, script: &str) -> Host {
    host.skill("x", "", "").file("x/a.sh", script)
}

#[test]
fn arguments_input_and_variables_arrive_as_they_are() {
    let host = Host::stdin();
    let script = "printf '<%s>' \"$@\" \"$COLOUR\"; cat";
    let host = with_script(host, script);
    let args = ["-x", "--", "a  b", "", "*", "$HOME", "`id`", "é\n", "'\""];
    let text = run(
        &host,
        "a.sh",
        json!({"args": args, "stdin": "one\r\ntwo", "env": {"COLOUR": "a=b c"}}),
    );
    let args = args.map(|arg| format!("<{arg}>")).concat();
    assert_eq!(text, format!("{args}<a=b c>one\r\ntwo"));
}

#[test]
fn without_input_a_script_reads_its_end_at_once() {
    // On the older host standard input is the user's terminal, here a pipe that stays open.
    let host = with_script(
        Host::environment(),
        "cat; read answer || echo nothing to read",
    );
    let mut command = host.command();
    command.env("CHIBI_TOOL_NAME", "run_skill_script");
    let arguments = json!({"skill": "x", "script": "a.sh"}).to_string();
    command.env("CHIBI_TOOL_ARGS", arguments);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let _held = child.stdin.take();
    let mut text = String::new();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_to_string(&mut text).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(text, "nothing to read\n");
}

#[test]
fn output_errors_and_exit_code_are_told_apart() {
    let host = Host::stdin();
    let mut host = host.skill("x", "", "");
    for (script, text) in [
        ("echo out", "out\n"),
        ("printf out", "out"),
        (
            "echo out; echo err >&2; exit 3",
            "out\n[stderr]\nerr\n[exit code: 3]",
        ),
        ("echo err >&2", "[stderr]\nerr\n"),
        ("exit 255", "(no output)\n[exit code: 255]"),
        ("", "(no output)"),
        ("kill -TERM $$", "(no output)\n[signal: 15 (SIGTERM)]"),
        ("printf 'caf\\351'", "caf\u{fffd}"),
        ("printf 'a\\0b'", "a\0b"),
        ("echo 'Error: mine'", "Error: mine\n"),
    ] {
        host = host.file("x/a.sh", script);
        assert_eq!(run(&host, "a.sh", json!({})), text, "{script}");
    }
}

#[test]
fn variables_that_choose_what_runs_cannot_be_set() {
    let host = with_script(Host::stdin(), "echo ran");
    for name in [
        "PATH",
        "LD_PRELOAD",
        "BASH_ENV",
        "BASH_FUNC_echo%%",
        "PYTHONPATH",
        "NODE_OPTIONS",
        "GIT_SSH_COMMAND",
        "CHIBI_HOOK",
        "AGENT_SKILLS_HOME",
        "SKILL_DIR",
        "",
        "A=B",
        "A B",
        "A\0",
        "1A",
        "NOT_NAMED",
    ] {
        let text = run(&host, "a.sh", json!({"env": {name: "x"}}));
        assert!(text.starts_with("Error: "), "{name}: {text}");
    }
    for (name, value) in [
        ("args", json!("$ONE")),
        ("args", json!([true])),
        ("stdin", json!([])),
    ] {
        let text = run(&host, "a.sh", json!({name: value}));
        assert!(text.starts_with("Error: "), "{name}: {text}");
    }
    for (name, value) in [("args", json!(["a\0b"])), ("env", json!({"A": "a\0b"}))] {
        let text = run(&host, "a.sh", json!({name: value}));
        assert!(text.starts_with("Error: "), "{name}: {text}");
    }
}

/// A directory of programs that say which they are and what they were given.
fn programs(host: &Host, names: &[&str]) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let bin = host.home().join("bin");
    fs::create_dir_all(&bin).unwrap();
    for name in names {
        let file = bin.join(name);
        let text = format!("#!/bin/sh\necho {name} \"${{1##*/}}\" \"$2\"\n");
        fs::write(&file, text).unwrap();
        fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
    }
    bin
}

#[test]
fn the_first_line_else_the_extension_chooses_the_interpreter() {
    let host = Host::stdin();
    let bin = programs(&host, &["python3", "node", "ruby", "perl", "bash", "deno"]);
    let host = host
        .skill("x", "", "")
        .var("PATH", bin.to_str().unwrap())
        .file("x/a.py", "x")
        .file("x/a.mjs", "x")
        .file("x/a.rb", "x")
        .file("x/a.pl", "x")
        .file("x/a.sh", "x")
        .file("x/b.sh", "#!/usr/bin/env ruby\nx")
        .file("x/c", "#!/usr/bin/env python3\r\nx")
        .file("x/d.py", "#!/home/somebody/venv/bin/python\nx")
        .file("x/scripts/e.rb", "x")
        .file("x/-o", "#!/usr/bin/env perl\nx");
    for (script, interpreter, file) in [
        ("a.py", "python3", "a.py"),
        ("a.mjs", "node", "a.mjs"),
        ("a.rb", "ruby", "a.rb"),
        ("a.pl", "perl", "a.pl"),
        ("a.sh", "bash", "a.sh"),
        ("b.sh", "ruby", "b.sh"),
        ("c", "python3", "c"),
        ("d.py", "python3", "d.py"),
        ("e.rb", "ruby", "e.rb"),
        ("./scripts/e.rb", "ruby", "e.rb"),
        ("-o", "perl", "-o"),
    ] {
        let text = run(&host, script, json!({"args": ["one"]}));
        assert_eq!(text, format!("{interpreter} {file} one\n"), "{script}");
    }
}

#[test]
fn a_missing_interpreter_is_named() {
    let host = Host::stdin();
    let bin = programs(&host, &["python3"]);
    let host = host
        .skill("x", "", "")
        .var("PATH", bin.to_str().unwrap())
        .file("x/a.rb", "x")
        .file("x/b", "#!/usr/bin/env no-such-program\nx")
        .file("x/notes.md", "x")
        .file("x/tool", b"\x7fELF\x02\x01\x01\0\0");
    for (script, named) in [
        ("a.rb", "`ruby`"),
        ("b", "`no-such-program`"),
        ("notes.md", "no interpreter is known for `notes.md`"),
        ("tool", "binary file"),
    ] {
        run(&host, script, json!({})).begins("Error: ").has(named);
    }
}

#[test]
fn no_spelling_of_a_script_leads_out_of_the_skill() {
    let host = with_script(Host::stdin(), "echo ran inside")
        .file("other/SKILL.md", "---\nname: other\ndescription: d\n---\n")
        .file("other/evil.sh", "echo ran outside")
        .file("evil.sh", "echo ran outside")
        .file("x/scripts/b.sh", "echo ran inside");
    let skills = host.skills_dir().display().to_string();
    let link = |target: &str, name: &str| {
        std::os::unix::fs::symlink(target, host.skills_dir().join("x").join(name)).unwrap();
    };
    link("../other/evil.sh", "link.sh");
    link("..", "up");
    for script in [
        "../evil.sh",
        "../other/evil.sh",
        "scripts/../../evil.sh",
        "../x/../evil.sh",
        "link.sh",
        "up/evil.sh",
        "/bin/sh",
        "bash",
        "",
        ".",
        "..",
        "scripts",
        "a.sh\0",
        "a.sh; echo ran",
        "$(echo a.sh)",
        "-c",
        &format!("{skills}/other/evil.sh"),
        &format!("{skills}/x/../other/evil.sh"),
    ] {
        let text = run(&host, script, json!({"args": ["echo ran outside"]}));
        assert!(text.starts_with("Error: "), "{script}: {text}");
    }
    assert_eq!(run(&host, "b.sh", json!({})), "ran inside\n");
    assert_eq!(
        run(&host, &format!("{skills}/x/a.sh"), json!({})),
        "ran inside\n"
    );
}

#[test]
fn long_output_keeps_its_head_and_its_tail() {
    let host = with_script(
        Host::stdin(),
        "echo first; head -c 500000 /dev/zero | tr '\\0' x; echo last",
    );
    let text = run(&host, "a.sh", json!({}));
    assert!(text.len() < 66_000, "{}", text.len());
    assert!(text.starts_with("first\nxxx") && text.ends_with("xxxlast\n"));
    assert_eq!(text.matches("truncated").count(), 1);
}

#[test]
fn what_is_executable_runs_itself() {
    use std::os::unix::fs::PermissionsExt;
    let host = Host::stdin();
    let bash = std::fs::read("/bin/sh").unwrap();
    let host = host
        .skill("x", "", "")
        .file("x/tool", bash)
        .file("x/plain", "echo \"plain $1\"")
        .file("x/broken", b"\x7fELF\0\0\0\0");
    for file in ["tool", "plain", "broken"] {
        let file = host.skills_dir().join("x").join(file);
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let args = json!({"args": ["-c", "echo compiled $0", "one"]});
    assert_eq!(run(&host, "tool", args), "compiled one\n");
    assert_eq!(run(&host, "plain", json!({"args": ["one"]})), "plain one\n");
    run(&host, "broken", json!({}))
        .begins("Error: ")
        .has("another system");
}
