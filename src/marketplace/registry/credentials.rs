//! The user's credentials for a registry, where `docker login`, `podman login` and `oras login` keep
//! them: in a file, or with a helper program that the file names. Nothing is ever written.

use std::collections::BTreeMap;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use crate::error::{Error, Result, reason};
use crate::marketplace::fetch::Tool;
use crate::marketplace::reference::OciRepo;
use crate::sys::{files, limits};

/// Docker Hub's key in these files.
const HUB: &str = "index.docker.io";
/// What docker asks a helper about for Docker Hub.
const HUB_URL: &str = "https://index.docker.io/v1/";
/// The user's name that marks a helper's secret as a token for tokens.
const TOKEN: &str = "<token>";

/// What proves who the user is to a registry.
#[derive(Clone, PartialEq, Eq)]
pub enum Credentials {
    /// User and password.
    Password(String, String),
    /// A token with which others are asked for (OAuth 2).
    Refresh(String),
}

/// Such a file.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Written {
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
struct Helped {
    username: String,
    secret: String,
}

/// The user's credentials for a repository; `None` if none of the files has any.
///
/// # Errors
/// When a file cannot be read, or its helper does not answer.
pub fn find(tool: &Tool, repo: &OciRepo) -> Result<Option<Credentials>> {
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
        let written: Written = serde_json::from_slice(&bytes)
            .map_err(|error| unreadable(format!("line {} is not as it has to be", error.line())))?;
        if let Some(found) = written.of(tool, repo)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The files, the most particular first.
fn places(tool: &Tool) -> Vec<PathBuf> {
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

impl Written {
    fn of(&self, tool: &Tool, repo: &OciRepo) -> Result<Option<Credentials>> {
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
        let text = String::from_utf8(decoded).ok()?;
        let (user, password) = text.trim_end_matches('\0').split_once(':')?;
        Some(Credentials::Password(user.to_owned(), password.to_owned()))
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
fn ask(tool: &Tool, name: &str, host: &str) -> Result<Option<Credentials>> {
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
        let text = format!("`{program}` has no answer about {host}");
        return Err(Error::new(text).hint(format!("see what `{program} get` says for that host")));
    }
    let helped: Helped = serde_json::from_slice(&said).map_err(|_| {
        Error::new(format!("what `{program}` answers cannot be read"))
            .hint("it has to be JSON with `Username` and `Secret`")
    })?;
    Ok(Some(if helped.username == TOKEN {
        Credentials::Refresh(helped.secret)
    } else {
        Credentials::Password(helped.username, helped.secret)
    }))
}
