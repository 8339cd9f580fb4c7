//! Registries as places: a repository is one skill, or a collection of which only what is meant is
//! fetched.

use crate::error::{Error, Result};
use crate::marketplace::fetch::{Failure, Fetcher, Memory, Node, Opened, Snapshot};
use crate::marketplace::fetch::{check_total, tree};
use crate::marketplace::reference::{Kind, OciAt, OciDigest, OciRepo, Want};
use crate::marketplace::registry::collection::Opened as Found;
use crate::marketplace::registry::{Member, Members};
use crate::marketplace::signature::SignedManifests;
use crate::marketplace::source::Origin;
use crate::skill::{SkillName, one_line};
use crate::sys::limits;

impl<'a> Fetcher<'a> {
    /// Opens a repository of a registry. Of a collection only the skills that are meant are fetched.
    ///
    /// # Errors
    /// When the registry cannot or may not be asked, or what it has is no skill.
    pub fn open_registry(
        &mut self,
        (repo, at): (&OciRepo, Option<&OciAt>),
        requested: &str,
        want: &Want,
        (skills, all): (&[String], bool),
    ) -> Result<Opened<'a>, Failure> {
        let digest = self.resolve_tag(repo, at)?;
        let origin = Origin {
            source: repo.to_string(),
            kind: Kind::Oci,
            requested: requested.to_owned(),
            rev: at.map(|at| at.as_str().to_owned()),
            commit: Some(digest.to_string()),
            ..Origin::default()
        };
        let client = &self.registry;
        let opened = client.open(repo, &digest)?;
        let mut beside = SignedManifests::default();
        let mut names = Vec::new();
        let memory = match opened {
            Found::Skill(manifest, real) => {
                let memory = client.files(repo, &manifest)?;
                let evidence = client.evidence(repo, &real)?;
                beside.insert(String::new(), evidence);
                memory
            }
            Found::Collection(members) => {
                let of_repo = |error: Error| error.context(format!("`{repo}`"));
                let chosen = members.choose(want, skills, all).map_err(of_repo)?;
                let mut memory = Memory::default();
                let mut left = limits::BROUGHT;
                for member in chosen {
                    let (place, manifest) = client.member(repo, member)?;
                    let files = client.files(&place, &manifest)?;
                    put(member, &files, &mut memory, &mut left).map_err(of_repo)?;
                    let evidence = client.evidence(&place, &member.manifest.digest)?;
                    beside.insert(member.name.clone(), evidence);
                    names.push(member.name.clone());
                }
                memory
            }
        };
        let of_repo = |error: Error| error.context(format!("`{repo}`"));
        let (tree, name) = (memory.tree.clone(), repo.short_name());
        let opened = Opened::new(tree, memory, name, origin, beside).map_err(of_repo)?;
        check_names(&names, &opened.snapshot).map_err(of_repo)?;
        Ok(opened)
    }

    /// The digest of what a repository has at a tag, `latest` if none is named. Each is asked for
    /// once.
    ///
    /// # Errors
    /// When the registry cannot or may not be asked.
    pub fn resolve_tag(&self, repo: &OciRepo, at: Option<&OciAt>) -> Result<OciDigest, Failure> {
        let latest = OciAt::latest();
        self.registry.resolve(repo, at.unwrap_or(&latest))
    }

    /// The skills of a collection, of which nothing else is fetched; `None` for a skill.
    ///
    /// # Errors
    /// When the registry cannot or may not be asked.
    pub fn collection(
        &self,
        repo: &OciRepo,
        at: Option<&OciAt>,
    ) -> Result<Option<Members>, Failure> {
        let digest = self.resolve_tag(repo, at)?;
        Ok(match self.registry.open(repo, &digest)? {
            Found::Skill(..) => None,
            Found::Collection(members) => Some(members),
        })
    }
}

/// Puts the files of a member's skill, which may be below one directory, into a directory of the
/// member's name. `left` is how many bytes there may be still.
fn put(member: &Member, files: &Memory, all: &mut Memory, left: &mut u64) -> Result<()> {
    let name = &member.name;
    let is_skill = |dir: &str| {
        let mut below = files.tree.below(dir);
        below.any(|(path, _)| path.eq_ignore_ascii_case("SKILL.md"))
    };
    let tops = files.tree.iter().map(|(path, _)| path);
    let mut tops = tops.filter(|path| !path.contains('/'));
    let root = match (tops.next(), tops.next()) {
        (Some(top), None) if !is_skill("") => top,
        _ => "",
    };
    if !is_skill(root) {
        let text = format!("what it lists as `{}` has no SKILL.md", one_line(name));
        return Err(Error::new(text).hint("tell whoever published it"));
    }
    for (path, node) in files.tree.below(root) {
        let to = tree::join(name, path);
        match node {
            Node::Dir { .. } => {}
            Node::File { executable, .. } => {
                let bytes = files.get(&tree::join(root, path)).unwrap_or_default();
                check_total(bytes.len() as u64, *left)?;
                *left -= bytes.len() as u64;
                all.add_file(&to, bytes.to_vec(), *executable)?;
            }
            other => all.add(&to, other.clone())?,
        }
    }
    Ok(())
}

/// Checks that each member is the skill that the collection calls so.
fn check_names(members: &[String], snapshot: &Snapshot) -> Result<()> {
    for name in members {
        let found = snapshot.found.iter().find(|found| found.path == *name);
        let own = found.map(|found| &found.skill.name);
        if own.is_some() && own != SkillName::from_written(name).as_ref() {
            let own = own.map(ToString::to_string).unwrap_or_default();
            let text = format!("what it lists as `{}` is the skill `{own}`", one_line(name));
            return Err(Error::new(text).hint("tell whoever published it"));
        }
    }
    Ok(())
}
