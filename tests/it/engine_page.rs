//! docs/engine.md: its hook works as it is. The Rust examples are documentation tests of the crate.

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::host::{Host, finish};

#[test]
fn the_hook_of_the_page_refuses_what_the_list_does_not_grant() {
    let page = include_str!("../../docs/engine.md");
    let script = page.split("```python\n").nth(1).unwrap();
    let script = script.split("```").next().unwrap();
    let host = Host::stdin().skill("review", "allowed-tools: Read Bash(git:*)", "Body.");
    let host = host.file("hook.py", script);
    let bin = host.home().join("bin");
    fs::create_dir(&bin).unwrap();
    let program = env!("CARGO_BIN_EXE_agent-skills");
    std::os::unix::fs::symlink(program, bin.join("agent-skills")).unwrap();
    let asked = |input: String| {
        let mut hook = host.surround(Command::new("python3"));
        let path = format!("{}:/usr/bin:/bin:/usr/local/bin", bin.display());
        hook.arg(host.skills_dir().join("hook.py"))
            .env("PATH", path);
        finish(&mut hook, input.as_bytes())
    };
    let call = |command: &str| {
        asked(json!({"tool": "shell_exec", "arguments": {"command": command}}).to_string())
    };
    call("git status").ends(0);
    assert!(call("git status && rm x").ends(2).stderr.contains("`rm x`"));
    assert!(call("git\nrm x").ends(2).stderr.contains("`rm x`"));
    // Without an answer, as for a skill that is not there, it refuses too.
    fs::remove_dir_all(host.skills_dir().join("review")).unwrap();
    assert!(!call("git status").ends(2).stderr.is_empty());
}
