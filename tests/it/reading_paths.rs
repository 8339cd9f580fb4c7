//! Which paths `read_skill_file` follows: none that leaves the skill, whatever its spelling, and
//! only to regular files.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::Host;
use crate::host::{Has, fifo};
use crate::reading::{read, with_skill};

#[test]
fn no_spelling_of_a_path_leads_out_of_the_skill() {
    let host = with_skill(Host::stdin())
        .file("x/references/a.md", "inside")
        .file("other/SKILL.md", "the secret")
        .file("other/secret", "the secret")
        .file("../secret", "the secret")
        .file("secret", "the secret");
    let skills = host.skills_dir().display().to_string();
    for path in [
        "../secret",
        "../other/secret",
        "../../secret",
        "./../secret",
        ".//..//secret",
        "references/../../secret",
        "references/../../x/../secret",
        "none/../../secret",
        "..",
        "../",
        ".",
        "",
        "/",
        " ",
        "\\..\\secret",
        "..\\secret",
        "%2e%2e/secret",
        "%2e%2e%2fsecret",
        "..%00/secret",
        "../secret\0.md",
        "references/a.md\0",
        "~/secret",
        "$HOME/secret",
        "file:///etc/passwd",
        "/etc/passwd",
        "//etc/passwd",
        "/proc/self/environ",
        "/proc/self/root/etc/passwd",
        &format!("{skills}/secret"),
        &format!("{skills}/x/../secret"),
        &format!("{skills}/x/references/../../secret"),
        &format!("{skills}/x/../x/../other/secret"),
        &format!("{skills}/xy/secret"),
        &format!("{skills}/x"),
        "\u{ff0e}\u{ff0e}/secret",
        "．．/secret",
        &"../".repeat(50),
        &"a/".repeat(3000),
    ] {
        let text = read(&host, path);
        text.begins("Error: ");
        text.lacks("the secret").lacks("root:");
    }
}

#[test]
fn a_skill_that_is_itself_linked_is_read_where_it_is() {
    let host = Host::stdin().file(
        "../../dev/x/SKILL.md",
        "---\nname: x\ndescription: d\n---\n",
    );
    let real = host.home().join(".chibi/plugins/dev/x");
    assert!(real.exists());
    fs::write(real.join("a.md"), "inside").unwrap();
    symlink(&real, host.skills_dir().join("x")).unwrap();
    assert_eq!(read(&host, "a.md"), "inside");
    assert_eq!(read(&host, real.join("a.md").to_str().unwrap()), "inside");
    read(&host, "../y").begins("Error: ");
}

#[test]
fn what_is_no_regular_file_is_refused_and_not_waited_for() {
    let host = with_skill(Host::stdin()).file("x/sub/a.md", "");
    fifo(&host.skills_dir().join("x/fifo"));
    let socket = host.skills_dir().join("x/sock");
    let _listener = std::os::unix::net::UnixListener::bind(socket).unwrap();
    for (path, why) in [
        ("fifo", "not a regular file"),
        ("sock", "not a regular file"),
        ("sub", "is a directory"),
    ] {
        read(&host, path).begins("Error: ").has(why);
    }
}

#[test]
fn a_name_of_a_skill_is_never_a_path() {
    let host = Host::stdin()
        .skill("x", "", "")
        .file("x/run.sh", "echo ran")
        .file("../../SKILL.md", "---\nname: up\ndescription: d\n---\n")
        .file("../../run.sh", "echo ran outside")
        .file("../../secret", "the secret");
    let absolute = host.home().join(".chibi/plugins").display().to_string();
    for skill in [
        "../..",
        "..",
        ".",
        "",
        "x/../../..",
        "./../..",
        "/",
        absolute.as_str(),
    ] {
        host.tool(
            "read_skill_file",
            &json!({"skill": skill, "path": "secret"}),
        )
        .begins("Error: ");
        let ran = host.tool(
            "run_skill_script",
            &json!({"skill": skill, "script": "run.sh"}),
        );
        ran.begins("Error: ");
        host.tool(&format!("skill_{skill}"), &json!({}))
            .begins("Error: ");
    }
}
