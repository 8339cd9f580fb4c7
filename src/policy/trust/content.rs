//! What a trusted part consists of on disk: its paths, its files, and the digest of all. Does not
//! know what is recorded.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::run_context::PROJECT_HOLDS;
use crate::skill::directories::skill_directories;
use crate::skill::{Skill, find_skill_file};
use crate::sys::stamp::{Stamp, Stamps};
use crate::sys::{files, tree};

/// Whether `part` is a skills directory, which stands for the shared files in it.
pub fn is_place(part: &Path) -> bool {
    PROJECT_HOLDS.iter().any(|root| part.ends_with(root))
}

/// Whether a skills directory has no shared files.
pub fn is_empty_place(part: &Path) -> bool {
    beside(part).is_ok_and(|beside| beside.is_empty())
}

/// The paths of a part: the shared files of a skills directory, otherwise the part itself. The file
/// of a skill may only name another one, in a skill's directory beside it.
fn paths_of(path: &Path) -> io::Result<Vec<PathBuf>> {
    if is_place(path) {
        return beside(path);
    }
    Ok(paths_of_skill(path))
}

fn paths_of_skill(path: &Path) -> Vec<PathBuf> {
    let skill = path.is_dir().then(|| Skill::load(path).ok()).flatten();
    let elsewhere = skill.as_ref().and_then(Skill::pointed_to);
    let paths = std::iter::once(path).chain(elsewhere);
    paths.map(Path::to_owned).collect()
}

/// The digest of a part. As soon as it has several paths, their names count: which of the files
/// beside a skill it uses is a matter of their names.
pub fn digest_of(path: &Path) -> io::Result<(String, Stamps)> {
    if is_place(path) {
        // Which paths there are depends on these, and so they come first.
        let skills = skill_directories(path);
        let listed = listed_in(path, &skills);
        let paths = beside_these(path, &skills)?;
        let (digest, mut stamps) = match &paths[..] {
            [] => tree::digest_seen([]),
            _ => tree::digest_named(path, &paths),
        }?;
        stamps.extend(listed);
        return Ok((digest, stamps));
    }
    let paths = paths_of_skill(path);
    match (&paths[..], path.parent()) {
        ([own], _) => tree::digest_seen([own]),
        (_, Some(root)) => tree::digest_named(root, &paths),
        (_, None) => tree::digest_named(path, &paths),
    }
}

/// The stamps of a skills directory, of each skill in it and of its file: all that decides what is
/// beside the skills.
fn listed_in(root: &Path, skills: &[PathBuf]) -> Stamps {
    let files = skills.iter().filter_map(|dir| find_skill_file(dir));
    let paths = files.chain(skills.iter().cloned());
    let paths = paths.chain([root.to_owned()]);
    let stamped = paths.map(|path| {
        let stamp = Stamp::of(&path);
        (path, stamp)
    });
    stamped.collect()
}

pub fn files_of(path: &Path) -> io::Result<BTreeMap<String, String>> {
    let mut all = BTreeMap::new();
    for part in paths_of(path)? {
        let name = part.file_name().unwrap_or_default().to_string_lossy();
        for (file, digest) in tree::files(&part)? {
            let shown = match (file.is_empty(), part == path) {
                (true, _) => name.clone().into_owned(),
                (false, true) => file,
                (false, false) => format!("{name}/{file}"),
            };
            all.insert(shown, digest);
        }
    }
    Ok(all)
}

/// Everything in a skills directory that is not a skill; any skill there may use it.
fn beside(root: &Path) -> io::Result<Vec<PathBuf>> {
    beside_these(root, &skill_directories(root))
}

fn beside_these(root: &Path, skills: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    let entries = files::if_there(files::entries(root))?.into_iter().flatten();
    let paths = entries.map(|(name, _)| root.join(name.as_os_str()));
    let mut paths: Vec<PathBuf> = paths.collect();
    paths.retain(|path| skills.binary_search(path).is_err());
    paths.sort();
    Ok(paths)
}
