//! What git prints about objects and trees, taken apart. Pure.

use crate::marketplace::fetch::Node;
use crate::marketplace::signature::{GitKind, GitObject};

/// The objects of an answer of `cat-file --batch`; `None` if one is missing.
pub fn parse_objects(mut answer: &[u8]) -> Option<Vec<GitObject>> {
    let mut objects = Vec::new();
    while !answer.is_empty() {
        let end = answer.iter().position(|byte| *byte == b'\n')?;
        let head = std::str::from_utf8(&answer[..end]).ok()?;
        let mut words = head.split(' ').skip(1);
        let kind = words.next()?;
        let kind = GitKind::ALL.into_iter().find(|one| one.as_str() == kind)?;
        let (bytes, rest) = answer[end + 1..].split_at_checked(words.next()?.parse().ok()?)?;
        objects.push(GitObject {
            kind,
            bytes: bytes.into(),
        });
        answer = rest.strip_prefix(b"\n")?;
    }
    Some(objects)
}

/// Parses `<mode> SP <kind> SP <id> TAB <path>`; `None` for a path that is not UTF-8. A link has its
/// id in place of its target.
pub fn parse_entry(entry: &[u8]) -> Option<(String, Node)> {
    let (head, path) = std::str::from_utf8(entry).ok()?.split_once('\t')?;
    let mut words = head.split(' ');
    let (mode, _kind, id) = (words.next()?, words.next()?, words.next()?.to_owned());
    let executable = mode == "100755";
    let node = match mode {
        "040000" => Node::Dir { id },
        "120000" => Node::Link { to: id },
        "160000" => Node::Submodule,
        _ => Node::File { id, executable },
    };
    Some((path.to_owned(), node))
}
