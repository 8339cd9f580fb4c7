//! The first five minutes: completion, and every command that looks at something on
//! every kind of output.

use std::process::Command;

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
        COMP_WORDS=("$0" list --sb) COMP_CWORD=2
        _agent_skills; printf '%s\n' "${COMPREPLY[@]}"
        complete -p agent-skills"#;
    let mut bash = Command::new("bash");
    bash.args(["-c", script, env!("CARGO_BIN_EXE_agent-skills")]);
    let ran = crate::host::finish(&mut host.surround(bash), b"");
    ran.stdout.begins("pdf\n--sbom\ncomplete ");
}
