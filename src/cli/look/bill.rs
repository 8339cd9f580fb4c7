//! `list --sbom`: what is installed, as a software bill.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use clap::ValueEnum;

use crate::catalog::{Entry, Installed, Layer};
use crate::cli::json;
use crate::cli::market::watched;
use crate::cli::report::is_told;
use crate::error::{Error, Result};
use crate::marketplace::{Bill, Content, Item, LockEntry};
use crate::run_context::RunContext;
use crate::sys::{Moment, Progress, millis};

/// When reproducible builds say that something was made (<https://reproducible-builds.org/specs/source-date-epoch>).
const EPOCH: &str = "SOURCE_DATE_EPOCH";

/// The format of a software bill.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Format {
    /// `CycloneDX` 1.6
    #[value(help = "CycloneDX 1.6")]
    Cyclonedx,
    /// SPDX 2.3
    Spdx,
}

/// The bill of every skill directory that the caller may know of, also of those that are not offered.
pub fn bill(ctx: &RunContext, format: Format) -> Result<String> {
    let catalog = ctx.catalog();
    let told = catalog.entries().iter().filter(|entry| is_told(ctx, entry));
    let entries: Vec<&Entry> = told.collect();
    let created = created(ctx, &entries)?;
    let mut origins = Installed::default();
    let progress = Progress::new("reading skills", entries.len(), watched(ctx));
    let skills = entries.iter().enumerate().map(|(done, entry)| {
        progress.at(done);
        item(ctx, entry, &mut origins)
    });
    let mut skills: Vec<Item> = skills.collect();
    skills.sort_by(|a, b| a.directory.cmp(&b.directory));
    let bill = Bill { skills, created };
    json::bare(&match format {
        Format::Cyclonedx => bill.cyclonedx(),
        Format::Spdx => bill.spdx(),
    })
}

fn item(ctx: &RunContext, entry: &Entry, origins: &mut Installed) -> Item {
    let home = ctx.env.home();
    let shown = |path: &Path| below_home(path, home.as_deref());
    let skill = entry.disclosed();
    // Of the files of an untrusted project not even the names are shown.
    let content = if entry.is_concealed() {
        Content::Unread("it is a project's that is not trusted".to_owned())
    } else {
        Content::read(&entry.dir)
    };
    let origin = origins.said(ctx, entry).cloned();
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

/// When the bill became true: `SOURCE_DATE_EPOCH`, else when a lockfile or a `SKILL.md` changed last.
/// The present would make two bills of one installation differ.
fn created(ctx: &RunContext, entries: &[&Entry]) -> Result<String> {
    let given = ctx.env.text(EPOCH).filter(|given| !given.is_empty());
    let given = given.map(|given| {
        let seconds: Option<u64> = given.parse().ok();
        let millis = seconds.and_then(|seconds| seconds.checked_mul(1000));
        millis.ok_or_else(|| {
            Error::new(format!(
                "{EPOCH} is `{}`, which is no time",
                given.escape_debug()
            ))
            .hint("set it to seconds since 1970, or unset it")
        })
    });
    let moment = match given.transpose()? {
        Some(millis) => millis,
        None => entries
            .iter()
            .flat_map(|entry| times(entry))
            .max()
            .unwrap_or(0),
    };
    let text = Moment(moment).to_string();
    // The formats have no fractions of seconds.
    Ok(text.split('.').next().unwrap_or_default().to_owned() + "Z")
}

fn times(entry: &Entry) -> impl Iterator<Item = u64> {
    let base = entry.dir.parent().and_then(Path::parent);
    let lockfile = base.map(|base| base.join("skills.lock.json"));
    let files: [Option<PathBuf>; 2] = [Some(entry.dir.join("SKILL.md")), lockfile];
    files.into_iter().flatten().filter_map(|path| {
        let modified = std::fs::metadata(path).ok()?.modified().ok()?;
        Some(millis(modified.duration_since(UNIX_EPOCH).ok()?))
    })
}
