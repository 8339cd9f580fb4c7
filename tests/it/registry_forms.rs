//! The forms in which registries have skills besides the written one, each in the shape that its
//! tool publishes; and signatures beside a skill.

use std::fs;

use serde_json::{Value, json};

use crate::Host;
use crate::archives::tar_gz;
use crate::host::Has;
use crate::market_sources::skill;
use crate::registry_pull::{CONTENT, INDEX, MANIFEST};
use crate::registry_stub::Registry;

const IMAGE_CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const IMAGE_LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";
const EMPTY: &str = "application/vnd.oci.empty.v1+json";

fn titled(mut layer: Value, title: &str) -> Value {
    layer["annotations"] = json!({"org.opencontainers.image.title": title});
    layer
}

/// A manifest, with an artifact's type if one is given.
fn of(config: &Value, layers: &[Value], kind: Option<&str>) -> Value {
    let mut manifest =
        json!({"schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": layers});
    if let Some(kind) = kind {
        manifest["artifactType"] = json!(kind);
    }
    manifest
}

fn installs(registry: &Registry, name: &str, manifest: &Value, file: &str) {
    let host = Host::stdin();
    registry.publish(name, "latest", manifest);
    host.succeeds(&["install", &registry.reference(name)]);
    let text = fs::read_to_string(host.skills_dir().join("pdf").join(file)).unwrap();
    assert!(text.contains("pdf"), "{name}: {text}");
}

#[test]
fn the_forms_of_other_tools_are_read() {
    let registry = Registry::new();
    let (text, blob) = (skill("pdf"), |kind: &str, bytes: &[u8]| {
        registry.blob(kind, bytes)
    });
    let rooted = tar_gz(&[("SKILL.md", &text), ("a.txt", "pdf")]);
    let below = tar_gz(&[("pdf/SKILL.md", &text), ("pdf/a.txt", "pdf")]);
    let image = || blob(IMAGE_CONFIG, br#"{"architecture":"amd64","os":"linux"}"#);
    let empty = || blob(EMPTY, b"{}");
    // skillctl (skillimage), a plain image, with its skill at the root or in a directory.
    let layer = blob(IMAGE_LAYER, &rooted);
    installs(
        &registry,
        "skillctl",
        &of(&image(), &[layer], None),
        "a.txt",
    );
    let docker = json!({"schemaVersion": 2,
        "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
        "config": blob("application/vnd.docker.container.image.v1+json", b"{}"),
        "layers": [blob("application/vnd.docker.image.rootfs.diff.tar.gzip", &below)]});
    installs(&registry, "kagent", &docker, "a.txt");
    // ToolHive: an index of images for several machines, with the type on both.
    let toolhive = "dev.toolhive.skills.v1";
    let mut one = registry.manifest(&of(&image(), &[blob(IMAGE_LAYER, &rooted)], Some(toolhive)));
    one["platform"] = json!({"architecture": "amd64", "os": "linux"});
    let mut attested = registry.manifest(&of(&image(), &[], None));
    attested["platform"] = json!({"architecture": "unknown", "os": "unknown"});
    let index = json!({"schemaVersion": 2, "mediaType": INDEX, "artifactType": toolhive,
        "manifests": [attested, one], "annotations": {"dev.toolhive.skills.name": "pdf"}});
    installs(&registry, "toolhive", &index, "a.txt");
    // Alibaba's ACR.
    let layer = blob("application/vnd.agent.skill.content.v1.tar+gzip", &below);
    let kind = Some("application/vnd.agent.skill.v1+json");
    installs(&registry, "acr", &of(&empty(), &[layer], kind), "a.txt");
    // docsclaw, and `oras push` of files: each is a layer, of a tar's type by default.
    for kind in ["text/markdown", "application/vnd.oci.image.layer.v1.tar"] {
        let files = [
            titled(blob(kind, text.as_bytes()), "SKILL.md"),
            titled(blob(kind, b"pdf"), "docs/a.txt"),
        ];
        let artifact = Some("application/vnd.unknown.artifact.v1");
        installs(
            &registry,
            "docsclaw",
            &of(&empty(), &files, artifact),
            "docs/a.txt",
        );
    }
    // `oras push` of a directory.
    let layer = titled(blob(IMAGE_LAYER, &below), "pdf");
    installs(&registry, "oras", &of(&empty(), &[layer], None), "a.txt");
    let layer = blob("application/vnd.skr.skill.layer.v1+tar+gzip", &rooted);
    let config = blob("application/vnd.skr.skill.config.v1+json", b"{}");
    installs(&registry, "skr", &of(&config, &[layer], None), "a.txt");
    let layer = blob(CONTENT, &below);
    let config = blob("application/vnd.agentskills.config.v1+json", b"{}");
    installs(&registry, "cumasach", &of(&config, &[layer], None), "a.txt");
    // A layer over another.
    let base = tar_gz(&[("SKILL.md", &text), ("a.txt", "old")]);
    let over = tar_gz(&[("a.txt", "pdf")]);
    let layers = [blob(IMAGE_LAYER, &base), blob(IMAGE_LAYER, &over)];
    installs(&registry, "layers", &of(&image(), &layers, None), "a.txt");
}

#[test]
fn a_layer_that_cannot_be_read_is_refused() {
    let (registry, host) = (Registry::new(), Host::stdin());
    let image = || registry.blob(IMAGE_CONFIG, b"{}");
    let away = tar_gz(&[("SKILL.md", &skill("pdf")), (".wh.a.txt", "")]);
    for (name, manifest, why) in [
        (
            "zstd",
            of(
                &image(),
                &[registry.blob("application/vnd.oci.image.layer.v1.tar+zstd", b"x")],
                None,
            ),
            "layer has the type `application/vnd.oci.image.layer.v1.tar+zstd`",
        ),
        (
            "whiteout",
            of(&image(), &[registry.blob(IMAGE_LAYER, &away)], None),
            "a layer removes files of another",
        ),
    ] {
        registry.publish(name, "latest", &manifest);
        let error = host.fails(&["install", &registry.reference(name)]);
        assert!(error.contains(why), "{name}: {error}");
    }
    host.fails(&["install", &registry.reference("absent:v1")])
        .has("does not have `oci://")
        .has("absent:v1");
}
