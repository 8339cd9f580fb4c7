//! `info --files`: the files of one installed skill. Links are shown, but never followed.

use std::fmt::Write;
use std::path::Path;

use serde::Serialize;

use super::info::{Info, shown};
use crate::catalog::Catalog;
use crate::cli::named::installed;
use crate::cli::options::Common;
use crate::cli::outcome::look_at;
use crate::cli::table::shortened;
use crate::cli::{Answer, Caller, Paint, Screen};
use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::sys::text::{count, size};
use crate::sys::{Dir, EntryKind, EntryName, limits};

#[derive(Debug, Serialize)]
struct Node {
    /// Relative to the skill's directory.
    path: String,
    /// `directory`, `file`, `link` or `other`.
    kind: &'static str,
    /// The size of a file in bytes.
    bytes: Option<u64>,
    executable: bool,
    to: Option<String>,
}

#[derive(Debug, Serialize)]
struct Walked {
    name: String,
    path: String,
    files: usize,
    bytes: u64,
    /// Whether the list is incomplete.
    cut: bool,
    nodes: Vec<Node>,
}

/// Every file of the skills with its size.
pub fn files(info: &Info, facts: &Facts, common: Common, caller: Caller, screen: Screen) -> Answer {
    let look = |name: &str| Walked::of(facts, name);
    let shown = |tree: &Walked| tree.render(screen);
    look_at(common, caller, &info.names, "skills", look, shown)
}

impl Walked {
    fn of(facts: &Facts, written: &str) -> Result<Self> {
        let catalog = Catalog::naming(facts, written);
        let entry = installed(facts, &catalog, written)?;
        // The directory itself may be a link to a working copy.
        let root = entry.dir.canonicalize();
        let root = root.map_err(|error| Error::io("look at", &entry.dir, &error))?;
        let mut nodes = Vec::new();
        let dir = Dir::anchor(&root).map_err(|error| Error::io("read", &root, &error))?;
        let cut = !walk(&dir, Path::new(""), 0, &mut nodes)
            .map_err(|error| Error::io("read", &root, &error))?;
        Ok(Self {
            name: entry.name(),
            path: entry.dir.display().to_string(),
            files: nodes.iter().filter(|node| node.kind == "file").count(),
            bytes: nodes.iter().filter_map(|node| node.bytes).sum(),
            cut,
            nodes,
        })
    }
}

/// Adds the entries below a directory; returns `false` if there are too many.
fn walk(root: &Dir, below: &Path, depth: usize, nodes: &mut Vec<Node>) -> std::io::Result<bool> {
    let dir = root.open_dir_below(below)?;
    let mut entries = dir.entries()?;
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    for (name, kind) in entries {
        if nodes.len() >= limits::WALKED_FILES {
            return Ok(false);
        }
        let path = below.join(name.as_os_str());
        let Ok(node) = Node::new(&dir, (&name, kind), &path) else {
            continue;
        };
        nodes.push(node);
        let is_dir = kind == EntryKind::Dir;
        if is_dir && depth >= limits::WALK_DEPTH {
            return Ok(false);
        }
        // A directory that cannot be read is shown and does not stop the walk.
        if is_dir && matches!(walk(root, &path, depth + 1, nodes), Ok(false)) {
            return Ok(false);
        }
    }
    Ok(true)
}

impl Node {
    fn new(dir: &Dir, (name, kind): (&EntryName, EntryKind), path: &Path) -> std::io::Result<Self> {
        let stat = dir.stat(name)?;
        let is_file = kind == EntryKind::File;
        let to = match kind {
            EntryKind::Link => Some(dir.read_link(name)?.display().to_string()),
            _ => None,
        };
        Ok(Self {
            path: path.display().to_string(),
            kind: match kind {
                EntryKind::Dir => "directory",
                EntryKind::Link => "link",
                EntryKind::File => "file",
                EntryKind::Other => "other",
            },
            bytes: u64::try_from(stat.st_size).ok().filter(|_| is_file),
            executable: is_file && stat.st_mode & 0o111 != 0,
            to,
        })
    }

    fn line(&self) -> String {
        let name = shown(Path::new(&self.path));
        match (self.kind, self.bytes, &self.to) {
            ("directory", ..) => format!("{name}/"),
            (_, _, Some(to)) => format!("{name} -> {}", shown(Path::new(to))),
            (_, Some(bytes), _) if self.executable => format!("{name}*  {}", size(bytes)),
            (_, Some(bytes), _) => format!("{name}  {}", size(bytes)),
            _ => format!("{name}  (no file)"),
        }
    }
}

impl Walked {
    fn render(&self, screen: Screen) -> String {
        let mut text = String::new();
        let width = screen.width.unwrap_or(usize::MAX);
        let root = shortened(&shown(Path::new(&self.path)), width);
        let _ = writeln!(text, "{}", screen.paint(&root, Paint::Bold));
        for node in &self.nodes {
            let line = format!("  {}", node.line());
            let _ = writeln!(text, "{}", shortened(&line, width));
        }
        let more = if self.cut { ", and more" } else { "" };
        let files = count(self.files, "file");
        let _ = writeln!(text, "{files}, {}{more}", size(self.bytes));
        text
    }
}
