//! A user namespace that does not show whose root's files are.

use std::fs;
use std::process::Command;

use crate::Host;
use crate::host::finish;
use crate::layers::{put, with_layers};
use crate::policy_files::{is_root, mode, policy};

/// In a user namespace of one's own, root's files look like nobody's: no word of root's may be taken
/// for somebody else's there, and no other word for root's.
#[test]
fn a_user_namespace_that_does_not_show_root_closes() {
    if !is_root() {
        println!("skipped: only root can make files that a user namespace does not show");
        return;
    }
    // As another user: that a namespace of root's shows root.
    let as_user = |words: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65533", "--regid=65533", "--clear-groups"]);
        command.args(words);
        command
    };
    let probe = as_user(&["unshare", "-Ur", "true"]).output();
    if !probe.is_ok_and(|probe| probe.status.success()) {
        println!("skipped: this system gives ordinary users no user namespaces");
        return;
    }
    let host = with_layers(Host::stdin());
    put(&host.skills_dir(), "free", "", "x");
    fs::write(policy(&host), "[approval]\nrequire = [\"all\"]\n").unwrap();
    let program = host.command();
    let ask = |words: &[&str]| {
        let mut command = as_user(words);
        let envs = program.get_envs();
        command.envs(envs.filter_map(|(name, value)| Some((name, value?))));
        command.arg(program.get_program()).args(["list", "--json"]);
        command.current_dir("/").stdin(std::process::Stdio::null());
        command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        finish(&mut command, b"")
    };
    // What the user of the namespace has to reach.
    let home = host.home().to_path_buf();
    mode(&home, 0o755);
    if !ask(&[]).stdout.contains("needs an approval") {
        println!("skipped: the program cannot be run by another user here");
        return;
    }
    for namespace in [&["unshare", "-Ur"][..], &["unshare", "-U"]] {
        let ran = ask(namespace);
        assert!(
            ran.stdout.contains("does not show whose it is"),
            "{namespace:?}: {ran:?}"
        );
        assert!(ran.stdout.contains("hidden-policy"), "{ran:?}");
    }
}
