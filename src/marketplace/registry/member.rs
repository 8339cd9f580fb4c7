//! A skill as a collection's index lists it. Pure.

use crate::marketplace::reference::OciRepo;
use crate::marketplace::registry::{Descriptor, annotation};
use crate::skill::SkillName;

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
