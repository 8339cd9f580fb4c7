//! The forms that name a repository, each understood by itself (MARKETPLACE.md §1). Pure.

use super::address::{RepoUrl, SubPath};
use super::choose::Want;
use super::reference::{At, DEFAULT_OWNER, DEFAULT_REPO, Reading};
use crate::error::{Error, Result};
use crate::skill::SkillName;

const FORMS: &str = "give OWNER/SKILL, OWNER/REPO@SKILL, OWNER/REPO/PATH, the https or ssh address \
                     of a repository, or a local directory as ./DIR";

/// `SKILL`, `OWNER/NAME`, `OWNER/REPO@SKILL`, `OWNER/REPO/PATH`.
pub fn short(text: &str, at: At) -> Result<Vec<Reading>> {
    let Some((owner, name)) = text.split_once('/') else {
        if text.contains('@') {
            return Err(refused(text, "names no repository"));
        }
        let url = RepoUrl::github(DEFAULT_OWNER, DEFAULT_REPO)?;
        let want = Want::Named(skill(text)?);
        return Ok(vec![Reading { url, at, want }]);
    };
    if name.contains(['/', '@']) || name.strip_suffix(".git").is_some() {
        return Ok(vec![github(text, at)?]);
    }
    let named = |repo: &str| -> Result<Reading> {
        Ok(Reading {
            url: RepoUrl::github(owner, repo)?,
            at: at.clone(),
            want: Want::Named(skill(name)?),
        })
    };
    let whole = Reading {
        url: RepoUrl::github(owner, name)?,
        at: at.clone(),
        want: Want::Any,
    };
    Ok(vec![named("skills")?, whole, named("agent-skills")?])
}

/// `OWNER/REPO`, `OWNER/REPO@SKILL`, `OWNER/REPO/PATH`, always of GitHub.
pub fn github(text: &str, at: At) -> Result<Reading> {
    let (text, named) = split_skill(text)?;
    let mut parts = text.splitn(3, '/');
    let (owner, repo) = (
        parts.next().unwrap_or_default(),
        parts.next().unwrap_or_default(),
    );
    let url = RepoUrl::github(owner, repo)?;
    let want = match (parts.next(), named) {
        (None, None) => Want::Any,
        (None, Some(name)) => Want::Named(name),
        (Some(path), None) => Want::PathOrName(SubPath::parse(path)?),
        (Some(_), Some(_)) => return Err(refused(text, "has both a path and a skill's name")),
    };
    Ok(Reading { url, at, want })
}

/// An address of any host, of a whole repository or of a place in one.
pub fn address(text: &str, at: At) -> Result<Reading> {
    let lower = text.to_ascii_lowercase();
    if [".zip", ".tar", ".tar.gz", ".tgz"]
        .iter()
        .any(|end| lower.ends_with(end))
    {
        return Err(refused(text, "is an archive, not a repository"));
    }
    if text.starts_with("http")
        && let Some((repo, place)) = place_in_repository(text)
    {
        if at != At::Default {
            return Err(refused(
                text,
                "names a ref twice, in its path and after `#`",
            ));
        }
        let place = percent_decoded(&place).ok_or_else(|| refused(text, "is not UTF-8"))?;
        return Ok(Reading {
            url: RepoUrl::parse(&repo)?,
            at: At::RefAndPath(SubPath::parse(&place)?),
            want: Want::Any,
        });
    }
    let (address, named) = split_skill(text)?;
    let url = RepoUrl::parse(address)?;
    let on_github = url.as_str().strip_prefix("https://github.com/");
    if on_github.is_some_and(|path| path.matches('/').count() != 1) {
        return Err(refused(text, "is a page of GitHub's, but not a repository"));
    }
    let want = named.map_or(Want::Any, Want::Named);
    Ok(Reading { url, at, want })
}

/// The repository, and `REF/PATH`, of a page that shows a directory or a `SKILL.md`.
fn place_in_repository(url: &str) -> Option<(String, String)> {
    let (scheme, rest) = url.split_once("://")?;
    let parts: Vec<&str> = rest.split('/').collect();
    let is_marker = |part: &str| matches!(part, "tree" | "blob");
    // The host is the first part. GitLab marks the end of the project, whatever its depth.
    let gitlab = parts
        .windows(2)
        .position(|pair| pair[0] == "-" && is_marker(pair[1]));
    let (end, mut place) = match gitlab {
        Some(dash) => (dash, &parts[dash + 2..]),
        None if parts.len() > 4 && is_marker(parts[3]) => (3, &parts[4..]),
        None if parts.len() > 4 && parts[0] == "bitbucket.org" && parts[3] == "src" => {
            (3, &parts[4..])
        }
        None => return None,
    };
    if let [before @ .., last] = place
        && last.eq_ignore_ascii_case("SKILL.md")
        && !before.is_empty()
    {
        place = before;
    }
    let repo = format!("{scheme}://{}", parts[..end].join("/"));
    (!place.is_empty()).then(|| (repo, place.join("/")))
}

/// Splits `…/repo@skill`.
fn split_skill(text: &str) -> Result<(&str, Option<String>)> {
    let last = text.rfind('/').map_or(0, |slash| slash + 1);
    // A skill's name may have a slash of its own, but a repository's path before it has no `@`
    // except the one of `user@host`.
    let start = text.find("://").map_or(0, |at| at + 3);
    let first_slash = text[start..]
        .find(['/', ':'])
        .map_or(last, |slash| start + slash);
    match text[first_slash..].find('@') {
        Some(at) => {
            let at = first_slash + at;
            Ok((&text[..at], Some(skill(&text[at + 1..])?)))
        }
        None => Ok((text, None)),
    }
}

fn skill(name: &str) -> Result<String> {
    if SkillName::from_written(name).is_none() || name.split('/').any(|p| p == "..") {
        return Err(refused(name, "is not the name of a skill"));
    }
    Ok(name.to_owned())
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        let byte = after
            .get(..2)
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        bytes.push(byte.unwrap_or(b'%'));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).ok()
}

/// The error for a reference that is none, with the forms there are.
pub fn refused(written: &str, why: &str) -> Error {
    Error::new(format!("the reference `{}` {why}", written.escape_debug())).hint(FORMS)
}
