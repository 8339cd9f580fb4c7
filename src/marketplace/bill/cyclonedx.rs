//! A bill as `CycloneDX` 1.6 (ECMA-424) in JSON. It has no time: the format requires none.

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::marketplace::bill::purl::{archive_digest, purl, repository, web_address};
use crate::marketplace::bill::{Bill, File, Item};
use crate::marketplace::lock::LockEntry;
use crate::marketplace::reference::Kind;

/// What made a bill.
const PROGRAM: &str = "agent-skills";
/// Its version.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The reference of what the bill is about.
const WHOLE: &str = "installation";

impl Bill {
    /// The bill in this format.
    pub fn cyclonedx(&self) -> Value {
        let skills = self.skills.iter();
        let refs: Vec<&str> = skills.clone().map(|skill| &*skill.directory).collect();
        let mut document = json!({
            "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
            "bomFormat": "CycloneDX",
            "specVersion": "1.6",
            "serialNumber": null,
            "version": 1,
            "metadata": {
                "lifecycles": [{"phase": "operations"}],
                "tools": {
                    "components": [{"type": "application", "name": PROGRAM, "version": VERSION}],
                },
                "component": {
                    "type": "application",
                    "bom-ref": WHOLE,
                    "name": "installed agent skills",
                },
            },
            "components": skills.map(component).collect::<Vec<_>>(),
            "dependencies": [{"ref": WHOLE, "dependsOn": refs}],
        });
        document["serialNumber"] = format!("urn:uuid:{}", uuid(&document)).into();
        document
    }
}

fn component(skill: &Item) -> Value {
    let mut component = Map::new();
    // A reusable part that is neither an application nor a framework counts as a library.
    component.insert("type".to_owned(), "library".into());
    component.insert("bom-ref".to_owned(), (&*skill.directory).into());
    component.insert("name".to_owned(), (&*skill.name).into());
    let entry = skill.entry.as_ref();
    let files: Vec<Value> = skill.files().iter().map(file).collect();
    let properties = skill.properties().into_iter();
    let properties = properties.map(|(name, value)| property(name, &value));
    for (key, value) in [
        ("version", skill.release().map(Value::from)),
        (
            "licenses",
            skill.license().map(|name| {
                // It is what the author says, not what somebody found out.
                json!([{"license": {"name": name, "acknowledgement": "declared"}}])
            }),
        ),
        (
            "purl",
            entry.and_then(|entry| purl(&skill.name, entry).map(Value::from)),
        ),
        ("externalReferences", entry.and_then(reference)),
        ("properties", Some(properties.collect())),
        ("components", (!files.is_empty()).then_some(files.into())),
    ] {
        component.extend(value.map(|value| (key.to_owned(), value)));
    }
    component.into()
}

/// The place on the web, if there is one.
fn reference(entry: &LockEntry) -> Option<Value> {
    if entry.kind == Kind::Git {
        return Some(json!([{"type": "vcs", "url": repository(&entry.source)?}]));
    }
    let mut reference = json!({"type": "distribution", "url": web_address(&entry.source)?});
    if let Some(digest) = archive_digest(entry) {
        reference["hashes"] = json!([{"alg": "SHA-256", "content": digest}]);
    }
    Some(json!([reference]))
}

fn file(file: &File) -> Value {
    let mut component = json!({
        "type": "file",
        "name": file.path,
        "hashes": [{"alg": "SHA-256", "content": file.sha256}],
    });
    if file.is_executable {
        component["properties"] = json!([property("executable", "true")]);
    }
    component
}

fn property(name: &str, value: &str) -> Value {
    json!({"name": format!("{PROGRAM}:{name}"), "value": value})
}

/// A UUID of version 8 (RFC 9562, section 5.8) for a document that has none so far.
fn uuid(document: &Value) -> String {
    let mut bytes = Sha256::digest(document.to_string());
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let digits = format!("{bytes:x}");
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &digits[part]);
    parts.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_document_has_the_same_uuid_and_another_another() {
        let one = uuid(&json!({"a": 1}));
        assert_eq!(one, uuid(&json!({"a": 1})));
        assert_ne!(one, uuid(&json!({"a": 2})));
        assert_eq!((one.len(), &one[14..15]), (36, "8"), "{one}");
        assert!("89ab".contains(&one[19..20]), "{one}");
    }
}
