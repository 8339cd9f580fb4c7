//! The content of a source at one time, with the skills that are found in it.

use crate::error::Result;
use crate::marketplace::fetch::{Content, Tree};
use crate::marketplace::signature::Evidences;
use crate::marketplace::source::{Found, Manifest, discover};

/// The content of a source at one time.
pub struct Snapshot<'a> {
    /// Its files.
    pub tree: Tree,
    /// Their bytes.
    pub content: Box<dyn Content + 'a>,
    /// Its skills, main copies first.
    pub found: Vec<Found>,
    /// Its manifest; empty when it has none.
    pub manifest: Manifest,
    /// The signed manifests that are beside skills, by their paths; that beside an archive, or an
    /// artifact of one skill, counts for all and has none.
    pub beside: Evidences,
}

impl<'a> Snapshot<'a> {
    /// What the files in `tree` are; `name` is that of a skill at the root without its own.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn new(mut tree: Tree, content: impl Content + 'a, name: &str) -> Result<Self> {
        let (found, manifest) = discover(&mut tree, &content, name)?;
        let content = Box::new(content);
        Ok(Self {
            tree,
            content,
            found,
            manifest,
            beside: Evidences::default(),
        })
    }
}
