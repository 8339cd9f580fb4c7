//! Parses what a person types to name a skill into readings, which are tried in order
//! (docs/spec/references.md#reference-forms). Pure: it uses neither network nor disk.

use std::fmt;

use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::marketplace::reference::address::public;
use crate::marketplace::reference::{
    OciReference, OciRepo, Pin, RefName, RepoUrl, SubPath, WebUrl,
};
use crate::skill::SkillName;
use crate::sys::limits;

/// A parsed reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// A skill's name, to be found in one configured source (`x@y`) or in all of them.
    Named {
        /// The skill's name.
        name: String,
        /// The source's name.
        source: Option<String>,
    },
    /// Possible meanings, best first; never empty. Only `OWNER/NAME` has more than one.
    Readings(Vec<Reading>),
}

/// How a reference has to be read (`--reading`).
// The comments are the help of the option; `o/n` is the repository `n` of `o`, or the skill `n` of
// `o`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ReferenceForm {
    /// A git repository
    #[value(name = "repo")]
    Repository,
    /// A name in an owner's repositories or the configured sources
    Registry,
    /// A local path
    Path,
    /// A web address
    Url,
}

impl Reference {
    /// Parses a reference in any form, or only in the form requested.
    ///
    /// # Errors
    /// When it has none of the forms, or has parts that could leave a directory or reach git as an
    /// option.
    pub fn parse(written: &str, reading: Option<ReferenceForm>) -> Result<Self> {
        let text = written.trim();
        if text.is_empty() || text.len() > limits::REFERENCE || text.chars().any(char::is_control) {
            let why = "is empty, too long or has control characters";
            return Err(refused(written, why));
        }
        let one = |place: SourceLocation, want: RepositoryPart| {
            Ok(Self::Readings(vec![Reading { place, want }]))
        };
        if reading == Some(ReferenceForm::Path) || (reading.is_none() && is_local(text)) {
            return one(SourceLocation::Local(text.to_owned()), RepositoryPart::Any);
        }
        if text.starts_with('-') {
            return Err(refused(written, "begins with `-`, as options do"));
        }
        let (before, fragment) = text.rsplit_once('#').unzip();
        let text = before.unwrap_or(text).trim_end_matches('/');
        let before_slash = text.split('/').next().unwrap_or_default();
        let is_url = text.contains("://") || is_scp(before_slash);
        // An account name on GitHub contains no dot, so this is a host.
        let is_host = before_slash.contains('.') && text.matches('/').count() >= 2;
        let of_repository = reading == Some(ReferenceForm::Repository);
        let url = if let Some(path) = text.strip_prefix("gitlab:") {
            Some(format!("https://gitlab.com/{path}"))
        } else if is_url {
            Some(text.to_owned())
        } else {
            (is_host || reading == Some(ReferenceForm::Url)).then(|| format!("https://{text}"))
        };
        if let Some(path) = text.strip_prefix("github:") {
            Ok(Self::Readings(vec![github(
                path,
                Revision::parse(fragment)?,
            )?]))
        } else if text.starts_with("oci://") {
            if fragment.is_some() {
                let why = "has a `#`: a tag follows `:`, and a digest `@`";
                return Err(refused(written, why));
            }
            let (repo, at, want) = registry(text)?;
            one(SourceLocation::Registry { repo, at }, want)
        } else if let Some(url) = url {
            Ok(Self::Readings(vec![address(
                &url,
                fragment,
                of_repository,
            )?]))
        } else if before_slash.contains(':') {
            Err(refused(written, "has a prefix that is not known"))
        } else if of_repository {
            Ok(Self::Readings(vec![github(
                text,
                Revision::parse(fragment)?,
            )?]))
        } else if !text.contains('/') {
            if fragment.is_some() {
                return Err(refused(written, "names a ref, but no repository"));
            }
            let (name, source) = match text.split_once('@') {
                Some((name, source)) => (name, Some(skill(source)?)),
                None => (text, None),
            };
            let name = skill(name)?;
            Ok(Self::Named { name, source })
        } else {
            let mut readings = short(text, &Revision::parse(fragment)?)?;
            if reading == Some(ReferenceForm::Registry) {
                readings.truncate(1);
            }
            Ok(Self::Readings(readings))
        }
    }
}

/// Whether a text can only be a local path.
pub fn is_local(text: &str) -> bool {
    let starts = ["./", "../", "/", "~/"];
    matches!(text, "." | ".." | "~") || starts.iter().any(|start| text.starts_with(start))
}

/// Whether this is `user@host:path`; `start` is the part before the first slash.
fn is_scp(start: &str) -> bool {
    let host = start.split_once('@').map(|(_, host)| host);
    host.is_some_and(|host| host.contains(':')) && !start.contains("::")
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.want {
            RepositoryPart::Any | RepositoryPart::Root => {}
            RepositoryPart::Named(name) => write!(f, "skill `{name}` of ")?,
            RepositoryPart::Path(path) => write!(f, "directory `{}` of ", path.as_str())?,
            RepositoryPart::PathOrName(path) => {
                write!(f, "directory or skill `{}` of ", path.as_str())?;
            }
        }
        match &self.place {
            SourceLocation::Repository { url, at } => {
                write!(f, "repository {url}")?;
                at.text().map_or(Ok(()), |at| write!(f, " at {at}"))
            }
            SourceLocation::Local(path) => write!(f, "path {path}"),
            SourceLocation::Archive { url, .. } => write!(f, "archive {url}"),
            SourceLocation::WellKnown(url) => write!(f, "site {url}"),
            SourceLocation::File(url) => write!(f, "file {url}"),
            SourceLocation::Registry { repo, at } => {
                let at = at.as_ref().map(OciReference::suffix).unwrap_or_default();
                write!(f, "artifact {repo}{at}")
            }
        }
    }
}

/// One possible meaning of a reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// Where to look.
    pub place: SourceLocation,
    /// Which of the skills there are wanted.
    pub want: RepositoryPart,
}

/// Where skills can be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceLocation {
    /// A git repository in a certain state.
    Repository {
        /// Its address.
        url: RepoUrl,
        /// Which state.
        at: Revision,
    },
    /// A local directory or archive, as written: `./x`, `../x`, `/x`, `~/x`.
    Local(String),
    /// An archive on the web.
    Archive {
        /// Its address.
        url: WebUrl,
        /// The required SHA-256.
        sha256: Option<String>,
    },
    /// A site that lists its skills under `/.well-known/`.
    WellKnown(WebUrl),
    /// One `SKILL.md`.
    File(WebUrl),
    /// A repository of an OCI registry.
    Registry {
        /// Its address.
        repo: OciRepo,
        /// Which manifest; `None` for the tag `latest`.
        at: Option<OciReference>,
    },
}

/// The kind of a source, as the lockfile records it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceKind {
    /// A git repository.
    #[default]
    Git,
    /// A local directory, copied.
    Local,
    /// An archive, local or from the web.
    Archive,
    /// A site with a well-known index.
    WellKnown,
    /// One `SKILL.md` from the web.
    File,
    /// A repository of an OCI registry.
    Oci,
}

/// What is wanted from a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RepositoryPart {
    /// Its only skill.
    Any,
    /// The skill at its root.
    Root,
    /// The skill of this name as written, or the manifest's group of that name.
    Named(String),
    /// What is at this path, or else the skill of that name.
    PathOrName(SubPath),
    /// What is at this path.
    Path(SubPath),
}

/// A state of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revision {
    /// The default branch.
    Default,
    /// The short name of a branch or tag, as people type it.
    RefName(RefName),
    /// An unambiguous name, as kept in the lockfile.
    Pin(Pin),
    /// A combined ref and path, as in `/tree/REF/PATH`: only the repository's refs show where the
    /// ref ends.
    RefAndPath(SubPath),
}

impl Reading {
    /// A place in a repository.
    pub fn repository(url: RepoUrl, at: Revision, want: RepositoryPart) -> Self {
        let place = SourceLocation::Repository { url, at };
        Self { place, want }
    }

    /// The reading of a recorded place. `rev` is a branch, tag or commit, or an archive's digest;
    /// `path` is the skill's directory there.
    ///
    /// # Errors
    /// When one of them is invalid.
    pub fn recorded(kind: SourceKind, source: &str, rev: Option<&str>, path: &str) -> Result<Self> {
        let place = match kind {
            SourceKind::Git => {
                let (url, at) = (RepoUrl::parse(source)?, Revision::parse(rev)?);
                SourceLocation::Repository { url, at }
            }
            SourceKind::Local => SourceLocation::Local(source.to_owned()),
            SourceKind::Archive if source.starts_with('/') => SourceLocation::Local(match rev {
                Some(digest) => format!("{source}#sha256={digest}"),
                None => source.to_owned(),
            }),
            SourceKind::Archive => {
                let (url, sha256) = (WebUrl::parse(source)?, rev.map(str::to_owned));
                SourceLocation::Archive { url, sha256 }
            }
            SourceKind::WellKnown => SourceLocation::WellKnown(WebUrl::parse(source)?),
            SourceKind::File => SourceLocation::File(WebUrl::parse(source)?),
            SourceKind::Oci => SourceLocation::Registry {
                repo: OciRepo::parse(source)?,
                at: rev.map(OciReference::parse).transpose()?,
            },
        };
        let want = match path {
            "" => RepositoryPart::Root,
            path => RepositoryPart::Path(SubPath::parse(path)?),
        };
        Ok(Self { place, want })
    }
}

impl SourceKind {
    /// The owner of a source of this kind: an account, a group or a host; `None` for a local path.
    pub fn owner(self, source: &str) -> Option<String> {
        Some(match self {
            Self::Git => RepoUrl::parse(source).ok()?.owner()?.to_owned(),
            Self::Oci => {
                let repo = OciRepo::parse(source).ok()?;
                repo.owner().unwrap_or(repo.host()).to_owned()
            }
            _ => WebUrl::parse(source).ok()?.host().to_owned(),
        })
    }
}

impl SourceLocation {
    /// The place as it is recorded: kind, source, and branch, tag, commit or digest.
    pub fn record(&self) -> (SourceKind, String, Option<String>) {
        let on_web = |kind, url: &WebUrl| (kind, url.to_string(), None);
        match self {
            Self::Repository { url, at } => (SourceKind::Git, url.as_str().to_owned(), at.text()),
            Self::Local(path) => (SourceKind::Local, path.clone(), None),
            Self::Archive { url, sha256 } => (SourceKind::Archive, url.to_string(), sha256.clone()),
            Self::WellKnown(url) => on_web(SourceKind::WellKnown, url),
            Self::File(url) => on_web(SourceKind::File, url),
            Self::Registry { repo, at } => {
                let at = at.as_ref().map(|at| at.as_str().to_owned());
                (SourceKind::Oci, repo.to_string(), at)
            }
        }
    }
}

impl Revision {
    /// Parses the state of a repository, from after `#` or from a lockfile.
    ///
    /// # Errors
    /// When it cannot be a branch, tag or commit.
    pub fn parse(fragment: Option<&str>) -> Result<Self> {
        let Some(written) = fragment else {
            return Ok(Self::Default);
        };
        match Pin::parse(written) {
            Some(pin) => Ok(Self::Pin(pin)),
            None => Ok(Self::RefName(RefName::parse(written)?)),
        }
    }

    /// The state as text; `None` for the default branch.
    pub fn text(&self) -> Option<String> {
        match self {
            Self::Default => None,
            Self::RefName(rev) => Some(rev.as_str().to_owned()),
            Self::Pin(pin) => Some(pin.to_string()),
            Self::RefAndPath(place) => Some(place.as_str().to_owned()),
        }
    }
}

const FORMS: &str = "give OWNER/SKILL, OWNER/REPO@SKILL, OWNER/REPO/PATH, the https or ssh address \
                     of a repository or an archive, oci://HOST/NAME, or a local directory as ./DIR";

/// Git hosts whose repository addresses need not end in `.git`.
const FORGES: [&str; 5] = [
    "github.com",
    "gitlab.com",
    "bitbucket.org",
    "codeberg.org",
    "dev.azure.com",
];

/// Those where a repository is OWNER/REPO, so that what follows is a path in it.
const OWNER_AND_REPO: [&str; 3] = ["github.com", "bitbucket.org", "codeberg.org"];

/// What follows OWNER/REPO in the addresses of their other pages.
const PAGES: &str = "issues pull pulls pull-requests actions wiki discussions releases compare \
                     tree blob commits tags branches";

/// Where GitHub gives single files.
const RAW: &str = "raw.githubusercontent.com";

/// The second is what Anthropic's own packages are called: a zip.
const ARCHIVES: [&str; 5] = [".zip", ".skill", ".tar", ".tar.gz", ".tgz"];

/// `OWNER/NAME`, `OWNER/REPO@SKILL`, `OWNER/REPO/PATH`.
fn short(text: &str, at: &Revision) -> Result<Vec<Reading>> {
    let (owner, name) = text.split_once('/').unwrap_or((text, ""));
    if name.contains(['/', '@']) || name.strip_suffix(".git").is_some() {
        return Ok(vec![github(text, at.clone())?]);
    }
    let reading = |repo: &str, want: RepositoryPart| {
        RepoUrl::github(owner, repo).map(|url| Reading::repository(url, at.clone(), want))
    };
    let wanted = RepositoryPart::Named(skill(name)?);
    Ok(vec![
        reading("skills", wanted.clone())?,
        reading(name, RepositoryPart::Any)?,
        reading("agent-skills", wanted)?,
    ])
}

/// `OWNER/REPO`, `OWNER/REPO@SKILL` or `OWNER/REPO/PATH`, always on GitHub.
fn github(text: &str, at: Revision) -> Result<Reading> {
    let (text, named) = split_skill(text)?;
    let (owner, rest) = text.split_once('/').unwrap_or((text, ""));
    let (repo, path) = rest.split_once('/').unzip();
    let url = RepoUrl::github(owner, repo.unwrap_or(rest))?;
    let want = match (path, named) {
        (None, None) => RepositoryPart::Any,
        (None, Some(name)) => RepositoryPart::Named(name),
        (Some(path), None) => RepositoryPart::PathOrName(SubPath::parse(path)?),
        (Some(_), Some(_)) => return Err(refused(text, "has both a path and a skill's name")),
    };
    Ok(Reading::repository(url, at, want))
}

/// A URL on any host: a repository or a place in one, an archive, a `SKILL.md`, a site. `fragment`
/// is what followed `#`; `repository` forces reading it as a repository.
fn address(text: &str, fragment: Option<&str>, repository: bool) -> Result<Reading> {
    let is_web = text.starts_with("http://") || text.starts_with("https://");
    if is_web && let Some(reading) = azure(text, fragment)? {
        return Ok(reading);
    }
    let (page, query) = text.split_once('?').unwrap_or((text, ""));
    let page = page.trim_end_matches('/');
    let is_file = split_skill(page).is_ok_and(|(bare, _)| is_download(bare));
    let is_archive = is_web && !repository && is_file;
    if is_web
        && !is_archive
        && let Some((repo, place)) = place_in_repository(page, query)
    {
        if fragment.is_some_and(names_a_ref) {
            let why = "names a ref twice, in its path and after `#`";
            return Err(refused(text, why));
        }
        let at = Revision::RefAndPath(decoded_path(text, &place)?);
        return Ok(Reading::repository(
            RepoUrl::parse(&repo)?,
            at,
            RepositoryPart::Any,
        ));
    }
    // What a forge's own page has behind `?` and then `#` is a tab of it and a heading.
    let is_tab = is_web && !is_archive && !query.is_empty() && is_forge(page);
    let fragment = fragment.filter(|it| !(is_tab && !names_a_ref(it) || is_web && is_anchor(it)));
    let (bare, named) = split_skill(if is_tab { page } else { text })?;
    let mut want = named.map_or(RepositoryPart::Any, RepositoryPart::Named);
    if is_archive {
        let (url, sha256) = (WebUrl::parse(bare)?, fragment.map(digest).transpose()?);
        let place = SourceLocation::Archive { url, sha256 };
        return Ok(Reading { place, want });
    }
    if is_web && !repository && fragment.is_none() && !is_forge(bare) {
        let url = WebUrl::parse(bare)?;
        let place = if is_skill_file(url.file_name()) {
            SourceLocation::File(url)
        } else {
            SourceLocation::WellKnown(url)
        };
        return Ok(Reading { place, want });
    }
    let at = Revision::parse(fragment)?;
    let parts: Vec<&str> = bare.splitn(6, '/').collect();
    if let [_, "", host, rest @ ..] = parts.as_slice()
        && is_web
        && OWNER_AND_REPO.contains(&host_of(host).as_str())
    {
        match *rest {
            [_, _] => {}
            [_, _, path] if want == RepositoryPart::Any && !is_page(path) => {
                let repo = &bare[..bare.len() - path.len() - 1];
                want = RepositoryPart::PathOrName(decoded_path(text, path)?);
                return Ok(Reading::repository(RepoUrl::parse(repo)?, at, want));
            }
            _ => return Err(refused(text, "is a page of a forge, but not a repository")),
        }
    }
    // A `SKILL.md` behind another repository's address is the one at its root.
    let repo = bare
        .rsplit_once('/')
        .filter(|(_, file)| is_skill_file(file));
    let repo = RepoUrl::parse(repo.map_or(bare, |(repo, _)| repo))?;
    Ok(Reading::repository(repo, at, want))
}

/// `oci://HOST/NAME[:TAG][@sha256:DIGEST][@SKILL]`. A digest counts more than a tag.
pub fn registry(text: &str) -> Result<(OciRepo, Option<OciReference>, RepositoryPart)> {
    let (mut parts, mut want) = (text.split('@'), RepositoryPart::Any);
    let first = parts.next().unwrap_or_default();
    let name = first.rfind('/').unwrap_or_default();
    let (bare, tag) = match first[name..].split_once(':') {
        Some((last, tag)) => (&first[..name + last.len()], Some(tag)),
        None => (first, None),
    };
    // Without a third slash it names no repository, and an `@` belongs to a user.
    let repo = OciRepo::parse(if bare.matches('/').count() > 2 {
        bare
    } else {
        text
    })?;
    let mut at = tag.map(OciReference::parse).transpose()?;
    for part in parts {
        match want {
            RepositoryPart::Any if part.contains(':') => at = Some(OciReference::parse(part)?),
            RepositoryPart::Any => want = RepositoryPart::Named(skill(part)?),
            _ => return Err(refused(text, "has something after the skill's name")),
        }
    }
    Ok((repo, at, want))
}

/// Whether a path or URL is that of an archive.
pub fn is_archive(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    ARCHIVES.iter().any(|end| lower.ends_with(end))
}

/// Whether an address is that of an archive: a repository may be called `x.skill`, too.
fn is_download(url: &str) -> bool {
    let pages = ["/releases/", "/raw/", "/archive/"];
    let is_below = || pages.iter().any(|page| url.contains(page));
    is_archive(url) && (url.strip_suffix(".skill").is_none() || !is_forge(url) || is_below())
}

/// The digest in `sha256=DIGEST`.
pub fn digest(fragment: &str) -> Result<String> {
    let hex = fragment.strip_prefix("sha256=").unwrap_or_default();
    if hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(hex.to_ascii_lowercase());
    }
    let error = refused(fragment, "does not say what an archive's digest is");
    Err(error.hint("give it as `#sha256=` and 64 hexadecimal digits"))
}

/// Whether the content at an address may come from a fork. Under the address of a repository,
/// forges serve the files and archives of every commit they know, including those of forks.
/// Branches and tags with their full name and uploaded releases belong to the repository.
pub fn may_be_a_forks(url: &WebUrl) -> bool {
    let raw = url.host() == RAW;
    if !raw && url.host() != "codeload.github.com" && !is_forge_host(url.host()) {
        return false;
    }
    let path = url.as_str().splitn(4, '/').nth(3).unwrap_or_default();
    let mut parts = path.split('/').skip(if raw { 2 } else { 3 });
    let is_ref = parts.next() == Some("refs") && matches!(parts.next(), Some("heads" | "tags"));
    let mut parts = path.split('/').skip(2);
    let is_release = parts.next() == Some("releases") && parts.next() == Some("download");
    !is_ref && !is_release
}

/// Whether a URL is that of a repository, judging by its host or ending.
fn is_forge(url: &str) -> bool {
    let host = url.split('/').nth(2).unwrap_or_default();
    let path = url.split('?').next().unwrap_or_default();
    is_forge_host(&host_of(host)) || path.strip_suffix(".git").is_some()
}

fn is_forge_host(host: &str) -> bool {
    let first = host.split('.').next().unwrap_or_default();
    // Such as git.example.org, gitlab.example.org or gitea.example.org.
    FORGES.contains(&host)
        || (first.starts_with("git") && host.contains('.'))
        || host.ends_with(".visualstudio.com")
}

/// `…/_git/REPO?path=/PATH&version=GBref`, the form of Azure.
fn azure(text: &str, fragment: Option<&str>) -> Result<Option<Reading>> {
    let parts = text.split_once('?');
    let Some((repo, query)) = parts.filter(|(repo, _)| repo.contains("/_git/")) else {
        return Ok(None);
    };
    let field = |name: &str| {
        let value = query.split('&').find_map(|pair| pair.strip_prefix(name));
        value.and_then(percent_decoded)
    };
    // A prefix of two letters marks a branch, a tag or a commit.
    let full = |version: String| {
        let (mark, name) = version.split_at_checked(2)?;
        Some(match mark {
            "GB" => format!("refs/heads/{name}"),
            "GT" => format!("refs/tags/{name}"),
            _ => name.to_owned(),
        })
    };
    let version = field("version=").and_then(full);
    let at = Revision::parse(version.as_deref().or(fragment))?;
    let want = match field("path=").filter(|path| !path.trim_matches('/').is_empty()) {
        Some(path) => RepositoryPart::Path(SubPath::parse(&path)?),
        None => RepositoryPart::Any,
    };
    let url = RepoUrl::parse(repo)?;
    Ok(Some(Reading::repository(url, at, want)))
}

/// The repository and `REF/PATH` of a web page that shows a directory or a `SKILL.md`; `query` is
/// what follows `?`.
fn place_in_repository(url: &str, query: &str) -> Option<(String, String)> {
    let (scheme, rest) = url.split_once("://")?;
    let parts: Vec<&str> = rest.split('/').collect();
    let host = host_of(parts[0]);
    // The host is the first part. In GitLab, `/-/` ends the path of the project, however deep.
    let dash = parts.iter().position(|part| *part == "-");
    let (end, page) = dash.map_or((3, 3), |dash| (dash, dash + 1));
    let page = parts.get(page..)?;
    let (kind, place) = match page {
        [.., file] if host == RAW && is_skill_file(file) => ("", page),
        ["tree" | "blob", place @ ..] => ("", place),
        // Gitea and Forgejo, such as Codeberg, say what kind of ref follows.
        [
            "src" | "raw" | "media" | "blame" | "commits",
            kind,
            place @ ..,
        ] if host != "github.com" && matches!(*kind, "branch" | "tag" | "commit") => (*kind, place),
        ["releases", "tag", place @ ..] => ("tag", place),
        ["tags" | "releases", place @ ..] if dash.is_some() => ("tag", place),
        ["raw" | "blame" | "edit" | "commit" | "commits", place @ ..] if is_forge_host(&host) => {
            ("", place)
        }
        ["src", place @ ..] if host == "bitbucket.org" => ("", place),
        _ => return None,
    };
    let asked = query
        .split('&')
        .find_map(|pair| pair.strip_prefix("ref_type="));
    let prefix = match asked.unwrap_or(kind) {
        "branch" | "heads" => "refs/heads/",
        "tag" | "tags" => "refs/tags/",
        _ => "",
    };
    let host = if host == RAW { "github.com" } else { parts[0] };
    let repo = format!("{scheme}://{host}/{}", parts[1..end].join("/"));
    let place = format!("{prefix}{}", place.join("/"));
    (place.len() > prefix.len()).then_some((repo, place))
}

fn is_skill_file(name: &str) -> bool {
    name.eq_ignore_ascii_case("SKILL.md")
}

/// The host of an address as it is compared.
fn host_of(authority: &str) -> String {
    let host = authority.to_ascii_lowercase();
    host.strip_prefix("www.").unwrap_or(&host).to_owned()
}

/// Whether `path` behind OWNER/REPO is another page of a forge.
fn is_page(path: &str) -> bool {
    let first = path.split('/').next().unwrap_or_default();
    PAGES.split_whitespace().any(|page| page == first)
}

/// Whether what follows `#` is a line or the heading that every page of a forge may have, which people
/// copy with its address.
fn is_anchor(fragment: &str) -> bool {
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let line = |line: &str| line.strip_prefix('L').is_some_and(is_number);
    let lines = fragment.strip_prefix("lines-").unwrap_or(fragment);
    fragment.split('-').all(line)
        || lines.len() < fragment.len() && lines.split(':').all(is_number)
        || matches!(fragment, "readme" | "readme-ov-file")
}

/// Whether what follows `#` is a commit or a version, rather than a heading of the page.
fn names_a_ref(fragment: &str) -> bool {
    let version = fragment.strip_prefix('v').unwrap_or_default();
    version.starts_with(|c: char| c.is_ascii_digit()) || Pin::parse(fragment).is_some()
}

/// Splits `…/repo@skill`.
fn split_skill(text: &str) -> Result<(&str, Option<String>)> {
    // The skill's name may contain a slash, but an `@` in the address before it belongs to
    // `user@host` or `user:password@host`.
    let start = text.find("://").map_or(0, |at| at + 3);
    let authority = text[start..].split('/').next().unwrap_or_default();
    // In ssh's form the first `@` ends the user; what follows another one is a skill's name.
    let user = match start {
        0 => authority.find('@'),
        _ => authority.rfind('@'),
    };
    let host = start + user.map_or(0, |at| at + 1);
    let first_slash = match text[host..].find(['/', ':']) {
        Some(slash) => host + slash,
        None if start > 0 => text.len(),
        None => 0,
    };
    let Some(at) = text[first_slash..].find('@') else {
        return Ok((text, None));
    };
    let (address, name) = text.split_at(first_slash + at);
    Ok((address, Some(skill(&name[1..])?)))
}

fn skill(name: &str) -> Result<String> {
    if SkillName::from_written(name).is_none() || name.split('/').any(|p| p == "..") {
        return Err(refused(name, "is not the name of a skill"));
    }
    Ok(name.to_owned())
}

fn decoded_path(written: &str, path: &str) -> Result<SubPath> {
    let path = percent_decoded(path).ok_or_else(|| refused(written, "is not UTF-8"))?;
    SubPath::parse(&path)
}

fn percent_decoded(text: &str) -> Option<String> {
    let decoded = percent_decode_str(text).decode_utf8().ok()?;
    Some(decoded.into_owned())
}

/// The error for text that is not a reference. It lists the valid forms.
fn refused(written: &str, why: &str) -> Error {
    let written = public(written);
    Error::new(format!("the reference `{}` {why}", written.escape_debug())).hint(FORMS)
}

#[cfg(test)]
mod tests;
