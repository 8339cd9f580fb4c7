//! A collection: an index whose manifests are skills, each named by its annotations, so that its
//! list needs nothing but the index. What is in no form of a collection is one skill.

use std::collections::HashSet;
use std::rc::Rc;

use crate::error::{Error, Result};
use crate::marketplace::fetch::{Class, Failure, choose_offers};
use crate::marketplace::reference::{OciDigest, OciRepo, Want};
use crate::marketplace::registry::{Client, Descriptor, Manifest, annotation, media_type};
use crate::skill::{SkillName, one_line};

/// How deep indexes are in one another.
const DEPTH: usize = 3;
/// Skills of a collection.
const SKILLS: usize = 50_000;
/// Entries of all its indexes together, and how many indexes these are.
const ENTRIES: usize = 2 * SKILLS;
const PARTS: usize = 64;

/// What a digest leads to.
pub enum Opened {
    /// One skill.
    Skill(Rc<Manifest>, OciDigest),
    /// Several.
    Collection(Members),
}

/// What is found while the indexes of a collection are read.
#[derive(Default)]
struct Reading {
    members: Members,
    /// The indexes that were read: each is read once, however often it is listed.
    parts: HashSet<OciDigest>,
    entries: usize,
}

impl Client<'_> {
    /// Follows an index to its skills, or an image for several machines to one of its images.
    ///
    /// # Errors
    /// When the registry cannot be asked, or the index leads nowhere.
    pub fn open(&self, repo: &OciRepo, digest: &OciDigest) -> Result<Opened, Failure> {
        let mut at = digest.clone();
        for _ in 0..=DEPTH {
            let manifest = self.manifest(repo, &at)?;
            let Some(listed) = &manifest.manifests else {
                return Ok(Opened::Skill(manifest, at));
            };
            if is_collection(&manifest) {
                let mut reading = Reading::default();
                self.collect(repo, listed, DEPTH, &mut reading)?;
                return Ok(Opened::Collection(reading.members));
            }
            let first = listed.iter().find(|one| !one.is_attestation());
            let first = first.ok_or_else(|| {
                Error::new(format!("the index `{repo}@{at}` lists nothing"))
                    .hint("tell whoever published it")
            })?;
            at = first.digest.clone();
        }
        Err(too_deep(repo).into())
    }

    fn collect(
        &self,
        repo: &OciRepo,
        listed: &[Descriptor],
        depth: usize,
        reading: &mut Reading,
    ) -> Result<(), Failure> {
        for one in listed {
            reading.entries += 1;
            if reading.members.all.len() >= SKILLS || reading.entries > ENTRIES {
                let text = format!("`{repo}` lists more than {SKILLS} skills");
                return Err(Failure::new(Class::TooLarge, text));
            }
            // A part of a collection that is too long for one index has no name of a skill.
            if one.is_index() && one.said(annotation::SKILL_NAME).is_none() {
                let below = depth.checked_sub(1).ok_or_else(|| too_deep(repo))?;
                if !reading.parts.insert(one.digest.clone()) {
                    continue;
                }
                if reading.parts.len() > PARTS {
                    let text = format!("`{repo}` is in more than {PARTS} parts");
                    return Err(Failure::new(Class::TooLarge, text));
                }
                let part = self.manifest(repo, &one.digest)?;
                let listed = part.manifests.as_deref().unwrap_or_default();
                self.collect(repo, listed, below, reading)?;
            } else {
                reading.members.add(one);
            }
        }
        Ok(())
    }

    /// The manifest of a member: in the collection's repository, or else where it says that it is
    /// published. Its digest is the collection's in either case.
    ///
    /// # Errors
    /// When neither has it.
    pub fn member(
        &self,
        repo: &OciRepo,
        member: &Member,
    ) -> Result<(OciRepo, Rc<Manifest>), Failure> {
        let digest = &member.manifest.digest;
        let (place, opened) = match (self.open(repo, digest), &member.published) {
            (Err(failure), Some(other)) if failure.is_absence() && other != repo => {
                (other.clone(), self.open(other, digest)?)
            }
            (opened, _) => (repo.clone(), opened?),
        };
        match opened {
            Opened::Skill(manifest, _) => Ok((place, manifest)),
            Opened::Collection(_) => {
                let name = one_line(&member.name);
                let text = format!("`{name}` of `{repo}` is a collection, and no skill");
                Err(Error::new(text).hint("tell whoever published it").into())
            }
        }
    }
}

/// The members that are meant. It never guesses.
///
/// # Errors
/// When one is not there, or there twice, or it is not said which of several.
pub fn choose<'m>(
    members: &'m [Member],
    want: &Want,
    skills: &[String],
    all: bool,
) -> Result<Vec<&'m Member>> {
    let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
    let chosen = choose_offers(&names, want, skills, all)?;
    let mut seen = HashSet::new();
    let chosen: Vec<&Member> = chosen.into_iter().map(|at| &members[at]).collect();
    let mut twice = HashSet::new();
    for member in members {
        if !seen.insert(&member.name) {
            twice.insert(&member.name);
        }
    }
    if let Some(member) = chosen.iter().find(|member| twice.contains(&member.name)) {
        let name = one_line(&member.name);
        let text = format!("the collection has `{name}` more than once");
        return Err(Error::new(text).hint("install it from where it is published"));
    }
    Ok(chosen)
}

fn is_collection(index: &Manifest) -> bool {
    let listed = index.manifests.as_deref().unwrap_or_default();
    index.artifact_type.as_deref() == Some(media_type::COLLECTION)
        || index.annotations.contains_key(annotation::COLLECTION_NAME)
        || listed
            .iter()
            .any(|one| one.said(annotation::SKILL_NAME).is_some())
}

fn too_deep(repo: &OciRepo) -> Error {
    Error::new(format!(
        "the indexes of `{repo}` are in one another too deep"
    ))
    .hint("tell whoever published it")
}

/// A skill of a collection.
#[derive(Debug, Clone)]
pub struct Member {
    /// Its name, which is also the directory it gets.
    pub name: String,
    /// What the collection says of it; empty if nothing.
    pub description: String,
    /// Where it is published, if that is said.
    pub published: Option<OciRepo>,
    /// Its manifest.
    pub manifest: Descriptor,
}

/// The skills of a collection.
#[derive(Debug, Default)]
pub struct Members {
    /// Those with a usable name.
    pub all: Vec<Member>,
    /// What the first other entry calls itself. Whoever makes something equal to the list has to
    /// know that there is one.
    pub unusable: Option<String>,
}

impl Members {
    /// Adds what a collection lists so.
    pub fn add(&mut self, listed: &Descriptor) {
        match Member::of(listed) {
            Some(member) => self.all.push(member),
            None if listed.is_attestation() => {}
            None => {
                let said = listed.said(annotation::SKILL_NAME);
                let said = said.or_else(|| listed.said(annotation::TITLE));
                let said = || said.unwrap_or(listed.digest.as_str()).to_owned();
                self.unusable.get_or_insert_with(said);
            }
        }
    }
}

impl std::ops::Deref for Members {
    type Target = [Member];

    fn deref(&self) -> &[Member] {
        &self.all
    }
}

impl Member {
    /// The skill that a collection lists so; `None` for one without a usable name.
    pub fn of(listed: &Descriptor) -> Option<Self> {
        let said = |key| listed.said(key);
        let published = said(annotation::SKILL_REF).or_else(|| said(annotation::REF_NAME));
        let repo = published.and_then(published_at);
        let named = said(annotation::SKILL_NAME).or_else(|| said(annotation::TITLE));
        let name = named.or_else(|| repo.as_ref().map(OciRepo::short_name))?;
        if name.contains('/') || SkillName::from_written(name).is_none() {
            return None;
        }
        Some(Self {
            name: name.to_owned(),
            description: said(annotation::DESCRIPTION).unwrap_or_default().to_owned(),
            published: repo,
            manifest: listed.clone(),
        })
    }
}

/// The repository in `HOST/NAME[:TAG][@DIGEST]`.
fn published_at(written: &str) -> Option<OciRepo> {
    let bare = written.strip_prefix("oci://").unwrap_or(written);
    let bare = bare.split('@').next().unwrap_or_default();
    let name = bare.rfind('/')?;
    let end = bare[name..]
        .find(':')
        .map_or(bare.len(), |colon| name + colon);
    OciRepo::parse(&format!("oci://{}", &bare[..end])).ok()
}
