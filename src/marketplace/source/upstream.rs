//! What became of an installed skill in its source: whether it advanced, moved back, or is gone.

use crate::marketplace::fetch::{FailureKind, Fetcher, Node, Snapshot, tree};
use crate::marketplace::lock::LockEntry;
use crate::marketplace::prelude::*;
use crate::marketplace::source::{Origin, SkillChoice, SkillInTree, choose};

/// What a repository's refs, or a registry's tags, show about an installed skill.
pub enum UpstreamState {
    /// The commit in use is current.
    Same,
    /// The tag to which it is pinned has moved to another commit.
    Moved(Pin),
    /// Something else, so that the source has to be inspected.
    Other,
}

/// Compares an entry with the refs of its repository. If the installed commit is current, nothing
/// has to be fetched.
pub fn upstream_state(
    entry: &LockEntry,
    reading: &Reading,
    fetcher: &mut Fetcher,
) -> Result<UpstreamState> {
    if let SourceLocation::Registry { repo, at } = &reading.place {
        let digest = fetcher.resolve_tag(repo, at.as_ref())?;
        let same = entry.commit.as_deref() == Some(digest.as_str());
        return Ok(if same {
            UpstreamState::Same
        } else {
            UpstreamState::Other
        });
    }
    let SourceLocation::Repository { url, at } = &reading.place else {
        return Ok(UpstreamState::Other);
    };
    if let Revision::Pin(Pin::Commit(commit)) = at {
        if entry.commit_id().as_ref() == Some(commit) {
            return Ok(UpstreamState::Same);
        }
        let text = format!("the lockfile pins it to {commit}, but records another commit");
        return Err(Error::new(text).hint("remove it and install it again"));
    }
    let resolved = fetcher.resolve(url, at)?;
    let same = entry.commit_id().as_ref() == Some(&resolved.commit);
    Ok(match resolved.pin {
        _ if same => UpstreamState::Same,
        Some(tag @ Pin::Tag(_)) => UpstreamState::Moved(tag),
        _ => UpstreamState::Other,
    })
}

pub fn moved(entry: &LockEntry, tag: &Pin) -> Error {
    let tag = tag.short().unwrap_or_default();
    let source = &entry.source;
    let text = format!("the tag `{tag}` of {source} has been moved to another commit");
    Error::new(text)
        .hint("ask its author; to take the new one, remove the skill and install it again")
}

/// How the new commit relates to the installed one; `None` for sources without commits.
pub fn ancestry(
    entry: &LockEntry,
    reading: &Reading,
    new: &Origin,
    fetcher: &mut Fetcher,
) -> Option<Ancestry> {
    let SourceLocation::Repository { url, .. } = &reading.place else {
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
pub fn is_same_tree(entry: &LockEntry, snapshot: &Snapshot, found: &SkillInTree) -> bool {
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
    let (Some(SourceLocation::Repository { url, .. }), Some(own)) = (place, entry.tag()) else {
        return Vec::new();
    };
    later_tags(&own, fetcher.tags(&url).map(|(name, _)| name))
}

/// The skill at its recorded path, or else the one with its name.
pub fn find_again<'s>(entry: &LockEntry, snapshot: &'s Snapshot) -> Result<&'s SkillInTree> {
    let mut all = snapshot.found.iter();
    if let Some(found) = all.find(|found| found.path == *entry.path) {
        return Ok(found);
    }
    let last = tree::base(&entry.path);
    let last = if last.is_empty() { &entry.name } else { last };
    let wanted = RepositoryPart::Named(last.to_owned());
    let text = format!("{} no longer has a skill at `{}`", entry.source, entry.path);
    Err(
        match choose(&snapshot.found, &wanted, SkillChoice::default()) {
            Ok(named) if !named.is_empty() => Error::new(text).hint(format!(
                "it seems to be at `{}` now: remove it and install it from there",
                named[0].path
            )),
            Err(miss) if miss.class != FailureKind::NoSuchSkill => {
                Error::new(format!("{text}, and {}", Error::from(miss)))
                    .hint("remove it and install the one you mean by its path")
            }
            _ => Error::new(text).hint("`agent-skills remove` removes it"),
        },
    )
}

/// The letters before a tag's numbers, the numbers, and the text after them: `v1.2-rc1` is `v`, 1 and
/// 2, and `-rc1`.
fn version_parts(tag: &str) -> Option<(&str, Vec<u64>, &str)> {
    let (before, rest) = tag.split_at(tag.find(|c: char| c.is_ascii_digit())?);
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (numbers, after) = rest.split_at(end.unwrap_or(rest.len()));
    let numbers = numbers.trim_end_matches('.').split('.').map(str::parse);
    let mut numbers: Vec<u64> = numbers.collect::<Result<_, _>>().ok()?;
    // 1.2 and 1.2.0 are the same version.
    while numbers.len() > 1 && numbers.last() == Some(&0) {
        numbers.pop();
    }
    Some((before, numbers, after))
}

/// The tags that name later versions than `tag`, oldest first. Prereleases are left out, and so are
/// tags with another prefix, which belong to something else.
fn later_tags<'t>(tag: &str, tags: impl IntoIterator<Item = &'t str>) -> Vec<String> {
    let Some((own_before, own, own_after)) = version_parts(tag) else {
        return Vec::new();
    };
    let is_later = |tag: &'t str| {
        let (before, numbers, after) = version_parts(tag)?;
        let is_newer = numbers > own || numbers == own && !own_after.is_empty();
        (before == own_before && after.is_empty() && is_newer).then_some((numbers, tag))
    };
    let mut later_tags: Vec<(Vec<u64>, &str)> = tags.into_iter().filter_map(is_later).collect();
    later_tags.sort_by(|(a, _), (b, _)| a.cmp(b));
    later_tags
        .into_iter()
        .map(|(_, tag)| tag.to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_versions_are_those_with_larger_numbers() {
        let tags = [
            "v1.10", "v1.2", "v1.2.0", "v1.3", "v0.9", "v2.0-rc1", "2.0", "pdf-v3", "x",
            "v1.2-rc1", "v",
        ];
        assert_eq!(later_tags("v1.2", tags), ["v1.3", "v1.10"]);
        assert_eq!(later_tags("v1.2-rc1", ["v1.2"]), ["v1.2"]);
        assert_eq!(later_tags("pdf-v2", tags), ["pdf-v3"]);
        assert_eq!(later_tags("main", tags), Vec::<String>::new());
        assert_eq!(
            later_tags("1.99999999999999999999", tags),
            Vec::<String>::new()
        );
    }
}
