//! What became of an installed skill in its source: whether it advanced, moved back, or is gone.

use crate::error::{Error, Result};
use crate::marketplace::fetch::{Fetcher, Node, Snapshot, tree};
use crate::marketplace::lock::LockEntry;
use crate::marketplace::reference::{Ancestry, At, CommitId, Pin, Place, Reading, Want, version};
use crate::marketplace::source::{Choosing, Found, Origin, choose};

/// What a repository's refs, or a registry's tags, show about an installed skill.
pub enum Seen {
    /// The commit in use is current.
    Same,
    /// The tag to which it is pinned has moved to another commit.
    Moved(Pin),
    /// Something else, so that the source has to be inspected.
    Other,
}

/// Compares an entry with the refs of its repository. If the installed commit is current, nothing
/// has to be fetched.
pub fn seen(entry: &LockEntry, reading: &Reading, fetcher: &mut Fetcher) -> Result<Seen> {
    if let Place::Registry { repo, at } = &reading.place {
        let digest = fetcher.resolve_tag(repo, at.as_ref())?;
        let same = entry.commit.as_deref() == Some(digest.as_str());
        return Ok(if same { Seen::Same } else { Seen::Other });
    }
    let Place::Repository { url, at } = &reading.place else {
        return Ok(Seen::Other);
    };
    if let At::Pin(Pin::Commit(commit)) = at {
        if entry.commit_id().as_ref() == Some(commit) {
            return Ok(Seen::Same);
        }
        let text = format!("the lockfile says that it stays at {commit}, and has another commit");
        return Err(Error::new(text).hint("remove it and install it again"));
    }
    let resolved = fetcher.resolve(url, at)?;
    let same = entry.commit_id().as_ref() == Some(&resolved.commit);
    Ok(match resolved.pin {
        _ if same => Seen::Same,
        Some(tag @ Pin::Tag(_)) => Seen::Moved(tag),
        _ => Seen::Other,
    })
}

pub fn moved(entry: &LockEntry, tag: &Pin) -> Error {
    let tag = tag.short().unwrap_or_default();
    let source = &entry.source;
    let text = format!("the tag `{tag}` of {source} has been moved to another commit");
    Error::new(text).hint(
        "tags are not meant to move: ask its author; removing and installing it again takes the new one",
    )
}

/// How the new commit relates to the installed one; `None` for sources without commits.
pub fn ancestry(
    entry: &LockEntry,
    reading: &Reading,
    new: &Origin,
    fetcher: &mut Fetcher,
) -> Option<Ancestry> {
    let Place::Repository { url, .. } = &reading.place else {
        return None;
    };
    let new = new.commit.as_deref().and_then(CommitId::parse);
    Some(match (entry.commit_id(), new) {
        (Some(old), Some(new)) => fetcher.ancestry(url, &old, &new),
        _ => Ancestry::Unknown,
    })
}

/// Whether git shows that nothing changed. It cannot if links lead out of the skill's directory, to
/// content that the directory's tree id does not cover.
pub fn is_same_tree(entry: &LockEntry, snapshot: &Snapshot, found: &Found) -> bool {
    let mut below = snapshot.tree.below(&found.path);
    let tree = snapshot.tree.id(&found.path);
    tree.is_some()
        && tree == entry.tree.as_deref()
        && found.path == *entry.path
        && !below.any(|(_, node)| matches!(node, Node::Link { .. }))
}

/// The tags later than a skill's pinned tag, if its repository was queried.
pub fn newer_tags(entry: &LockEntry, fetcher: &Fetcher) -> Vec<String> {
    let place = entry.reading().ok().map(|reading| reading.place);
    let (Some(Place::Repository { url, .. }), Some(own)) = (place, entry.tag()) else {
        return Vec::new();
    };
    version::later(&own, fetcher.tags(&url).map(|(name, _)| name))
}

/// The skill at its recorded path, or else the one with its name.
pub fn find_again<'s>(entry: &LockEntry, snapshot: &'s Snapshot) -> Result<&'s Found> {
    let mut all = snapshot.found.iter();
    if let Some(found) = all.find(|found| found.path == *entry.path) {
        return Ok(found);
    }
    let last = tree::base(&entry.path);
    let last = if last.is_empty() { &entry.name } else { last };
    let wanted = Want::Named(last.to_owned());
    let named = choose(&snapshot.found, &wanted, Choosing::default()).unwrap_or_default();
    let moved = named.first().map(|found| &found.path);
    let text = format!("{} no longer has a skill at `{}`", entry.source, entry.path);
    Err(Error::new(text).hint(match moved {
        Some(path) => {
            format!("it seems to be at `{path}` now: remove it and install it from there")
        }
        None => "`agent-skills remove` removes it".to_owned(),
    }))
}
