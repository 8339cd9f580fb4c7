//! A bill as SPDX 2.3 (ISO/IEC 5962) in JSON.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::marketplace::bill::identity::{PROGRAM, VERSION, short, uuid};
use crate::marketplace::bill::license::Meaning;
use crate::marketplace::bill::purl::{archive_digest, location, purl};
use crate::marketplace::bill::sha1::sha1;
use crate::marketplace::bill::{Bill, Content, File, Item};

/// What the format says where something is not known.
const UNKNOWN: &str = "NOASSERTION";

impl Bill {
    /// The bill in this format.
    pub fn spdx(&self) -> Value {
        let tool = format!("Tool: {PROGRAM}-{VERSION}");
        let (mut packages, mut files, mut relations) = (Vec::new(), Vec::new(), Vec::new());
        let mut texts = BTreeMap::new();
        for skill in &self.skills {
            let id = package_id(skill);
            relations.push(relation("SPDXRef-DOCUMENT", "DESCRIBES", &id));
            for file in skill.files() {
                let of = file_id(skill, file);
                relations.push(relation(&id, "CONTAINS", &of));
                files.push(self::file(&of, file));
            }
            let license = declared(skill.meaning(), &mut texts);
            packages.push(self.package(skill, &id, &license, &tool));
        }
        let texts: Vec<Value> = texts.into_iter().map(extracted).collect();
        let mut document = json!({
            "spdxVersion": "SPDX-2.3",
            "dataLicense": "CC0-1.0",
            "SPDXID": "SPDXRef-DOCUMENT",
            "name": "installed agent skills",
            "documentNamespace": null,
            "creationInfo": {"created": self.created, "creators": [tool]},
            "hasExtractedLicensingInfos": texts,
            "packages": packages,
            "files": files,
            "relationships": relations,
        });
        // SPDX's own host, as its specification advises for who has none.
        let namespace = format!("https://spdx.org/spdxdocs/{PROGRAM}-{}", uuid(&document));
        document["documentNamespace"] = namespace.into();
        document
    }

    fn package(&self, skill: &Item, id: &str, license: &str, tool: &str) -> Value {
        let entry = skill.entry.as_ref();
        // Without a source there is nothing to download.
        let nowhere = if entry.is_some() { UNKNOWN } else { "NONE" };
        let location = entry.and_then(location);
        let annotation = |(name, value): (&str, String)| {
            json!({
                "annotationDate": self.created,
                "annotationType": "OTHER",
                "annotator": tool,
                "comment": format!("{PROGRAM}:{name}={value}"),
            })
        };
        let properties = skill.properties().into_iter().map(annotation);
        let mut package = json!({
            "SPDXID": id,
            "name": skill.name,
            "downloadLocation": location.unwrap_or_else(|| nowhere.to_owned()),
            "filesAnalyzed": matches!(skill.content, Content::Read { .. }),
            "primaryPackagePurpose": "LIBRARY",
            "supplier": UNKNOWN,
            "licenseConcluded": UNKNOWN,
            "licenseDeclared": license,
            "copyrightText": UNKNOWN,
            "annotations": properties.collect::<Vec<_>>(),
        });
        if let Some(release) = skill.release() {
            package["versionInfo"] = release.into();
        }
        if let Content::Read { files, links, .. } = &skill.content {
            let mut code = json!({"packageVerificationCodeValue": verification_code(files)});
            if !links.is_empty() {
                let links: Vec<String> = links.iter().map(|path| format!("./{path}")).collect();
                code["packageVerificationCodeExcludedFiles"] = links.into();
            }
            package["packageVerificationCode"] = code;
        }
        if let Some(digest) = entry.and_then(archive_digest) {
            package["checksums"] = json!([checksum("SHA256", digest)]);
        }
        if let Some(purl) = entry.and_then(|entry| purl(&skill.name, entry)) {
            package["externalRefs"] = json!([{
                "referenceCategory": "PACKAGE-MANAGER",
                "referenceType": "purl",
                "referenceLocator": purl,
            }]);
        }
        package
    }
}

/// The licence of a package; a text that SPDX does not know gets an id in `texts`.
fn declared(meaning: Option<Meaning>, texts: &mut BTreeMap<String, String>) -> String {
    match meaning {
        None => UNKNOWN.to_owned(),
        Some(Meaning::Id(id)) => id.to_owned(),
        Some(Meaning::Expression(text)) => text,
        Some(Meaning::Text(text)) => {
            let id = format!("LicenseRef-{}", short(&text));
            texts.insert(id.clone(), text);
            id
        }
    }
}

fn extracted((id, text): (String, String)) -> Value {
    json!({
        "licenseId": id,
        "extractedText": text,
        "comment": "What the skill's frontmatter says of its licence.",
    })
}

fn file(id: &str, file: &File) -> Value {
    json!({
        "SPDXID": id,
        "fileName": format!("./{}", file.path),
        "checksums": [checksum("SHA1", &file.sha1), checksum("SHA256", &file.sha256)],
        "licenseConcluded": UNKNOWN,
        "copyrightText": UNKNOWN,
        "comment": if file.is_executable { "executable" } else { "not executable" },
    })
}

fn checksum(algorithm: &str, value: &str) -> Value {
    json!({"algorithm": algorithm, "checksumValue": value})
}

fn relation(from: &str, how: &str, to: &str) -> Value {
    json!({"spdxElementId": from, "relationshipType": how, "relatedSpdxElement": to})
}

/// The digest of a package's files (clause 7.9).
fn verification_code(files: &[File]) -> String {
    let mut digests: Vec<&str> = files.iter().map(|file| &*file.sha1).collect();
    digests.sort_unstable();
    sha1(digests.concat().as_bytes())
}

/// An id may have letters, digits, dots and hyphens, and must be the only one of its name.
fn package_id(skill: &Item) -> String {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
    let name: String = skill.name.chars().filter(is_plain).collect();
    format!("SPDXRef-Skill-{name}-{}", short(&skill.directory))
}

fn file_id(skill: &Item, file: &File) -> String {
    let path = format!("{}/{}", skill.directory, file.path);
    format!("SPDXRef-File-{}", short(&path))
}
