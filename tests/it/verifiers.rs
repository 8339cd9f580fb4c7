//! Programs that have to accept the archives of a source: `gh` and `cosign`, played by others.

use std::fs;
use std::os::unix::fs::symlink;

use crate::Host;
use crate::archives::zip;
use crate::market::skill;
use crate::registry_pull::versioned;
use crate::registry_stub::Registry;
use crate::repository::Hub;
use crate::server::Server;

/// A host that requires it of everything below an address, with a program of that name that says
/// yes (`true`) or no (`false`), if there is one.
fn host(verifier: &str, more: &str, played: Option<&str>) -> Host {
    let host = Host::stdin();
    let tools = host.project().join("tools");
    fs::create_dir(&tools).unwrap();
    if let Some(played) = played {
        symlink(format!("/bin/{played}"), tools.join(verifier)).unwrap();
    }
    let place = host.project().display().to_string();
    let loopback = ["http", "oci"].map(|scheme| format!("{scheme}://127.0.0.1:*/*"));
    for source in [format!("{place}/*")].into_iter().chain(loopback) {
        let config = host.plugin_dir().join("config.toml");
        let before = fs::read_to_string(&config).unwrap_or_default();
        let rule = format!("[signing.sources.\"{source}\"]\nverify = \"{verifier}\"\n{more}\n");
        fs::write(config, before + &rule).unwrap();
    }
    let packed = zip(&[("pdf/SKILL.md", &skill("pdf"))]);
    fs::write(host.project().join("pdf.zip"), packed).unwrap();
    fs::create_dir(host.project().join("dir")).unwrap();
    fs::write(host.project().join("dir/SKILL.md"), skill("dir")).unwrap();
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    host.var("PATH", &path)
}

const SIGNER: &str = "identity = \"https://h/w.yml\"\nissuer = \"https://i\"";

#[test]
fn an_archive_is_used_if_the_named_program_accepts_it() {
    let yes = host("cosign", SIGNER, Some("true"));
    let told = yes.fails(&["install", "./pdf.zip"]);
    assert!(
        told.contains("no `.sigstore.json` file beside it"),
        "{told}"
    );
    fs::write(yes.project().join("pdf.zip.sigstore.json"), "{}").unwrap();
    yes.succeeds(&["install", "./pdf.zip"]);
    assert_eq!(yes.skill_tools(), ["skill_pdf"]);
    let no = host("cosign", SIGNER, Some("false"));
    fs::write(no.project().join("pdf.zip.sigstore.json"), "{}").unwrap();
    let told = no.fails(&["install", "./pdf.zip"]);
    assert!(told.contains("requires that cosign accepts"), "{told}");
    assert!(!no.skills_dir().join("pdf").exists());
}

#[test]
fn a_site_has_the_bundle_beside_its_archive() {
    let hub = Hub::new();
    let server = Server::new(hub.dir());
    for (played, installed) in [("true", true), ("false", false)] {
        let host = host("cosign", SIGNER, Some(played));
        server.file("x.zip", zip(&[("pdf/SKILL.md", &skill("pdf"))]));
        server.file("x.zip.sigstore.json", b"{}");
        let ran = host.person(&["install", &server.url("x.zip")]);
        assert_eq!(ran.status == 0, installed, "{ran:?}");
        let seen = server.behaviour.seen.lock().unwrap();
        assert!(
            seen.iter()
                .any(|line| line.ends_with("x.zip.sigstore.json")),
            "{seen:?}"
        );
    }
}

#[test]
fn an_artifact_of_a_registry_is_asked_about_by_its_digest() {
    let registry = Registry::new();
    registry.publish("pdf", "latest", &versioned(&registry, "pdf", "one"));
    for (verifier, played, why) in [
        ("cosign", "true", None),
        (
            "cosign",
            "false",
            Some("requires that cosign accepts `oci://"),
        ),
        ("gh", "true", Some("gh is not asked about registries")),
    ] {
        let host = host(verifier, SIGNER, Some(played));
        let ran = host.person(&["install", &registry.reference("pdf")]);
        assert_eq!(ran.status == 0, why.is_none(), "{ran:?}");
        assert!(ran.stderr.contains(why.unwrap_or_default()), "{ran:?}");
    }
}

#[test]
fn what_the_named_program_cannot_check_is_refused() {
    for (verifier, more, played, reference, why) in [
        ("cosign", SIGNER, None, "./pdf.zip", "cosign was not found"),
        ("gh", "", None, "./pdf.zip", "gh was not found"),
        (
            "gh",
            "",
            Some("true"),
            "./pdf.zip",
            "GitHub's repositories only",
        ),
        (
            "cosign",
            "",
            Some("true"),
            "./pdf.zip",
            "`identity` and `issuer`",
        ),
        (
            "cosign",
            SIGNER,
            Some("true"),
            "./dir",
            "checks archives and artifacts only",
        ),
        (
            "gh",
            "",
            Some("true"),
            "./dir",
            "checks archives and artifacts only",
        ),
    ] {
        let host = host(verifier, more, played);
        fs::write(host.project().join("pdf.zip.sigstore.json"), "{}").unwrap();
        let told = host.fails(&["install", reference]);
        assert!(told.contains(why), "{verifier} {reference}: {told}");
        assert!(host.skill_tools().is_empty(), "{verifier} {reference}");
    }
}

#[test]
fn offline_nobody_can_be_asked() {
    let host = host("cosign", SIGNER, Some("true"));
    fs::write(host.project().join("pdf.zip.sigstore.json"), "{}").unwrap();
    let told = host.fails(&["install", "./pdf.zip", "--offline"]);
    assert!(told.contains("the network"), "{told}");
}
