//! A collection: an index whose manifests are skills, each named by its annotations, so that its
//! list needs nothing but the index. What is in no form of a collection is one skill.

use std::collections::HashSet;
use std::rc::Rc;

use crate::error::{Error, Result};
use crate::marketplace::fetch::{Class, Failure, choose_offers};
use crate::marketplace::reference::{OciDigest, OciRepo, Want};
use crate::marketplace::registry::member::Members;
use crate::marketplace::registry::{Client, Descriptor, Manifest, Member, annotation, media_type};
use crate::skill::one_line;

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
    Collection(Rc<Members>),
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
            if let Some(known) = self.collections.borrow().get(&at) {
                return Ok(Opened::Collection(Rc::clone(known)));
            }
            if is_collection(&manifest) {
                let mut reading = Reading::default();
                self.collect(repo, listed, DEPTH, &mut reading)?;
                let members = Rc::new(reading.members);
                let mut known = self.collections.borrow_mut();
                known.insert(at, Rc::clone(&members));
                return Ok(Opened::Collection(members));
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
