//! A registry that means harm, or does not keep to its own words.

use serde_json::json;

use crate::Host;
use crate::archives::{gz, tar_gz};
use crate::host::Has;
use crate::market_sources::skill;
use crate::policy::under;
use crate::registry_pull::{CONTENT, INDEX, collection, versioned};
use crate::registry_stub::{Registry, digest};

fn refuses(host: &Host, registry: &Registry, name: &str, why: &str) {
    let error = host.fails(&["install", &registry.reference(name)]);
    assert!(error.contains(why), "{name}: {error}");
    assert!(!host.skills_dir().join("pdf").exists(), "{name}");
}

#[test]
fn what_is_not_what_was_named_is_not_used() {
    let (registry, host) = (Registry::new(), Host::stdin());
    let manifest = versioned(&registry, "pdf", "one");
    let listed = registry.publish("pdf", "latest", &manifest);
    let layer = digest(&manifest["layers"][0]);
    let blob = format!("/v2/pdf/blobs/{layer}");
    let size = manifest["layers"][0]["size"].as_u64().unwrap();
    let other = vec![b'x'; usize::try_from(size).unwrap()];
    // A manifest that changes between two requests, or is not the one of its digest.
    let changed = versioned(&registry, "pdf", "two").to_string();
    registry.instead(
        &format!("/v2/pdf/manifests/{listed}"),
        200,
        &[],
        changed.as_bytes(),
    );
    refuses(&host, &registry, "pdf", "sent something other than");
    registry.behaviour.instead.lock().unwrap().clear();
    for body in [&other[..], b"short", &[&other[..], &other].concat()] {
        registry.instead(&blob, 200, &[], body);
        refuses(&host, &registry, "pdf", "sent something other than");
    }
    registry.instead(&blob, 200, &[], &[b'x'; 4096]);
    registry
        .behaviour
        .instead
        .lock()
        .unwrap()
        .get_mut(&blob)
        .unwrap()
        .is_endless = true;
    refuses(&host, &registry, "pdf", "answered with more than");
    // What was left by that does not stay in the way.
    registry.behaviour.instead.lock().unwrap().clear();
    host.succeeds(&["install", &registry.reference("pdf")]);
}

#[test]
fn sizes_are_bounded_before_and_after_unpacking() {
    let (registry, host) = (Registry::new(), Host::stdin());
    let mut large = versioned(&registry, "pdf", "one");
    large["layers"][0]["size"] = json!(11 * 1024 * 1024);
    registry.publish("large", "latest", &large);
    refuses(
        &host,
        &registry,
        "large",
        "more than 256 layers or 10485760 bytes",
    );
    let bomb = gz(&vec![0; 40 * 1024 * 1024]);
    let mut bombed = versioned(&registry, "pdf", "one");
    bombed["layers"][0] = registry.blob(CONTENT, &bomb);
    registry.publish("bomb", "latest", &bombed);
    let error = host.fails(&["install", &registry.reference("bomb")]);
    assert!(!error.is_empty());
    let many = vec![b' '; 9 * 1024 * 1024];
    registry.instead("/v2/index/manifests/latest", 200, &[], &many);
    refuses(&host, &registry, "index", "");
    let escaping = tar_gz(&[("pdf/SKILL.md", &skill("pdf")), ("../../out", "x")]);
    bombed["layers"][0] = registry.blob(CONTENT, &escaping);
    registry.publish("out", "latest", &bombed);
    refuses(&host, &registry, "out", "leaves the archive");
    bombed["layers"][0]["digest"] = json!(format!("sha512:{}", "a".repeat(128)));
    registry.publish("sha512", "latest", &bombed);
    refuses(&host, &registry, "sha512", "is not a SHA-256 digest");
}

#[test]
fn redirects_and_realms_lead_nowhere_less_safe() {
    let (registry, host) = (Registry::new(), Host::stdin());
    let manifest = versioned(&registry, "pdf", "one");
    registry.publish("pdf", "latest", &manifest);
    let layer = digest(&manifest["layers"][0]);
    let blob = format!("/v2/pdf/blobs/{layer}");
    for to in [
        "http://example.org/x",
        "file:///etc/passwd",
        "ftp://127.0.0.1/x",
    ] {
        registry.instead(&blob, 307, &[("Location", to)], b"");
        let error = host.fails(&["install", &registry.reference("pdf")]);
        error.lacks("passwd:");
    }
    registry.instead(&blob, 307, &[("Location", &blob)], b"");
    refuses(&host, &registry, "pdf", "redirects more than 5 times");
    registry.behaviour.instead.lock().unwrap().clear();
    let elsewhere = [("Location", "http://127.0.0.1:1/v2/pdf/manifests/latest")];
    registry.instead("/v2/pdf/manifests/latest", 307, &elsewhere, b"");
    refuses(&host, &registry, "pdf", "which is not followed");
    registry.behaviour.instead.lock().unwrap().clear();
    *registry.behaviour.login.lock().unwrap() = Some(String::new());
    for realm in ["http://example.org/token", "file:///etc/passwd", "x"] {
        *registry.behaviour.realm.lock().unwrap() = Some(realm.to_owned());
        let error = host.fails(&["install", &registry.reference("pdf")]);
        assert!(error.contains("address"), "{realm}: {error}");
    }
    // A token that would be another header.
    *registry.behaviour.realm.lock().unwrap() = None;
    registry.instead("/token", 200, &[], br#"{"token":"a\r\nX: y"}"#);
    refuses(&host, &registry, "pdf", "gives no token");
    // One that is refused is not asked for for ever.
    registry.instead("/token", 200, &[], br#"{"token":"other"}"#);
    registry.take_seen();
    refuses(&host, &registry, "pdf", "denies access");
    assert_eq!(registry.take_seen().len(), 3);
}

#[test]
fn a_collection_does_not_pass_one_skill_for_another() {
    let (registry, host) = (Registry::new(), Host::stdin());
    let git = versioned(&registry, "git", "one");
    registry.publish("tools", "latest", &collection(&registry, &[("pdf", &git)]));
    refuses(&host, &registry, "tools", "is the skill `git`");
    let pdf = versioned(&registry, "pdf", "one");
    let twice = collection(&registry, &[("pdf", &pdf), ("pdf", &git)]);
    registry.publish("tools", "latest", &twice);
    let error = host.fails(&["install", &registry.reference("tools@pdf")]);
    error.has("more than once");
    // Indexes in one another.
    let mut listed = registry.manifest(&collection(&registry, &[("pdf", &pdf)]));
    listed["mediaType"] = json!(INDEX);
    let outer = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": [listed]});
    registry.publish("deep", "latest", &outer);
    refuses(
        &host,
        &registry,
        "deep",
        "lists other indexes, and no skill",
    );
}

#[test]
fn a_policy_decides_about_registries_by_their_names() {
    let registry = Registry::new();
    let manifest = versioned(&registry, "pdf", "one");
    registry.publish("acme/pdf", "latest", &manifest);
    let own = registry.host();
    for rule in [
        "block = [\"oci://HOST/acme/*\"]",
        "allow = [\"https://HOST/acme/*\"]",
    ] {
        let rule = format!("[sources]\n{rule}\n").replace("HOST", &own);
        let host = under(Host::stdin(), &rule);
        let error = host.fails(&["install", &registry.reference("acme/pdf")]);
        error.has("policy");
        assert!(registry.take_seen().is_empty());
    }
    let rule = format!("[sources]\nallow = [\"oci://{own}/acme/*\"]\n");
    let host = under(Host::stdin(), &rule);
    host.succeeds(&["install", &registry.reference("acme/pdf")]);
}
