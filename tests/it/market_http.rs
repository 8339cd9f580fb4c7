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
fn a_skill_costs_what_it_is_and_not_what_its_repository_is() {
    let (_hub, server) = served();
    let host = Host::stdin();
    let url = server.url("acme/skills.git");
    host.succeeds(&["install", &format!("{url}@pdf")]);
    assert!(server.behaviour.sent.load(Ordering::SeqCst) < 20_000);
    host.succeeds(&["remove", "pdf"]);
    // What is in the cache is not fetched again: the refs are asked for, and that is all.
    let before = server.behaviour.sent.load(Ordering::SeqCst);
    host.succeeds(&["install", &format!("{url}@pdf")]);
    assert!(server.behaviour.sent.load(Ordering::SeqCst) - before < 2_000);
    host.succeeds(&["remove", "pdf"]);
    server.take_seen();
    host.succeeds(&["install", "--offline", &format!("{url}@pdf")]);
    assert!(server.take_seen().is_empty());
    host.fails(&["install", "--offline", &format!("{url}@big")])
        .has("not on this machine")
        .has("without `--offline`");
}

#[test]
fn a_repository_with_a_password_needs_a_git_that_knows_it() {
    let (hub, server) = served();
    // base64 of `user:secret`
    *server.behaviour.password.lock().unwrap() = Some("dXNlcjpzZWNyZXQ=".to_owned());
    let reference = format!("{}@pdf", server.url("acme/skills.git"));
    let error = Host::stdin().fails(&["install", &reference]);
    assert!(error.contains("credential helper"), "{error}");
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
    let local = host.home().join("z.zip");
    fs::write(&local, zip(&[("SKILL.md", &skill("local-one"))])).unwrap();
    host.succeeds(&["install", local.to_str().unwrap()]);
    assert_eq!(host.skill_tools().len(), 4);
    assert!(
        host.succeeds(&["verify"])
            .lines()
            .all(|line| line.ends_with("intact"))
    );
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
        assert!(ran.stderr.contains("not a path inside"), "{ran:?}");
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
        nothing.contains("no skill") || nothing.contains("there are"),
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
    assert!(added.contains("1 skill"), "{added}");
    host.succeeds(&["search", "portable"]).has("pdf-tools@shop");
    host.succeeds(&["install", "pdf-tools@shop"]);
    assert!(host.tool_names().contains(&"skill_pdf".to_owned()));
    host.succeeds(&["source", "list"]).has("shop");
}

#[test]
fn failures_of_the_web_are_told_apart() {
    let (_hub, server) = served();
    let host = Host::stdin();
    for (reference, words) in [
        (server.url("none.zip"), "status 404"),
        ("http://127.0.0.1:1/x.zip".to_owned(), "check the network"),
        ("http://example.org/x.zip".to_owned(), "not encrypted"),
        (server.url("acme/none.git"), "check the spelling"),
    ] {
        let error = host.fails(&["install", &reference]);
        assert!(error.contains(words), "{reference}: {error}");
    }
    let bin = host.home().join("bin");
    fs::create_dir_all(&bin).unwrap();
    let host = host.var("PATH", bin.to_str().unwrap());
    host.fails(&["install", &server.url("x.zip")])
        .has("curl was not found")
        .has("on the PATH");
    let error = host.fails(&["install", &server.url("acme/skills.git@pdf")]);
    assert!(error.contains("git was not found"), "{error}");
    server.file("huge.zip", vec![b'x'; 11 * 1024 * 1024]);
    let error = Host::stdin().fails(&["install", &server.url("huge.zip")]);
    assert!(
        error.contains("more than") || error.to_lowercase().contains("exceeded"),
        "{error}"
    );
}

#[test]
fn an_ambiguous_reference_asks_three_repositories_and_no_more() {
    let (_hub, server) = served();
    let host = Host::stdin().var("AGENT_SKILLS_GITHUB_BASE", &server.url(""));
    let asked = |reference: &str| {
        server.take_seen();
        let status = host.person(&["show", reference]).status;
        let seen = server.take_seen();
        let refs = seen
            .iter()
            .filter(|request| request.ends_with("/info/refs"));
        let mut refs: Vec<String> = refs.cloned().collect();
        refs.dedup();
        (status, refs)
    };
    let line = |repo: &str| format!("GET /{repo}/info/refs");
    let (status, refs) = asked("acme/nothing");
    let all = ["acme/skills", "acme/nothing", "acme/agent-skills"];
    assert_eq!((status, refs), (1, all.map(line).to_vec()));
    assert_eq!(asked("acme/pdf"), (0, vec![line("acme/skills")]));
    assert_eq!(asked("acme/skills@pdf"), (0, vec![line("acme/skills")]));
}
