//! Queries to repositories: the address that git uses, refs, ancestry. Each is made once per
//! command.

use std::rc::Rc;

use crate::marketplace::fetch::cache::Slot;
use crate::marketplace::fetch::failure::{Class, Failure};
use crate::marketplace::fetch::open::Fetcher;
use crate::marketplace::fetch::past::{self, Commit};
use crate::marketplace::fetch::refs::{Refs, Resolved};
use crate::marketplace::fetch::remote::Remote;
use crate::marketplace::fetch::{lineage, repository};
use crate::marketplace::reference::address::RepoUrl;
use crate::marketplace::reference::pin::{Ancestry, CommitId, Pin, Reach};
use crate::marketplace::reference::reading::At;

impl Fetcher<'_> {
    /// The commit that `at` means at present.
    ///
    /// # Errors
    /// When the address cannot be used or git fails.
    pub fn resolve(&mut self, url: &RepoUrl, at: &At) -> Result<Resolved, Failure> {
        if !self.refs.contains_key(url) {
            let remote = self.remote(url)?;
            let slot = Slot::of(&self.home, url, &remote.address);
            let listed = if self.offline {
                let text = "it was never asked for its branches";
                slot.refs()
                    .ok_or_else(|| Failure::new(Class::Offline, text))
            } else {
                repository::list_refs(&self.git, &remote)
                    .inspect(|refs| slot.keep_refs(refs, self.git.0.scratch))
            };
            match listed {
                Ok(refs) => self.refs.insert(url.clone(), Refs::parse(&refs)),
                Err(failure) => return Err(failure.context(format!("could not read `{url}`"))),
            };
        }
        let resolved = self.refs[url].resolve(at);
        resolved.map_err(|failure| failure.context(format!("`{url}`")))
    }

    /// The address that git uses for a repository. A mirror, if set, takes the place of GitHub.
    pub fn remote(&mut self, url: &RepoUrl) -> Result<Rc<Remote>, Failure> {
        if let Some(remote) = self.remotes.get(url) {
            return Ok(Rc::clone(remote));
        }
        let address = url
            .fetch_from(self.mirror.as_deref())
            .map_err(|error| Failure::new(Class::Other, error.to_string()))?;
        let remote = Rc::new(Remote::find(&self.git, &address, url)?);
        self.remotes.insert(url.clone(), Rc::clone(&remote));
        Ok(remote)
    }

    /// Whether the resolved commit belongs to the repository itself: one requested by id may belong
    /// to a fork.
    pub fn reach(&mut self, url: &RepoUrl, resolved: &Resolved) -> Reach {
        let commit = match &resolved.pin {
            None => return Reach::Branch("HEAD".to_owned()),
            Some(Pin::Commit(commit)) => commit,
            Some(named) => return Reach::of(named),
        };
        let key = (url.clone(), commit.clone());
        if let Some(known) = self.reaches.get(&key) {
            return known.clone();
        }
        let tip = self.refs.get(url).and_then(|refs| refs.tip(commit));
        let asked = |fetcher: &mut Self| match fetcher.remote(url) {
            Ok(remote) if !fetcher.offline => lineage::reach(&fetcher.git, &remote, commit),
            _ => Reach::Unknown,
        };
        let reach = tip.unwrap_or_else(|| asked(self));
        self.reaches.insert(key, reach.clone());
        reach
    }

    /// Whether a repository that was queried has a branch or tag of this name.
    pub fn has_ref(&self, url: &RepoUrl, name: &str) -> bool {
        self.refs.get(url).is_some_and(|refs| refs.has(name))
    }

    /// The tags of a repository that was queried, each with its commit.
    pub fn tags(&self, url: &RepoUrl) -> impl Iterator<Item = (&str, &CommitId)> {
        self.refs.get(url).into_iter().flat_map(Refs::tags)
    }

    /// The last commits up to `commit` that changed `path`, newest first, each with whether it is
    /// later than `old`.
    ///
    /// # Errors
    /// When git fails.
    pub fn log(
        &mut self,
        url: &RepoUrl,
        commit: &CommitId,
        old: Option<&CommitId>,
        path: &str,
    ) -> Result<Vec<Commit>, Failure> {
        if self.offline {
            return Err(Failure::new(
                Class::Offline,
                "its log is not kept on this machine",
            ));
        }
        let remote = self.remote(url)?;
        past::log(&self.git, &remote, commit, old, path)
    }

    /// How `new` relates to `old` in the repository's history.
    pub fn ancestry(&mut self, url: &RepoUrl, old: &CommitId, new: &CommitId) -> Ancestry {
        if old == new {
            return Ancestry::Same;
        }
        let key = (url.clone(), old.clone(), new.clone());
        if let Some(known) = self.ancestries.get(&key) {
            return *known;
        }
        let ancestry = match self.remote(url) {
            Ok(remote) if !self.offline => lineage::ancestry(&self.git, &remote, old, new),
            _ => Ancestry::Unknown,
        };
        self.ancestries.insert(key, ancestry);
        ancestry
    }
}
