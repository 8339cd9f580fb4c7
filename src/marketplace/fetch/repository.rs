//! One commit of a repository. It is fetched into the cache without history and, if possible,
//! without file contents, and read without a checkout, so that no link, hook, filter or submodule
//! takes effect.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::rc::Rc;

use crate::error::{Error, Result};
use crate::marketplace::fetch::{
    Call, Class, Content, Failure, Git, GitObject, NAME, Node, PARTIAL,
};
use crate::marketplace::fetch::{
    Refs, Remote, Slot, Tree, Visit, Wanted, check_total, patience, read_small,
};
use crate::marketplace::reference::CommitId;
use crate::sys::{FileLock, limits};

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
    /// The files of many skills, of which each reads its own.
    brought: RefCell<Option<Batch>>,
    /// The texts of commits and tags, by their ids.
    texts: RefCell<HashMap<String, Rc<str>>>,
}

/// Git's answer with many objects.
struct Batch {
    answer: File,
    /// Where each object begins in it, by its id.
    at: HashMap<String, u64>,
}

/// Queries a repository's refs in the form read by [`Refs::parse`].
pub fn list_refs(git: &Git, remote: &Remote) -> Result<String, Failure> {
    let args = [&["ls-remote", "--quiet", NAME], &Refs::PATTERNS[..]].concat();
    let output = git.read(&Call::new(&remote.settings, &args), limits::GIT_LISTING)?;
    Ok(String::from_utf8_lossy(&output).into_owned())
}

impl<'a> Repository<'a> {
    /// Fetches only `commit`, unless it is cached: without history and, if the server supports
    /// that, without file contents.
    ///
    /// # Errors
    /// When the cache cannot be used, or git fails.
    pub fn fetch(
        git: Git<'a>,
        slot: Slot,
        remote: &Remote,
        commit: &CommitId,
        offline: bool,
    ) -> Result<Self, Failure> {
        let repository = Self {
            git,
            slot,
            settings: remote.settings.clone(),
            offline,
            known: RefCell::default(),
            brought: RefCell::default(),
            texts: RefCell::default(),
        };
        let _turn = repository.turn()?;
        repository.fetch_commit(commit)?;
        Ok(repository)
    }

    fn fetch_commit(&self, commit: &CommitId) -> Result<(), Failure> {
        self.slot.prepare(&self.git, commit)?;
        let tree = format!("{commit}^{{tree}}");
        if self.run(&["cat-file", "-e", &tree], "", LINK).is_ok() {
            return Ok(());
        }
        if self.offline {
            let text = format!("commit {commit} is not on this machine");
            return Err(Failure::new(Class::Offline, text));
        }
        let what = [NAME, commit.as_str()];
        let fetch = |settings: &[&str], how: &[&str]| {
            self.fetch_into_slot(settings, &[how, &what].concat(), "")
        };
        // Servers and versions of git that lack filters or shallow fetches report it in many ways.
        let again = |failure: Failure, how: &[&str]| match failure.class {
            Class::Other => fetch(&[], how),
            _ => Err(failure),
        };
        fetch(&PARTIAL, &["--depth=1", "--filter=blob:none"])
            .or_else(|failure| again(failure, &["--depth=1"]))
            .or_else(|failure| again(failure, &[]))
    }

    /// Fetches, and leaves nothing of a fetch that fails. The caller has the turn.
    fn fetch_into_slot(
        &self,
        settings: &[&str],
        what: &[&str],
        input: &str,
    ) -> Result<(), Failure> {
        let loudness = match self.git.0.progress {
            Some(_) => "--progress",
            None => "--quiet",
        };
        let args = [settings, &FETCH, &[loudness], what].concat();
        let ran = self.run(&args, input, LINK);
        ran.map(drop).inspect_err(|_| self.slot.tidy())
    }

    fn turn(&self) -> Result<FileLock> {
        self.slot.turn(patience(self.git.0.deadline))
    }

    /// The files of `commit`.
    ///
    /// # Errors
    /// When git fails.
    pub fn tree(&self, commit: &CommitId) -> Result<Tree> {
        let args = ["ls-tree", "-r", "-t", "-z", "--full-tree", commit.as_str()];
        let output = self.read(&args, "")?;
        let (mut tree, mut links) = (Tree::default(), Vec::new());
        for entry in output.split(|byte| *byte == 0).filter(|e| !e.is_empty()) {
            match parse_entry(entry) {
                None => tree.unusable += 1,
                // The id leads to the link's target.
                Some((path, Node::Link { to: id })) => links.push(Wanted { path, id }),
                Some((path, node)) => drop(tree.insert(path, node)),
            }
        }
        let targets = read_small(self, &links, LINK)?;
        for (link, target) in links.into_iter().zip(targets) {
            let to = String::from_utf8(target.unwrap_or_default()).unwrap_or_default();
            tree.insert(link.path, Node::Link { to });
        }
        let root = format!("{commit}^{{tree}}");
        let root = self.read(&["rev-parse", "--verify", "--quiet", &root], "")?;
        String::from_utf8_lossy(&root)
            .trim()
            .clone_into(&mut tree.root);
        Ok(tree)
    }

    fn run(&self, args: &[&str], input: &str, max: u64) -> Result<File, Failure> {
        self.git.run(&self.call(args, input), max)
    }

    fn read(&self, args: &[&str], input: &str) -> Result<Vec<u8>, Failure> {
        self.git.read(&self.call(args, input), limits::GIT_LISTING)
    }

    fn call<'c>(&'c self, args: &'c [&'c str], input: &'c str) -> Call<'c> {
        Call {
            repo: Some(&self.slot.dir),
            input,
            ..Call::new(&self.settings, args)
        }
    }

    /// The size of each object, `None` for missing ones.
    fn sizes(&self, ids: &str) -> Result<Vec<Option<u64>>, Failure> {
        let output = self.read(&["cat-file", "--batch-check=%(objectsize)"], ids)?;
        let output = String::from_utf8_lossy(&output);
        Ok(output.lines().map(|line| line.parse().ok()).collect())
    }

    /// The sizes of the objects, after the missing ones were fetched in one request.
    fn fetch_missing(&self, files: &[Wanted]) -> Result<Vec<u64>, Failure> {
        let known = |file: &Wanted| self.known.borrow().get(&file.id).copied();
        if let Some(sizes) = files.iter().map(known).collect() {
            return Ok(sizes);
        }
        let ids = lines(files);
        let mut sizes = self.sizes(&ids)?;
        if sizes.contains(&None) {
            let _turn = self.turn()?;
            // Another command may have fetched them meanwhile.
            sizes = self.sizes(&ids)?;
            let missing = files.iter().zip(&sizes).filter(|(_, size)| size.is_none());
            let missing = lines(missing.map(|(file, _)| file));
            if !missing.is_empty() {
                if self.offline {
                    let text = "its files are not on this machine";
                    return Err(Failure::new(Class::Offline, text));
                }
                let settings = [&PARTIAL[..], &["-c", "fetch.negotiationAlgorithm=noop"]].concat();
                let objects = ["--filter=blob:none", "--stdin", NAME];
                self.fetch_into_slot(&settings, &objects, &missing)?;
                sizes = self.sizes(&ids)?;
            }
        }
        let whole: Option<Vec<u64>> = sizes.into_iter().collect();
        let Some(whole) = whole.filter(|sizes| sizes.len() == files.len()) else {
            let text = "the repository did not send all of its files";
            return Err(Failure::new(Class::Other, text).hint("try again"));
        };
        let known = files.iter().zip(&whole);
        let known = known.map(|(file, size)| (file.id.clone(), *size));
        self.known.borrow_mut().extend(known);
        Ok(whole)
    }

    /// Git's answer with files of these sizes.
    fn batch(&self, files: &[Wanted], sizes: &[u64]) -> Result<Batch, Failure> {
        let (mut at, mut next) = (HashMap::new(), 0);
        for (file, size) in files.iter().zip(sizes) {
            at.insert(file.id.clone(), next);
            next += header(&file.id, *size).len() as u64 + size + 1;
        }
        let answer = self.run(&["cat-file", "--batch"], &lines(files), next)?;
        Ok(Batch { answer, at })
    }
}

impl Content for Repository<'_> {
    fn bring(&self, files: &[Wanted]) -> Result<()> {
        let sizes = self.fetch_missing(files)?;
        if sizes.iter().sum::<u64>() <= limits::BROUGHT {
            *self.brought.borrow_mut() = Some(self.batch(files, &sizes)?);
        }
        Ok(())
    }

    fn git_object(&self, kind: &str, id: &str) -> Result<Option<GitObject>> {
        let mut texts = self.texts.borrow_mut();
        if !texts.contains_key(id) {
            let read = || self.read(&["cat-file", kind, id], "");
            let mut bytes = read();
            if bytes.is_err() && !self.offline {
                // An annotated tag does not come with its commit.
                let _turn = self.turn()?;
                let what = ["--depth=1", "--filter=blob:none", NAME, id];
                self.fetch_into_slot(&PARTIAL, &what, "")?;
                bytes = read();
            }
            let missing =
                |_| Failure::new(Class::Offline, "what was signed is not on this machine");
            let text = String::from_utf8_lossy(&bytes.map_err(missing)?).into();
            texts.insert(id.to_owned(), text);
        }
        Ok(texts.get(id).map(|text| GitObject {
            repo: self.slot.dir.clone(),
            id: id.to_owned(),
            text: Rc::clone(text),
        }))
    }

    fn each(&self, files: &[Wanted], max: u64, visit: &mut Visit) -> Result<()> {
        if files.is_empty() {
            return Ok(());
        }
        let sizes = self.fetch_missing(files)?;
        check_total(sizes.iter().sum(), max)?;
        let brought = self.brought.borrow();
        let has_all = |batch: &&Batch| files.iter().all(|file| batch.at.contains_key(&file.id));
        let own;
        let batch = if let Some(brought) = brought.as_ref().filter(has_all) {
            brought
        } else {
            own = self.batch(files, &sizes)?;
            &own
        };
        let mut answer = BufReader::new(&batch.answer);
        for (index, (file, size)) in files.iter().zip(sizes).enumerate() {
            let mut line = String::new();
            let moved = answer.seek(SeekFrom::Start(batch.at[&file.id]));
            let read = moved.and_then(|_| answer.read_line(&mut line));
            read.map_err(|_| unexpected("git's answer broke off"))?;
            if line != header(&file.id, size) {
                return Err(unexpected("git answered something that is not the file"));
            }
            visit(index, size, &mut answer.by_ref().take(size))?;
        }
        Ok(())
    }
}

fn unexpected(text: &str) -> Error {
    Error::new(text).hint("try again")
}

/// The line that precedes an object.
fn header(id: &str, size: u64) -> String {
    format!("{id} blob {size}\n")
}

/// The ids, one per line, as git expects them.
fn lines<'w>(files: impl IntoIterator<Item = &'w Wanted>) -> String {
    let lines = files.into_iter().map(|file| file.id.clone() + "\n");
    lines.collect()
}

/// Parses `<mode> SP <kind> SP <id> TAB <path>`; `None` for a path that is not UTF-8. A link has its
/// id in place of its target.
fn parse_entry(entry: &[u8]) -> Option<(String, Node)> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marketplace::fetch::Permit;
    use crate::marketplace::reference::{At, RepoUrl};
    use crate::marketplace::testing::World;
    use std::fs;

    #[test]
    fn only_the_content_that_is_read_is_fetched() {
        let world = World::new();
        world.commit("o/r", &[("a", "wanted"), ("b", "not wanted")]);
        world.with_git(|git| {
            let url =
                RepoUrl::parse(&format!("file://{}", world.path("repos/o/r").display())).unwrap();
            let remote = Remote::find(&git, &Permit::any(), &url, &url).unwrap();
            let refs = Refs::parse(&list_refs(&git, &remote).unwrap());
            let commit = refs.resolve(&At::Default).unwrap().commit;
            let slot = Slot::new(&world.path("home"), &url, &remote.address);
            let fetch = |offline| Repository::fetch(git, slot.clone(), &remote, &commit, offline);
            assert!(fetch(true).is_err());
            let repository = fetch(false).unwrap();
            let tree = repository.tree(&commit).unwrap();
            assert_eq!(tree.unusable, 0);
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
            let litter = slot.dir.join("objects/pack/tmp_pack_x");
            fs::write(&litter, "").unwrap();
            fs::rename(world.path("repos/o/r"), world.path("gone")).unwrap();
            assert!(repository.bring(&[wanted("b")]).is_err() && !litter.exists());
            fs::rename(world.path("gone"), world.path("repos/o/r")).unwrap();
            let too_large = repository.each(&[wanted("a"), wanted("b")], 10, &mut |_, _, _| Ok(()));
            assert!(too_large.unwrap_err().to_string().contains("larger than"));
        });
    }
}
