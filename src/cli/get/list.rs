//! `list`: what is installed; `search`: what can be.

use crate::catalog::InstalledEntries;
use crate::cli::look::list_installed::list_installed;
use crate::cli::prelude::*;
use crate::marketplace::{Digest, Item, cyclonedx};

/// The length of a description that is enough for a model to choose.
const HOST_CHARS: usize = 100;

/// List the installed skills and their problems
#[derive(Debug, clap::Args)]
pub struct ListArgs {
    /// Show descriptions, directories, sources and problems in full
    #[arg(long, short)]
    pub long: bool,
    /// Print what is installed as a software bill, in JSON
    #[arg(long, conflicts_with = "long")]
    pub sbom: bool,
}

impl ListArgs {
    /// What is installed.
    pub fn run(&self, call: CliCall) -> Answer {
        if self.sbom {
            // Clap overlooks a common option that stands before the verb.
            if call.common.json {
                let text = "error: `--json` and `--sbom` are two formats: leave one of them out\n";
                return Err(Failure::Misused(text.to_owned()));
            }
            return Ok(bill(call.facts)?);
        }
        Ok(list_installed(call, self.long)?)
    }
}

/// The bill of every skill directory that the caller may know of, also of those that are not offered.
fn bill(facts: &Facts) -> Result<String> {
    let catalog = Catalog::of(facts);
    let entries = catalog.entries().iter();
    let told = entries.filter(|entry| is_told(&facts.run, entry));
    let entries: Vec<&Entry> = told.collect();
    let mut origins = InstalledEntries::default();
    let progress = Progress::new("reading skills", entries.len(), watched(&facts.run));
    let skills = entries.iter().enumerate().map(|(done, entry)| {
        progress.at(done);
        item(facts, entry, &mut origins)
    });
    let mut skills: Vec<Item> = skills.collect();
    skills.sort_by(|a, b| a.directory.cmp(&b.directory));
    json::bare(&cyclonedx(&skills))
}

fn item(facts: &Facts, entry: &Entry, origins: &mut InstalledEntries) -> Item {
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

/// Search the skills that can be installed
#[derive(Debug, clap::Args)]
pub struct SearchArgs {
    /// Words to look for; all skills if omitted
    pub words: Vec<String>,
    /// Use cached data, without the network
    #[arg(long)]
    pub offline: bool,
    /// Show whole descriptions and sources
    #[arg(long, short)]
    pub long: bool,
}

impl SearchArgs {
    /// The matching skills in a table.
    pub fn run(&self, call: CliCall) -> Result<String> {
        let market = market(call, Layer::Plugin, self.offline);
        let listed = market.search(&self.words, &mut note)?;
        if call.common.json {
            return json::list("skills", &listed);
        }
        if listed.is_empty() && self.words.is_empty() {
            return Ok("The sources have no skills.\n".to_owned());
        }
        if listed.is_empty() {
            let words = one_line(&self.words.join(" "));
            return Ok(format!("No skill matches `{words}`. `search` shows all.\n"));
        }
        // The first is the argument of `install`, so it must not be shortened.
        let columns = [("SKILL", 0), ("DESCRIPTION", 12)];
        let mut table = Table::new(&columns, "DESCRIPTION");
        for skill in &listed {
            let description = if call.screen.is_host {
                brief(&skill.description, HOST_CHARS)
            } else {
                one_line(&skill.description)
            };
            let mark = if skill.installed { "(installed) " } else { "" };
            let description = Cell::new(format!("{mark}{description}"));
            let reference = Cell::new(one_line(&skill.reference));
            if self.long || call.common.verbose {
                let source = Cell::new(one_line(&skill.source)).paint(Paint::Dim);
                table.row(vec![reference, Cell::default()], vec![description, source]);
            } else {
                table.row(vec![reference, description], Vec::new());
            }
        }
        Ok(table.render(call.screen))
    }
}
