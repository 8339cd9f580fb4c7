//! `install.sh` with a program that is built already: upgrading under a running host, completions,
//! and what uninstalling leaves.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Host;
use crate::host::{Has, Ran, finish, write_at};

pub fn script(host: &Host, args: &[&str]) -> Ran {
    script_below(host, &std::env::var("PATH").unwrap(), args)
}

/// As `script`, with that `PATH`.
fn script_below(host: &Host, path: &str, args: &[&str]) -> Ran {
    let mut command = Command::new(root().join("install.sh"));
    command.args(args).env("HOME", host.home());
    command.env("PATH", path).current_dir(host.home());
    for name in [
        "CHIBI_HOME",
        "XDG_DATA_HOME",
        "XDG_CONFIG_HOME",
        "XDG_STATE_HOME",
    ] {
        command.env_remove(name);
    }
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .stdin(Stdio::null());
    finish(&mut command, b"")
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A program of another build: what follows an executable's end changes nothing.
fn other_build(host: &Host, what: &str) -> String {
    let path = host.home().join(what);
    fs::copy(env!("CARGO_BIN_EXE_agent-skills"), &path).unwrap();
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(what.as_bytes()).unwrap();
    path.to_str().unwrap().to_owned()
}

fn ends_with(path: &Path, what: &str) -> bool {
    fs::read(path).unwrap().ends_with(what.as_bytes())
}

#[test]
fn an_upgrade_leaves_what_runs_alone_and_serves_the_next_call() {
    let host = Host::stdin();
    let program = host.plugin_dir().join("agent-skills");
    let (old, new) = (other_build(&host, "old"), other_build(&host, "new"));
    let ran = script(&host, &["--program", &old]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ends_with(&program, "old"));
    // A call that the host has begun and not finished.
    let mut call = Command::new(&program)
        .env("HOME", host.home())
        .env("CHIBI_HOOK", "pre_tool")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let before = fs::metadata(&program).unwrap().ino();
    let ran = script(&host, &["--program", &new]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ends_with(&program, "new") && fs::metadata(&program).unwrap().ino() != before);
    // Other tests slow the script down; by then the call may have given up, and answers as well.
    let _ = call
        .stdin
        .take()
        .unwrap()
        .write_all(b"{\"tool_name\":\"x\",\"arguments\":{}}");
    let mut answer = String::new();
    call.stdout
        .take()
        .unwrap()
        .read_to_string(&mut answer)
        .unwrap();
    assert!(call.wait().unwrap().success() && answer == "{}", "{answer}");
    let left: Vec<_> = fs::read_dir(host.plugin_dir())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains("new"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn completions_are_installed_on_request() {
    let host = Host::stdin().skill("mine", "", "My own.");
    let exe = env!("CARGO_BIN_EXE_agent-skills");
    let files = [
        ".local/share/bash-completion/completions/agent-skills",
        ".local/share/zsh/site-functions/_agent-skills",
        ".config/fish/completions/agent-skills.fish",
    ]
    .map(|file| host.home().join(file));
    let ran = script(&host, &["--program", exe]);
    assert!(
        ran.status == 0 && files.iter().all(|file| !file.exists()),
        "{ran:?}"
    );
    let ran = script(&host, &["--program", exe, "--completions"]);
    assert!(
        ran.status == 0 && files.iter().all(|file| file.exists()),
        "{ran:?}"
    );
    host.config("enforce = \"warn\"\n");
    fs::write(host.plugin_dir().join("state.json"), "{}").unwrap();
    fs::create_dir(host.plugin_dir().join("cache")).unwrap();

    script(&host, &["--uninstall"])
        .ends(0)
        .stdout
        .has("config.toml");
    assert!(files.iter().all(|file| !file.exists()));
    let left = |name: &str| host.plugin_dir().join(name).exists();
    assert!(left("skills/mine/SKILL.md") && left("config.toml"));
    assert!(
        !left("agent-skills")
            && !left("skills/example-skill")
            && !left("state.json")
            && !left("cache")
    );
}

#[test]
fn an_example_that_was_changed_is_the_users() {
    let host = Host::stdin();
    let exe = env!("CARGO_BIN_EXE_agent-skills");
    assert_eq!(script(&host, &["--program", exe]).status, 0);
    let example = host.skills_dir().join("example-skill/SKILL.md");
    fs::write(&example, "mine").unwrap();
    assert_eq!(script(&host, &["--uninstall"]).status, 0);
    assert_eq!(fs::read_to_string(example).unwrap(), "mine");
}

#[test]
fn without_anything_of_the_users_nothing_stays() {
    let host = Host::stdin();
    let exe = env!("CARGO_BIN_EXE_agent-skills");
    assert_eq!(script(&host, &["--program", exe]).status, 0);
    let ran = script(&host, &["--uninstall"]);
    assert!(ran.status == 0 && !host.plugin_dir().exists(), "{ran:?}");
    script(&host, &["--uninstall"])
        .ends(1)
        .stderr
        .has("hint: say where it is");
}

#[test]
fn what_is_installed_only_its_user_may_write() {
    let host = Host::stdin();
    let (home, script) = (host.home().join("new"), root().join("install.sh"));
    for (umask, mode) in [("000", 0o755), ("077", 0o700)] {
        let plugin = home.join(umask).join("plugins/agent-skills");
        let line = format!("umask {umask}; exec \"$0\" --program \"$1\" --dir \"$2\"");
        let mut command = Command::new("sh");
        command
            .args(["-c", &line])
            .args([&script, Path::new(env!("CARGO_BIN_EXE_agent-skills"))]);
        command
            .arg(&plugin)
            .stdout(Stdio::null())
            .stdin(Stdio::null());
        assert!(command.status().unwrap().success());
        let skill = plugin.join("skills/example-skill");
        for dir in [
            &plugin,
            plugin.parent().unwrap(),
            skill.parent().unwrap(),
            &skill,
        ] {
            assert_eq!(
                dir.metadata().unwrap().mode() & 0o777,
                mode,
                "{}",
                dir.display()
            );
        }
        assert_eq!(skill.join("SKILL.md").metadata().unwrap().mode() & 0o022, 0);
    }
}

#[test]
fn what_is_no_installation_is_not_uninstalled() {
    let host = Host::stdin();
    let dir = host.project();
    for (path, text) in [
        ("jobs/thesis.txt", "b"),
        ("Cargo.lock", "a"),
        ("hooks/h", "c"),
    ] {
        write_at(dir.join(path), text);
    }
    script(&host, &["--uninstall", "--dir", dir.to_str().unwrap()])
        .ends(1)
        .stderr
        .has("is no installation");
    for path in ["jobs/thesis.txt", "Cargo.lock", "hooks/h"] {
        assert!(dir.join(path).exists(), "{path}");
    }
}

#[test]
fn a_link_puts_the_program_on_the_path() {
    let host = Host::stdin();
    let exe = env!("CARGO_BIN_EXE_agent-skills");
    let program = host.plugin_dir().join("agent-skills");
    let path = std::env::var("PATH").unwrap();
    for (args, bin) in [
        (&["--link"][..], ".local/bin"),
        (&["--link", "my own/bin"], "my own/bin"),
        (&["--link=x"], "x"),
    ] {
        let bin = host.home().join(bin);
        let with = [&["--program", exe], args].concat();
        let ran = script(&host, &with);
        let said = format!("note: {} is not on your PATH", bin.display());
        assert!(ran.status == 0 && ran.stdout.contains(&said), "{ran:?}");
        let link = bin.join("agent-skills");
        assert_eq!(fs::read_link(&link).unwrap(), program);
        let mut linked = Command::new(&link);
        assert!(linked.arg("--version").output().unwrap().status.success());
        // Again, where it is on the path.
        let ran = script_below(&host, &format!("{path}:{}", bin.display()), &with);
        assert!(ran.status == 0 && !ran.stdout.contains("note:"), "{ran:?}");
        ran.stdout.finishes("\n      agent-skills doctor\n");

        let ran = script(&host, &[&["--uninstall"], args].concat());
        assert!(
            ran.status == 0 && fs::symlink_metadata(&link).is_err(),
            "{ran:?}"
        );
    }
    assert_eq!(script(&host, &["--program", exe]).status, 0);
    assert!(fs::symlink_metadata(host.home().join(".local/bin/agent-skills")).is_err());
}

#[test]
fn a_file_in_the_place_of_the_link_is_left_alone() {
    let host = Host::stdin();
    let exe = env!("CARGO_BIN_EXE_agent-skills");
    let bin = host.home().join(".local/bin");
    fs::create_dir_all(&bin).unwrap();
    let place = bin.join("agent-skills");
    let link_to = |target: &str| std::os::unix::fs::symlink(target, &place).unwrap();
    let others: [(&str, &dyn Fn()); 3] = [
        ("a file", &|| fs::write(&place, "mine").unwrap()),
        ("a link", &|| link_to("/bin/sh")),
        ("a link to nothing", &|| link_to("/nowhere/agent-skills")),
    ];
    for (what, make) in others {
        make();
        let before = fs::symlink_metadata(&place).unwrap().ino();
        let ran = script(&host, &["--program", exe, "--link"]);
        assert!(
            ran.status == 1 && ran.stderr.contains("hint: remove it, or link elsewhere"),
            "{what}: {ran:?}"
        );
        assert!(!host.plugin_dir().join("agent-skills").exists(), "{what}");
        assert_eq!(script(&host, &["--program", exe]).status, 0);
        assert_eq!(script(&host, &["--uninstall", "--link"]).status, 0);
        assert_eq!(
            fs::symlink_metadata(&place).unwrap().ino(),
            before,
            "{what}"
        );
        fs::remove_file(&place).unwrap();
    }
}
