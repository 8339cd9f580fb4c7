//! Selects the files of one skill in a tree, and writes them to a staging directory. A link is
//! replaced by its target if that is in the repository, and otherwise left out and reported. Only
//! regular files and directories are written.

use std::collections::BTreeSet;
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::PermissionsExt;

use crate::marketplace::fetch::{Contents, FileToRead, Node, Tree, tree};
use crate::marketplace::prelude::*;

/// How the file begins that git has in place of one in git LFS.
const LFS: &[u8] = b"version https://git-lfs.github.com/spec/v1\n";

/// The files of one skill.
#[derive(Debug, Default)]
pub struct CopyPlan {
    files: Vec<FileToCopy>,
    /// What is left out, and why, one sentence each.
    pub dropped: Vec<String>,
    steps: usize,
}

/// One file to be copied.
#[derive(Debug)]
struct FileToCopy {
    /// Relative to the skill's directory.
    to: String,
    /// The file in the tree.
    from: FileToRead,
    /// Whether it will be executable.
    executable: bool,
}

impl CopyPlan {
    /// The files of the skill at `dir`, except those below `without`.
    ///
    /// # Errors
    /// When it has more files than [`limits::INSTALL_FILES`], or a FIFO or device.
    pub fn new(tree: &Tree, dir: &str, without: &[&str]) -> Result<Self> {
        let mut plan = Self::default();
        plan.add(tree, dir, "", without, &mut Vec::new())?;
        let mut seen = BTreeSet::new();
        for piece in &plan.files {
            if !seen.insert(piece.to.to_lowercase()) {
                let text = "differs from another file only in its letters' case";
                let text = format!("`{}` {text}: some systems keep one of them", piece.to);
                plan.dropped.push(text);
            }
        }
        Ok(plan)
    }

    /// The files whose bytes are needed.
    pub fn files_to_read(&self) -> impl Iterator<Item = FileToRead> + '_ {
        self.files.iter().map(|piece| piece.from.clone())
    }

    /// Adds the directory `from` as the directory `to`. `within` are the directories whose copying
    /// led here.
    fn add(
        &mut self,
        tree: &Tree,
        from: &str,
        to: &str,
        without: &[&str],
        within: &mut Vec<String>,
    ) -> Result<()> {
        within.push(from.to_owned());
        for (path, node) in tree.below(from) {
            self.steps += 1;
            // Links can multiply directories even if there are few files.
            if self.files.len() > limits::INSTALL_FILES || self.steps > limits::WALK_STEPS {
                let text = format!("the skill has more than {} files", limits::INSTALL_FILES);
                let hint = "ask its author to leave out built and downloaded files";
                return Err(Error::new(text).hint(hint));
            }
            let source = tree::join(from, path);
            if without.iter().any(|other| tree::is_within(&source, other)) {
                continue;
            }
            let target = tree::join(to, path);
            match node {
                Node::Dir { .. } => {}
                Node::File { .. } => self.push(target, &source, node),
                Node::Submodule => self.drop(&target, "it is another repository (a submodule)"),
                Node::Special => {
                    let text = format!("`{target}` is not a file: a FIFO, socket or device");
                    return Err(Error::new(text).hint("a skill that has one is not installed"));
                }
                Node::Link { .. } => match tree.resolve(&source) {
                    Err(why) => self.drop(&target, &format!("it is a link, and {why}")),
                    Ok(real) => match tree.get(&real) {
                        Some(file @ Node::File { .. }) => self.push(target, &real, file),
                        // Copying a link to a directory that contains it would never end.
                        _ if within
                            .iter()
                            .chain([&source])
                            .any(|d| tree::is_within(d, &real)) =>
                        {
                            let why = "it is a link to a directory that contains it";
                            self.drop(&target, why);
                        }
                        Some(Node::Dir { .. }) => {
                            self.add(tree, &real, &target, without, within)?;
                        }
                        _ => self.drop(&target, "it is a link, and it leads to no file"),
                    },
                },
            }
        }
        within.pop();
        Ok(())
    }

    fn push(&mut self, to: String, path: &str, node: &Node) {
        if let (Some(from), Node::File { executable, .. }) = (FileToRead::new(path, node), node) {
            self.files.push(FileToCopy {
                to,
                from,
                executable: *executable,
            });
        }
    }

    fn drop(&mut self, path: &str, why: &str) {
        self.dropped
            .push(format!("`{}` was left out: {why}", path.escape_debug()));
    }

    /// Writes the files below `dest`.
    ///
    /// # Errors
    /// When they together exceed [`limits::INSTALL_BYTES`], or cannot be read or written.
    pub fn write(&mut self, content: &dyn Contents, dest: &Dir) -> Result<()> {
        let files_to_read: Vec<FileToRead> = self.files_to_read().collect();
        let mut lost = Vec::new();
        content.each(
            &files_to_read,
            limits::INSTALL_BYTES,
            &mut |index, _, bytes| {
                let piece = &self.files[index];
                let path = EntryPath::parse(&piece.to).ok_or_else(|| {
                    let text = format!("`{}` is too long a name for a file", brief(&piece.to, 60));
                    Error::new(text).hint("ask its author for a shorter one")
                })?;
                let mode = if piece.executable { 0o755 } else { 0o644 };
                match dest.create_below(&path, mode) {
                    // The file system ignores case; this was reported already.
                    Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                        lost.push((index, "was left out: another file has taken its place"));
                    }
                    file => {
                        let mut begins = Vec::new();
                        let head = (&mut *bytes)
                            .take(LFS.len() as u64)
                            .read_to_end(&mut begins);
                        let copied = head.and(file).and_then(|mut file| {
                            io::copy(&mut begins.as_slice().chain(bytes), &mut file)
                        });
                        copied.map_err(|error| {
                            let error = Error::io("write", &dest.path().join(&piece.to), &error);
                            error.hint("check the space and the permissions there")
                        })?;
                        if begins == LFS {
                            lost.push((
                                index,
                                "is only a pointer: git LFS has the file, which is not fetched",
                            ));
                        }
                    }
                }
                Ok(())
            },
        )?;
        for (index, what) in lost {
            let path = self.files[index].to.escape_debug();
            self.dropped.push(format!("`{path}` {what}"));
        }
        Ok(())
    }
}

/// Copies the files, directories and links in `from` to `to`.
///
/// # Errors
/// When something cannot be read or written.
pub fn copy_tree(from: &Dir, to: &Dir) -> Result<()> {
    copy_entries(from, to)
        .map_err(|error| Error::io("copy", from.path(), &error).hint("check the space on the disk"))
}

fn copy_entries(from: &Dir, to: &Dir) -> io::Result<()> {
    for (name, kind) in from.entries()? {
        match kind {
            EntryKind::Dir => copy_entries(&from.open_dir(&name)?, &to.new_dir(&name)?)?,
            EntryKind::File => {
                let (mut file, metadata) = from.open_file(&name)?;
                let mode = metadata.permissions().mode() & 0o777;
                io::copy(&mut file, &mut to.create(&name, mode)?)?;
            }
            EntryKind::Link => to.link_to(&from.read_link(&name)?, &name)?,
            EntryKind::Other => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marketplace::fetch::tree::tests::tree;

    fn planned(
        entries: &[(&str, &str)],
        dir: &str,
        without: &[&str],
    ) -> (Vec<String>, Vec<String>) {
        let plan = CopyPlan::new(&tree(entries), dir, without).unwrap();
        let files = plan.files.iter();
        (
            files
                .map(|p| format!("{}<-{}", p.to, p.from.path))
                .collect(),
            plan.dropped,
        )
    }

    #[test]
    fn links_inside_are_replaced_and_others_dropped_and_reported() {
        let (files, dropped) = planned(
            &[
                ("shared/lib.py", ""),
                ("LICENSE", ""),
                ("s/SKILL.md", ""),
                ("s/LICENSE@", "../LICENSE"),
                ("s/lib@", "../shared"),
                ("s/out@", "../../etc/passwd"),
                ("s/home@", "/Users/author/x"),
                ("s/up@", ".."),
                ("s/self@", "."),
                ("s/gone@", "nothing"),
            ],
            "s",
            &[],
        );
        assert_eq!(
            files,
            [
                "LICENSE<-LICENSE",
                "SKILL.md<-s/SKILL.md",
                "lib/lib.py<-shared/lib.py"
            ]
        );
        assert_eq!(dropped.len(), 5, "{dropped:?}");
    }

    #[test]
    fn two_directories_that_link_to_each_other_end() {
        let (files, dropped) = planned(
            &[
                ("s/SKILL.md", ""),
                ("s/a@", "../x"),
                ("x/f", ""),
                ("x/b@", "../y"),
                ("y/c@", "../x"),
            ],
            "s",
            &[],
        );
        assert_eq!(files, ["SKILL.md<-s/SKILL.md", "a/f<-x/f"]);
        assert_eq!(dropped.len(), 1, "{dropped:?}");
    }

    #[test]
    fn directories_multiplied_by_links_are_counted() {
        let mut entries = vec![
            ("s/SKILL.md".to_owned(), String::new()),
            ("s/a@".to_owned(), "../d0".to_owned()),
        ];
        for level in 0..20 {
            for link in 0..10 {
                entries.push((format!("d{level}/l{link}@"), format!("../d{}", level + 1)));
            }
        }
        entries.push(("d20/f".to_owned(), String::new()));
        let entries: Vec<(&str, &str)> = entries
            .iter()
            .map(|(a, b)| (a.as_str(), b.as_str()))
            .collect();
        assert!(CopyPlan::new(&tree(&entries), "s", &[]).is_err());
    }

    #[test]
    fn colliding_names_are_reported_excluded_directories_left_out() {
        let (files, dropped) = planned(
            &[
                ("SKILL.md", ""),
                ("a.md", ""),
                ("A.md", ""),
                ("skills/x/SKILL.md", ""),
            ],
            "",
            &["skills/x"],
        );
        assert_eq!(files.len(), 3);
        assert!(dropped[0].contains("case"), "{dropped:?}");
    }

    #[test]
    fn a_device_is_refused() {
        let mut tree = tree(&[("s/SKILL.md", "")]);
        tree.insert("s/fifo".to_owned(), Node::Special);
        assert!(CopyPlan::new(&tree, "s", &[]).is_err());
    }
}
