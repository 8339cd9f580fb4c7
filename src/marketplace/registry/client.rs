//! Asks a registry, with the user's credentials where it wants them: which manifest a tag names, and
//! manifests (blobs: `blobs.rs`; tags and referrers: `lists.rs`). Nothing here knows what a skill is.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use crate::error::{Error, Result};
use crate::marketplace::fetch::{Class, Failure, Permit, Permitted, Tool};
use crate::marketplace::reference::{OciAt, OciDigest, OciRepo, OciTag};
use crate::marketplace::registry::credentials;
use crate::marketplace::registry::http::{Head, Request, Send, send};
use crate::marketplace::registry::media::{ACCEPTED, Manifest};
use crate::marketplace::registry::store::Store;
use crate::marketplace::registry::token::Challenge;
use crate::sys::limits;

/// What is done to a repository, as a token names it.
pub const PULL: &str = "pull";
/// See [`PULL`].
pub const PUSH: &str = "pull,push";

/// Talks to registries with the user's curl and credentials. Each tag is asked for once.
pub struct Client<'a> {
    pub(super) tool: Tool<'a>,
    permit: Rc<Permit<'a>>,
    pub(super) offline: bool,
    pub(super) store: Store,
    /// `Authorization` by host and scope.
    answers: RefCell<HashMap<(String, String), String>>,
    tags: RefCell<HashMap<(OciRepo, OciTag), OciDigest>>,
    manifests: RefCell<HashMap<OciDigest, Rc<Manifest>>>,
    /// Whether more is kept than before.
    pub(super) has_fetched: Cell<bool>,
}

impl Drop for Client<'_> {
    fn drop(&mut self) {
        if self.has_fetched.get() {
            self.store.prune();
        }
    }
}

impl<'a> Client<'a> {
    /// `home` is the plugin directory in which fetched data is kept; `offline`, whether only that
    /// may be used.
    pub fn new(tool: Tool<'a>, home: &Path, offline: bool, permit: Rc<Permit<'a>>) -> Self {
        Self {
            tool,
            permit,
            offline,
            store: Store::new(home),
            answers: RefCell::default(),
            tags: RefCell::default(),
            manifests: RefCell::default(),
            has_fetched: Cell::new(false),
        }
    }

    /// The digest of what is meant, in at most one request: none for a digest.
    ///
    /// # Errors
    /// When the registry cannot or may not be asked, or has no such tag.
    pub fn resolve(&self, repo: &OciRepo, at: &OciAt) -> Result<OciDigest, Failure> {
        let tag = match at {
            OciAt::Digest(digest) => return Ok(digest.clone()),
            OciAt::Tag(tag) => tag,
        };
        let key = (repo.clone(), tag.clone());
        if let Some(known) = self.tags.borrow().get(&key) {
            return Ok(known.clone());
        }
        let digest = if self.offline {
            let known = self.store.tagged(repo, tag);
            known.ok_or_else(|| not_here(&format!("{repo}{}", at.suffix())))?
        } else {
            let path = format!("manifests/{}", tag.as_str());
            // curl compares the length that the head states, though no body follows.
            let (head, _) = self.ask(repo, PULL, &path, Send::Head, limits::INDEX)?;
            let told = head.get("docker-content-digest").map(OciDigest::parse);
            match (expect(&head, repo, at)?, told) {
                ((), Some(told)) => told?,
                // Without that header only the manifest itself says it.
                ((), None) => self.fetch_manifest(repo, at)?,
            }
        };
        self.store.tag(repo, tag, &digest, self.tool.scratch);
        self.tags.borrow_mut().insert(key, digest.clone());
        Ok(digest)
    }

    /// A manifest or index, which has exactly this digest.
    ///
    /// # Errors
    /// When the registry cannot be asked, does not have it, or sends another.
    pub fn manifest(&self, repo: &OciRepo, digest: &OciDigest) -> Result<Rc<Manifest>, Failure> {
        if let Some(known) = self.manifests.borrow().get(digest) {
            return Ok(Rc::clone(known));
        }
        let at = OciAt::Digest(digest.clone());
        let Some(bytes) = self.store.get(digest, limits::INDEX) else {
            self.fetch_manifest(repo, &at)?;
            let kept = self.manifests.borrow().get(digest).map(Rc::clone);
            return kept.ok_or_else(|| not_here(&format!("{repo}@{digest}")));
        };
        let parsed = Rc::new(Manifest::parse(&bytes).map_err(|e| e.context(format!("`{repo}`")))?);
        let mut known = self.manifests.borrow_mut();
        Ok(Rc::clone(known.entry(digest.clone()).or_insert(parsed)))
    }

    /// Fetches a manifest, keeps it, and returns its digest.
    fn fetch_manifest(&self, repo: &OciRepo, at: &OciAt) -> Result<OciDigest, Failure> {
        let path = format!("manifests/{}", at.as_str());
        let (head, bytes) = self.ask(repo, PULL, &path, Send::Nothing, limits::INDEX)?;
        expect(&head, repo, at)?;
        let digest = OciDigest::of(&bytes);
        if let OciAt::Digest(wanted) = at
            && *wanted != digest
        {
            return Err(other(repo, wanted).into());
        }
        let parsed = Manifest::parse(&bytes).map_err(|e| e.context(format!("`{repo}`")))?;
        self.store.put(&digest, &bytes, self.tool.scratch);
        self.has_fetched.set(true);
        let mut known = self.manifests.borrow_mut();
        known.insert(digest.clone(), Rc::new(parsed));
        Ok(digest)
    }

    /// The address of something in a repository.
    pub(super) fn place(&self, repo: &OciRepo, path: &str) -> Result<Permitted, Failure> {
        if self.offline {
            return Err(not_here(repo.as_str()));
        }
        let base = self.permit.registry(repo)?;
        Ok(base.named(&format!("{}{path}", base.url()))?)
    }

    /// Sends a request to a repository, with the user's credentials if it wants them.
    ///
    /// # Errors
    /// When it cannot be sent, or its token is refused.
    pub(super) fn ask(
        &self,
        repo: &OciRepo,
        actions: &str,
        path: &str,
        what: Send,
        max: u64,
    ) -> Result<(Head, Vec<u8>), Failure> {
        let url = self.place(repo, path)?;
        self.ask_at(repo, actions, &url, what, max)
    }

    /// As [`Client::ask`], for an address that the registry has named. Another host than its own is
    /// told nothing of the user.
    pub(super) fn ask_at(
        &self,
        repo: &OciRepo,
        actions: &str,
        url: &Permitted,
        what: Send,
        max: u64,
    ) -> Result<(Head, Vec<u8>), Failure> {
        let is_own = answer_fits(url, repo)?;
        let mut answer = self.known_answer(repo, actions).filter(|_| is_own);
        for attempt in 0..2 {
            let accept = format!("Accept: {}", ACCEPTED.join(", "));
            let mut headers = vec![accept];
            headers.extend(answer.clone());
            let request = Request {
                url,
                send: what,
                headers,
                max,
            };
            let told = |failure: Failure| failure.context(format!("could not ask `{repo}`"));
            let (head, body) = send(&self.tool, &request).map_err(told)?;
            if head.status != 401 || attempt > 0 || !is_own {
                return Ok((head, body));
            }
            match self.challenged(repo, actions, &head)? {
                Some(new) => answer = Some(new),
                None => return Ok((head, body)),
            }
        }
        Err(wants_login(repo, 401))
    }

    fn known_answer(&self, repo: &OciRepo, actions: &str) -> Option<String> {
        let answers = self.answers.borrow();
        answers.get(&key(repo, actions)).cloned()
    }

    /// Answers the challenge in a registry's refusal; `None` if it has none, or cannot be met.
    fn challenged(
        &self,
        repo: &OciRepo,
        actions: &str,
        head: &Head,
    ) -> Result<Option<String>, Failure> {
        let Some(challenge) = Challenge::find(head.all("www-authenticate")) else {
            return Ok(None);
        };
        let registry = self.permit.registry(repo)?;
        let credentials = credentials::find(&self.tool, repo)?;
        let key = key(repo, actions);
        let answer = challenge.answer(&self.tool, &registry, &key.1, credentials.as_ref());
        let answer = answer.map_err(|failure| {
            let is_refused = failure.class == Class::NeedsAuthentication;
            let failure = failure.context(format!("`{repo}`"));
            if is_refused {
                failure.hint(login(repo))
            } else {
                failure
            }
        })?;
        if let Some(answer) = &answer {
            self.answers.borrow_mut().insert(key, answer.clone());
        }
        Ok(answer)
    }
}

/// Host and scope of a token.
fn key(repo: &OciRepo, actions: &str) -> (String, String) {
    let scope = format!("repository:{}:{actions}", repo.name());
    (repo.host().to_owned(), scope)
}

/// Whether an address is the registry's own, which may be told who asks.
fn answer_fits(url: &Permitted, repo: &OciRepo) -> Result<bool> {
    let own = repo.base()?;
    Ok(url.url().root() == own.root())
}

pub(super) fn not_here(what: &str) -> Failure {
    Failure::new(
        Class::Offline,
        format!("`{what}` is not kept on this machine"),
    )
}

pub(super) fn other(repo: &OciRepo, wanted: &OciDigest) -> Error {
    let text = format!("`{repo}` sends something else than {wanted}");
    Error::new(text).hint("do not use it; tell the registry's owner")
}

fn login(repo: &OciRepo) -> String {
    let host = repo.host();
    format!(
        "check the spelling; if it is private, log in with `docker login {host}` or `oras login {host}`"
    )
}

fn wants_login(repo: &OciRepo, status: u16) -> Failure {
    let text = format!("`{repo}` may not be read so: its registry answers with status {status}");
    Failure::new(Class::NeedsAuthentication, text).hint(login(repo))
}

/// Checks that an answer is what was asked for.
fn expect(head: &Head, repo: &OciRepo, at: &OciAt) -> Result<(), Failure> {
    if head.status == 200 {
        return Ok(());
    }
    Err(refusal(head, repo, &format!("`{repo}{}`", at.suffix())))
}

/// What an answer that is not the thing asked for means.
pub(super) fn refusal(head: &Head, repo: &OciRepo, what: &str) -> Failure {
    let host = repo.host();
    let status = head.status;
    match status {
        401 | 403 => wants_login(repo, status),
        404 | 410 => {
            let text = format!("{host} does not have {what}");
            Failure::new(Class::NoRepository, text)
                .hint("check the spelling of its name and of its tag".to_owned())
        }
        300..=399 => {
            let text = format!("{host} sends us elsewhere for {what}, which is not followed");
            Failure::new(Class::Other, text).hint("give the address that it leads to".to_owned())
        }
        429 => Failure::new(
            Class::Unreachable,
            format!("{host} wants to be asked less often"),
        )
        .hint("try again later; logged in, more is allowed".to_owned()),
        408 | 500..=599 => Failure::new(
            Class::Unreachable,
            format!("{host} answers with status {status} about {what}"),
        )
        .hint("try again later".to_owned()),
        _ => Failure::new(
            Class::Other,
            format!("{host} answers with status {status} about {what}"),
        ),
    }
}
