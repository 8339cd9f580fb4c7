//! Parses what a person types to name a skill into readings, which are tried in order
//! (docs/spec/references.md#reference-forms). Pure: it uses neither network nor disk.

use std::fmt;

use crate::error::Result;
use crate::marketplace::reference::forms::{address, github, named, refused, registry, short};
use crate::marketplace::reference::{At, OciAt, Place, Reading, Want};
use crate::sys::limits;

/// A parsed reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// A skill's name, to be found in one configured source (`x@y`) or in all of them.
    Named {
        /// The skill's name.
        name: String,
        /// The source's name.
        source: Option<String>,
    },
    /// Possible meanings, best first; never empty. Only `OWNER/NAME` has more than one.
    Readings(Vec<Reading>),
}

/// How a reference has to be read (`--reading`).
// The comments are the help of the option; `o/n` is the repository `n` of `o`, or the skill `n` of
// `o`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum As {
    /// A git repository
    #[value(name = "repo")]
    Repository,
    /// A name in an owner's repositories or the configured sources
    Registry,
    /// A local path
    Path,
    /// A web address
    Url,
}

impl Reference {
    /// Parses a reference in any form, or only in the form requested.
    ///
    /// # Errors
    /// When it has none of the forms, or has parts that could leave a directory or reach git as an
    /// option.
    pub fn parse(written: &str, reading: Option<As>) -> Result<Self> {
        let text = written.trim();
        if text.is_empty() || text.len() > limits::REFERENCE || text.chars().any(char::is_control) {
            let why = "is empty, too long or has control characters";
            return Err(refused(written, why));
        }
        if reading == Some(As::Path) || (reading.is_none() && is_local(text)) {
            let want = Want::Any;
            let place = Place::Local(text.to_owned());
            return Ok(Self::Readings(vec![Reading { place, want }]));
        }
        if text.starts_with('-') {
            return Err(refused(written, "begins with `-`, as options do"));
        }
        let (before, fragment) = text.rsplit_once('#').unzip();
        let text = before.unwrap_or(text).trim_end_matches('/');
        let before_slash = text.split('/').next().unwrap_or_default();
        let is_url = text.contains("://") || is_scp(before_slash);
        // An account name on GitHub contains no dot, so this is a host.
        let is_host = before_slash.contains('.') && text.matches('/').count() >= 2;
        let of_repository = reading == Some(As::Repository);
        let one = |reading: Result<Reading>| Ok(Self::Readings(vec![reading?]));
        if let Some(path) = text.strip_prefix("github:") {
            one(github(path, At::parse(fragment)?))
        } else if text.starts_with("oci://") {
            if fragment.is_some() {
                let why = "has a `#`: a tag follows `:`, and a digest `@`";
                return Err(refused(written, why));
            }
            let (repo, at, want) = registry(text)?;
            let place = Place::Registry { repo, at };
            one(Ok(Reading { place, want }))
        } else if let Some(path) = text.strip_prefix("gitlab:") {
            let text = format!("https://gitlab.com/{path}");
            one(address(&text, fragment, of_repository))
        } else if is_url {
            one(address(text, fragment, of_repository))
        } else if is_host || reading == Some(As::Url) {
            one(address(&format!("https://{text}"), fragment, of_repository))
        } else if before_slash.contains(':') {
            Err(refused(written, "has a prefix that is not known"))
        } else if of_repository {
            one(github(text, At::parse(fragment)?))
        } else if !text.contains('/') {
            if fragment.is_some() {
                return Err(refused(written, "names a ref, but no repository"));
            }
            let (name, source) = named(text)?;
            Ok(Self::Named { name, source })
        } else {
            let mut readings = short(text, &At::parse(fragment)?)?;
            if reading == Some(As::Registry) {
                readings.truncate(1);
            }
            Ok(Self::Readings(readings))
        }
    }
}

/// Whether a text can only be a local path.
pub fn is_local(text: &str) -> bool {
    let starts = ["./", "../", "/", "~/"];
    matches!(text, "." | ".." | "~") || starts.iter().any(|start| text.starts_with(start))
}

/// Whether this is `user@host:path`; `start` is the part before the first slash.
fn is_scp(start: &str) -> bool {
    let host = start.split_once('@').map(|(_, host)| host);
    host.is_some_and(|host| host.contains(':')) && !start.contains("::")
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.want {
            Want::Any | Want::Root => {}
            Want::Named(name) => write!(f, "skill `{name}` of ")?,
            Want::Path(path) => write!(f, "directory `{}` of ", path.as_str())?,
            Want::PathOrName(path) => write!(f, "directory or skill `{}` of ", path.as_str())?,
        }
        match &self.place {
            Place::Repository { url, at } => {
                write!(f, "repository {url}")?;
                at.text().map_or(Ok(()), |at| write!(f, " at {at}"))
            }
            Place::Local(path) => write!(f, "path {path}"),
            Place::Archive { url, .. } => write!(f, "archive {url}"),
            Place::WellKnown(url) => write!(f, "site {url}"),
            Place::File(url) => write!(f, "file {url}"),
            Place::Registry { repo, at } => {
                let at = at.as_ref().map(OciAt::suffix).unwrap_or_default();
                write!(f, "artifact {repo}{at}")
            }
        }
    }
}

#[cfg(test)]
mod tests;
