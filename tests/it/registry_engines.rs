//! The real engines: Debian's docker-registry keeps what we publish, skopeo and oras read it, and we
//! read what they wrote. Where one is missing, that is told and its test is skipped.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::host::Has;
use crate::market::skill;
use crate::registry_push::{author, runs};

/// `ada` with the password `secret`.
const HTPASSWD: &str = "ada:$2y$05$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a\n";
const AUTH: &str = "auth: {htpasswd: {realm: test, path: DIR/htpasswd}}\n";

/// A registry of Debian's, in a directory of its own.
struct Engine {
    child: Child,
    dir: tempfile::TempDir,
    port: u16,
}

impl Engine {
    /// Starts one, if this machine has it.
    fn start(more: &str) -> Option<Self> {
        if !has("docker-registry", "--version") {
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        let port = TcpListener::bind(("127.0.0.1", 0))
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let path = dir.path().display();
        fs::write(dir.path().join("htpasswd"), HTPASSWD).unwrap();
        let config = format!(
            "version: 0.1\nstorage: {{filesystem: {{rootdirectory: {path}/data}}, delete: {{enabled: true}}}}\n\
             http: {{addr: \"127.0.0.1:{port}\"}}\n{}",
            more.replace("DIR", &path.to_string())
        );
        fs::write(dir.path().join("config.yml"), config).unwrap();
        let log = fs::File::create(dir.path().join("log")).unwrap();
        let child = Command::new("docker-registry")
            .args(["serve", "config.yml"])
            .current_dir(dir.path())
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let until = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let log = || fs::read_to_string(dir.path().join("log"));
            assert!(Instant::now() < until, "{:?}", log());
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(Self { child, dir, port })
    }

    fn reference(&self, name: &str) -> String {
        format!("oci://127.0.0.1:{}/{name}", self.port)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn has(program: &str, word: &str) -> bool {
    let ran = Command::new(program).arg(word).output();
    let is_there = ran.is_ok_and(|ran| ran.status.success());
    if !is_there {
        println!("skipped: there is no {program}");
    }
    is_there
}

/// A program that must succeed, in a directory.
#[track_caller]
fn run(dir: &Path, words: &[&str]) -> String {
    let output = Command::new(words[0])
        .args(&words[1..])
        .current_dir(dir)
        .env("HOME", dir)
        .output();
    let output = output.unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {told}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn skopeo_copies_what_we_publish_and_we_install_its_copy() {
    let Some(engine) = Engine::start("").filter(|_| has("skopeo", "--version")) else {
        return;
    };
    let (host, dir) = author();
    let (all, to) = (dir.to_str().unwrap(), engine.reference("acme/all:1"));
    runs(
        &host,
        &["publish", all, &to, "--collection", "all", "--yes"],
        0,
    );
    let pdf = dir.join("pdf");
    let one = engine.reference("acme/pdf:1");
    runs(&host, &["publish", pdf.to_str().unwrap(), &one, "--yes"], 0);
    let at = |name: &str| engine.reference(name).replace("oci://", "docker://");
    let copy = [
        "skopeo",
        "copy",
        "-q",
        "--insecure-policy",
        "--src-tls-verify=false",
    ];
    let copy = |from: &str, to: &str| {
        let all = if from.contains("/all") || to.contains("/all") {
            "--all"
        } else {
            "--quiet"
        };
        let words = [&copy[..], &["--dest-tls-verify=false", all, from, to]].concat();
        run(engine.dir.path(), &words);
    };
    copy(&at("acme/pdf:1"), "oci:layout:pdf");
    copy("oci:layout:pdf", &at("copied/pdf:2"));
    let raw = ["skopeo", "inspect", "--raw", "--tls-verify=false"];
    let raw = run(
        engine.dir.path(),
        &[&raw[..], &[&at("copied/pdf:2")]].concat(),
    );
    let manifest: Value = serde_json::from_str(&raw).unwrap();
    assert_eq!(manifest["annotations"]["io.agentskills.skill.name"], "pdf");
    runs(
        &host,
        &["install", &engine.reference("copied/pdf:2"), "--yes"],
        0,
    );
    let text = fs::read_to_string(host.skills_dir().join("pdf/SKILL.md")).unwrap();
    assert_eq!(text, skill("pdf"));
    // A tag that moves is an update, and the earlier state comes back.
    fs::write(pdf.join("new"), "new").unwrap();
    runs(&host, &["publish", pdf.to_str().unwrap(), &one, "--yes"], 0);
    copy(&at("acme/pdf:1"), &at("copied/pdf:2"));
    runs(&host, &["update", "--yes"], 0);
    assert!(host.skills_dir().join("pdf/new").exists());
    runs(&host, &["rollback", "pdf"], 0);
    assert!(!host.skills_dir().join("pdf/new").exists());
    runs(&host, &["sync", "--yes", &to], 3);
    runs(&host, &["sync", "--yes", &to], 0);
    // What is deleted there is gone, and what is installed stays.
    let delete = ["skopeo", "delete", "--tls-verify=false"];
    run(
        engine.dir.path(),
        &[&delete[..], &[&at("acme/all:1")]].concat(),
    );
    runs(&host, &["sync", "--yes", &to], 1).has("does not have");
    assert!(host.home().join(".chibi/skills/pdf").is_dir());
}

#[test]
fn oras_pulls_what_we_publish_and_we_install_what_it_pushes() {
    let python = ["python3", "-c"];
    let has_oras = Command::new("python3").args(["-c", "import oras"]).output();
    if !has_oras.is_ok_and(|ran| ran.status.success()) {
        println!("skipped: there is no oras for python3");
        return;
    }
    let Some(engine) = Engine::start("") else {
        return;
    };
    let (host, dir) = author();
    let pdf = dir.join("pdf");
    let to = engine.reference("acme/pdf:1");
    runs(&host, &["publish", pdf.to_str().unwrap(), &to, "--yes"], 0);
    let client = "import sys, oras.client\nc = oras.client.OrasClient(insecure=True)\n";
    let pull = format!("{client}c.pull(target=sys.argv[1], outdir='pulled')");
    let target = to.replace("oci://", "");
    run(
        engine.dir.path(),
        &[&python[..], &[&pull, &target]].concat(),
    );
    run(engine.dir.path(), &["tar", "-xzf", "pulled/pdf.tar.gz"]);
    let text = fs::read_to_string(engine.dir.path().join("pdf/SKILL.md")).unwrap();
    assert_eq!(text, skill("pdf"));
    let push = format!(
        "{client}c.push(target=sys.argv[1], files=['pulled/pdf.tar.gz'], disable_path_validation=True)"
    );
    let target = target.replace("acme", "theirs");
    run(
        engine.dir.path(),
        &[&python[..], &[&push, &target]].concat(),
    );
    runs(
        &host,
        &["install", &engine.reference("theirs/pdf:1"), "--yes"],
        0,
    );
    let installed = fs::read_to_string(host.skills_dir().join("pdf/SKILL.md")).unwrap();
    assert_eq!(installed, skill("pdf"));
}

#[test]
fn a_password_is_taken_from_dockers_file() {
    let Some(engine) = Engine::start(AUTH) else {
        return;
    };
    let (host, dir) = author();
    let pdf = dir.join("pdf");
    let (pdf, to) = (pdf.to_str().unwrap(), engine.reference("acme/pdf:1"));
    runs(&host, &["publish", pdf, &to, "--yes"], 1).has("log in with `docker login");
    let docker = host.home().join(".docker");
    fs::create_dir_all(&docker).unwrap();
    let login = |secret: &str| {
        let auths = format!(
            r#"{{"auths": {{"127.0.0.1:{}": {{"auth": "{secret}"}}}}}}"#,
            engine.port
        );
        fs::write(docker.join("config.json"), auths).unwrap();
    };
    // `ada:wrong`, then `ada:secret`.
    login("YWRhOndyb25n");
    runs(&host, &["publish", pdf, &to, "--yes"], 1).lacks("wrong");
    login("YWRhOnNlY3JldA==");
    runs(&host, &["publish", pdf, &to, "--yes"], 0);
    runs(&host, &["install", &to, "--yes"], 0);
    assert!(host.skills_dir().join("pdf/SKILL.md").exists());
}
