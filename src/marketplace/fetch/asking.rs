//! Queries to repositories: the address that git uses, refs, ancestry. Each is made once per
//! command.

use std::rc::Rc;

use crate::marketplace::fetch::{Class, Failure, Fetcher, Refs, Remote, Resolved, Slot};
use crate::marketplace::fetch::{lineage, list_refs};
use crate::marketplace::reference::{Ancestry, At, CommitId, Pin, Reach, RepoUrl};

impl Fetcher<'_> {
    /// The commit that `at` means at present.
    ///
    /// # Errors
    /// When the address cannot be used or git fails.
    pub fn resolve(&mut self, url: &RepoUrl, at: &At) -> Result<Resolved, Failure> {
        if !self.refs.contains_key(url) {
            let remote = self.remote(url)?;
            let slot = Slot::new(&self.home, url, &remote.address);
            let listed = if self.offline {
                let unknown = || Failure::new(Class::Offline, "it has not been fetched yet");
                slot.refs().ok_or_else(unknown)
            } else {
                let listed = list_refs(&self.git, &remote);
                listed.inspect(|refs| slot.cache_refs(refs, self.git.0.scratch))
            };
            let unread = |failure: Failure| failure.context(format!("could not read `{url}`"));
            self.refs
                .insert(url.clone(), Refs::parse(&listed.map_err(unread)?));
        }
        let resolved = self.refs[url].resolve(at);
        resolved.map_err(|failure| failure.context(format!("`{url}`")))
    }

    /// The address that git uses for a repository, if it may be contacted. A mirror, if set, takes
    /// the place of GitHub.
    pub fn remote(&mut self, url: &RepoUrl) -> Result<Rc<Remote>, Failure> {
        if let Some(remote) = self.remotes.get(url) {
            return Ok(Rc::clone(remote));
        }
        let address = url.fetch_from(self.mirror.as_deref())?;
        let remote = Rc::new(Remote::find(&self.git, &self.permit, &address, url)?);
        self.remotes.insert(url.clone(), Rc::clone(&remote));
        Ok(remote)
    }

    /// Whether the resolved commit belongs to the repository itself: one requested by id may belong
    /// to a fork.
    pub fn reach(&mut self, url: &RepoUrl, resolved: &Resolved) -> Reach {
        let commit = match &resolved.pin {
            None => return Reach::Branch("HEAD".to_owned()),
            Some(Pin::Commit(commit)) => commit,
            Some(named) => return Reach::from_pin(named),
        };
        let key = (url.clone(), commit.clone());
        if let Some(known) = self.reaches.get(&key) {
            return known.clone();
        }
        let tip = self.refs.get(url).and_then(|refs| refs.tip(commit));
        let reach = match (tip, self.remote(url)) {
            (Some(tip), _) => tip,
            (None, Ok(remote)) if !self.offline => {
                lineage::reach(&lineage::DEPTHS, &self.git, &remote, commit)
            }
            _ => Reach::Unknown,
        };
        self.reaches.insert(key, reach.clone());
        reach
    }

    /// The tags of a repository that was queried, each with its commit.
    pub fn tags(&self, url: &RepoUrl) -> impl Iterator<Item = (&str, &CommitId)> {
        self.refs.get(url).into_iter().flat_map(Refs::tags)
    }

    /// How `new` relates to `old` in the repository's history.
    pub fn ancestry(&mut self, url: &RepoUrl, old: &CommitId, new: &CommitId) -> Ancestry {
        let key = (url.clone(), old.clone(), new.clone());
        if let Some(known) = self.ancestries.get(&key) {
            return *known;
        }
        let ancestry = match self.remote(url) {
            Ok(remote) if !self.offline => {
                lineage::ancestry(&lineage::DEPTHS, &self.git, &remote, old, new)
            }
            _ => Ancestry::Unknown,
        };
        self.ancestries.insert(key, ancestry);
        ancestry
    }
}
