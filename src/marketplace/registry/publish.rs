//! Publishes skills to a registry in the form of "Agent Skills as OCI Artifacts": each as a manifest,
//! several as an index of those, and signatures as what has a manifest for its subject.

use std::collections::{BTreeMap, HashSet};

use serde_json::json;

use crate::marketplace::fetch::http::HttpRequest;
use crate::marketplace::fetch::{FailureKind, FetchFailure};
use crate::marketplace::prelude::*;
use crate::marketplace::reference::parse;
use crate::marketplace::registry::client::{PUSH, refusal};
use crate::marketplace::registry::{Client, Descriptor, OciManifest, annotation, media_type};
use crate::marketplace::{Market, SignedManifest};

/// What an answer to an upload may have, in bytes.
const ANSWER: u64 = 1024 * 1024;
/// The type of a blob while it is sent.
const BYTES: &str = "application/octet-stream";
/// The configuration of an artifact that has none.
const EMPTY: &[u8] = b"{}";

/// What a collection says of a skill, besides where it is.
const LISTED: [&str; 3] = [
    annotation::SKILL_NAME,
    annotation::DESCRIPTION,
    annotation::VERSION,
];

/// Where something is published.
#[derive(Debug, Clone)]
pub struct Destination {
    repo: OciRepo,
    tag: OciReference,
}

/// A skill as it is published.
#[derive(Debug)]
pub struct Artifact {
    /// Its name.
    pub name: String,
    config: Vec<u8>,
    layer: Vec<u8>,
    manifest: OciManifest,
    signed: Option<SignedManifest>,
}

/// What was, or would be, published.
#[derive(Debug)]
pub struct PublishResult {
    /// The digest that the tag names.
    pub digest: OciDigest,
    /// What the tag named before; `None` if it is new.
    pub before: Option<OciDigest>,
    /// How many blobs the registry did not have.
    pub sent: usize,
}

impl Destination {
    /// Parses `oci://HOST/NAME[:TAG]`.
    ///
    /// # Errors
    /// When it is not that.
    pub fn parse(written: &str) -> Result<Self> {
        match parse::registry(written)? {
            (repo, at, RepositoryPart::Any) if !matches!(at, Some(OciReference::Digest(_))) => {
                Ok(Self {
                    repo,
                    tag: at.unwrap_or_else(OciReference::latest),
                })
            }
            _ => {
                let text = format!("`{}` cannot be published to", written.escape_debug());
                Err(Error::new(text).hint("give a tag, oci://HOST/NAME:TAG, and no digest"))
            }
        }
    }

    /// The address of a digest there.
    pub fn at(&self, digest: &OciDigest) -> String {
        format!("{}@{digest}", self.repo)
    }
}

impl std::fmt::Display for Destination {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.repo, self.tag.suffix())
    }
}

impl Artifact {
    /// The skill whose files are in `layer`. Nothing in it depends on the machine or the time.
    pub fn new(skill: &Skill, name: &str, layer: Vec<u8>, signed: Option<SignedManifest>) -> Self {
        let fields = &skill.fields;
        let (version, license) = (fields.version(), fields.text("license"));
        let compatibility = fields.text("compatibility");
        let mut config = json!({"schemaVersion": "1", "name": name});
        let description = skill.description.clone();
        let said = [
            ("description", annotation::DESCRIPTION, description),
            ("version", annotation::VERSION, version),
            ("license", annotation::LICENSES, license),
            (
                "compatibility",
                annotation::SKILL_COMPATIBILITY,
                compatibility,
            ),
        ];
        let mut annotations = BTreeMap::new();
        for key in [annotation::SKILL_NAME, annotation::TITLE] {
            annotations.insert(key.to_owned(), name.to_owned());
        }
        for (field, key, text) in said {
            if let Some(text) = text {
                annotations.insert(key.to_owned(), text.clone());
                config[field] = text.into();
            }
        }
        if let Some(tools) = fields.allowed_tools() {
            config["allowedTools"] = tools.into();
        }
        if let Some(metadata) = fields.value("metadata").filter(|value| value.is_object()) {
            config["metadata"] = metadata.clone();
        }
        let config = config.to_string().into_bytes();
        let mut content = Descriptor::of(media_type::SKILL_CONTENT, &layer);
        // `oras pull` writes what has a title.
        let title = (annotation::TITLE.to_owned(), format!("{name}.tar.gz"));
        content.annotations.extend([title]);
        let manifest = OciManifest {
            config: Some(Descriptor::of(media_type::SKILL_CONFIG, &config)),
            layers: Some(vec![content]),
            annotations,
            ..manifest(media_type::MANIFEST, media_type::SKILL)
        };
        Self {
            name: name.to_owned(),
            config,
            layer,
            manifest,
            signed,
        }
    }

    /// As a collection lists it.
    fn listed(&self, repo: &OciRepo) -> Descriptor {
        let bytes = self.manifest.to_bytes();
        let mut listed = Descriptor::of(media_type::MANIFEST, &bytes);
        listed.artifact_type = Some(media_type::SKILL.to_owned());
        let place = format!("{}/{}@{}", repo.host(), repo.name(), listed.digest);
        let mut said = self.manifest.annotations.clone();
        said.retain(|key, _| LISTED.contains(&&**key));
        said.insert(annotation::SKILL_REF.to_owned(), place);
        listed.annotations = said;
        listed
    }
}

/// The index of a collection.
fn index(name: &str, repo: &OciRepo, skills: &[Artifact]) -> OciManifest {
    let mut skills: Vec<&Artifact> = skills.iter().collect();
    skills.sort_by(|a, b| a.name.cmp(&b.name));
    let listed = skills.iter().map(|skill| skill.listed(repo)).collect();
    let key = annotation::COLLECTION_NAME.to_owned();
    OciManifest {
        manifests: Some(listed),
        annotations: BTreeMap::from([(key, name.to_owned())]),
        ..manifest(media_type::INDEX, media_type::COLLECTION)
    }
}

fn manifest(media_type: &str, artifact_type: &str) -> OciManifest {
    OciManifest {
        schema_version: 2,
        media_type: Some(media_type.to_owned()),
        artifact_type: Some(artifact_type.to_owned()),
        ..OciManifest::default()
    }
}

/// Refuses a collection that nobody could use.
fn check_names(skills: &[Artifact], collection: &str) -> Result<()> {
    if collection.trim().is_empty() || visible(collection) != collection {
        let shown = visible(collection);
        let text = format!("`{shown}` cannot be the name of a collection");
        return Err(Error::new(text).hint("give a name of letters that can be seen"));
    }
    let mut seen = HashSet::new();
    match skills.iter().find(|skill| !seen.insert(&skill.name)) {
        Some(skill) => {
            let text = format!("the collection would have `{}` twice", skill.name);
            Err(Error::new(text).hint("give each skill once, or rename one"))
        }
        None => Ok(()),
    }
}

impl Market<'_> {
    /// Publishes a skill, or several as the collection of this name. The tag moves last: until then,
    /// nobody finds what is not complete. In a dry run, nothing is sent.
    ///
    /// # Errors
    /// When the registry cannot be reached, or does not take it.
    pub fn publish(
        &self,
        to: &Destination,
        skills: &[Artifact],
        collection: Option<&str>,
    ) -> Result<PublishResult> {
        if let Some(collection) = collection {
            check_names(skills, collection)?;
        }
        let staging = self.home_staging()?;
        let fetcher = self.fetcher(&staging);
        let client = &fetcher.registry;
        let last = match (collection, skills) {
            (Some(name), _) => index(name, &to.repo, skills),
            (None, [skill]) => skill.manifest.clone(),
            (None, _) => {
                let text = "several skills are published as a collection";
                return Err(Error::new(text).hint("name it: `--collection NAME`"));
            }
        };
        let bytes = last.to_bytes();
        let digest = OciDigest::of(&bytes);
        let before = match client.resolve(&to.repo, &to.tag) {
            Ok(before) => Some(before),
            Err(failure) if failure.class == FailureKind::NoRepository => None,
            // Some registries say so of a repository that does not exist yet, or let push what may
            // not be read.
            Err(failure) if failure.class == FailureKind::NeedsAuthentication && !self.dry_run => {
                None
            }
            Err(failure) => return Err(failure.into()),
        };
        let mut sent = 0;
        if !self.dry_run {
            for skill in skills {
                sent += client.put_skill(&to.repo, skill)?;
            }
            if before.as_ref() != Some(&digest) {
                let media_type = last.media_type.as_deref().unwrap_or_default();
                client.put_manifest(&to.repo, to.tag.as_str(), media_type, &bytes)?;
            }
        }
        Ok(PublishResult {
            digest,
            before,
            sent,
        })
    }
}

impl Client<'_> {
    /// Sends a blob unless the repository has it. Returns whether it was sent.
    ///
    /// # Errors
    /// When the registry cannot be asked, or does not take it.
    pub fn put_blob(&self, repo: &OciRepo, bytes: &[u8]) -> Result<bool, FetchFailure> {
        let digest = OciDigest::of(bytes);
        let what = format!("the blob {digest}");
        let known = self.ask(
            repo,
            PUSH,
            &format!("blobs/{digest}"),
            HttpRequest::Head,
            ANSWER,
        )?;
        if known.status == 200 {
            return Ok(false);
        }
        let begin = HttpRequest::Bytes("POST", BYTES, b"");
        let own = self.place(repo, "blobs/uploads/")?;
        let answer = self.ask_at(repo, PUSH, &own, begin, ANSWER)?;
        let place = answer.get("location").filter(|_| answer.status == 202);
        let place = place.ok_or_else(|| refusal(&answer, repo, &what))?;
        let join = if place.contains('?') { '&' } else { '?' };
        let hex = digest.hex();
        let url = own.led(&format!("{place}{join}digest=sha256%3A{hex}"))?;
        let send = HttpRequest::Bytes("PUT", BYTES, bytes);
        let answer = self.ask_at(repo, PUSH, &url, send, ANSWER)?;
        match answer.status {
            201 | 204 => Ok(true),
            _ => Err(refusal(&answer, repo, &what)),
        }
    }

    /// Sends a manifest or an index under a tag or its digest. Returns whether the registry has
    /// understood that it has a subject.
    ///
    /// # Errors
    /// When the registry cannot be asked, or does not take it.
    pub fn put_manifest(
        &self,
        repo: &OciRepo,
        under: &str,
        media_type: &str,
        bytes: &[u8],
    ) -> Result<bool, FetchFailure> {
        let path = format!("manifests/{under}");
        let send = HttpRequest::Bytes("PUT", media_type, bytes);
        let answer = self.ask(repo, PUSH, &path, send, ANSWER)?;
        if !matches!(answer.status, 200..=202) {
            return Err(refusal(&answer, repo, &format!("the manifest `{under}`")));
        }
        let digest = OciDigest::of(bytes);
        let told = answer.get("docker-content-digest");
        if told.is_some_and(|told| told != digest.as_str()) {
            let text = format!("`{repo}` stored something other than {digest}");
            return Err(Error::new(text).hint("tell the registry's owner").into());
        }
        Ok(answer.get("oci-subject").is_some())
    }

    /// Sends a skill and its signature. Returns how many blobs the registry did not have.
    fn put_skill(&self, repo: &OciRepo, skill: &Artifact) -> Result<usize, FetchFailure> {
        let mut sent = 0;
        for blob in [&skill.config, &skill.layer] {
            sent += usize::from(self.put_blob(repo, blob)?);
        }
        let bytes = skill.manifest.to_bytes();
        let subject = Descriptor::of(media_type::MANIFEST, &bytes);
        self.put_manifest(repo, subject.digest.as_str(), media_type::MANIFEST, &bytes)?;
        if let Some(signed) = &skill.signed {
            self.put_signature(repo, subject, signed)?;
        }
        Ok(sent)
    }

    fn put_signature(
        &self,
        repo: &OciRepo,
        subject: Descriptor,
        signed: &SignedManifest,
    ) -> Result<(), FetchFailure> {
        let files = [
            (media_type::SIGNED_MANIFEST, signed.manifest.as_bytes()),
            (media_type::SSH_SIGNATURE, signed.signature.as_bytes()),
        ];
        for bytes in files.map(|(_, bytes)| bytes).into_iter().chain([EMPTY]) {
            self.put_blob(repo, bytes)?;
        }
        let layers = files.map(|(kind, bytes)| Descriptor::of(kind, bytes));
        let fallback = format!("sha256-{}", subject.digest.hex());
        let signature = OciManifest {
            config: Some(Descriptor::of(media_type::EMPTY, EMPTY)),
            layers: Some(layers.to_vec()),
            subject: Some(subject),
            ..manifest(media_type::MANIFEST, media_type::SIGNATURE)
        };
        let bytes = signature.to_bytes();
        let mut listed = Descriptor::of(media_type::MANIFEST, &bytes);
        listed.artifact_type = signature.artifact_type;
        let under = listed.digest.as_str();
        if self.put_manifest(repo, under, media_type::MANIFEST, &bytes)? {
            return Ok(());
        }
        // A registry that keeps no lists of these has one under a tag, which clients keep.
        let known = match self.resolve(repo, &OciReference::parse(&fallback)?) {
            Ok(digest) => self.manifest(repo, &digest)?.manifests.clone(),
            Err(failure) if failure.class == FailureKind::NoRepository => None,
            Err(failure) => return Err(failure),
        };
        let mut all = known.unwrap_or_default();
        // The newest comes last.
        all.retain(|one| one.digest != listed.digest);
        all.push(listed);
        let mut list = manifest(media_type::INDEX, "");
        list.artifact_type = None;
        list.manifests = Some(all);
        self.put_manifest(repo, &fallback, media_type::INDEX, &list.to_bytes())?;
        Ok(())
    }
}
