//! Asks a registry, with the user's credentials where it wants them: which manifest a tag names,
//! manifests and blobs (signatures: `lists.rs`). Each is checked against its digest before
//! anybody sees it, and kept. Nothing here knows what a skill is.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use crate::error::{Error, Result};
use crate::marketplace::fetch::http::{self, Answer, REDIRECTS, Send};
use crate::marketplace::fetch::{Class, Failure, Permit, Permitted, Tool};
use crate::marketplace::reference::{OciAt, OciDigest, OciRepo};
use crate::marketplace::registry::media::{ACCEPTED, Descriptor, Manifest};
use crate::marketplace::registry::store::Store;
use crate::marketplace::registry::{credentials, token};
use crate::sys::limits;

/// What is done to a repository, as a token names it.
pub const PULL: &str = "pull";
/// See [`PULL`].
pub const PUSH: &str = "pull,push";
/// What an answer other than a blob may have, in bytes.
const REFUSAL: u64 = 64 * 1024;

/// Talks to registries with the user's curl and credentials. Each tag is asked for once.
pub struct Client<'a> {
    pub(super) tool: Tool<'a>,
    permit: Rc<Permit<'a>>,
    pub(super) offline: bool,
    pub(super) store: Store,
    /// `Authorization` by host and scope.
    authorized: RefCell<HashMap<(String, String), String>>,
    tags: RefCell<HashMap<(OciRepo, OciAt), OciDigest>>,
    manifests: RefCell<HashMap<OciDigest, Rc<Manifest>>>,
    /// Whether more is kept than before.
    has_fetched: Cell<bool>,
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
            authorized: RefCell::default(),
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
        if let OciAt::Digest(digest) = at {
            return Ok(digest.clone());
        }
        let key = (repo.clone(), at.clone());
        if let Some(known) = self.tags.borrow().get(&key) {
            return Ok(known.clone());
        }
        let what = format!("`{repo}{}`", at.suffix());
        let digest = if self.offline {
            let known = self.store.tagged(repo, at);
            known.ok_or_else(|| not_here(&what))?
        } else {
            let path = format!("manifests/{}", at.as_str());
            // curl compares the length that the head states, though no body follows.
            let answer = self.ask(repo, PULL, &path, Send::Head, limits::INDEX)?;
            match answer.get("docker-content-digest").map(OciDigest::parse) {
                _ if answer.status != 200 => return Err(refusal(&answer, repo, &what)),
                Some(told) => told?,
                // Without that header only the manifest itself says it.
                None => self.fetch_manifest(repo, at)?.0,
            }
        };
        self.store.tag(repo, at, &digest, self.tool.scratch);
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
        match self.store.get(digest, limits::INDEX) {
            Some(bytes) => Ok(self.parse(repo, digest, &bytes)?),
            None => Ok(self.fetch_manifest(repo, &OciAt::Digest(digest.clone()))?.1),
        }
    }

    /// Fetches a manifest, and keeps it.
    fn fetch_manifest(
        &self,
        repo: &OciRepo,
        at: &OciAt,
    ) -> Result<(OciDigest, Rc<Manifest>), Failure> {
        let path = format!("manifests/{}", at.as_str());
        let answer = self.ask(repo, PULL, &path, Send::Get, limits::INDEX)?;
        if answer.status != 200 {
            return Err(refusal(&answer, repo, &format!("`{repo}{}`", at.suffix())));
        }
        let digest = OciDigest::of(&answer.body);
        if let OciAt::Digest(wanted) = at
            && *wanted != digest
        {
            return Err(other(repo, wanted).into());
        }
        let parsed = self.parse(repo, &digest, &answer.body)?;
        self.keep(&digest, &answer.body);
        Ok((digest, parsed))
    }

    fn parse(&self, repo: &OciRepo, digest: &OciDigest, bytes: &[u8]) -> Result<Rc<Manifest>> {
        let parsed = Manifest::parse(bytes).map_err(|e| e.context(format!("`{repo}`")))?;
        let parsed = Rc::new(parsed);
        let mut known = self.manifests.borrow_mut();
        known.insert(digest.clone(), Rc::clone(&parsed));
        Ok(parsed)
    }

    fn keep(&self, digest: &OciDigest, bytes: &[u8]) {
        self.store.put(digest, bytes, self.tool.scratch);
        self.has_fetched.set(true);
    }

    /// A blob, which has exactly the descriptor's digest and size. What is kept is not asked for.
    ///
    /// # Errors
    /// When it is larger than [`limits::DOWNLOAD`] or elsewhere, the registry cannot be asked, or
    /// what it sends is something else.
    pub fn blob(&self, repo: &OciRepo, wanted: &Descriptor) -> Result<Vec<u8>, Failure> {
        let (digest, size, most) = (&wanted.digest, wanted.size, limits::DOWNLOAD);
        if size > most {
            let text = format!("`{repo}` has a blob of {size} bytes; {most} are the most");
            return Err(Failure::new(Class::TooLarge, text));
        }
        let bytes = match self.store.get(digest, most) {
            Some(kept) => kept,
            None => self.fetch_blob(repo, wanted)?,
        };
        if bytes.len() as u64 == size {
            return Ok(bytes);
        }
        Err(other(repo, digest).into())
    }

    fn fetch_blob(&self, repo: &OciRepo, wanted: &Descriptor) -> Result<Vec<u8>, Failure> {
        let digest = &wanted.digest;
        let mut url = self.place(repo, &format!("blobs/{digest}"))?;
        for _ in 0..=REDIRECTS {
            let answer = self.ask_at(repo, PULL, &url, Send::Get, wanted.size + REFUSAL)?;
            if answer.status == 200 {
                if OciDigest::of(&answer.body) != *digest {
                    return Err(other(repo, digest).into());
                }
                self.keep(digest, &answer.body);
                return Ok(answer.body);
            }
            let Some(to) = answer.redirect() else {
                return Err(refusal(&answer, repo, &format!("the blob {digest}")));
            };
            url = url.led(to)?;
        }
        let text = format!("`{repo}` redirects more than {REDIRECTS} times");
        Err(Failure::new(Class::Other, text))
    }

    /// The address of something in a repository.
    pub(super) fn place(&self, repo: &OciRepo, path: &str) -> Result<Permitted, Failure> {
        if self.offline {
            return Err(not_here(&format!("`{repo}`")));
        }
        Ok(self.permit.registry(repo)?.led(path)?)
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
        send: Send,
        max: u64,
    ) -> Result<Answer, Failure> {
        self.ask_at(repo, actions, &self.place(repo, path)?, send, max)
    }

    /// As [`Client::ask`], for an address that the registry has named. Another host than its own is
    /// told nothing of the user.
    pub(super) fn ask_at(
        &self,
        repo: &OciRepo,
        actions: &str,
        url: &Permitted,
        send: Send,
        max: u64,
    ) -> Result<Answer, Failure> {
        let is_own = url.url().root() == repo.base()?.root();
        let scope = format!("repository:{}:{actions}", repo.name());
        let key = (repo.host().to_owned(), scope);
        let known = self.authorized.borrow().get(&key).cloned();
        let mut headers = vec![format!("Accept: {}", ACCEPTED.join(", "))];
        headers.extend(known.filter(|_| is_own));
        let answer = http::send(&self.tool, url, send, &headers, max)?;
        if answer.status != 401 || !is_own {
            return Ok(answer);
        }
        let registry = self.permit.registry(repo)?;
        let credentials = credentials::find(&self.tool, repo)?;
        let asked = answer.all("www-authenticate");
        let given =
            token::authorization(&self.tool, &registry, asked, &key.1, credentials.as_ref());
        let given =
            given.map_err(|failure| to_login(repo, failure.context(format!("`{repo}`"))))?;
        let Some(given) = given else {
            return Ok(answer);
        };
        headers.truncate(1);
        headers.push(given.clone());
        self.authorized.borrow_mut().insert(key, given);
        http::send(&self.tool, url, send, &headers, max)
    }
}

fn not_here(what: &str) -> Failure {
    Failure::new(
        Class::Offline,
        format!("{what} is not kept on this machine"),
    )
}

fn other(repo: &OciRepo, wanted: &OciDigest) -> Error {
    let text = format!("`{repo}` sends something else than {wanted}");
    Error::new(text).hint("do not use it; tell the registry's owner")
}

/// What an answer of a registry means that is not the thing asked for.
pub(super) fn refusal(answer: &Answer, repo: &OciRepo, what: &str) -> Failure {
    to_login(repo, answer.refusal(repo.host(), what))
}

/// How its user logs in, if that is what a registry wants.
fn to_login(repo: &OciRepo, failure: Failure) -> Failure {
    if failure.class != Class::NeedsAuthentication {
        return failure;
    }
    let host = repo.host();
    failure.hint(format!(
        "check the spelling; if it is private, log in with `docker login {host}` or `oras login {host}`"
    ))
}
