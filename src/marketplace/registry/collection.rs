//! A collection: an index whose manifests are skills, each named by its annotations, so that its
//! list needs nothing but the index. What is in no form of a collection is one skill.

use std::collections::HashMap;
use std::rc::Rc;

use crate::error::{Error, Result};
use crate::marketplace::fetch::{Failure, choose_offers};
use crate::marketplace::reference::{OciDigest, OciRepo, Want, forms};
use crate::marketplace::registry::{Client, Descriptor, Manifest, annotation, media_type};
use crate::skill::{SkillName, one_line};

/// What a digest leads to.
pub enum Opened {
    /// One skill.
    Skill(Rc<Manifest>, OciDigest),
    /// Several.
    Collection(Members),
}

impl Client<'_> {
    /// Follows an index to its skills, or an image for several machines to one of its images.
    ///
    /// # Errors
    /// When the registry cannot be asked, or the index leads nowhere.
    pub fn open(&self, repo: &OciRepo, digest: &OciDigest) -> Result<Opened, Failure> {
        let manifest = self.manifest(repo, digest)?;
        let Some(listed) = &manifest.manifests else {
            return Ok(Opened::Skill(manifest, digest.clone()));
        };
        let is_collection = manifest.artifact_type.as_deref() == Some(media_type::COLLECTION)
            || manifest
                .annotations
                .contains_key(annotation::COLLECTION_NAME)
            || listed
                .iter()
                .any(|one| one.said(annotation::SKILL_NAME).is_some());
        if is_collection {
            return Ok(Opened::Collection(Members::of(listed)));
        }
        let no_skill = |why: &str| {
            Error::new(format!("the index `{repo}@{digest}` lists {why}"))
                .hint("tell whoever published it")
        };
        let first = listed.iter().find(|one| !one.is_attestation());
        let first = &first.ok_or_else(|| no_skill("nothing"))?.digest;
        let image = self.manifest(repo, first)?;
        if image.manifests.is_some() {
            return Err(no_skill("other indexes, and no skill").into());
        }
        Ok(Opened::Skill(image, first.clone()))
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
    fn of(listed: &[Descriptor]) -> Self {
        let mut members = Self::default();
        for one in listed.iter().filter(|one| !one.is_attestation()) {
            let named = one
                .said(annotation::SKILL_NAME)
                .or_else(|| one.said(annotation::TITLE));
            if let Some(member) = Member::of(one, named) {
                members.all.push(member);
            } else {
                let said = || named.unwrap_or(one.digest.as_str()).to_owned();
                members.unusable.get_or_insert_with(said);
            }
        }
        members
    }

    /// The members that are meant. It never guesses.
    ///
    /// # Errors
    /// When one is not there, or there twice, or it is not said which of several.
    pub fn choose(&self, want: &Want, skills: &[String], all: bool) -> Result<Vec<&Member>> {
        let names: Vec<&str> = self.all.iter().map(|member| member.name.as_str()).collect();
        let mut counts = HashMap::new();
        for name in &names {
            *counts.entry(*name).or_insert(0) += 1;
        }
        let chosen = choose_offers(&names, want, skills, all)?;
        if let Some(at) = chosen.iter().find(|at| counts[names[**at]] > 1) {
            let text = format!(
                "the collection has `{}` more than once",
                one_line(names[*at])
            );
            return Err(Error::new(text).hint("install it from where it is published"));
        }
        Ok(chosen.into_iter().map(|at| &self.all[at]).collect())
    }
}

impl Member {
    /// The skill that a collection lists so; `None` for one without a usable name.
    fn of(listed: &Descriptor, named: Option<&str>) -> Option<Self> {
        let published = listed.said(annotation::SKILL_REF);
        let published = published.or_else(|| listed.said(annotation::REF_NAME));
        // `HOST/NAME[:TAG][@DIGEST]`
        let repo = published.and_then(|written| {
            let bare = written.strip_prefix("oci://").unwrap_or(written);
            Some(forms::registry(&format!("oci://{bare}")).ok()?.0)
        });
        let name = named.or_else(|| repo.as_ref().map(OciRepo::short_name))?;
        if name.contains('/') || SkillName::from_written(name).is_none() {
            return None;
        }
        let description = listed.said(annotation::DESCRIPTION);
        Some(Self {
            name: name.to_owned(),
            description: description.unwrap_or_default().to_owned(),
            published: repo,
            manifest: listed.clone(),
        })
    }
}
