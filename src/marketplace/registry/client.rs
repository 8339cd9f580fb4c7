//! Asks a registry, with the user's credentials where it wants them: which manifest a tag names,
//! manifests and blobs, kept under their digests. Each is checked against its digest before
//! anybody sees it. Nothing here knows what a skill is.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::Value;
use url::form_urlencoded::Serializer;

use crate::error::reason;
use crate::marketplace::fetch::http::{self, HttpRequest, HttpResponse};
use crate::marketplace::fetch::{
    FailureKind, FetchFailure, Permit, PermittedUrl, Programs, cache, file_name,
};
use crate::marketplace::prelude::*;
use crate::marketplace::registry::media::{ACCEPTED, Descriptor, OciManifest};

/// What is done to a repository, as a token names it.
pub const PULL: &str = "pull";
/// See [`PULL`].
pub const PUSH: &str = "pull,push";
/// What an answer other than a blob may have, in bytes.
const REFUSAL: u64 = 64 * 1024;

/// Talks to registries with the user's curl and credentials. Each tag is asked for once.
pub struct Client<'a> {
    pub(super) tool: Programs<'a>,
    home: PathBuf,
    permit: Rc<Permit<'a>>,
    pub(super) offline: bool,
    /// `Authorization` by host and scope.
    authorized: RefCell<HashMap<(String, String), String>>,
    tags: RefCell<HashMap<(OciRepo, OciReference), OciDigest>>,
    manifests: RefCell<HashMap<OciDigest, Rc<OciManifest>>>,
    /// Whether more is kept than before.
    has_fetched: Cell<bool>,
}

impl<'a> Client<'a> {
    /// `home` is the plugin directory in which fetched data is kept; `offline`, whether only that
    /// may be used.
    pub fn new(tool: Programs<'a>, home: &Path, offline: bool, permit: Rc<Permit<'a>>) -> Self {
        Self {
            tool,
            home: home.to_owned(),
            permit,
            offline,
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
    pub fn resolve(&self, repo: &OciRepo, at: &OciReference) -> Result<OciDigest, FetchFailure> {
        if let OciReference::Digest(digest) = at {
            return Ok(digest.clone());
        }
        let key = (repo.clone(), at.clone());
        if let Some(known) = self.tags.borrow().get(&key) {
            return Ok(known.clone());
        }
        let what = format!("`{repo}{}`", at.suffix());
        let file = file_name(
            repo.short_name(),
            DIR,
            &format!("{repo}:{}", at.as_str()),
            ".tag",
        );
        let digest = if self.offline {
            let known = self.kept(&file, limits::INDEX);
            let known =
                known.and_then(|bytes| OciDigest::parse(&String::from_utf8(bytes).ok()?).ok());
            known.ok_or_else(|| FetchFailure::not_kept(what))?
        } else {
            let path = format!("manifests/{}", at.as_str());
            // curl compares the length that the head states, though no body follows.
            let answer = self.ask(repo, PULL, &path, HttpRequest::Head, limits::INDEX)?;
            match answer.get("docker-content-digest").map(OciDigest::parse) {
                _ if answer.status != 200 => return Err(refusal(&answer, repo, &what)),
                Some(told) => told?,
                // Without that header only the manifest itself says it.
                None => self.fetch_manifest(repo, at)?.0,
            }
        };
        self.keep(&file, digest.as_str().as_bytes());
        self.tags.borrow_mut().insert(key, digest.clone());
        Ok(digest)
    }

    /// A manifest or index, which has exactly this digest.
    ///
    /// # Errors
    /// When the registry cannot be asked, does not have it, or sends another.
    pub fn manifest(
        &self,
        repo: &OciRepo,
        digest: &OciDigest,
    ) -> Result<Rc<OciManifest>, FetchFailure> {
        if let Some(known) = self.manifests.borrow().get(digest) {
            return Ok(Rc::clone(known));
        }
        match self.kept_as(digest, limits::INDEX) {
            Some(bytes) => self.parse(repo, digest, &bytes),
            None => Ok(self
                .fetch_manifest(repo, &OciReference::Digest(digest.clone()))?
                .1),
        }
    }

    /// Fetches a manifest, and keeps it.
    fn fetch_manifest(
        &self,
        repo: &OciRepo,
        at: &OciReference,
    ) -> Result<(OciDigest, Rc<OciManifest>), FetchFailure> {
        let path = format!("manifests/{}", at.as_str());
        let answer = self.ask(repo, PULL, &path, HttpRequest::Get, limits::INDEX)?;
        if answer.status != 200 {
            return Err(refusal(&answer, repo, &format!("`{repo}{}`", at.suffix())));
        }
        let digest = OciDigest::of(&answer.body);
        if let OciReference::Digest(wanted) = at
            && *wanted != digest
        {
            return Err(other(repo, wanted));
        }
        let parsed = self.parse(repo, &digest, &answer.body)?;
        self.keep_as(&digest, &answer.body);
        Ok((digest, parsed))
    }

    fn parse(
        &self,
        repo: &OciRepo,
        digest: &OciDigest,
        bytes: &[u8],
    ) -> Result<Rc<OciManifest>, FetchFailure> {
        let parsed = OciManifest::parse(bytes).map_err(|e| e.context(format!("`{repo}`")))?;
        let parsed = Rc::new(parsed);
        let mut known = self.manifests.borrow_mut();
        known.insert(digest.clone(), Rc::clone(&parsed));
        Ok(parsed)
    }

    /// A blob, which has exactly the descriptor's digest and size. What is kept is not asked for.
    ///
    /// # Errors
    /// When the registry cannot be asked, or what it sends is something else.
    pub fn blob(&self, repo: &OciRepo, wanted: &Descriptor) -> Result<Vec<u8>, FetchFailure> {
        let bytes = match self.kept_as(&wanted.digest, wanted.size) {
            Some(kept) => kept,
            None => self.fetch_blob(repo, wanted)?,
        };
        if bytes.len() as u64 == wanted.size {
            return Ok(bytes);
        }
        Err(other(repo, &wanted.digest))
    }

    fn fetch_blob(&self, repo: &OciRepo, wanted: &Descriptor) -> Result<Vec<u8>, FetchFailure> {
        let digest = &wanted.digest;
        let url = self.place(repo, &format!("blobs/{digest}"))?;
        let get = |url: &PermittedUrl| {
            self.ask_at(repo, PULL, url, HttpRequest::Get, wanted.size + REFUSAL)
        };
        let (_, answer) = http::follow(url, get, |from, to| Ok(from.led(to)?))?;
        if answer.status != 200 {
            return Err(refusal(&answer, repo, &format!("the blob {digest}")));
        }
        if OciDigest::of(&answer.body) != *digest {
            return Err(other(repo, digest));
        }
        self.keep_as(digest, &answer.body);
        Ok(answer.body)
    }

    /// The address of something in a repository.
    pub(super) fn place(&self, repo: &OciRepo, path: &str) -> Result<PermittedUrl, FetchFailure> {
        if self.offline {
            return Err(FetchFailure::not_kept(format!("`{repo}`")));
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
        send: HttpRequest,
        max: u64,
    ) -> Result<HttpResponse, FetchFailure> {
        self.ask_at(repo, actions, &self.place(repo, path)?, send, max)
    }

    /// As [`Client::ask`], for an address that the registry has named. Another host than its own is
    /// told nothing of the user.
    pub(super) fn ask_at(
        &self,
        repo: &OciRepo,
        actions: &str,
        url: &PermittedUrl,
        send: HttpRequest,
        max: u64,
    ) -> Result<HttpResponse, FetchFailure> {
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
        let credentials = credentials(&self.tool, repo)?;
        let asked = answer.all("www-authenticate");
        let given = authorization(&self.tool, &registry, asked, &key.1, credentials.as_ref());
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

    fn dir(&self) -> Result<Dir> {
        cache(&self.home, &DIR)
    }

    /// What is kept in a file.
    pub(super) fn kept(&self, file: &EntryName, max: u64) -> Option<Vec<u8>> {
        self.dir().ok()?.read(file, max).ok()
    }

    /// Keeps bytes in a file. If that fails, they are only asked for again.
    pub(super) fn keep(&self, file: &EntryName, bytes: &[u8]) {
        if let Ok(dir) = self.dir() {
            let _ = dir.replace_through(self.tool.scratch, file, bytes, 0o644, Durable::No);
        }
    }

    /// What is kept of this digest, at most `max` bytes. What has been damaged is fetched anew.
    fn kept_as(&self, digest: &OciDigest, max: u64) -> Option<Vec<u8>> {
        let bytes = self.kept(&file(digest), max)?;
        (OciDigest::of(&bytes) == *digest).then_some(bytes)
    }

    fn keep_as(&self, digest: &OciDigest, bytes: &[u8]) {
        self.keep(&file(digest), bytes);
        self.has_fetched.set(true);
    }
}

/// Removes what was kept longest ago until the rest is within the bounds.
impl Drop for Client<'_> {
    fn drop(&mut self) {
        let Some(dir) = self.dir().ok().filter(|_| self.has_fetched.get()) else {
            return;
        };
        let entries = dir.entries().unwrap_or_default().into_iter();
        let sized = entries.filter_map(|(name, _)| {
            let metadata = dir.open_file(&name).ok()?.1;
            let written = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            Some((written, metadata.len(), name))
        });
        let mut all: Vec<_> = sized.collect();
        all.sort_by_key(|(written, ..)| Reverse(*written));
        let mut total = 0;
        for (at, (_, size, name)) in all.iter().enumerate() {
            total += size;
            if total > KEPT || at >= KEPT_FILES {
                let _ = dir.remove_file(name);
            }
        }
    }
}

/// The file of what has a digest: its 64 digits are a name.
pub(super) fn file(digest: &OciDigest) -> EntryName {
    EntryName::parse(digest.hex()).unwrap_or(DIR)
}

fn other(repo: &OciRepo, wanted: &OciDigest) -> FetchFailure {
    let text = format!("`{repo}` sent something other than {wanted}");
    FetchFailure::new(FailureKind::Other, text).hint("do not use it; tell the registry's owner")
}

/// What an answer of a registry means that is not the thing asked for.
pub(super) fn refusal(answer: &HttpResponse, repo: &OciRepo, what: &str) -> FetchFailure {
    to_login(repo, answer.refusal(repo.host(), what))
}

/// How its user logs in, if that is what a registry wants.
fn to_login(repo: &OciRepo, failure: FetchFailure) -> FetchFailure {
    if failure.class != FailureKind::NeedsAuthentication {
        return failure;
    }
    let host = repo.host();
    failure.hint(format!(
        "check the spelling; if it is private, log in with `docker login {host}` or `oras login {host}`"
    ))
}

const DIR: EntryName = EntryName::from_static("registry");
/// What is kept of all registries together.
const KEPT: u64 = 512 * 1024 * 1024;
/// Files that are kept. One that is asked for thousands of skills has a few for each.
const KEPT_FILES: usize = 50_000;

/// The most that a token service answers with, in bytes; some tokens have 10 KB.
const TOKEN: u64 = 256 * 1024;
/// What this program calls itself to a token service.
const CLIENT: &str = "agent-skills";

/// The `Authorization` header that a registry asks for in these `WWW-Authenticate` headers, by a token
/// if it takes one; `None` if it wants a password and there is none. `scope` is what we are going to
/// do, and not what the registry proposes.
///
/// # Errors
/// When the token service cannot be asked, or gives no token.
fn authorization<'h>(
    tool: &Programs,
    registry: &PermittedUrl,
    asked: impl Iterator<Item = &'h str>,
    scope: &str,
    credentials: Option<&Credentials>,
) -> Result<Option<String>, FetchFailure> {
    let (mut takes_password, mut realm, mut service) = (false, None, None);
    for header in asked {
        let (scheme, rest) = header.split_once(' ').unwrap_or((header, ""));
        takes_password |= scheme.eq_ignore_ascii_case("basic");
        if scheme.eq_ignore_ascii_case("bearer") && realm.is_none() {
            let mut fields = fields(rest);
            (realm, service) = (fields.remove("realm"), fields.remove("service"));
        }
    }
    let password = match credentials {
        Some(Credentials::Password(both)) => {
            Some(format!("Authorization: Basic {}", STANDARD.encode(both)))
        }
        _ => None,
    };
    let Some(realm) = realm else {
        return Ok(password.filter(|_| takes_password));
    };
    let mut query = Serializer::new(String::new());
    query.append_pair("scope", scope);
    if let Some(service) = &service {
        query.append_pair("service", service);
    }
    let mut form = None;
    if let Some(Credentials::Refresh(token)) = credentials {
        query.append_pair("grant_type", "refresh_token");
        query.append_pair("client_id", CLIENT);
        query.append_pair("refresh_token", token);
        form = Some(query.finish());
    }
    let address = if form.is_some() {
        realm
    } else {
        let join = if realm.contains('?') { '&' } else { '?' };
        format!("{realm}{join}{}", query.finish())
    };
    let url = registry.named(WebUrl::parse(&address)?)?;
    let sent = form.as_deref().map_or(HttpRequest::Get, HttpRequest::Form);
    let headers: Vec<String> = password.into_iter().collect();
    let host = format!("the token service {}", url.url().host());
    let body = http::send(tool, &url, sent, &headers, TOKEN)?.expect(&host, "a token")?;
    let answer: Value = serde_json::from_slice(&body).unwrap_or_default();
    let token = answer["token"].as_str().or(answer["access_token"].as_str());
    let is_plain = |token: &&str| !token.is_empty() && token.bytes().all(|b| b.is_ascii_graphic());
    let no_token = || FetchFailure::new(FailureKind::Other, format!("{host} gives no token"));
    let token = token.filter(is_plain).ok_or_else(no_token)?;
    Ok(Some(format!("Authorization: Bearer {token}")))
}

/// `key="value"` or `key=value`, separated by commas.
fn fields(mut text: &str) -> BTreeMap<String, String> {
    let mut fields = BTreeMap::new();
    while let Some((key, rest)) = text.split_once('=') {
        let key = key.trim_matches([' ', ',']).to_ascii_lowercase();
        let (value, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => rest.split_once(',').unwrap_or((rest, "")),
        };
        fields.insert(key, value.trim().to_owned());
        text = after;
    }
    fields
}

/// Docker Hub's key in these files.
const HUB: &str = "index.docker.io";
/// What docker asks a helper about for Docker Hub.
const HUB_URL: &str = "https://index.docker.io/v1/";
/// The user's name that marks a helper's secret as a token for tokens.
const TOKEN_USER: &str = "<token>";

/// What proves who the user is to a registry.
#[derive(Clone, PartialEq, Eq)]
enum Credentials {
    /// `USER:PASSWORD`.
    Password(String),
    /// A token with which others are asked for (OAuth 2).
    Refresh(String),
}

/// Such a file.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct DockerConfig {
    auths: BTreeMap<String, Auth>,
    cred_helpers: BTreeMap<String, String>,
    creds_store: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Auth {
    #[serde(rename = "auth")]
    both: String,
    identitytoken: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct HelperAnswer {
    username: String,
    secret: String,
}

/// The user's credentials for a repository; `None` if none of the files has any.
///
/// # Errors
/// When a file cannot be read, or its helper does not answer.
fn credentials(tool: &Programs, repo: &OciRepo) -> Result<Option<Credentials>> {
    for path in places(tool) {
        let read =
            files::unless_missing(&path, |path| files::read_capped(path, limits::CONFIG_FILE));
        let unreadable = |why: String| {
            Error::new(format!("`{}` cannot be read: {why}", path.display()))
                .hint("it has the credentials for registries; correct it, or log in again")
        };
        let Some(bytes) = read.map_err(|error| unreadable(reason(&error)))? else {
            continue;
        };
        // The parser's message could quote a secret.
        let written: DockerConfig = serde_json::from_slice(&bytes)
            .map_err(|error| unreadable(format!("line {} is not valid", error.line())))?;
        if let Some(found) = written.of(tool, repo)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The files, the most particular first.
fn places(tool: &Programs) -> Vec<PathBuf> {
    let env = tool.env;
    let under = |base: Option<PathBuf>, path: &str| base.map(|base| base.join(path));
    let containers = "containers/auth.json";
    let own = |key: &str, dir: &str| env.path(key).or_else(|| under(env.home(), dir));
    let all = [
        env.path("REGISTRY_AUTH_FILE"),
        under(own("DOCKER_CONFIG", ".docker"), "config.json"),
        under(env.path("XDG_RUNTIME_DIR"), containers),
        under(own("XDG_CONFIG_HOME", ".config"), containers),
    ];
    all.into_iter().flatten().collect()
}

impl DockerConfig {
    fn of(&self, tool: &Programs, repo: &OciRepo) -> Result<Option<Credentials>> {
        let host = hub(repo.host());
        let mut helpers = self.cred_helpers.iter();
        if let Some((_, helper)) = helpers.find(|(written, _)| bare(written) == host) {
            return ask(tool, helper, host);
        }
        let mut auths = self.auths.iter();
        let auth = auths.find(|(written, _)| bare(written) == host);
        let found = auth.and_then(|(_, auth)| auth.credentials());
        if found.is_none() && !self.creds_store.is_empty() {
            return ask(tool, &self.creds_store, host);
        }
        Ok(found)
    }
}

impl Auth {
    fn credentials(&self) -> Option<Credentials> {
        if !self.identitytoken.is_empty() {
            return Some(Credentials::Refresh(self.identitytoken.clone()));
        }
        let decoded = STANDARD.decode(self.both.trim()).ok()?;
        let both = String::from_utf8(decoded).ok()?;
        let both = both.trim_end_matches('\0').to_owned();
        both.contains(':').then_some(Credentials::Password(both))
    }
}

/// The name that a registry has in these files.
fn hub(host: &str) -> &str {
    if host == "docker.io" { HUB } else { host }
}

/// A key without what docker writes around a host.
fn bare(key: &str) -> &str {
    let start = key.find("://").map_or(0, |at| at + 3);
    let bare = key[start..].trim_end_matches('/');
    let bare = bare
        .strip_suffix("/v1")
        .or_else(|| bare.strip_suffix("/v2"))
        .unwrap_or(bare);
    hub(bare)
}

/// What `docker-credential-NAME` says about a host.
fn ask(tool: &Programs, name: &str, host: &str) -> Result<Option<Credentials>> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || !name.chars().all(is_word) {
        let text = format!("`{}` cannot be a credential helper", name.escape_debug());
        return Err(Error::new(text).hint("correct docker's `config.json`"));
    }
    let program = format!("docker-credential-{name}");
    let mut command = tool.command(&program);
    command.arg("get");
    let about = if host == HUB { HUB_URL } else { host };
    let ran = tool.run(command, about, limits::CONFIG_FILE)?;
    let said = files::read_all_capped(ran.output, limits::CONFIG_FILE);
    let said = said.map_err(|error| tool.local(&error))?;
    if !ran.status.success() {
        let text = String::from_utf8_lossy(&said);
        // So a helper says that it has none.
        if text.contains("credentials not found") {
            return Ok(None);
        }
        let text = format!("`{program}` returned no credentials for {host}");
        return Err(Error::new(text).hint(format!("see what `{program} get` says for that host")));
    }
    let helped: HelperAnswer = serde_json::from_slice(&said).map_err(|_| {
        Error::new(format!("the output of `{program}` cannot be read"))
            .hint("it has to be JSON with `Username` and `Secret`")
    })?;
    Ok(Some(if helped.username == TOKEN_USER {
        Credentials::Refresh(helped.secret)
    } else {
        Credentials::Password(format!("{}:{}", helped.username, helped.secret))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_of_a_challenge_are_read() {
        let found =
            fields("realm=\"https://a.org/t?x=1\", service=\"r,x\",scope=\"a:b:pull,push\"");
        assert_eq!(found["realm"], "https://a.org/t?x=1");
        assert_eq!(found["service"], "r,x");
        assert_eq!(fields("realm=x")["realm"], "x");
        for none in ["", "realm", "service=\"x\""] {
            assert!(!fields(none).contains_key("realm"), "{none}");
        }
    }
}
