//! The bytes of the files in a tree, wherever they come from.

use std::io::Read;
use std::path::PathBuf;
use std::rc::Rc;

use crate::error::Result;
use crate::marketplace::fetch::{Class, Failure, Node};
use crate::sys::limits;

/// A file of a tree to read.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Its path in the tree.
    pub path: String,
    /// Its [`Node::File`] id.
    pub id: String,
}

/// Receives a file's index, its size and its bytes.
pub type Visit<'v> = dyn FnMut(usize, u64, &mut dyn Read) -> Result<()> + 'v;

/// Provides the bytes of a tree's files.
pub trait Content {
    /// Visits the files in the given order. Bytes that the visitor does not read are skipped.
    ///
    /// # Errors
    /// When the files together exceed `max` bytes, cannot be read, or the visitor fails.
    fn each(&self, files: &[Wanted], max: u64, visit: &mut Visit) -> Result<()>;

    /// Fetches files that later visits will read, so that each is requested only once.
    ///
    /// # Errors
    /// When they cannot be fetched.
    fn bring(&self, _files: &[Wanted]) -> Result<()> {
        Ok(())
    }

    /// A commit or an annotated tag by its kind and id; `None` for what is no repository.
    ///
    /// # Errors
    /// When git does not have it.
    fn git_object(&self, _kind: &str, _id: &str) -> Result<Option<GitObject>> {
        Ok(None)
    }
}

/// A commit or an annotated tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitObject {
    /// The bare repository that it is in.
    pub repo: PathBuf,
    /// Its id.
    pub id: String,
    /// Its content.
    pub text: Rc<str>,
}

impl Wanted {
    /// The file at `path`, if `node` is one.
    pub fn new(path: &str, node: &Node) -> Option<Self> {
        let Node::File { id, .. } = node else {
            return None;
        };
        let (path, id) = (path.to_owned(), id.clone());
        Some(Self { path, id })
    }
}

/// Checks that files of `total` bytes may be read.
///
/// # Errors
/// When that is more than `max`.
pub fn check_total(total: u64, max: u64) -> Result<()> {
    if total <= max {
        return Ok(());
    }
    let text = format!("the files are larger than {max} bytes together");
    Err(Failure::new(Class::TooLarge, text).into())
}

/// The content of each file; `None` for one of more than `cap` bytes.
pub fn read_small(
    content: &dyn Content,
    files: &[Wanted],
    cap: u64,
) -> Result<Vec<Option<Vec<u8>>>> {
    let mut all = Vec::with_capacity(files.len());
    each_small(content, files, cap, &mut |_, text| all.push(text))?;
    Ok(all)
}

/// As [`read_small`], one by one, with the index of each file.
pub fn each_small(
    content: &dyn Content,
    files: &[Wanted],
    cap: u64,
    visit: &mut dyn FnMut(usize, Option<Vec<u8>>),
) -> Result<()> {
    content.each(files, limits::TREE_SKILL_BYTES, &mut |at, size, bytes| {
        let mut read = Vec::new();
        let whole = size <= cap && bytes.take(cap).read_to_end(&mut read).is_ok();
        visit(at, whole.then_some(read));
        Ok(())
    })
}
