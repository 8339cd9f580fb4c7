//! Getting skills over HTTP, from a server on the loopback interface: git, with a password and cut
//! off in the middle; archives; sites; single files.

use std::fmt::Write;
use std::fs;
use std::sync::atomic::Ordering;

use crate::archives::{tar_gz, zip};
use crate::host::Has;
use crate::repository::{Hub, git};
use crate::server::Server;
use crate::{Host, market_sources::skill};

/// A server with the repository `acme/skills`, whose skill `big` has half a megabyte of noise.
fn served() -> (Hub, Server) {
    let hub = Hub::new();
    let mut seed = 88_172_645_463_325_252_u64;
    let mut noise = String::new();
    for _ in 0..50_000 {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        writeln!(noise, "{:08x}", seed >> 32).unwrap();
    }
    let dir = hub.repository(
        "acme/skills",
        &[
            ("skills/pdf/SKILL.md", &skill("pdf")),
            ("skills/big/SKILL.md", &skill("big")),
            ("skills/big/noise.txt", &noise),
        ],
    );
    git(&dir, &["config", "uploadpack.allowFilter", "true"]);
    let server = Server::new(hub.dir());
    (hub, server)
}

#[test]
fn a_repository_with_a_password_needs_a_git_that_knows_it() {
    let (hub, server) = served();
    // base64 of `user:secret`
    *server.behaviour.password.lock().unwrap() = Some("dXNlcjpzZWNyZXQ=".to_owned());
    let reference = format!("{}@pdf", server.url("acme/skills.git"));
    let error = Host::stdin().fails(&["install", &reference]);
    error.has("credential helper");
    let config = hub.dir().join("gitconfig");
    let helper = "!f() { echo username=user; echo password=secret; }; f";
    git(
        hub.dir(),
        &[
            "config",
            "--file",
            config.to_str().unwrap(),
            "credential.helper",
            helper,
        ],
    );
    let host = Host::stdin().var("GIT_CONFIG_GLOBAL", config.to_str().unwrap());
    host.succeeds(&["install", &reference]);
    assert_eq!(host.skill_tools(), ["skill_pdf"]);
}

#[test]
fn a_transfer_cut_off_leaves_nothing_and_can_be_repeated() {
    let (_hub, server) = served();
    let host = Host::stdin();
    let reference = format!("{}@big", server.url("acme/skills.git"));
    let fetches = || server.behaviour.fetches.swap(0, Ordering::SeqCst);
    // The trees are cut off, then the SKILL.md files, then the skill's own files. What has arrived
    // is kept: each attempt begins with what was cut off before.
    for (whole, begun) in [(0, 1), (1, 2), (1, 2)] {
        server.behaviour.whole.store(whole, Ordering::SeqCst);
        server.behaviour.cuts.store(1, Ordering::SeqCst);
        host.fails(&["install", &reference])
            .has("check the network");
        assert_eq!(fs::read_dir(host.skills_dir()).unwrap().count(), 0);
        assert_eq!(fetches(), begun);
    }
    host.succeeds(&["install", &reference]);
    assert_eq!(fetches(), 1);
    assert_eq!(host.skill_tools(), ["skill_big"]);
}

#[test]
fn archives_are_installed_checked_and_updated() {
    let (_hub, server) = served();
    let host = Host::stdin();
    let text = skill("zipped");
    server.file(
        "x.zip",
        zip(&[
            ("r-main/zipped/SKILL.md", &text),
            ("r-main/zipped/run.sh*", "#!/bin/sh\n"),
        ]),
    );
    let url = server.url("x.zip");
    let wrong = format!("{url}#sha256={}", "0".repeat(64));
    host.fails(&["install", &wrong])
        .has("not the one asked for");
    host.succeeds(&["install", &url]);
    assert_eq!(host.skill_tools(), ["skill_zipped"]);
    let lock = fs::read_to_string(host.plugin_dir().join("skills.lock.json")).unwrap();
    lock.has("\"kind\": \"archive\"")
        .has("\"commit\": \"sha256:");
    host.succeeds(&["update"]).has("up to date");
    server.file(
        "x.zip",
        zip(&[
            ("r-main/zipped/SKILL.md", &text.replace("Body", "New body")),
            ("r-main/zipped/run.sh*", "#!/bin/sh\n"),
        ]),
    );
    host.succeeds(&["update"]).has("was updated");
    for name in ["y.tar.gz", "y.tgz"] {
        server.file(name, tar_gz(&[("two/SKILL.md", &skill("two"))]));
        host.succeeds(&[
            "install",
            &server.url(name),
            "--name",
            &name.replace('.', "-"),
        ]);
    }
    // As Anthropic calls its packages, and as Windows makes them.
    let local = host.home().join("z.skill");
    let files = [("one\\SKILL.md", &*skill("one")), ("one\\deep\\a.md", "A")];
    fs::write(&local, zip(&files)).unwrap();
    host.succeeds(&["install", local.to_str().unwrap()]);
    let one = host.plugin_dir().join("skills/one");
    assert!(one.join("deep/a.md").exists());
    let named = one.join("SKILL.md");
    host.succeeds(&["install", named.to_str().unwrap(), "--name", "again"]);
    assert_eq!(host.skill_tools().len(), 5);
    let verified = host.succeeds(&["verify"]);
    assert!(verified.lines().all(|line| line.ends_with("intact")));
}

#[test]
fn a_site_says_what_it_has_and_gives_nothing_from_elsewhere() {
    let (_hub, server) = served();
    let host = Host::stdin();
    let index = r#"{"skills":[{"name":"one","description":"Does one.","files":["SKILL.md","ref/a b.md"]},
        {"name":"two","description":"Does two.","files":["SKILL.md"]},
        {"name":"evil","files":["SKILL.md","../../secret"]},{"name":"../up","files":["SKILL.md"]}]}"#;
    let base = ".well-known/agent-skills";
    server.file(&format!("{base}/index.json"), index);
    server.file(&format!("{base}/one/SKILL.md"), skill("one"));
    server.file(&format!("{base}/one/ref/a%20b.md"), "reference");
    server.file("secret", "secret");
    let site = server.url("docs");
    host.fails(&["install", &site])
        .has("--skill one\n")
        .has("--skill two\n");
    server.take_seen();
    host.succeeds(&["install", &format!("{site}@one")]);
    // Path-relative twice, then the root's index, then two files: no more than the document says.
    assert_eq!(server.take_seen().len(), 5);
    assert_eq!(
        fs::read_to_string(host.skills_dir().join("one/ref/a b.md")).unwrap(),
        "reference"
    );
    for evil in ["evil", "../up"] {
        let ran = host.person(&["install", &site, "--skill", evil]);
        assert_eq!(ran.status, 1, "{ran:?}");
        ran.stderr.has("not a path inside");
    }
    let elsewhere = server.url("secret");
    server
        .behaviour
        .redirects
        .lock()
        .unwrap()
        .insert(format!("/{base}/two/SKILL.md"), elsewhere);
    host.fails(&["install", &format!("{site}@two")])
        .has("status 302");
    host.succeeds(&["source", "add", &site, "--name", "docs"]);
    host.succeeds(&["search", "two"]).has("two@docs");
    let nothing = host.fails(&["install", &server.url("nothing.example")]);
    assert!(
        nothing.contains("no skill") || nothing.contains("it has 4 skills"),
        "{nothing}"
    );
}

#[test]
fn one_file_is_a_skill_and_a_manifest_a_source() {
    let (_hub, server) = served();
    let host = Host::stdin();
    server.file("x/SKILL.md", skill("filed"));
    host.succeeds(&["install", &server.url("x/SKILL.md")]);
    assert_eq!(host.skill_tools(), ["skill_filed"]);
    let url = server.url("acme/skills.git");
    let manifest = format!(
        r#"{{"name":"../../../.ssh","plugins":[
            {{"name":"pdf-tools","description":"Portable","source":{{"source":"git-subdir","url":"{url}","path":"skills/pdf"}}}},
            {{"name":"runs","source":{{"source":"command","command":"touch /tmp/x"}}}}]}}"#
    );
    server.file("marketplace.json", manifest);
    let added = host.succeeds(&[
        "source",
        "add",
        &server.url("marketplace.json"),
        "--name",
        "shop",
    ]);
    added.has("1 skill");
    host.succeeds(&["search", "portable"]).has("pdf-tools@shop");
    host.succeeds(&["install", "pdf-tools@shop"]);
    assert!(host.tool_names().contains(&"skill_pdf".to_owned()));
    host.succeeds(&["source", "list"]).has("shop");
}
