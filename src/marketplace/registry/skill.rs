//! Skills as registries have them: one skill, whose layers are tars or files; a collection, an index
//! whose manifests are skills, of which only what is meant is fetched; and signatures, which have a
//! skill's manifest for their subject.

use std::collections::HashMap;
use std::rc::Rc;

use crate::marketplace::fetch::http::HttpRequest;
use crate::marketplace::fetch::{
    FailureKind, FetchFailure, Fetcher, ImageLayers, InMemoryTree, OpenedPlace, Snapshot,
};
use crate::marketplace::fetch::{check_total, choose_offers, is_packed, tree};
use crate::marketplace::prelude::*;
use crate::marketplace::reference::parse;
use crate::marketplace::registry::client::{PULL, file, refusal};
use crate::marketplace::registry::{Client, Descriptor, OciManifest, annotation, media_type};
use crate::marketplace::source::Origin;
use crate::marketplace::verification::{ManifestProof, ManifestProofs};
use crate::signing::SSH_SIGNATURE;

/// Layers of one artifact: some tools make one of each file.
const LAYERS: usize = 256;
/// How images mark what a layer removes from those below.
const WHITEOUT: &str = ".wh.";
/// How many signatures of one skill are looked at.
const SIGNATURES: usize = 16;
const REFERRERS: EntryName = EntryName::from_static(".referrers");

impl<'a> Fetcher<'a> {
    /// Opens a repository of a registry. Of a collection only the skills that are meant are fetched.
    ///
    /// # Errors
    /// When the registry cannot or may not be asked, or what it has is no skill.
    pub fn open_registry(
        &mut self,
        (repo, at): (&OciRepo, Option<&OciReference>),
        requested: &str,
        want: &RepositoryPart,
        (skills, all): (&[String], bool),
    ) -> Result<OpenedPlace<'a>, FetchFailure> {
        let of_repo = |error: Error| error.context(format!("`{repo}`"));
        let digest = self.resolve_tag(repo, at)?;
        let origin = Origin {
            source: repo.to_string(),
            kind: SourceKind::Oci,
            requested: requested.to_owned(),
            rev: at.map(|at| at.as_str().to_owned()),
            commit: Some(digest.to_string()),
            ..Origin::default()
        };
        let client = &self.registry;
        let mut beside = ManifestProofs::default();
        let (memory, members) = match client.open(repo, &digest)? {
            SkillOrCollection::Skill(manifest, real) => {
                let memory = client.files(repo, &manifest)?;
                beside.insert(String::new(), client.evidence(repo, &real)?);
                (memory, Vec::new())
            }
            SkillOrCollection::Collection(members) => {
                let chosen = members.choose(want, skills, all).map_err(of_repo)?;
                let (mut memory, mut left) = (InMemoryTree::default(), limits::BROUGHT);
                for member in &chosen {
                    let (place, manifest) = client.member(repo, member)?;
                    let files = client.files(&place, &manifest)?;
                    merge_into(member, &files, &mut memory, &mut left).map_err(of_repo)?;
                    let evidence = client.evidence(&place, &member.digest)?;
                    beside.insert(member.name.clone(), evidence);
                }
                let names = chosen.iter().map(|member| member.name.clone());
                (memory, names.collect())
            }
        };
        let (tree, name) = (memory.tree.clone(), repo.short_name());
        let opened = OpenedPlace::new(tree, memory, name, origin, beside).map_err(of_repo)?;
        check_names(&members, &opened.snapshot).map_err(of_repo)?;
        Ok(opened)
    }

    /// The digest of what a repository has at a tag, `latest` if none is named. Each is asked for
    /// once.
    ///
    /// # Errors
    /// When the registry cannot or may not be asked.
    pub fn resolve_tag(
        &self,
        repo: &OciRepo,
        at: Option<&OciReference>,
    ) -> Result<OciDigest, FetchFailure> {
        let latest = OciReference::latest();
        self.registry.resolve(repo, at.unwrap_or(&latest))
    }

    /// The skills of a collection, of which nothing else is fetched; `None` for a skill.
    ///
    /// # Errors
    /// When the registry cannot or may not be asked.
    pub fn collection(
        &self,
        repo: &OciRepo,
        at: Option<&OciReference>,
    ) -> Result<Option<CollectionMembers>, FetchFailure> {
        let digest = self.resolve_tag(repo, at)?;
        Ok(match self.registry.open(repo, &digest)? {
            SkillOrCollection::Skill(..) => None,
            SkillOrCollection::Collection(members) => Some(members),
        })
    }
}

/// Puts the files of a member's skill, which may be below one directory, into a directory of the
/// member's name. `left` is how many bytes there may be still.
fn merge_into(
    member: &CollectionMember,
    files: &InMemoryTree,
    all: &mut InMemoryTree,
    left: &mut u64,
) -> Result<()> {
    let name = &member.name;
    let is_skill = |dir: &str| {
        let mut below = files.tree.below(dir);
        below.any(|(path, _)| path.eq_ignore_ascii_case("SKILL.md"))
    };
    let tops = files.tree.iter().map(|(path, _)| path);
    let mut tops = tops.filter(|path| !path.contains('/'));
    let root = match (tops.next(), tops.next()) {
        (Some(top), None) if !is_skill("") => top,
        _ => "",
    };
    if !is_skill(root) {
        let text = format!("what it lists as `{}` has no SKILL.md", one_line(name));
        return Err(Error::new(text).hint("tell its publisher"));
    }
    check_total(files.size(), *left)?;
    *left -= files.size();
    all.add_below(files, root, name)
}

/// Checks that each member is the skill that the collection calls so.
fn check_names(members: &[String], snapshot: &Snapshot) -> Result<()> {
    for name in members {
        let found = snapshot.found.iter().find(|found| found.path == *name);
        if let Some(own) = found.map(|found| &found.skill.name)
            && Some(own) != SkillName::from_written(name).as_ref()
        {
            let text = format!("what it lists as `{}` is the skill `{own}`", one_line(name));
            return Err(Error::new(text).hint("tell its publisher"));
        }
    }
    Ok(())
}

/// What a digest leads to.
enum SkillOrCollection {
    /// One skill, by its manifest and that one's digest.
    Skill(Rc<OciManifest>, OciDigest),
    /// Several.
    Collection(CollectionMembers),
}

impl Client<'_> {
    /// Follows an index to its skills, or an image for several machines to one of its images.
    fn open(&self, repo: &OciRepo, digest: &OciDigest) -> Result<SkillOrCollection, FetchFailure> {
        let manifest = self.manifest(repo, digest)?;
        let Some(listed) = &manifest.manifests else {
            return Ok(SkillOrCollection::Skill(manifest, digest.clone()));
        };
        let is_named = |one: &Descriptor| one.said(annotation::SKILL_NAME).is_some();
        let is_collection = manifest.artifact_type.as_deref() == Some(media_type::COLLECTION)
            || manifest
                .annotations
                .contains_key(annotation::COLLECTION_NAME)
            || listed.iter().any(is_named);
        if is_collection {
            return Ok(SkillOrCollection::Collection(CollectionMembers::of(listed)));
        }
        let no_skill = |why: &str| {
            Error::new(format!("the index `{repo}@{digest}` lists {why}"))
                .hint("tell its publisher")
        };
        let first = listed.iter().find(|one| !one.is_attestation());
        let first = &first.ok_or_else(|| no_skill("nothing"))?.digest;
        let image = self.manifest(repo, first)?;
        if image.manifests.is_some() {
            return Err(no_skill("other indexes, and no skill").into());
        }
        Ok(SkillOrCollection::Skill(image, first.clone()))
    }

    /// The manifest of a member: in the collection's repository, or else where it says that it is
    /// published. Its digest is the collection's in either case.
    fn member(
        &self,
        repo: &OciRepo,
        member: &CollectionMember,
    ) -> Result<(OciRepo, Rc<OciManifest>), FetchFailure> {
        let (place, opened) = match (self.open(repo, &member.digest), &member.published) {
            (Err(failure), Some(other)) if failure.is_absence() && other != repo => {
                (other, self.open(other, &member.digest)?)
            }
            (opened, _) => (repo, opened?),
        };
        if let SkillOrCollection::Skill(manifest, _) = opened {
            return Ok((place.clone(), manifest));
        }
        let name = one_line(&member.name);
        let text = format!("`{name}` of `{repo}` is a collection, and no skill");
        Err(Error::new(text).hint("tell its publisher").into())
    }

    /// The files of a skill. Each blob has been checked.
    fn files(&self, repo: &OciRepo, manifest: &OciManifest) -> Result<InMemoryTree, FetchFailure> {
        let layers = manifest.layers.as_deref().unwrap_or_default();
        let sizes = layers.iter().map(|layer| layer.size);
        let total = sizes.fold(0, u64::saturating_add);
        if layers.len() > LAYERS || total > limits::DOWNLOAD {
            let most = limits::DOWNLOAD;
            let text = format!("`{repo}` has more than {LAYERS} layers or {most} bytes");
            return Err(FetchFailure::new(FailureKind::TooLarge, text));
        }
        let of_repo = |error: Error| error.context(format!("`{repo}`"));
        let mut all = ImageLayers::default();
        for layer in layers {
            let (kind, title) = (&layer.media_type, layer.said(annotation::TITLE));
            if kind == media_type::EMPTY {
                continue;
            }
            let is_tar = kind.contains("tar") && !kind.contains("zstd");
            if !is_tar && title.is_none() {
                let kind = one_line(kind);
                let text = format!("a layer has the type `{kind}`, which is not known");
                let hint = "`tar` and `tar+gzip` can be read, and files with a title";
                return Err(of_repo(Error::new(text).hint(hint)).into());
            }
            let bytes = self.blob(repo, layer)?;
            let added = match title {
                // The usual type of a file that `oras push` sends is that of a tar.
                Some(title) if !kind.contains("tar") || !is_packed(&bytes) => {
                    all.add_file(title, &bytes)
                }
                _ => all.add(&bytes),
            };
            added.map_err(of_repo)?;
        }
        let memory = all.memory.unwrapped().map_err(of_repo)?;
        let is_whiteout = |path: &str| tree::base(path).starts_with(WHITEOUT);
        if memory.tree.iter().any(|(path, _)| is_whiteout(path)) {
            let text = "a layer removes files of another";
            let error = Error::new(text).hint("ask its author for an image built from scratch");
            return Err(of_repo(error).into());
        }
        Ok(memory)
    }

    /// What is signed about a skill's manifest, the newest first; of many signatures only those that
    /// the registry lists last. Whether one holds is not looked at. One that cannot be fetched counts
    /// as none: where a signature is required, that refuses the skill.
    fn evidence(
        &self,
        repo: &OciRepo,
        subject: &OciDigest,
    ) -> Result<Vec<ManifestProof>, FetchFailure> {
        let listed = self.referrers(repo, subject)?;
        let newest = listed.iter().rev().take(SIGNATURES);
        let found = newest.filter_map(|one| self.signed(repo, subject, one).ok().flatten());
        Ok(found.collect())
    }

    fn signed(
        &self,
        repo: &OciRepo,
        subject: &OciDigest,
        listed: &Descriptor,
    ) -> Result<Option<ManifestProof>> {
        let manifest = self.manifest(repo, &listed.digest)?;
        // A list that was put there by hand may name the signature of something else.
        let of = manifest.subject.as_ref().map(|subject| &subject.digest);
        if of.is_some_and(|of| of != subject) {
            return Ok(None);
        }
        let layers = manifest.layers.as_deref().unwrap_or_default();
        ManifestProof::find(|end| {
            let kind = match end {
                SSH_SIGNATURE => media_type::SSH_SIGNATURE,
                _ => media_type::SIGNED_MANIFEST,
            };
            let is_small_part =
                |layer: &&Descriptor| layer.media_type == kind && layer.size <= limits::MANIFEST;
            let layer = layers.iter().find(is_small_part);
            Ok(layer.map(|layer| self.blob(repo, layer)).transpose()?)
        })
    }

    /// The signatures that have this manifest for their subject: by the registry's list, or where it
    /// keeps none, by that under the tag `sha256-HEX`. Empty if the registry shows neither.
    fn referrers(
        &self,
        repo: &OciRepo,
        subject: &OciDigest,
    ) -> Result<Vec<Descriptor>, FetchFailure> {
        let file = file(subject).with_end(&REFERRERS);
        if self.offline {
            let kept = self.kept(&file, limits::INDEX).unwrap_or_default();
            return Ok(serde_json::from_slice(&kept).unwrap_or_default());
        }
        let kind = media_type::SIGNATURE;
        let mut listed: Vec<Descriptor> = Vec::new();
        for place in [
            format!("referrers/{subject}?artifactType={kind}"),
            format!("manifests/sha256-{}", subject.hex()),
        ] {
            let answer = self.ask(repo, PULL, &place, HttpRequest::Get, limits::INDEX)?;
            if answer.status == 200 {
                let index = OciManifest::parse(&answer.body).ok();
                listed = index.and_then(|index| index.manifests).unwrap_or_default();
                break;
            }
            if FailureKind::of_status(answer.status) == FailureKind::Busy {
                return Err(refusal(&answer, repo, "the list of signatures"));
            }
        }
        listed.retain(|one| one.artifact_type.as_deref() == Some(kind));
        if let Ok(bytes) = serde_json::to_vec(&listed) {
            self.keep(&file, &bytes);
        }
        Ok(listed)
    }
}

/// A skill of a collection.
#[derive(Debug, Clone)]
pub struct CollectionMember {
    /// Its name, which is also the directory it gets.
    pub name: String,
    /// What the collection says of it; empty if nothing.
    pub description: String,
    /// Where it is published, if that is said.
    published: Option<OciRepo>,
    /// The digest of its manifest.
    digest: OciDigest,
}

/// The skills of a collection.
#[derive(Debug, Default)]
pub struct CollectionMembers {
    /// Those with a usable name.
    pub all: Vec<CollectionMember>,
    /// What the first other entry calls itself. Whoever makes something equal to the list has to
    /// know that there is one.
    pub unusable: Option<String>,
}

impl CollectionMembers {
    fn of(listed: &[Descriptor]) -> Self {
        let mut members = Self::default();
        for one in listed.iter().filter(|one| !one.is_attestation()) {
            let named = one.said(annotation::SKILL_NAME);
            let named = named.or_else(|| one.said(annotation::TITLE));
            if let Some(member) = CollectionMember::of(one, named) {
                members.all.push(member);
            } else {
                let said = || named.unwrap_or(one.digest.as_str()).to_owned();
                members.unusable.get_or_insert_with(said);
            }
        }
        members
    }

    /// The members that are meant. It never guesses.
    fn choose(
        &self,
        want: &RepositoryPart,
        skills: &[String],
        all: bool,
    ) -> Result<Vec<&CollectionMember>> {
        let names: Vec<&str> = self.all.iter().map(|member| member.name.as_str()).collect();
        let mut counts = HashMap::new();
        for name in &names {
            *counts.entry(*name).or_insert(0) += 1;
        }
        let chosen = choose_offers(&names, want, skills, all)?;
        if let Some(at) = chosen.iter().find(|at| counts[names[**at]] > 1) {
            let name = one_line(names[*at]);
            let text = format!("the collection has `{name}` more than once");
            return Err(Error::new(text).hint("install it from where it is published"));
        }
        Ok(chosen.into_iter().map(|at| &self.all[at]).collect())
    }
}

impl CollectionMember {
    /// The skill that a collection lists so; `None` for one without a usable name.
    fn of(listed: &Descriptor, named: Option<&str>) -> Option<Self> {
        let published = listed.said(annotation::SKILL_REF);
        let published = published.or_else(|| listed.said(annotation::REF_NAME));
        // `HOST/NAME[:TAG][@DIGEST]`
        let published = published.and_then(|written| {
            let bare = written.strip_prefix("oci://").unwrap_or(written);
            Some(parse::registry(&format!("oci://{bare}")).ok()?.0)
        });
        let name = named.or_else(|| published.as_ref().map(OciRepo::short_name))?;
        if name.contains('/') || SkillName::from_written(name).is_none() {
            return None;
        }
        let description = listed.said(annotation::DESCRIPTION);
        Some(Self {
            name: name.to_owned(),
            description: description.unwrap_or_default().to_owned(),
            published,
            digest: listed.digest.clone(),
        })
    }
}
