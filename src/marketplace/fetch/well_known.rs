//! Sites that list their skills in `/.well-known/agent-skills/index.json`. The files of the skills
//! must be below that index, on the same host.

use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::marketplace::fetch::{
    FailureKind, FetchFailure, InMemoryTree, PermittedUrl, Programs, http, tree,
};
use crate::marketplace::prelude::*;

/// Where the index may be, the newest convention first.
const INDEXES: [&str; 2] = [".well-known/agent-skills", ".well-known/skills"];

/// How many names a message lists.
const SHOWN: usize = 40;

/// A site's index of skills.
#[derive(Debug)]
pub struct WebIndex {
    base: PermittedUrl,
    /// The site, or the root of its host.
    pub place: WebUrl,
    /// Its skills.
    pub skills: Vec<SkillOffer>,
}

/// One skill of a site.
#[derive(Debug, Clone, Deserialize)]
pub struct SkillOffer {
    /// Its name, also that of its directory beside the index.
    pub name: String,
    /// Its author's description.
    #[serde(default)]
    pub description: String,
    files: Vec<String>,
}

#[derive(Deserialize)]
struct SiteIndex {
    skills: Vec<SkillOffer>,
}

impl WebIndex {
    /// Queries a site; `None` if it has no index.
    ///
    /// # Errors
    /// When the site cannot be queried.
    pub fn query(tool: &Programs, site: &PermittedUrl) -> Result<Option<Self>, FetchFailure> {
        for index in INDEXES {
            let base = site.join(&SubPath::parse(index)?);
            let file = base.join(&SubPath::parse("index.json")?);
            let answer = http::send(tool, &file, http::HttpRequest::Get, &[], limits::INDEX)?;
            // Others, such as 403, are what some sites answer where nothing is.
            if FailureKind::of_status(answer.status) == FailureKind::Busy {
                let (host, what) = (file.url().host(), format!("`{}`", file.url()));
                return Err(answer.refusal(host, &what));
            }
            let written = serde_json::from_slice::<SiteIndex>(&answer.body);
            if let (200, Ok(SiteIndex { skills })) = (answer.status, written) {
                let place = site.url().clone();
                return Ok(Some(Self {
                    base,
                    place,
                    skills,
                }));
            }
        }
        Ok(None)
    }

    /// The skills that `want` means. It never guesses.
    pub fn choose(
        &self,
        want: &RepositoryPart,
        names: &[String],
        all: bool,
    ) -> Result<Vec<&SkillOffer>> {
        let there: Vec<&str> = self
            .skills
            .iter()
            .map(|offer| offer.name.as_str())
            .collect();
        let chosen = choose_offers(&there, want, names, all)?;
        Ok(chosen.into_iter().map(|at| &self.skills[at]).collect())
    }

    /// Fetches the files of the skills, each into a directory of the skill's name.
    ///
    /// # Errors
    /// When a name or path would leave the index's directory, or a file cannot be fetched.
    pub fn fetch(&self, tool: &Programs, offers: &[&SkillOffer]) -> Result<InMemoryTree> {
        let mut paths = Vec::new();
        for offer in offers {
            let dir = SubPath::parse(&offer.name)?;
            if dir.as_str().contains('/') {
                let text = format!("`{}` is not the name of a skill", offer.name.escape_debug());
                return Err(Error::new(text).hint("tell the site's owner"));
            }
            for file in &offer.files {
                let file = SubPath::parse(file)?;
                paths.push(SubPath::parse(&tree::join(dir.as_str(), file.as_str()))?);
            }
        }
        if paths.len() > limits::ARCHIVE_FILES {
            let text = format!("the skill has more than {} files", limits::ARCHIVE_FILES);
            return Err(Error::new(text).hint("choose fewer skills"));
        }
        let mut memory = InMemoryTree::default();
        // All of them together take no longer than one.
        let end = Instant::now() + Duration::from_secs(limits::GIT_SECONDS);
        let tool = &Programs {
            deadline: Some(tool.deadline.unwrap_or(end).min(end)),
            ..*tool
        };
        for path in &paths {
            let url = self.base.join(path);
            let left = limits::DOWNLOAD - memory.size();
            if left == 0 {
                let text = format!("the skill is larger than {} bytes", limits::DOWNLOAD);
                return Err(Error::new(text).hint("choose fewer skills"));
            }
            let answer = http::send(tool, &url, http::HttpRequest::Get, &[], left)?;
            let (host, what) = (url.url().host(), format!("`{}`", url.url()));
            memory.add_file(path.as_str(), answer.expect(host, &what)?, false)?;
        }
        Ok(memory)
    }
}

/// Which of the skills that are listed `want` means. It never guesses.
///
/// # Errors
/// When one is not there, or it is not said which of several.
pub fn choose_offers(
    listed_names: &[&str],
    want: &RepositoryPart,
    names: &[String],
    all: bool,
) -> Result<Vec<usize>> {
    let there = || {
        let names = listed_names.iter().map(|name| name.escape_debug());
        names.map(|name| name.to_string()).collect::<Vec<_>>()
    };
    let by_name = |name: &str| {
        let key = SkillName::from_written(name);
        let is = |other: &&str| key.is_some() && SkillName::from_written(other) == key;
        let exact = listed_names.iter().position(|other| *other == name);
        exact
            .or_else(|| listed_names.iter().position(is))
            .ok_or_else(|| {
                let text = format!("there is no skill `{}`", name.escape_debug());
                let names = listed_names.iter().copied();
                let there = || format!("there are {}", listed(&there(), 3));
                Error::new(text).hint(did_you_mean(name, names).unwrap_or_else(there))
            })
    };
    match want {
        RepositoryPart::Named(name) => Ok(vec![by_name(name)?]),
        RepositoryPart::Path(path) | RepositoryPart::PathOrName(path) => {
            Ok(vec![by_name(path.as_str())?])
        }
        RepositoryPart::Root => Ok(vec![by_name("")?]),
        RepositoryPart::Any if !names.is_empty() => {
            names.iter().map(|name| by_name(name)).collect()
        }
        RepositoryPart::Any if all || listed_names.len() == 1 => {
            Ok((0..listed_names.len()).collect())
        }
        RepositoryPart::Any => {
            let number = listed_names.len();
            let there = listed(&there(), SHOWN);
            Err(Error::new(format!("there are {number} skills: {there}"))
                .hint("choose some with `--skill a,b`, or all with `--all`"))
        }
    }
}
