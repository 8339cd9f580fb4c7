//! `list --sbom`: what is installed, as a software bill.

use std::path::Path;

use crate::catalog::{Entry, Installed};
use crate::cli::prelude::*;
use crate::cli::report::is_told;
use crate::marketplace::{Digest, Item, LockEntry, cyclonedx};
use crate::sys::Progress;

/// The bill of every skill directory that the caller may know of, also of those that are not offered.
pub fn bill(facts: &Facts) -> Result<String> {
    let catalog = Catalog::of(facts);
    let entries = catalog.entries().iter();
    let told = entries.filter(|entry| is_told(&facts.run, entry));
    let entries: Vec<&Entry> = told.collect();
    let mut origins = Installed::default();
    let progress = Progress::new("reading skills", entries.len(), watched(&facts.run));
    let skills = entries.iter().enumerate().map(|(done, entry)| {
        progress.at(done);
        item(facts, entry, &mut origins)
    });
    let mut skills: Vec<Item> = skills.collect();
    skills.sort_by(|a, b| a.directory.cmp(&b.directory));
    json::bare(&cyclonedx(&skills))
}

fn item(facts: &Facts, entry: &Entry, origins: &mut Installed) -> Item {
    let home = facts.run.env.home();
    let shown = |path: &Path| below_home(path, home.as_deref());
    let skill = entry.disclosed();
    // Of the files of an untrusted project not even the names are shown.
    let content = if entry.is_concealed() {
        Err("it is a project's that is not trusted".to_owned())
    } else {
        Digest::read(&entry.dir).map_err(|error| error.to_string())
    };
    let origin = origins.said(facts, entry).cloned();
    let origin = origin.filter(|_| !entry.is_concealed());
    let place = |source: &str| shown(Path::new(source.strip_prefix("file://").unwrap_or(source)));
    let origin = origin.map(|said| LockEntry {
        source: place(&said.source),
        address: said.address.as_deref().map(place),
        ..said
    });
    let license = skill.and_then(|skill| skill.fields.text("license"));
    let installed = || origin.as_ref()?.license.as_deref().map(str::to_owned);
    Item {
        name: entry.name(),
        layer: entry.layer.as_str(),
        directory: shown(&entry.dir),
        version: skill.and_then(|skill| skill.fields.version()),
        license: license.or_else(|| installed().filter(|_| skill.is_none())),
        claimed: origin.is_some() && entry.layer == Layer::Project,
        linked_to: std::fs::read_link(&entry.dir).ok().map(|to| shown(&to)),
        entry: origin,
        content,
    }
}

/// A path without the name of its user, as people write it: a bill is made to be handed on.
fn below_home(path: &Path, home: Option<&Path>) -> String {
    let below = home.and_then(|home| path.strip_prefix(home).ok());
    let path = below.map_or_else(|| path.to_owned(), |below| Path::new("~").join(below));
    path.display().to_string()
}
