//! Git's objects as evidence carries them: their ids as git computes them, and the files of a commit
//! as far as its trees are there.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::Path;

use crate::error::{Error, Result};
use crate::marketplace::fetch::{Failure, Node, Tree};
use crate::marketplace::signature::evidence::{GitKind, GitObject};
use crate::marketplace::signature::programs::Programs;
use crate::sys::{Dir, EntryName, limits};

/// Objects by their ids.
pub type Objects<'o> = HashMap<String, &'o GitObject>;

/// What a path takes in a listing besides itself, in bytes: mode, type and id.
const ENTRY: usize = 53;

/// The most that the paths of one commit take in a listing: 40,000 of them.
const ROOM: usize = 4 * 1024 * 1024;

/// The directory in which they are passed to git.
const PASSED: EntryName = EntryName::from_static("objects");

/// Objects by the ids that git gives them in a repository such as `repo`.
///
/// # Errors
/// When git fails or the disk is full.
pub fn identified<'o>(
    programs: &Programs,
    repo: &Path,
    objects: impl Iterator<Item = &'o GitObject>,
) -> Result<Objects<'o>> {
    let scratch = programs.0.scratch;
    // Those of an earlier check.
    let dir = scratch
        .remove_ours(&PASSED)
        .and_then(|()| scratch.make_dir(&PASSED));
    let dir = dir.map_err(|error| scratch.error("make directory", &PASSED, &error))?;
    let mut of_kind: HashMap<GitKind, (String, Vec<&GitObject>)> = HashMap::new();
    for (number, object) in objects.enumerate() {
        write(&dir, number, &object.bytes)?;
        let (paths, objects) = of_kind.entry(object.kind).or_default();
        let _ = writeln!(paths, "objects/{number}");
        objects.push(object);
    }
    let mut restored = HashMap::new();
    for kind in GitKind::ALL {
        let Some((paths, objects)) = of_kind.remove(&kind) else {
            continue;
        };
        let ids = hashed(programs, repo, kind, &paths)?;
        if ids.len() != objects.len() {
            return Err(Error::new("git did not take the objects of a signature").hint("try again"));
        }
        restored.extend(ids.into_iter().zip(objects));
    }
    Ok(restored)
}

fn write(dir: &Dir, number: usize, bytes: &[u8]) -> Result<()> {
    use std::io::Write as _;
    let name = EntryName::parse(number.to_string()).ok_or_else(|| Error::new("no such name"))?;
    let file = dir.create(&name, 0o600);
    file.and_then(|mut file| file.write_all(bytes))
        .map_err(|error| dir.error("write", &name, &error))
}

/// The ids of the files at `paths`, one to a line, as objects of one kind, in order.
///
/// # Errors
/// When git fails.
pub fn hashed(programs: &Programs, repo: &Path, kind: GitKind, paths: &str) -> Result<Vec<String>> {
    let mut command = programs.git(repo)?;
    // Whatever the content is: it is judged when it is read.
    command.args([
        "hash-object",
        "--no-filters",
        "--literally",
        "-t",
        kind.as_str(),
    ]);
    command.arg("--stdin-paths");
    let ran = programs.run(command, paths)?;
    let text = crate::sys::files::read_all_capped(ran.output, limits::GIT_LISTING)
        .map_err(|error| programs.0.local(&error))?;
    if !ran.status.success() {
        let failure = Failure::from_stderr(&ran.errors);
        return Err(failure
            .context("git cannot tell the ids of a signature's objects")
            .into());
    }
    Ok(String::from_utf8_lossy(&text)
        .lines()
        .map(str::to_owned)
        .collect())
}

/// The files of a commit, as far as objects lead to them.
#[derive(Debug, Default)]
pub struct Committed {
    pub tree: Tree,
    /// The directories and links in it of which the content is not known.
    unknown: BTreeSet<String>,
    /// How much longer it may get, in bytes of paths: few objects can make many paths.
    room: usize,
}

impl Committed {
    /// The directories and links that are not known, among these and those around them.
    pub fn unknown_of<'p>(&'p self, paths: impl Iterator<Item = &'p str>) -> BTreeSet<&'p str> {
        let with_above = |path: &'p str| {
            let ends = path.match_indices('/').map(|(end, _)| end);
            ends.chain([path.len()]).map(move |end| &path[..end])
        };
        let each = paths.flat_map(with_above);
        each.filter(|path| self.unknown.contains(*path)).collect()
    }
}

/// The files of the commit with this id.
///
/// # Errors
/// When there is no such commit, or an object is not what its type says.
pub fn tree_of(objects: &Objects, commit: &str) -> Result<Committed> {
    let commit = objects
        .get(commit)
        .filter(|object| object.kind == GitKind::Commit);
    // Every commit begins with its tree, and nothing else that is signed does.
    let commit = commit.filter(|commit| commit.bytes.starts_with(b"tree "));
    let commit = commit.ok_or_else(|| broken("the commit"))?;
    let root = header(&commit.bytes, "tree").ok_or_else(|| broken("the commit"))?;
    let mut committed = Committed {
        room: ROOM,
        ..Committed::default()
    };
    root.clone_into(&mut committed.tree.root);
    committed.add(objects, root, "")?;
    Ok(committed)
}

/// The value of a header of a commit or tag: the first of this name before the empty line.
pub fn header<'b>(bytes: &'b [u8], name: &str) -> Option<&'b str> {
    let text = bytes.split(|byte| *byte == b'\n');
    let mut lines = text.take_while(|line| !line.is_empty());
    lines.find_map(|line| {
        let line = std::str::from_utf8(line).ok()?;
        line.strip_prefix(name)?.strip_prefix(' ')
    })
}

impl Committed {
    fn add(&mut self, objects: &Objects, id: &str, at: &str) -> Result<()> {
        let object = objects.get(id);
        let Some(object) = object.filter(|object| object.kind == GitKind::Tree) else {
            self.unknown.insert(at.to_owned());
            return Ok(());
        };
        let id_length = id.len() / 2;
        let mut rest = &*object.bytes;
        while !rest.is_empty() {
            let entry = entry(&mut rest, id_length).ok_or_else(|| broken("a directory"))?;
            let (mode, name, id) = entry;
            let Ok(name) = std::str::from_utf8(name) else {
                self.tree.unusable += 1;
                continue;
            };
            let path = crate::marketplace::fetch::tree::join(at, name);
            let room = self.room.checked_sub(path.len() + ENTRY);
            self.room = room.ok_or_else(|| broken("a directory"))?;
            // Old programs wrote `040000`, which git reads too.
            let zeros = mode.iter().take_while(|digit| **digit == b'0').count();
            let node = match &mode[zeros..] {
                b"40000" => {
                    // One that is too deep is not added, nor what is in it.
                    if self.tree.insert(path.clone(), Node::Dir { id: id.clone() }) {
                        self.add(objects, &id, &path)?;
                    }
                    continue;
                }
                b"120000" => {
                    let target = objects
                        .get(&id)
                        .filter(|target| target.kind == GitKind::Blob);
                    let target = target.and_then(|target| std::str::from_utf8(&target.bytes).ok());
                    if target.is_none() {
                        self.unknown.insert(path.clone());
                    }
                    let to = target.unwrap_or_default().to_owned();
                    Node::Link { to }
                }
                b"160000" => Node::Submodule,
                mode => Node::File {
                    id,
                    executable: mode == b"100755",
                },
            };
            self.tree.insert(path, node);
        }
        Ok(())
    }
}

/// The next entry of a tree: its mode, its name, its id.
fn entry<'b>(rest: &mut &'b [u8], id_length: usize) -> Option<(&'b [u8], &'b [u8], String)> {
    let space = rest.iter().position(|byte| *byte == b' ')?;
    let (mode, after) = (&rest[..space], &rest[space + 1..]);
    let end = after.iter().position(|byte| *byte == 0)?;
    let (name, after) = (&after[..end], &after[end + 1..]);
    let (id, after) = after.split_at_checked(id_length)?;
    *rest = after;
    let id = id.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    (!name.is_empty() && !name.contains(&b'/')).then_some((mode, name, id))
}

fn broken(what: &str) -> Error {
    Error::new(format!("{what} in the kept evidence is not one"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_read_and_a_broken_one_refused() {
        let id = [7; 20];
        let entries = [&b"100755 run.sh\0"[..], &id, b"40000 d\0", &id].concat();
        let commit = |text: &str| GitObject {
            kind: GitKind::Commit,
            bytes: text.as_bytes().into(),
        };
        let root = "a".repeat(40);
        let good = commit(&format!(
            "tree {root}\nauthor x\n\ntree {}\n",
            "b".repeat(40)
        ));
        let read = |commit: &GitObject, bytes: &[u8], id: &str| {
            let tree = GitObject {
                kind: GitKind::Tree,
                bytes: bytes.into(),
            };
            let objects = HashMap::from([("c".to_owned(), commit), (root.clone(), &tree)]);
            let committed = tree_of(&objects, id).ok()?;
            assert!(committed.unknown.contains("d"), "{committed:?}");
            Some(
                committed
                    .tree
                    .iter()
                    .map(|(path, _)| path.to_owned())
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(read(&good, &entries, "c").unwrap(), ["d", "run.sh"]);
        for cut in [3, 10, entries.len() - 1] {
            assert_eq!(read(&good, &entries[..cut], "c"), None, "{cut}");
        }
        assert_eq!(read(&commit("\ntree x\n"), &entries, "c"), None);
        assert_eq!(read(&good, &entries, "x"), None);
    }
}
