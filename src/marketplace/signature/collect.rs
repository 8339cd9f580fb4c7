//! Collects what proves the signature of a skill that is being fetched.

use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;

use crate::error::Result;
use crate::marketplace::fetch::{Node, Snapshot};
use crate::marketplace::install::CopyPlan;
use crate::marketplace::signature::commit::is_signed as has_signature;
use crate::marketplace::signature::evidence::{Evidence, GitEvidence, GitObject, ManifestEvidence};
use crate::marketplace::source::Origin;

/// The evidence for the skill at `path` of a snapshot, of which `copy` is installed and `staged` has
/// been written; empty if it is not signed. Several are tried in their order. A signed tag or commit counts before a manifest in the
/// skill, and that before one beside the archive.
///
/// # Errors
/// When git does not answer, or a manifest cannot be read.
pub fn collect(
    snapshot: &Snapshot,
    origin: &Origin,
    copy: &CopyPlan,
    path: &str,
    staged: &Path,
) -> Result<Vec<Rc<Evidence>>> {
    if let Some(git) = of_git(snapshot, origin, copy, path)? {
        return Ok(vec![Rc::new(Evidence::Git(git))]);
    }
    let manifests = if let Some(inside) = ManifestEvidence::inside(staged)? {
        vec![inside]
    } else {
        let of_skill = snapshot.beside.get(path);
        let beside = of_skill.or_else(|| snapshot.beside.get(""));
        beside.cloned().unwrap_or_default()
    };
    let all = manifests.into_iter().map(Evidence::Manifest).map(Rc::new);
    Ok(all.collect())
}

/// Reads what [`collect`] needs for several skills, given by what is copied and their paths, in one
/// request.
///
/// # Errors
/// When git does not answer.
pub fn bring<'c>(
    snapshot: &Snapshot,
    origin: &Origin,
    skills: impl Iterator<Item = (&'c CopyPlan, &'c str)>,
) -> Result<()> {
    if let Some(commit) = &origin.commit
        && is_signed(snapshot, origin)?
    {
        let names = skills.flat_map(|(copy, path)| needed(snapshot, commit, copy, path));
        snapshot.content.git_objects(&names.collect::<Vec<_>>())?;
    }
    Ok(())
}

fn of_git(
    snapshot: &Snapshot,
    origin: &Origin,
    copy: &CopyPlan,
    path: &str,
) -> Result<Option<GitEvidence>> {
    let mut objects = heads(snapshot, origin)?;
    let Some(commit) = origin.commit.as_deref().filter(|_| !objects.is_empty()) else {
        return Ok(None);
    };
    let needed = needed(snapshot, commit, copy, path);
    objects.extend(snapshot.content.git_objects(&needed)?);
    objects.sort_unstable();
    objects.dedup();
    Ok(Some(GitEvidence {
        commit: commit.to_owned(),
        tag: origin.tag.as_ref().map(|tag| tag.as_str().to_owned()),
        objects,
    }))
}

/// Whether what was opened has a signed tag or commit.
///
/// # Errors
/// When git does not answer.
pub fn is_signed(snapshot: &Snapshot, origin: &Origin) -> Result<bool> {
    Ok(!heads(snapshot, origin)?.is_empty())
}

/// The commit and the tag that leads to it; none unless one of them is signed.
fn heads(snapshot: &Snapshot, origin: &Origin) -> Result<Vec<GitObject>> {
    let commit = origin
        .commit
        .as_deref()
        .filter(|_| !snapshot.tree.root.is_empty());
    let Some(commit) = commit else {
        return Ok(Vec::new());
    };
    let tag = origin.tag.as_ref().map(|tag| tag.as_str().to_owned());
    let heads: Vec<String> = tag.into_iter().chain([commit.to_owned()]).collect();
    let objects = snapshot.content.git_objects(&heads)?;
    let has_signature = |object: &GitObject| has_signature(object.kind, &object.bytes);
    let is_signed = objects.iter().any(has_signature);
    Ok(if is_signed { objects } else { Vec::new() })
}

/// The trees that lead to all that the copy depends on, and the targets of its links, as git takes
/// them. Of skills that are left out, the directory is needed, which shows that they are some.
fn needed(snapshot: &Snapshot, commit: &str, copy: &CopyPlan, path: &str) -> Vec<String> {
    let tree = &snapshot.tree;
    let mut dirs = BTreeSet::from([""]);
    let mut links = BTreeSet::new();
    let others = snapshot.found.iter().map(|other| other.path.as_str());
    let others = others.filter(|_| path.is_empty());
    for passed in copy.passed().chain(others).chain([path]) {
        let ends = passed.match_indices('/').map(|(end, _)| end);
        for end in ends.chain([passed.len()]) {
            match tree.get(&passed[..end]) {
                Some(Node::Dir { .. }) => drop(dirs.insert(&passed[..end])),
                Some(Node::Link { .. }) => drop(links.insert(&passed[..end])),
                _ => {}
            }
        }
    }
    let ids = dirs
        .into_iter()
        .filter_map(|dir| tree.id(dir).map(str::to_owned));
    let ids: BTreeSet<String> = ids.collect();
    // Git takes one name to a line.
    let links = links.into_iter().filter(|link| !link.contains('\n'));
    let links = links.map(|link| format!("{commit}:{link}"));
    ids.into_iter().chain(links).collect()
}
