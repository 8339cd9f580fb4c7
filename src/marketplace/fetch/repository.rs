//! One commit of a repository. It is fetched into the cache without history and, if possible,
//! without file contents, and read without a checkout, so that no link, hook, filter or submodule
//! takes effect.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};

use crate::error::{Error, Result};
use crate::marketplace::fetch::cache::Slot;
use crate::marketplace::fetch::content::{Content, Visit, Wanted};
use crate::marketplace::fetch::failure::{Class, Failure};
use crate::marketplace::fetch::git::{Call, Git};
use crate::marketplace::fetch::refs::Refs;
use crate::marketplace::fetch::remote::{NAME, Remote};
use crate::marketplace::fetch::tree::{Node, Tree};
use crate::marketplace::reference::pin::CommitId;
use crate::sys::limits;

/// The maximum length of a link's target, as in the kernel.
const LINK: u64 = 4096;
/// Arguments of every fetch.
pub const FETCH: [&str; 3] = ["fetch", "--no-tags", "--no-recurse-submodules"];

/// A bare repository on disk.
pub struct Repository<'a> {
    git: Git<'a>,
    slot: Slot,
    settings: Vec<String>,
    offline: bool,
    /// The sizes of objects known to be present.
    known: RefCell<HashMap<String, u64>>,
}

/// Queries a repository's refs in the form read by [`Refs::parse`].
pub fn list_refs(git: &Git, remote: &Remote) -> Result<String, Failure> {
    let mut args = vec!["ls-remote", "--quiet", NAME];
    args.extend(Refs::PATTERNS);
    let call = Call {
        settings: &remote.settings,
        args: &args,
        ..Call::default()
    };
    let output = git.read(&call, limits::GIT_LISTING)?;
    Ok(String::from_utf8_lossy(&output).into_owned())
}

impl<'a> Repository<'a> {
    /// Fetches only `commit`, unless it is cached: without history and, if the server supports
    /// that, without file contents.
    ///
    /// # Errors
    /// The outer error if the cache cannot be used, the inner one if git fails.
    pub fn fetch(
        git: Git<'a>,
        slot: Slot,
        remote: &Remote,
        commit: &CommitId,
        offline: bool,
    ) -> Result<Result<Self, Failure>> {
        let _turn = slot.turn(git.0.patience())?;
        let repository = Self {
            git,
            slot,
            settings: remote.settings.clone(),
            offline,
            known: RefCell::default(),
        };
        Ok(repository.bring(commit.as_str()).map(|()| repository))
    }

    fn bring(&self, commit: &str) -> Result<(), Failure> {
        self.slot.prepare(&self.git, commit)?;
        let tree = format!("{commit}^{{tree}}");
        let exists = ["cat-file", "-e", &tree];
        let call = Call {
            no_lazy_fetch: true,
            ..self.call(&exists, "")
        };
        if self.git.run(&call, LINK).is_ok() {
            return Ok(());
        }
        if self.offline {
            let text = format!("commit {commit} is not on this machine");
            return Err(Failure::new(Class::Offline, text));
        }
        let fetch = |how: &[&'static str]| {
            let args = [&FETCH[..], &[self.loudness()], how, &[NAME, commit]].concat();
            self.git.run(&self.call(&args, ""), LINK)
        };
        let mut done = Err(Failure::new(Class::Other, ""));
        // Servers and versions of git that lack filters or shallow fetches report it in many ways.
        for how in [
            &["--depth=1", "--filter=blob:none"][..],
            &["--depth=1"],
            &[],
        ] {
            done = fetch(how).map(|_| ());
            if !done
                .as_ref()
                .is_err_and(|failure| failure.class == Class::Other)
            {
                break;
            }
        }
        done
    }

    fn loudness(&self) -> &'static str {
        if self.git.0.progress.is_some() {
            "--progress"
        } else {
            "--quiet"
        }
    }

    /// Git's id of the root tree of `commit`.
    ///
    /// # Errors
    /// When git fails.
    pub fn root_tree(&self, commit: &CommitId) -> Result<String> {
        let tree = format!("{commit}^{{tree}}");
        let args = ["rev-parse", "--verify", "--quiet", &tree];
        let output = self.git.read(&self.call(&args, ""), LINK)?;
        Ok(String::from_utf8_lossy(&output).trim().to_owned())
    }

    /// The files of `commit`, and the number of paths that could not be used.
    pub fn tree(&self, commit: &CommitId) -> Result<(Tree, usize)> {
        let args = ["ls-tree", "-r", "-t", "-z", "--full-tree", commit.as_str()];
        let call = Call {
            no_lazy_fetch: true,
            ..self.call(&args, "")
        };
        let output = self.git.read(&call, limits::GIT_LISTING)?;
        let mut tree = Tree::default();
        let (mut unusable, mut links) = (0, Vec::new());
        for entry in output
            .split(|byte| *byte == 0)
            .filter(|entry| !entry.is_empty())
        {
            let Some((path, node)) = parse_entry(entry) else {
                unusable += 1;
                continue;
            };
            match node {
                Entry::Link(id) => links.push(Wanted { path, id }),
                Entry::Node(node) => unusable += usize::from(!tree.insert(path, node)),
            }
        }
        let targets = crate::marketplace::fetch::content::read_small(self, &links, LINK)?;
        for (link, target) in links.into_iter().zip(targets) {
            let to = target
                .and_then(|bytes| String::from_utf8(bytes).ok())
                .unwrap_or_default();
            unusable += usize::from(!tree.insert(link.path, Node::Link { to }));
        }
        Ok((tree, unusable))
    }

    fn call<'c>(&'c self, args: &'c [&'c str], input: &'c str) -> Call<'c> {
        Call {
            repo: Some(&self.slot.dir),
            settings: &self.settings,
            args,
            input,
            ..Call::default()
        }
    }

    /// The size of each object, `None` for missing ones.
    fn sizes(&self, ids: &str) -> Result<Vec<Option<u64>>, Failure> {
        let args = ["cat-file", "--batch-check=%(objectsize)"];
        let call = Call {
            no_lazy_fetch: true,
            ..self.call(&args, ids)
        };
        let output = self.git.read(&call, limits::GIT_LISTING)?;
        let output = String::from_utf8_lossy(&output);
        Ok(output.lines().map(|line| line.parse().ok()).collect())
    }

    /// The sizes of the objects, after the missing ones were fetched in one request.
    fn fetch_missing(&self, files: &[Wanted], ids: &str) -> Result<Vec<u64>> {
        let known = |file: &Wanted| self.known.borrow().get(&file.id).copied();
        if let Some(sizes) = files.iter().map(known).collect() {
            return Ok(sizes);
        }
        let sizes = self.ask_for_missing(files, ids)?;
        let ids = files.iter().map(|file| file.id.clone());
        self.known
            .borrow_mut()
            .extend(ids.zip(sizes.iter().copied()));
        Ok(sizes)
    }

    fn ask_for_missing(&self, files: &[Wanted], ids: &str) -> Result<Vec<u64>> {
        let here = self.sizes(ids)?;
        if let Some(sizes) = here.into_iter().collect() {
            return Ok(sizes);
        }
        let _turn = self.slot.turn(self.git.0.patience())?;
        let sizes = self.sizes(ids)?;
        let missing = files.iter().zip(&sizes).filter(|(_, size)| size.is_none());
        let missing = lines(missing.map(|(file, _)| file));
        if self.offline && !missing.is_empty() {
            let text = "its files are not on this machine";
            return Err(Failure::new(Class::Offline, text).into());
        }
        let sizes = if missing.is_empty() {
            sizes
        } else {
            let noop = ["-c", "fetch.negotiationAlgorithm=noop"];
            let objects = [self.loudness(), "--filter=blob:none", "--stdin", NAME];
            let args = [&noop[..], &FETCH, &objects].concat();
            self.git.run(&self.call(&args, &missing), LINK)?;
            self.sizes(ids)?
        };
        let whole: Option<Vec<u64>> = sizes.into_iter().collect();
        whole
            .filter(|sizes| sizes.len() == files.len())
            .ok_or_else(|| {
                let text = "the repository did not send all of its files";
                Failure::new(Class::Other, text).into()
            })
    }
}

impl Content for Repository<'_> {
    fn bring(&self, files: &[Wanted]) -> Result<()> {
        if files.is_empty() {
            return Ok(());
        }
        self.fetch_missing(files, &lines(files)).map(|_| ())
    }

    fn each(&self, files: &[Wanted], max: u64, visit: &mut Visit) -> Result<()> {
        if files.is_empty() {
            return Ok(());
        }
        let ids = lines(files);
        let sizes = self.fetch_missing(files, &ids)?;
        if sizes.iter().sum::<u64>() > max {
            let text = format!("the files are larger than {max} bytes together");
            return Err(Failure::new(Class::TooLarge, text).into());
        }
        let args = ["cat-file", "--batch"];
        let call = Call {
            no_lazy_fetch: true,
            ..self.call(&args, &ids)
        };
        // A line with its id, kind and size precedes each object.
        let headers = 128 * files.len() as u64;
        let mut output = BufReader::new(self.git.run(&call, max + headers)?);
        for (index, size) in sizes.into_iter().enumerate() {
            let broken = |_| Error::new("git's answer broke off").hint("try again");
            let mut header = String::new();
            output.read_line(&mut header).map_err(broken)?;
            if header.split_whitespace().nth(1) != Some("blob") {
                return Err(
                    Error::new("git answered something that is not a file").hint("try again")
                );
            }
            let mut bytes = (&mut output).take(size);
            visit(index, size, &mut bytes)?;
            std::io::copy(&mut bytes, &mut std::io::sink()).map_err(broken)?;
            output.read_line(&mut String::new()).map_err(broken)?;
        }
        Ok(())
    }
}

/// The ids, one per line, as git expects them.
fn lines<'w>(files: impl IntoIterator<Item = &'w Wanted>) -> String {
    files
        .into_iter()
        .flat_map(|file| [file.id.as_str(), "\n"])
        .collect()
}

enum Entry {
    Link(String),
    Node(Node),
}

/// Parses `<mode> SP <kind> SP <id> TAB <path>`; `None` for a path that is not UTF-8.
fn parse_entry(entry: &[u8]) -> Option<(String, Entry)> {
    let (head, path) = std::str::from_utf8(entry).ok()?.split_once('\t')?;
    let mut words = head.split(' ');
    let (mode, _kind, id) = (words.next()?, words.next()?, words.next()?.to_owned());
    let node = match mode {
        "040000" => Node::Dir { id },
        "120000" => return Some((path.to_owned(), Entry::Link(id))),
        "160000" => Node::Submodule,
        "100755" => Node::File {
            id,
            executable: true,
        },
        _ => Node::File {
            id,
            executable: false,
        },
    };
    Some((path.to_owned(), Entry::Node(node)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marketplace::reference::address::RepoUrl;
    use crate::marketplace::reference::reading::At;
    use crate::marketplace::testing::World;

    #[test]
    fn only_the_content_that_is_read_is_fetched() {
        let world = World::new();
        world.commit("o/r", &[("a", "wanted"), ("b", "not wanted")]);
        world.with_git(|git| {
            let url =
                RepoUrl::parse(&format!("file://{}", world.path("repos/o/r").display())).unwrap();
            let remote = Remote::find(&git, &url, &url).unwrap();
            let refs = Refs::parse(&list_refs(&git, &remote).unwrap());
            let commit = refs.resolve(&At::Default).unwrap().commit;
            let slot = Slot::of(&world.path("home"), &url, &remote.address);
            let fetch =
                |offline| Repository::fetch(git, slot.clone(), &remote, &commit, offline).unwrap();
            assert!(fetch(true).is_err());
            let repository = fetch(false).unwrap();
            let (tree, unusable) = repository.tree(&commit).unwrap();
            assert_eq!(unusable, 0);
            let wanted = |path: &str| Wanted::new(path, tree.get(path).unwrap()).unwrap();
            let is_here = |path: &str| repository.sizes(&wanted(path).id).unwrap()[0].is_some();
            assert!(!is_here("a") && !is_here("b"));
            let mut read = String::new();
            let mut visit = |_: usize, _: u64, bytes: &mut dyn Read| {
                bytes.read_to_string(&mut read).unwrap();
                Ok(())
            };
            repository
                .each(&[wanted("a"), wanted("a")], 100, &mut visit)
                .unwrap();
            assert_eq!(read, "wantedwanted");
            assert!(is_here("a") && !is_here("b"));
            let offline = fetch(true).unwrap();
            offline
                .each(&[wanted("a")], 100, &mut |_, _, _| Ok(()))
                .unwrap();
            assert!(
                offline
                    .each(&[wanted("b")], 100, &mut |_, _, _| Ok(()))
                    .is_err()
            );
            let too_large = repository.each(&[wanted("a"), wanted("b")], 10, &mut |_, _, _| Ok(()));
            assert!(too_large.unwrap_err().to_string().contains("larger than"));
        });
    }
}
