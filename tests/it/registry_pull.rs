//! Getting skills from an OCI registry: the written form, collections, tokens, what is kept, tags
//! that move. The registry is a stand-in on the loopback interface.

use std::fs;

use serde_json::{Value, json};

use crate::Host;
use crate::archives::tar_gz;
use crate::host::Has;
use crate::market_sources::skill;
use crate::registry_stub::{Registry, digest};

pub const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
pub const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const SKILL: &str = "application/vnd.agentskills.skill.v1";
const COLLECTION: &str = "application/vnd.agentskills.collection.v1";
pub const CONTENT: &str = "application/vnd.agentskills.skill.content.v1.tar+gzip";
const CONFIG: &str = "application/vnd.agentskills.skill.config.v1+json";

/// The manifest of a skill in the written form, with these files below its name.
pub fn artifact(registry: &Registry, name: &str, files: &[(&str, &str)]) -> Value {
    let paths = files
        .iter()
        .map(|(path, text)| (format!("{name}/{path}"), *text));
    let paths: Vec<_> = paths.collect();
    let entries: Vec<_> = paths
        .iter()
        .map(|(path, text)| (path.as_str(), *text))
        .collect();
    let layer = registry.blob(CONTENT, &tar_gz(&entries));
    let config = registry.blob(
        CONFIG,
        json!({"schemaVersion": "1", "name": name})
            .to_string()
            .as_bytes(),
    );
    json!({"schemaVersion": 2, "mediaType": MANIFEST, "artifactType": SKILL, "config": config,
           "layers": [layer], "annotations": {"io.agentskills.skill.name": name}})
}

/// A skill whose text says which version it is.
pub fn versioned(registry: &Registry, name: &str, version: &str) -> Value {
    let text = skill(name) + version + "\n";
    artifact(registry, name, &[("SKILL.md", &text), ("a/b.txt", version)])
}

/// A collection of manifests, each with the name of its skill.
pub fn collection(registry: &Registry, members: &[(&str, &Value)]) -> Value {
    let members = members.iter().map(|(name, manifest)| {
        let mut listed = registry.manifest(manifest);
        listed["artifactType"] = json!(SKILL);
        listed["annotations"] = json!({
            "io.agentskills.skill.name": name,
            "io.agentskills.skill.ref": format!("{}/{name}:1.0.0", registry.host()),
            "org.opencontainers.image.description": format!("does {name}"),
        });
        listed
    });
    let members: Vec<_> = members.collect();
    json!({"schemaVersion": 2, "mediaType": INDEX, "artifactType": COLLECTION, "manifests": members,
           "annotations": {"io.agentskills.collection.name": "tools"}})
}

fn locked(host: &Host, name: &str) -> Value {
    let lockfile = host.lockfile();
    let skills = lockfile["skills"].as_array().unwrap();
    skills
        .iter()
        .find(|entry| entry["name"] == name)
        .unwrap()
        .clone()
}

#[test]
fn a_skill_is_pulled_pinned_and_updated_when_its_tag_moves() {
    let (registry, host) = (Registry::new(), Host::stdin());
    let first = registry.publish("acme/pdf", "1.0", &versioned(&registry, "pdf", "one"));
    let reference = registry.reference("acme/pdf:1.0");
    host.succeeds(&["install", &reference]);
    let text = |path: &str| fs::read_to_string(host.skills_dir().join("pdf").join(path)).unwrap();
    assert_eq!(text("a/b.txt"), "one");
    let entry = locked(&host, "pdf");
    assert_eq!(entry["source"], json!(registry.reference("acme/pdf")));
    assert_eq!(
        (&entry["kind"], &entry["ref"], &entry["commit"]),
        (&json!("oci"), &json!("1.0"), &json!(first))
    );
    // Nothing has changed: that is known from one request.
    registry.take_seen();
    host.succeeds(&["update"]);
    assert_eq!(registry.take_seen(), ["HEAD /v2/acme/pdf/manifests/1.0"]);
    let second = registry.publish("acme/pdf", "1.0", &versioned(&registry, "pdf", "two"));
    host.succeeds(&["update", "--check"]).has("pdf");
    host.fails(&["update", "pdf", "--to", &first])
        .has("its source is now at");
    host.succeeds(&["update", "pdf", "--to", &second[..20]]);
    assert_eq!(
        (text("a/b.txt"), &locked(&host, "pdf")["commit"]),
        ("two".to_owned(), &json!(second))
    );
    host.succeeds(&["rollback", "pdf"]);
    assert_eq!(
        (text("a/b.txt"), &locked(&host, "pdf")["commit"]),
        ("one".to_owned(), &json!(first))
    );
    host.succeeds(&["verify"]);
    // What the lockfile says is restored, without the network and though the tag has moved.
    fs::remove_dir_all(host.skills_dir().join("pdf")).unwrap();
    registry.take_seen();
    host.succeeds(&["install", "--frozen", "--offline"]);
    assert_eq!(
        (text("a/b.txt"), registry.take_seen()),
        ("one".to_owned(), vec![])
    );
    let bill = host.succeeds(&["list", "--sbom"]);
    let purl = format!(
        "pkg:oci/pdf@sha256%3A{}?repository_url={}/acme/pdf&tag=1.0",
        &first[7..],
        registry.host()
    );
    bill.has(&purl);
    host.succeeds(&["info", "pdf"]).has("oci://");
}

#[test]
fn a_digest_pins_and_needs_no_tag() {
    let (registry, host) = (Registry::new(), Host::stdin());
    let first = registry.publish("pdf", "latest", &versioned(&registry, "pdf", "one"));
    host.succeeds(&["install", &registry.reference(&format!("pdf@{first}"))]);
    assert_eq!(locked(&host, "pdf")["ref"], json!(first));
    registry.publish("pdf", "latest", &versioned(&registry, "pdf", "two"));
    registry.take_seen();
    host.succeeds(&["update"]);
    assert!(registry.take_seen().is_empty());
    // Another state is a switch, as of a repository.
    host.succeeds(&["remove", "pdf"]);
    host.succeeds(&["install", &registry.reference("pdf")]);
    assert_eq!(locked(&host, "pdf")["ref"], Value::Null);
}

#[test]
fn of_a_collection_only_what_is_meant_is_fetched() {
    let (registry, host) = (Registry::new(), Host::stdin());
    let members = ["pdf", "git", "csv"].map(|name| (name, versioned(&registry, name, "one")));
    let listed: Vec<_> = members
        .iter()
        .map(|(name, manifest)| (*name, manifest))
        .collect();
    registry.publish("acme/tools", "latest", &collection(&registry, &listed));
    let reference = registry.reference("acme/tools");
    host.fails(&["install", &reference]).has("it has 3 skills");
    registry.take_seen();
    host.succeeds(&["install", &format!("{reference}@pdf")]);
    let blobs = registry
        .take_seen()
        .into_iter()
        .filter(|seen| seen.contains("/blobs/"));
    assert_eq!(blobs.count(), 1);
    assert_eq!(locked(&host, "pdf")["path"], "pdf");
    host.succeeds(&["install", &reference, "--skill", "git,csv"]);
    registry.take_seen();
    host.succeeds(&["update"]);
    assert_eq!(registry.take_seen().len(), 1);
    // As a source it is listed without a layer, and offers its skills by name.
    host.succeeds(&["remove", "pdf"]);
    let seen = registry.take_seen();
    assert!(seen.is_empty(), "{seen:?}");
    host.succeeds(&["source", "add", &reference, "--name", "tools"]);
    host.succeeds(&["search", "pdf"]).has("does pdf");
    assert!(
        registry
            .take_seen()
            .iter()
            .all(|seen| !seen.contains("/blobs/"))
    );
    host.succeeds(&["install", "pdf@tools"]);
    host.fails(&["install", &format!("{reference}@pfd")])
        .has("there is no skill `pfd`")
        .has("pdf");
}

#[test]
fn a_member_may_be_where_it_is_published() {
    let (registry, host) = (Registry::new(), Host::stdin());
    let pdf = versioned(&registry, "pdf", "one");
    registry.publish(
        "acme/tools",
        "latest",
        &collection(&registry, &[("pdf", &pdf)]),
    );
    let listed = digest(&registry.manifest(&pdf));
    registry.instead(
        &format!("/v2/acme/tools/manifests/{listed}"),
        404,
        &[],
        b"{}",
    );
    host.succeeds(&["install", &registry.reference("acme/tools")]);
    let seen = registry.take_seen();
    let own = format!("GET /v2/pdf/manifests/{listed}");
    assert!(seen.contains(&own), "{seen:?}");
}

#[test]
fn who_asks_is_told_for_a_token_and_only_to_the_registry() {
    let (registry, other, host) = (Registry::new(), Registry::new(), Host::stdin());
    // me:secret
    *registry.behaviour.login.lock().unwrap() = Some("bWU6c2VjcmV0".to_owned());
    let manifest = versioned(&registry, "pdf", "one");
    registry.publish("acme/pdf", "latest", &manifest);
    let reference = registry.reference("acme/pdf");
    host.fails(&["install", &reference])
        .has("log in with `docker login 127.0.0.1:");
    let docker = host.home().join(".docker");
    fs::create_dir_all(&docker).unwrap();
    let auths = json!({"auths": {registry.host(): {"auth": "bWU6c2VjcmV0"}}});
    fs::write(docker.join("config.json"), auths.to_string()).unwrap();
    // The blob is in a store elsewhere, as the large registries have it.
    let layer = digest(&manifest["layers"][0]);
    let bytes = registry.behaviour.blobs.lock().unwrap()[&layer].clone();
    other.blob(CONTENT, &bytes);
    let store = format!("http://{}/v2/store/blobs/{layer}", other.host());
    registry.instead(
        &format!("/v2/acme/pdf/blobs/{layer}"),
        307,
        &[("Location", &store)],
        b"see there",
    );
    registry.take_seen();
    host.succeeds(&["install", &reference]);
    let seen = registry.take_seen();
    let token = "GET /token?scope=repository%3Aacme%2Fpdf%3Apull&service=stub Basic bWU6c2VjcmV0";
    assert_eq!(
        seen.iter().filter(|seen| **seen == token).count(),
        1,
        "{seen:?}"
    );
    assert!(
        seen.iter().any(|seen| seen.ends_with("Bearer t0k.en")),
        "{seen:?}"
    );
    let leaked = other.take_seen();
    assert_eq!(leaked, [format!("GET /v2/store/blobs/{layer}")]);
}
