//! Git's objects as evidence carries them: their ids as git computes them, and the files of a commit
//! as far as its trees are there.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::error::{Error, Result};
use crate::marketplace::fetch::{Node, Tree};
use crate::marketplace::signature::evidence::{GitKind, GitObject};
use crate::marketplace::signature::programs::Programs;
use crate::sys::{Dir, EntryName, limits};

/// Objects by their ids.
pub type Objects<'o> = HashMap<String, &'o GitObject>;

/// The directory in which they are passed to git.
const PASSED: EntryName = EntryName::from_static("objects");

/// Writes objects into `repo` and returns them by the ids that git gives them.
///
/// # Errors
/// When git fails or the disk is full.
pub fn restore<'o>(
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
    if kind != GitKind::Blob {
        command.arg("-w");
    }
    command.arg("--stdin-paths");
    let ran = programs.run(command, paths)?;
    let text = crate::sys::files::read_all_capped(ran.output, limits::GIT_LISTING)
        .map_err(|error| programs.0.local(&error))?;
    if !ran.status.success() {
        let text = format!(
            "git cannot tell the ids of a signature's objects: {}",
            ran.errors.trim()
        );
        return Err(Error::new(text).hint("try again"));
    }
    Ok(String::from_utf8_lossy(&text)
        .lines()
        .map(str::to_owned)
        .collect())
}

/// The files of the commit with this id, as far as the objects lead to them.
///
/// # Errors
/// When there is no such commit, or an object is not what its type says.
pub fn tree_of(objects: &Objects, commit: &str) -> Result<Tree> {
    let commit = objects
        .get(commit)
        .filter(|object| object.kind == GitKind::Commit);
    let commit = commit.ok_or_else(|| broken("the commit"))?;
    let root = header(&commit.bytes, "tree").ok_or_else(|| broken("the commit"))?;
    let mut tree = Tree::default();
    root.clone_into(&mut tree.root);
    add(objects, root, "", &mut tree, 0)?;
    Ok(tree)
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

fn add(objects: &Objects, id: &str, at: &str, tree: &mut Tree, depth: usize) -> Result<()> {
    // A tree that is not there is not needed.
    let Some(object) = objects
        .get(id)
        .filter(|object| object.kind == GitKind::Tree)
    else {
        return Ok(());
    };
    if depth > limits::TREE_DEPTH {
        return Err(broken("a directory"));
    }
    let id_length = id.len() / 2;
    let mut rest = object.bytes.as_slice();
    while !rest.is_empty() {
        let entry = entry(&mut rest, id_length).ok_or_else(|| broken("a directory"))?;
        let (mode, name, id) = entry;
        let Ok(name) = std::str::from_utf8(name) else {
            tree.unusable += 1;
            continue;
        };
        let path = crate::marketplace::fetch::tree::join(at, name);
        let node = match mode {
            b"40000" => {
                if tree.insert(path.clone(), Node::Dir { id: id.clone() }) {
                    add(objects, &id, &path, tree, depth + 1)?;
                }
                continue;
            }
            b"120000" => {
                let target = objects.get(&id).map(|target| target.bytes.clone());
                let target = target.and_then(|target| String::from_utf8(target).ok());
                Node::Link {
                    to: target.unwrap_or_default(),
                }
            }
            b"160000" => Node::Submodule,
            mode => Node::File {
                id,
                executable: mode == b"100755",
            },
        };
        tree.insert(path, node);
    }
    Ok(())
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
            bytes: text.as_bytes().to_vec(),
        };
        let root = "a".repeat(40);
        let good = commit(&format!(
            "tree {root}\nauthor x\n\ntree {}\n",
            "b".repeat(40)
        ));
        let read = |commit: &GitObject, bytes: &[u8], id: &str| {
            let tree = GitObject {
                kind: GitKind::Tree,
                bytes: bytes.to_vec(),
            };
            let objects = HashMap::from([("c".to_owned(), commit), (root.clone(), &tree)]);
            let tree = tree_of(&objects, id).ok()?;
            Some(
                tree.iter()
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
