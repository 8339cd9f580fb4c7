//! The default source as a catalog to list and search, kept on disk so that it costs one question
//! to the repository, and none offline.

use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::address::RepoUrl;
use super::choose::Want;
use super::discover::Found;
use super::market::Market;
use super::reference::{At, DEFAULT_OWNER, DEFAULT_REPO, Reference};
use super::staging::Staging;
use crate::error::{Error, Result};
use crate::sys::{files, limits};

const VERSION: u64 = 1;

/// A skill that can be installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// Its author's words, unescaped; empty when there are none.
    pub description: String,
    /// The repository's address.
    pub source: String,
    /// Its directory there.
    pub path: String,
    /// What to type to install it.
    pub reference: String,
}

#[derive(Serialize, Deserialize)]
struct Cached {
    version: u64,
    source: String,
    commit: String,
    skills: Vec<Listed>,
}

/// The reference in a form that can mean nothing but a configured source, if its first reading is
/// one; `None` when it is another place's.
pub fn within_sources(reference: &str) -> Option<String> {
    let source = RepoUrl::github(DEFAULT_OWNER, DEFAULT_REPO).ok()?;
    let Reference::Remote(readings) = Reference::parse(reference).ok()? else {
        return None;
    };
    match &readings[..] {
        [only] if only.url == source => Some(reference.to_owned()),
        [first, ..] if first.url == source => match (&first.want, &first.at) {
            (Want::Named(name), At::Default) => {
                Some(format!("github:{DEFAULT_OWNER}/{DEFAULT_REPO}@{name}"))
            }
            _ => None,
        },
        _ => None,
    }
}

impl Market<'_> {
    /// The skills of the default source, sorted by name. Without a network, or `offline`, those
    /// that were there when it was last asked.
    ///
    /// # Errors
    /// When the source cannot be read and was never read before.
    pub fn list(&self, offline: bool, note: &mut dyn FnMut(&str)) -> Result<Vec<Listed>> {
        let url = RepoUrl::github(DEFAULT_OWNER, DEFAULT_REPO)?;
        let cached = self.cached(&url);
        if offline {
            return cached.map(|cached| cached.skills).ok_or_else(|| {
                Error::new(format!("the catalog of {url} is not on this machine"))
                    .hint("run `agent-skills list` once with a network")
            });
        }
        match (self.refresh(&url, cached.as_ref()), cached) {
            (Ok(Some(fresh)), _) => Ok(fresh.skills),
            (Ok(None), Some(cached)) => Ok(cached.skills),
            (Err(error), Some(cached)) => {
                note(&format!("{error}; this is the catalog as it was last seen"));
                Ok(cached.skills)
            }
            (Err(error), None) => Err(error),
            (Ok(None), None) => Ok(Vec::new()),
        }
    }

    /// The skills of the default source that `words` fit, best first: the exact name, then words
    /// in the name, then words in the description. Of several words, as many as any skill has.
    ///
    /// # Errors
    /// As [`Market::list`].
    pub fn search(
        &self,
        words: &[String],
        offline: bool,
        note: &mut dyn FnMut(&str),
    ) -> Result<Vec<Listed>> {
        Ok(rank(self.list(offline, note)?, words))
    }

    /// Asks the repository for its commit, and reads it when that is not the cached one.
    fn refresh(&self, url: &RepoUrl, cached: Option<&Cached>) -> Result<Option<Cached>> {
        let staging = Staging::new(self.plugin_dir, self.patience())?;
        let mut fetcher = self.fetcher(&staging);
        let commit = fetcher.resolve(url, &At::Default)??.commit;
        if cached.is_some_and(|cached| cached.commit == commit) {
            return Ok(None);
        }
        let snapshot = fetcher.snapshot(url, &commit)?;
        let shown = snapshot
            .found
            .iter()
            .filter(|found| !found.nested && !found.hidden);
        let mut skills: Vec<Listed> = shown.map(|found| listed(url, found)).collect();
        // They come with the main copies first, and a stable sort keeps those.
        skills.sort_by(|a, b| a.name.cmp(&b.name));
        skills.dedup_by(|a, b| a.name == b.name);
        let fresh = Cached {
            version: VERSION,
            source: url.as_str().to_owned(),
            commit,
            skills,
        };
        let path = self.cache_path(url);
        let bytes = serde_json::to_vec_pretty(&fresh)
            .map_err(|error| Error::new(format!("could not write the catalog: {error}")))?;
        let dir = path.parent().unwrap_or(self.plugin_dir);
        fs::create_dir_all(dir).map_err(|error| Error::io("make directory", dir, &error))?;
        files::replace_file_through(&staging.dir().join("catalog.json"), &path, &bytes, 0o644)?;
        Ok(Some(fresh))
    }

    fn cached(&self, url: &RepoUrl) -> Option<Cached> {
        // A cache that cannot be read is made anew.
        let bytes = files::read_capped(&self.cache_path(url), limits::SOURCE_CACHE).ok()?;
        let cached: Cached = serde_json::from_slice(&bytes).ok()?;
        (cached.version == VERSION && cached.source == url.as_str()).then_some(cached)
    }

    fn cache_path(&self, url: &RepoUrl) -> PathBuf {
        let owner = url.owner().unwrap_or_default();
        let name = format!("{owner}--{}.json", url.repo_name());
        self.plugin_dir.join("cache").join("sources").join(name)
    }
}

fn listed(url: &RepoUrl, found: &Found) -> Listed {
    Listed {
        name: found.skill.name.as_str().to_owned(),
        description: found.skill.description.clone().unwrap_or_default(),
        source: url.as_str().to_owned(),
        path: found.path.clone(),
        reference: format!("{url}@{}", found.skill.name),
    }
}

fn rank(skills: Vec<Listed>, words: &[String]) -> Vec<Listed> {
    let words: Vec<String> = words
        .iter()
        .flat_map(|w| w.split_whitespace())
        .map(str::to_lowercase)
        .collect();
    let whole = words.join("-");
    let mut scored: Vec<(usize, bool, usize, Listed)> = skills
        .into_iter()
        .map(|skill| {
            let description = skill.description.to_lowercase();
            let starts = |word: &String| {
                description
                    .split(|c: char| !c.is_alphanumeric())
                    .any(|part| part.starts_with(word.as_str()))
            };
            let in_name = words
                .iter()
                .filter(|word| skill.name.contains(word.as_str()))
                .count();
            let either = words
                .iter()
                .filter(|word| skill.name.contains(word.as_str()) || starts(word))
                .count();
            (either, skill.name == whole, in_name, skill)
        })
        .collect();
    let most = scored.iter().map(|(either, ..)| *either).max().unwrap_or(0);
    scored.retain(|(either, exact, ..)| *exact || (most > 0 && *either == most));
    scored.sort_by(|a, b| {
        (b.1, b.2)
            .cmp(&(a.1, a.2))
            .then_with(|| a.3.name.cmp(&b.3.name))
    });
    scored.into_iter().map(|(.., skill)| skill).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exact_name_comes_first_then_names_then_descriptions() {
        let skill = |name: &str, description: &str| Listed {
            name: name.to_owned(),
            description: description.to_owned(),
            source: String::new(),
            path: String::new(),
            reference: String::new(),
        };
        let skills = vec![
            skill("docx", "Word files; can export PDF"),
            skill("pdf", "Work with PDF files"),
            skill("pdf-ocr", "Scanned files"),
            skill("xlsx", "Spreadsheets"),
        ];
        let search = |words: &str| -> Vec<String> {
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            rank(skills.clone(), &words)
                .into_iter()
                .map(|s| s.name)
                .collect()
        };
        assert_eq!(search("pdf"), ["pdf", "pdf-ocr", "docx"]);
        assert_eq!(search("PDF OCR"), ["pdf-ocr"]);
        assert_eq!(search("word export"), ["docx"]);
        assert_eq!(search("spreadsheets of whales"), ["xlsx"]);
        assert_eq!(search("whales"), Vec::<String>::new());
    }
}
