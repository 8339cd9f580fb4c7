//! The bytes of files in a tree, wherever they come from.

use std::io::Read;

use super::tree::Node;
use crate::error::Result;
use crate::sys::limits;

/// A file of a tree whose bytes are wanted.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Its path in the tree.
    pub path: String,
    /// Its [`Node::File`] id.
    pub id: String,
}

/// Is given a file's index, its size and its bytes.
pub type Visit<'v> = dyn FnMut(usize, u64, &mut dyn Read) -> Result<()> + 'v;

/// Where a tree's bytes are.
pub trait Content {
    /// Visits the files in the order given. What the visitor leaves unread is skipped.
    ///
    /// # Errors
    /// When they are larger together than `max` bytes, cannot be had, or the visitor fails.
    fn each(&self, files: &[Wanted], max: u64, visit: &mut Visit) -> Result<()>;

    /// Brings files that will be visited soon, in several goes, so that each is asked for once.
    ///
    /// # Errors
    /// When they cannot be had.
    fn bring(&self, _files: &[Wanted]) -> Result<()> {
        Ok(())
    }
}

impl Wanted {
    /// The file at `path`, if `node` is one.
    pub fn new(path: &str, node: &Node) -> Option<Self> {
        match node {
            Node::File { id, .. } => Some(Self {
                path: path.to_owned(),
                id: id.clone(),
            }),
            _ => None,
        }
    }
}

/// The first bytes of each file, up to `cap` each; `None` for a file that is larger.
pub fn read_small(
    content: &dyn Content,
    files: &[Wanted],
    cap: u64,
) -> Result<Vec<Option<Vec<u8>>>> {
    let mut all = Vec::with_capacity(files.len());
    content.each(files, limits::TREE_SKILL_BYTES, &mut |_, size, bytes| {
        let mut read = Vec::new();
        let whole = size <= cap && bytes.take(cap).read_to_end(&mut read).is_ok();
        all.push(whole.then_some(read));
        Ok(())
    })?;
    Ok(all)
}
