//! The directory of a scope before it is opened: which part of its path the user chose, and which
//! part others may have provided.

use std::io;
use std::path::{Path, PathBuf};

use super::{Dir, EntryKind, EntryName, files};
use crate::error::{Error, Result};

/// The plugin directory, `~/.chibi`, or a project's `.chibi`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    path: PathBuf,
    /// The parent path, and the name below it, which someone else may have made a link.
    shared: Option<(PathBuf, EntryName)>,
}

impl Base {
    /// A directory that the user chose. Links on the way to it are trusted.
    pub fn own(path: PathBuf) -> Self {
        Self { path, shared: None }
    }

    /// The directory `name` in a project, of which the user chose only the root.
    pub fn shared(root: PathBuf, name: EntryName) -> Self {
        Self {
            path: root.join(name.as_os_str()),
            shared: Some((root, name)),
        }
    }

    /// Its path, for messages and for reading.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether someone other than the user may have provided its content.
    pub fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// Opens the directory; `None` if it does not exist.
    ///
    /// # Errors
    /// When it cannot be opened, or is a link in a project.
    pub fn open(&self) -> Result<Option<Dir>> {
        let opened = files::if_there(self.reach(Dir::anchor, Dir::open_dir));
        opened.map_err(|error| Error::io("open directory", &self.path, &error))
    }

    /// Opens the directory, creating it if it is missing.
    ///
    /// # Errors
    /// When it cannot be created, or is a link in a project.
    pub fn make(&self) -> Result<Dir> {
        let made = self.reach(Dir::make_anchor, Dir::make_dir);
        made.map_err(|error| Error::io("make directory", &self.path, &error))
    }

    fn reach(
        &self,
        anchor: fn(&Path) -> io::Result<Dir>,
        below: fn(&Dir, &EntryName) -> io::Result<Dir>,
    ) -> io::Result<Dir> {
        match &self.shared {
            Some((root, name)) => below(&anchor(root)?.shared(), name),
            None => anchor(&self.path),
        }
    }

    /// A file in the directory. It may be a link, as for users who keep their configuration in a
    /// repository.
    ///
    /// # Errors
    /// As [`Base::make`], and when such a link is dangling.
    pub fn file(&self, name: &EntryName) -> Result<HomeFile> {
        let (mut dir, mut name) = (self.make()?, name.clone());
        let is_elsewhere =
            !self.is_shared() && matches!(dir.kind(&name), Ok(Some(EntryKind::Link)));
        if is_elsewhere {
            let path = dir.path_of(&name);
            let found = path.canonicalize().and_then(|real| files::split(&real));
            (dir, name) = found.map_err(|error| Error::io("follow", &path, &error))?;
        }
        Ok(HomeFile {
            dir,
            name,
            is_elsewhere,
        })
    }
}

/// Where a file of a [`Base`] really is.
#[derive(Debug)]
pub struct HomeFile {
    /// Its directory.
    pub dir: Dir,
    /// Its name there.
    pub name: EntryName,
    /// Whether the user keeps it in another place, behind a link.
    pub is_elsewhere: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_linked_directory_is_the_users_own_and_never_a_projects() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("real")).unwrap();
        symlink("real", root.path().join(".chibi")).unwrap();
        let own = Base::own(root.path().join(".chibi"));
        assert!(own.open().unwrap().is_some() && own.make().is_ok());
        let shared = Base::shared(root.path().to_owned(), EntryName::from_static(".chibi"));
        for error in [shared.open().err(), shared.make().err()] {
            let error = error.unwrap();
            let text = format!("{error}, {}", error.next_step().unwrap_or_default());
            assert!(text.contains("/.chibi`: it is a symbolic link"), "{text}");
            assert!(text.contains("remove the link"), "{text}");
        }
        assert_eq!(fs::read_dir(root.path().join("real")).unwrap().count(), 0);
        fs::remove_file(root.path().join(".chibi")).unwrap();
        assert!(shared.open().unwrap().is_none() && shared.make().is_ok());
        assert!(shared.open().unwrap().is_some());
    }
    #[test]
    fn the_users_file_may_be_elsewhere_and_a_projects_may_not() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        fs::create_dir_all(at("home")).unwrap();
        fs::create_dir_all(at("dotfiles")).unwrap();
        fs::write(at("dotfiles/real"), "old").unwrap();
        symlink("../dotfiles/real", at("home/link")).unwrap();
        let name = EntryName::from_static("link");
        let own = Base::own(at("home")).file(&name).unwrap();
        assert!(own.is_elsewhere && own.name == EntryName::from_static("real"));
        assert_eq!(own.dir.read(&own.name, 9).unwrap(), b"old");
        let shared = Base::shared(root.path().to_owned(), EntryName::from_static("home"));
        let shared = shared.file(&name).unwrap();
        assert!(!shared.is_elsewhere && shared.dir.read(&shared.name, 9).is_err());
        symlink("nowhere", at("home/dangling")).unwrap();
        let dangling = EntryName::from_static("dangling");
        assert!(Base::own(at("home")).file(&dangling).is_err());
    }
}
