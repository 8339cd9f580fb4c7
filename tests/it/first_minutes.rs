//! The first five minutes: alone on a terminal, completion, the manual page, mistakes, and every
//! command that looks at something on every kind of output.

use std::fs;
use std::process::Command;

use crate::Host;
use crate::looking::{host, shown, without_colour};
use crate::terminal::at_width;

#[test]
fn alone_on_a_terminal_it_says_what_is_here() {
    let text = without_colour(&shown(&host(), 80, &[]));
    for part in [
        "3 skills are installed",
        "1 more cannot be used",
        "agent-skills info",
        "doctor",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let empty = without_colour(&shown(&Host::stdin(), 40, &[]));
    assert!(empty.contains("No skill is installed.") && empty.contains("agent-skills install"));
    // Elsewhere it is asked what it can do.
    assert!(host().succeeds(&[]).contains("Usage:"));
}

#[test]
fn a_name_that_is_nearly_right_is_answered_with_the_right_one() {
    let host = host();
    fs::write(
        host.plugin_dir().join("skills.lock.json"),
        "{\"version\":1,\"skills\":[]}",
    )
    .unwrap();
    for args in [
        &["info", "pfd"][..],
        &["tree", "pfd"],
        &["enable", "pfd"],
        &["disable", "pfd"],
        &["approve", "pfd"],
        &["remove", "pfd"],
        &["check", "pfd", "--tool", "x"],
    ] {
        let told = host.fails(args);
        assert!(
            told.contains("`pfd`") && told.contains("hint: did you mean `pdf`?"),
            "{args:?}: {told}"
        );
    }
    let told = host.fails(&["info", "nothing-like-it"]);
    assert!(
        told.contains("hint: `agent-skills list-installed` shows"),
        "{told}"
    );
    assert!(
        host.fails(&["config", "get", "enforc"])
            .contains("did you mean `enforce`?")
    );
    let ran = host.person(&["instal"]);
    assert!(
        ran.status == 2 && ran.stderr.contains("'install'"),
        "{ran:?}"
    );
}

#[test]
fn bash_completes_what_the_program_offers() {
    let host = host();
    assert!(host.succeeds(&["completions", "zsh"]).contains("compdef"));
    assert!(
        host.succeeds(&["completions", "fish"])
            .contains("complete -c agent-skills")
    );
    if !Command::new("bash")
        .arg("-c")
        .arg(":")
        .status()
        .is_ok_and(|status| status.success())
    {
        println!("skipped: there is no bash");
        return;
    }
    let exe = host.command().get_program().to_owned();
    let script = r#"
        eval "$("$0" completions bash)"
        COMP_WORDS=("$0" info --json p) COMP_CWORD=3
        _agent_skills; printf '%s\n' "${COMPREPLY[@]}"
        COMP_WORDS=("$0" list-installed --so) COMP_CWORD=2
        _agent_skills; printf '%s\n' "${COMPREPLY[@]}"
        complete -p agent-skills"#;
    let mut command = host.command();
    let mut bash = Command::new("bash");
    bash.args(["-c", script]).arg(&exe);
    bash.envs(
        command
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    bash.stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    command.stdin(std::process::Stdio::null());
    let ran = crate::host::finish(&mut bash, b"");
    assert!(ran.stdout.starts_with("pdf\n--sort\ncomplete "), "{ran:?}");
}

#[test]
fn the_manual_page_is_one_that_roff_understands() {
    let page = Host::stdin().succeeds(&["man"]);
    assert!(page.contains("\n.TH AGENT"), "{page}");
    let mut groff = Command::new("groff");
    groff.args(["-man", "-Tascii", "-ww"]);
    groff
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    groff.stdin(std::process::Stdio::piped());
    if Command::new("groff").arg("--version").output().is_err() {
        println!("skipped: there is no groff");
        return;
    }
    let ran = crate::host::finish(&mut groff, page.as_bytes());
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    assert!(
        ran.stdout.contains("tokens: Most tokens first"),
        "{}",
        ran.stdout
    );
}

#[test]
fn every_reading_command_suits_terminals_and_pipes() {
    let host = host().file("pdf/scripts/fill.py", "print()\n");
    host.starts().activates("pdf");
    for args in [
        &["list-installed", "--long"][..],
        &["info", "pdf"],
        &["tree", "pdf"],
        &["doctor"],
        &["jobs"],
        &["audit"],
        &["stats"],
        &["verify"],
        &["outdated"],
        &["update"],
        &["config", "list"],
        &["config", "path"],
        &["trust", "--list"],
        &["sources", "list"],
        &["check", "pdf", "--tool", "file_head"],
        &["scan", "pdf"],
        &["man"],
        &["completions", "bash"],
        &["--help"],
        &["--version"],
        &["install", "--help"],
    ] {
        let piped = host.person(args);
        assert!(
            !piped.stdout.is_empty() && !piped.stdout.contains(['\x1b', '\t', '\r']),
            "{piped:?}"
        );
        for width in [40, 120] {
            let (text, status) = at_width(width, host.command().args(args), "");
            assert_eq!(status, piped.status, "{args:?}: {text}");
            // Nothing but colour steers the terminal.
            let plain = without_colour(&text);
            assert!(
                !plain.is_empty() && !plain.contains('\x1b'),
                "{args:?}: {text:?}"
            );
        }
    }
}

#[test]
fn every_failure_names_the_thing_and_the_next_step() {
    let host = host();
    for (args, thing) in [
        (&["info", "nope"][..], "nope"),
        (&["tree", "nope"], "nope"),
        (&["remove", "nope"], "nope"),
        (&["update", "nope"], "nope"),
        (&["outdated", "nope"], "nope"),
        (&["rollback", "nope"], "nope"),
        (&["verify", "nope"], "nope"),
        (&["enable", "nope"], "nope"),
        (&["approve", "nope"], "nope"),
        (&["check", "nope", "--tool", "x"], "nope"),
        (&["jobs", "--follow", "nope"], "nope"),
        (&["audit", "--since", "nope"], "nope"),
        (&["stats", "--since", "nope"], "nope"),
        (&["trust", "/nope"], "/nope"),
        (&["untrust", "/nope"], "/nope"),
        (&["link", "/nope"], "/nope"),
        (&["install", "/nope"], "/nope"),
        (&["import-lock", "/nope"], "/nope"),
        (&["sources", "remove", "nope"], "nope"),
        (&["config", "get", "nope"], "nope"),
        (&["config", "set", "nope", "1"], "nope"),
        (&["cat", "nope"], "nope"),
        (&["list", "--offline"], "anthropics-skills"),
        (&["install", "a/nope", "--offline"], "a/skills"),
    ] {
        let told = host.fails(args);
        assert!(
            told.contains(thing) && told.contains("\nhint: "),
            "{args:?}: {told}"
        );
    }
}
