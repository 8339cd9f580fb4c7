//! All links of a run, read once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::place::Link;
use super::shared::Shared;
use crate::catalog::Layer;
use crate::run_context::RunContext;

/// The links to every installed skill, by its directory.
#[derive(Debug, Default)]
pub struct Links(BTreeMap<PathBuf, Vec<Link>>);

impl Links {
    /// Those of all layers.
    pub fn of(ctx: &RunContext) -> Rc<Self> {
        ctx.once(|| {
            let mut all: BTreeMap<PathBuf, Vec<Link>> = BTreeMap::new();
            let layers = Layer::ALL.into_iter();
            for shared in layers.filter_map(|layer| Shared::of(ctx, layer)) {
                for (skill, link) in shared.all() {
                    all.entry(skill).or_default().push(link);
                }
            }
            Self(all)
        })
    }

    /// Those to the skill in this directory.
    pub fn to(&self, skill: &Path) -> &[Link] {
        self.0.get(skill).map_or(&[], Vec::as_slice)
    }
}
