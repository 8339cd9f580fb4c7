//! One commit of a repository. It is fetched into the cache without history and, if possible,
//! without file contents, and read without a checkout, so that no link, hook, filter or submodule
//! takes effect.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::marketplace::fetch::PARTIAL;
use crate::marketplace::fetch::{
    Contents, FailureKind, FetchFailure, check_total, patience, read_small,
};
use crate::marketplace::fetch::{FileToRead, Git, GitObject, NAME, Node, Remote, Tree, Visit};
use crate::marketplace::prelude::*;

/// The maximum length of a link's target, as in the kernel.
const LINK: u64 = 4096;
/// Arguments of every fetch.
pub const FETCH: [&str; 3] = ["fetch", "--no-tags", "--no-recurse-submodules"];

/// A bare repository on disk.
pub struct Repository<'a> {
    git: Git<'a>,
    slot: CachedRepository,
    settings: Vec<String>,
    offline: bool,
    /// The files of many skills, of which each reads its own.
    brought: RefCell<Option<Batch>>,
    /// The texts of commits and tags, by their ids.
    texts: RefCell<HashMap<String, Rc<str>>>,
}

/// Git's answer with many objects.
struct Batch {
    answer: File,
    /// Where each object begins in it and its size, by its id.
    at: HashMap<String, (u64, u64)>,
}

impl<'a> Repository<'a> {
    /// Fetches only `commit`, unless it is cached: without history and, if the server supports
    /// that, without file contents.
    ///
    /// # Errors
    /// When the cache cannot be used, or git fails.
    pub fn fetch(
        git: Git<'a>,
        slot: CachedRepository,
        remote: &Remote,
        commit: &CommitId,
        offline: bool,
    ) -> Result<Self, FetchFailure> {
        let repository = Self {
            git,
            slot,
            settings: remote.settings.clone(),
            offline,
            brought: RefCell::default(),
            texts: RefCell::default(),
        };
        let _turn = repository.lock()?;
        repository.fetch_commit(commit)?;
        Ok(repository)
    }

    fn fetch_commit(&self, commit: &CommitId) -> Result<(), FetchFailure> {
        self.slot.prepare(&self.git, commit)?;
        let tree = format!("{commit}^{{tree}}");
        if self.git().text(&["cat-file", "-e", &tree]).is_ok() {
            return Ok(());
        }
        if self.offline {
            return Err(FetchFailure::not_kept(format!("commit {commit}")));
        }
        let what = [NAME, commit.as_str()];
        let fetch = |settings: &[&str], how: &[&str]| {
            self.fetch_into_slot(settings, &[how, &what].concat(), "")
        };
        // Servers and versions of git that lack filters or shallow fetches report it in many ways.
        let again = |failure: FetchFailure, how: &[&str]| match failure.class {
            FailureKind::Other => fetch(&[], how),
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
    ) -> Result<(), FetchFailure> {
        let loudness = match self.git.tool.progress {
            Some(_) => "--progress",
            None => "--quiet",
        };
        let ran = self
            .git()
            .read(&[settings, &FETCH, &[loudness], what].concat(), input);
        ran.map(drop).inspect_err(|_| drop(self.slot.tidy()))
    }

    fn lock(&self) -> Result<FileLock> {
        self.slot.lock(patience(self.git.tool.deadline))
    }

    fn git(&self) -> Git<'_> {
        self.git.with(&self.settings).at(&self.slot.dir)
    }

    /// The files of `commit`.
    ///
    /// # Errors
    /// When git fails.
    pub fn tree(&self, commit: &CommitId) -> Result<Tree> {
        let args = ["ls-tree", "-r", "-t", "-z", "--full-tree", commit.as_str()];
        let output = self.git().read(&args, "")?;
        let (mut tree, mut links) = (Tree::default(), Vec::new());
        for entry in output.split(|byte| *byte == 0).filter(|e| !e.is_empty()) {
            match parse_entry(entry) {
                None => tree.unusable += 1,
                // The id leads to the link's target.
                Some((path, Node::Link { to: id })) => links.push(FileToRead { path, id }),
                Some((path, node)) => drop(tree.insert(path, node)),
            }
        }
        let targets = read_small(self, &links, LINK)?;
        for (link, target) in links.into_iter().zip(targets) {
            let to = String::from_utf8(target.unwrap_or_default()).unwrap_or_default();
            tree.insert(link.path, Node::Link { to });
        }
        let root = format!("{commit}^{{tree}}");
        let root = self
            .git()
            .text(&["rev-parse", "--verify", "--quiet", &root])?;
        root.trim().clone_into(&mut tree.root);
        Ok(tree)
    }

    /// The size of each object, `None` for missing ones.
    fn sizes(&self, ids: &str) -> Result<Vec<Option<u64>>, FetchFailure> {
        let output = self
            .git()
            .read(&["cat-file", "--batch-check=%(objectsize)"], ids)?;
        let output = String::from_utf8_lossy(&output);
        Ok(output.lines().map(|line| line.parse().ok()).collect())
    }

    /// The sizes of the objects, after the missing ones were fetched in one request.
    fn fetch_missing(&self, files: &[FileToRead]) -> Result<Vec<u64>, FetchFailure> {
        let ids = lines(files);
        let mut sizes = self.sizes(&ids)?;
        if sizes.contains(&None) {
            let _turn = self.lock()?;
            if self.offline {
                let text = "its files are not on this machine";
                return Err(FetchFailure::new(FailureKind::Offline, text));
            }
            let missing = files.iter().zip(&sizes).filter(|(_, size)| size.is_none());
            let missing = lines(missing.map(|(file, _)| file));
            let settings = [&PARTIAL[..], &["-c", "fetch.negotiationAlgorithm=noop"]].concat();
            let objects = ["--filter=blob:none", "--stdin", NAME];
            self.fetch_into_slot(&settings, &objects, &missing)?;
            sizes = self.sizes(&ids)?;
        }
        let whole: Option<Vec<u64>> = sizes.into_iter().collect();
        whole
            .filter(|sizes| sizes.len() == files.len())
            .ok_or_else(|| {
                let text = "the repository did not send all of its files";
                FetchFailure::new(FailureKind::Other, text).hint("try again")
            })
    }

    /// Git's answer with files of at most `max` bytes, after the missing ones were fetched.
    fn batch(&self, files: &[FileToRead], max: u64) -> Result<Batch, FetchFailure> {
        let sizes = self.fetch_missing(files)?;
        check_total(sizes.iter().sum(), max)?;
        let (mut at, mut next) = (HashMap::new(), 0);
        for (file, size) in files.iter().zip(sizes) {
            at.insert(file.id.clone(), (next, size));
            next += header(&file.id, size).len() as u64 + size + 1;
        }
        let answer = self
            .git()
            .run(&["cat-file", "--batch"], &lines(files), next)?;
        Ok(Batch { answer, at })
    }
}

impl Contents for Repository<'_> {
    fn bring(&self, files: &[FileToRead]) -> Result<()> {
        match self.batch(files, limits::BROUGHT) {
            Ok(batch) => *self.brought.borrow_mut() = Some(batch),
            // Each skill's are read by themselves.
            Err(failure) if failure.class == FailureKind::TooLarge => {}
            Err(failure) => return Err(failure.into()),
        }
        Ok(())
    }

    fn git_object(&self, kind: &str, id: &str) -> Result<Option<GitObject>> {
        let mut texts = self.texts.borrow_mut();
        if !texts.contains_key(id) {
            let read = || self.git().text(&["cat-file", kind, id]);
            let mut text = read();
            if text.is_err() && !self.offline {
                // An annotated tag does not come with its commit.
                let _turn = self.lock()?;
                let what = ["--depth=1", "--filter=blob:none", NAME, id];
                self.fetch_into_slot(&PARTIAL, &what, "")?;
                text = read();
            }
            let missing = |_| FetchFailure::not_kept("what was signed");
            texts.insert(id.to_owned(), text.map_err(missing)?.into());
        }
        Ok(texts.get(id).map(|text| GitObject {
            repo: self.slot.dir.clone(),
            id: id.to_owned(),
            text: Rc::clone(text),
        }))
    }

    fn each(&self, files: &[FileToRead], max: u64, visit: &mut Visit) -> Result<()> {
        if files.is_empty() {
            return Ok(());
        }
        let brought = self.brought.borrow();
        let has_all = |batch: &&Batch| files.iter().all(|file| batch.at.contains_key(&file.id));
        let own;
        let batch = if let Some(brought) = brought.as_ref().filter(has_all) {
            brought
        } else {
            own = self.batch(files, max)?;
            &own
        };
        let mut answer = BufReader::new(&batch.answer);
        let mut total = 0;
        for (index, file) in files.iter().enumerate() {
            let (at, size) = batch.at[&file.id];
            total += size;
            check_total(total, max)?;
            let mut line = String::new();
            let moved = answer.seek(SeekFrom::Start(at));
            let read = moved.and_then(|_| answer.read_line(&mut line));
            if read.is_err() || line != header(&file.id, size) {
                let text = "git answered something that is not the file";
                return Err(Error::new(text).hint("try again"));
            }
            visit(index, size, &mut answer.by_ref().take(size))?;
        }
        Ok(())
    }
}

/// The line that precedes an object.
fn header(id: &str, size: u64) -> String {
    format!("{id} blob {size}\n")
}

/// The ids, one per line, as git expects them.
fn lines<'w>(files: impl IntoIterator<Item = &'w FileToRead>) -> String {
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

/// What is kept of one repository; fetching a larger one again costs less than keeping it.
const REPOSITORY_CACHE: u64 = 1024 * 1024 * 1024;

const CACHE: EntryName = EntryName::from_static("cache");
const REPOSITORIES: EntryName = EntryName::from_static("repositories");
const OBJECTS: EntryName = EntryName::from_static("objects");
const PACK: EntryName = EntryName::from_static("pack");
const GIT: EntryName = EntryName::from_static(".git");
const REFS: EntryName = EntryName::from_static(".refs");
const LOCK: EntryName = EntryName::from_static(".lock");
/// Where a repository is created.
pub const NEW: EntryName = EntryName::from_static("new.git");

/// The directory `name` in the cache of the plugin directory `home`, created if missing.
///
/// # Errors
/// When it cannot be created, or is a link.
pub fn cache(home: &Path, name: &EntryName) -> Result<Dir> {
    let home = Base::own(home.to_owned()).make()?;
    let made = home.make_dir(&CACHE).and_then(|cache| cache.make_dir(name));
    made.map_err(|error| home.error("make directory", &CACHE, &error))
}

/// The name of a cached file or directory, a single path component: what people call it, or
/// `otherwise`, and the digest of what identifies it.
pub fn file_name(written: &str, otherwise: EntryName, identity: &str, end: &str) -> EntryName {
    let name = SkillName::from_written(written);
    let name = name.and_then(|name| EntryName::parse(name.as_str()));
    let digest = format!("{:x}", Sha256::digest(identity));
    let end = EntryName::parse(format!("-{}{end}", &digest[..12]));
    name.unwrap_or(otherwise)
        .with_end(&end.unwrap_or(EntryName::from_static("-")))
}

/// One repository's place in the cache: a bare repository and the last list of its refs. One command
/// at a time may fetch into it; reading needs no lock.
pub struct CachedRepository {
    /// The bare repository.
    pub dir: PathBuf,
    repositories: Dir,
    stem: EntryName,
}

impl CachedRepository {
    /// The place in the cache of the plugin directory `home` for what git fetches for `url` from
    /// `address`.
    ///
    /// # Errors
    /// When the cache cannot be made.
    pub fn new(home: &Path, url: &RepoUrl, address: &str) -> Result<Self> {
        let otherwise = EntryName::from_static("repository");
        let stem = file_name(url.repo_name(), otherwise, address, "");
        let repositories = cache(home, &REPOSITORIES)?;
        Ok(Self {
            dir: repositories.path_of(&stem.with_end(&GIT)),
            repositories,
            stem,
        })
    }

    /// Waits for the lock that allows fetching.
    ///
    /// # Errors
    /// When another command fetches for longer than `wait`, or the cache cannot be written.
    pub fn lock(&self, wait: Duration) -> Result<FileLock> {
        self.repositories.lock(&self.stem.with_end(&LOCK), wait)
    }

    /// Creates the repository, or cleans up after a killed git. The caller holds the lock.
    pub fn prepare(&self, git: &Git, commit: &CommitId) -> Result<(), FetchFailure> {
        if self.tidy().map_err(|e| git.tool.local(&e))? {
            return Ok(());
        }
        // It is created elsewhere and renamed into place, so that it is never incomplete.
        let scratch = git.tool.scratch;
        git.init(&scratch.path_of(&NEW), commit)?;
        let moved = scratch.open_dir(&NEW).and_then(|new| {
            new.mark()?;
            scratch.rename(&NEW, &self.repositories, &self.stem.with_end(&GIT))
        });
        moved.map_err(|e| git.tool.local(&e))
    }

    /// Removes what a killed or failed git has left behind; returns whether the repository exists and
    /// can be used. It is deleted if fetching it again costs less than keeping it. The caller holds
    /// the lock.
    pub fn tidy(&self) -> io::Result<bool> {
        let name = self.stem.with_end(&GIT);
        let Some(repository) = self.repositories.find_dir(&name)? else {
            return Ok(false);
        };
        let packs = repository.open_dir(&OBJECTS)?.find_dir(&PACK)?;
        let mut size = 0;
        for dir in [Some(repository), packs].into_iter().flatten() {
            for (name, _) in dir.entries()? {
                let text = name.as_os_str().as_bytes();
                if text.ends_with(b".lock") || text.starts_with(b"tmp_") {
                    let _ = dir.remove_file(&name);
                } else if let Ok((_, metadata)) = dir.open_file(&name) {
                    size += metadata.len();
                }
            }
        }
        if size > REPOSITORY_CACHE {
            self.repositories.remove_ours(&name)?;
        }
        Ok(size <= REPOSITORY_CACHE)
    }

    /// The last known list of refs.
    pub fn refs(&self) -> Option<String> {
        let bytes = self
            .repositories
            .read(&self.stem.with_end(&REFS), limits::GIT_LISTING);
        String::from_utf8(bytes.ok()?).ok()
    }

    /// Saves the list of refs. On failure they are only queried again next time.
    pub fn cache_refs(&self, refs: &str, scratch: &Dir) {
        let (name, bytes) = (self.stem.with_end(&REFS), refs.as_bytes());
        let _ = self
            .repositories
            .replace_through(scratch, &name, bytes, 0o644, Durable::Yes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marketplace::fetch::Permit;
    use crate::marketplace::fetch::Refs;
    use crate::marketplace::reference::Revision;
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
            let refs = Refs::list(git, &remote.settings).unwrap();
            let refs = Refs::parse(&refs);
            let commit = refs.resolve(&Revision::Default).unwrap().commit;
            let slot =
                || CachedRepository::new(&world.path("home"), &url, &remote.address).unwrap();
            let fetch = |offline| Repository::fetch(git, slot(), &remote, &commit, offline);
            assert!(fetch(true).is_err());
            let repository = fetch(false).unwrap();
            let tree = repository.tree(&commit).unwrap();
            assert_eq!(tree.unusable, 0);
            let wanted = |path: &str| FileToRead::new(path, tree.get(path).unwrap()).unwrap();
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
            let litter = slot().dir.join("objects/pack/tmp_pack_x");
            fs::write(&litter, "").unwrap();
            fs::rename(world.path("repos/o/r"), world.path("gone")).unwrap();
            assert!(repository.bring(&[wanted("b")]).is_err() && !litter.exists());
            fs::rename(world.path("gone"), world.path("repos/o/r")).unwrap();
            let too_large = repository.each(&[wanted("a"), wanted("b")], 10, &mut |_, _, _| Ok(()));
            assert!(too_large.unwrap_err().to_string().contains("larger than"));
        });
    }

    #[test]
    fn locks_and_half_packs_of_a_killed_git_are_removed() {
        let world = World::new();
        let url = RepoUrl::github("o", "r").unwrap();
        let slot = CachedRepository::new(&world.path("home"), &url, url.as_str()).unwrap();
        world.with_git(|git| {
            let _turn = slot.lock(Duration::ZERO).unwrap();
            let commit = CommitId::parse(&"a".repeat(40)).unwrap();
            slot.prepare(&git, &commit).unwrap();
            let pack = slot.dir.join("objects/pack");
            let litter = [slot.dir.join("shallow.lock"), pack.join("tmp_pack_x")];
            for path in &litter {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, "").unwrap();
            }
            slot.prepare(&git, &commit).unwrap();
            assert!(litter.iter().all(|path| !path.exists()));
            assert!(slot.dir.join("HEAD").exists());
        });
    }
}
