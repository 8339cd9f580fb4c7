//! `run_skill_script`: what a script is given, what runs it, and what comes back.

use std::fs;
use std::io::Read;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::Host;
use crate::audit::events;
use crate::host::{Has, write_at};

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
fn a_program_for_another_system_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let host = with_script(Host::stdin(), "").file("x/broken", b"\x7fELF\0\0\0\0");
    let broken = host.skills_dir().join("x/broken");
    fs::set_permissions(broken, PermissionsExt::from_mode(0o755)).unwrap();
    run(&host, "broken", json!({}))
        .begins("Error: ")
        .has("another system");
}

#[test]
fn scripts_at_once_do_not_end_each_other() {
    let host = with_script(Host::stdin(), "sleep 300 & sleep 0.$1; echo done $1");
    std::thread::scope(|scope| {
        for n in 1..=4 {
            let host = &host;
            scope.spawn(move || {
                let text = run(host, "a.sh", json!({"args": [n.to_string()]}));
                assert_eq!(text, format!("done {n}\n"));
            });
        }
    });
}

#[test]
fn a_file_of_the_project_is_input_where_it_may_be_read() {
    for host in Host::both() {
        let host = with_script(host, "cat")
            .skill("reads", "allowed-tools: Read(docs/**)", "")
            .file("reads/a.sh", "cat");
        for path in ["docs/in.json", "src/in.json", "x"] {
            write_at(host.project().join(path), path);
        }
        let link = host.project().join("docs/out");
        std::os::unix::fs::symlink("/etc/hostname", link).unwrap();
        let call =
            |skill: &str, path: &str| json!({"skill": skill, "script": "a.sh", "stdin_file": path});
        let runs = |skill: &str, path: &str| host.tool("run_skill_script", &call(skill, path));
        for path in ["docs/in.json", "src/in.json"] {
            assert_eq!(runs("x", path), path);
        }
        for path in ["docs/out", "docs/none", "docs", "../x", "/etc/hostname"] {
            host.allows("run_skill_script", &call("x", path));
            runs("x", path).begins("Error: `stdin_file`: the project has no file `");
        }
        let both = json!({"skill": "x", "script": "a.sh", "stdin": "a", "stdin_file": "x"});
        host.tool("run_skill_script", &both)
            .has("`stdin` and `stdin_file` exclude each other");
        host.activates("reads");
        host.allows("run_skill_script", &call("reads", "docs/in.json"));
        assert_eq!(runs("reads", "docs/in.json"), "docs/in.json");
        for path in ["src/in.json", "docs/../x", "docs/out", "/etc/hostname"] {
            host.blocks("run_skill_script", &call("reads", path))
                .has("`run_skill_script` is not allowed for path");
        }
        let event = events(&host).pop().unwrap_or_default();
        assert_eq!(event["arguments"]["stdin_file"], "/etc/hostname");
        assert_eq!(
            (&event["tool"], &event["refused"]),
            (&json!("run_skill_script"), &json!("path"))
        );
        for (path, outcome) in [("docs/in.json", true), ("src/in.json", false)] {
            let file = format!("stdin_file={path}");
            let check = [
                "check",
                "reads",
                "--json",
                "--tool",
                "run_skill_script",
                "--arg",
                "script=a.sh",
                "--arg",
                &file,
            ];
            let told = host.person(&check).stdout;
            assert!(told.contains(&format!("\"allowed\": {outcome}")), "{told}");
        }
        host.config("enforce = \"warn\"\n");
        host.allows("run_skill_script", &call("reads", "src/in.json"));
        assert_eq!(
            events(&host).pop().unwrap_or_default()["decision"],
            "warned"
        );
    }
}
