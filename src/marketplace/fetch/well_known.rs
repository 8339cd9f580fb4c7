//! Sites that list their skills in `/.well-known/agent-skills/index.json`. The files of the skills
//! must be below that index, on the same host.

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::marketplace::Candidate;
use crate::marketplace::fetch::{Failure, Memory, Permitted, Tool, download, tree};
use crate::marketplace::reference::{SubPath, Want, WebUrl};
use crate::skill::SkillName;
use crate::sys::limits;
use crate::sys::text::{did_you_mean, listed};

/// Where the index may be, the newest convention first.
const INDEXES: [&str; 2] = [".well-known/agent-skills", ".well-known/skills"];

/// A site's index of skills.
#[derive(Debug)]
pub struct Index {
    base: Permitted,
    /// The site, or the root of its host.
    pub place: WebUrl,
    /// Its skills.
    pub skills: Vec<Offer>,
}

/// One skill of a site.
#[derive(Debug, Clone, Deserialize)]
pub struct Offer {
    /// Its name, also that of its directory beside the index.
    pub name: String,
    /// Its author's description.
    #[serde(default)]
    pub description: String,
    files: Vec<String>,
}

#[derive(Deserialize)]
struct Written {
    skills: Vec<Offer>,
}

impl Index {
    /// Queries a site; `None` if it has no index.
    ///
    /// # Errors
    /// When the site cannot be queried.
    pub fn query(tool: &Tool, site: &Permitted) -> Result<Option<Self>, Failure> {
        for index in INDEXES {
            let base = site.join(&SubPath::parse(index)?);
            let file = base.join(&SubPath::parse("index.json")?);
            let answer = download::one(tool, &file, limits::INDEX)?;
            let written = serde_json::from_slice::<Written>(&answer.body);
            if let (200, Ok(Written { skills })) = (answer.status, written) {
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

    /// All its skills, for somebody who chooses among them.
    pub fn candidates(&self, is_installed: impl Fn(&str) -> bool) -> Vec<Candidate> {
        let candidate = |offer: &Offer| Candidate {
            name: offer.name.clone(),
            path: offer.name.clone(),
            description: Some(offer.description.clone()).filter(|text| !text.is_empty()),
            plugin: None,
            installed: is_installed(&offer.name),
            select: offer.name.clone(),
        };
        self.skills.iter().map(candidate).collect()
    }

    /// The skills that `want` means. It never guesses.
    pub fn choose(&self, want: &Want, names: &[String], all: bool) -> Result<Vec<&Offer>> {
        let there = || {
            let names = self.skills.iter().map(|offer| offer.name.escape_debug());
            names.map(|name| name.to_string()).collect::<Vec<_>>()
        };
        let by_name = |name: &str| {
            let key = SkillName::from_written(name);
            let is = |offer: &&Offer| {
                offer.name == name || key.is_some() && SkillName::from_written(&offer.name) == key
            };
            self.skills.iter().find(is).ok_or_else(|| {
                let text = format!("there is no skill `{}`", name.escape_debug());
                let names = self.skills.iter().map(|offer| offer.name.as_str());
                let there = || format!("there are {}", listed(&there(), 3));
                Error::new(text).hint(did_you_mean(name, names).unwrap_or_else(there))
            })
        };
        match want {
            Want::Named(name) => Ok(vec![by_name(name)?]),
            Want::Path(path) | Want::PathOrName(path) => Ok(vec![by_name(path.as_str())?]),
            Want::Root => Ok(vec![by_name("")?]),
            Want::Any if !names.is_empty() => names.iter().map(|name| by_name(name)).collect(),
            Want::Any if all || self.skills.len() == 1 => Ok(self.skills.iter().collect()),
            Want::Any => {
                let (number, there) = (self.skills.len(), there().join(", "));
                Err(Error::new(format!("there are {number} skills: {there}"))
                    .hint("choose some with `--skill a,b`, or all with `--all`"))
            }
        }
    }

    /// Fetches the files of the skills, each into a directory of the skill's name.
    ///
    /// # Errors
    /// When a name or path would leave the index's directory, or a file cannot be fetched.
    pub fn fetch(&self, tool: &Tool, offers: &[&Offer]) -> Result<Memory> {
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
        let urls: Vec<_> = paths.iter().map(|path| self.base.join(path)).collect();
        let answers = download::get(tool, &urls, limits::DOWNLOAD)?;
        let mut memory = Memory::default();
        for ((path, url), answer) in paths.iter().zip(&urls).zip(answers) {
            memory.add_file(path.as_str(), answer.file(url.url())?, false)?;
        }
        Ok(memory)
    }
}
