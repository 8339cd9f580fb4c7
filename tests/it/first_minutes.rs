//! The first five minutes: completion, the manual page, and every command that looks at something on
//! every kind of output.

use std::process::Command;

use crate::Host;
use crate::host::Has;
use crate::looking::host;

#[test]
fn bash_completes_what_the_program_offers() {
    let host = host();
    if Command::new("bash").arg("--version").output().is_err() {
        println!("skipped: there is no bash");
        return;
    }
    let script = r#"
        eval "$("$0" completions bash)"
        COMP_WORDS=("$0" info --json p) COMP_CWORD=3
        _agent_skills; printf '%s\n' "${COMPREPLY[@]}"
        COMP_WORDS=("$0" list --so) COMP_CWORD=2
        _agent_skills; printf '%s\n' "${COMPREPLY[@]}"
        complete -p agent-skills"#;
    let mut bash = Command::new("bash");
    bash.args(["-c", script, env!("CARGO_BIN_EXE_agent-skills")]);
    let ran = crate::host::finish(&mut host.surround(bash), b"");
    ran.stdout.begins("pdf\n--sort\ncomplete ");
}

#[test]
fn the_manual_page_is_one_that_roff_understands() {
    let page = Host::stdin().succeeds(&["man"]);
    page.has("\n.TH AGENT");
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
    ran.stdout.has("tokens: Most tokens first");
}
