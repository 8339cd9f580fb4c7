//! The one HTTP client: the user's own `curl`, with its configuration (proxies, certificates). https,
//! or http to this machine; limited in size and time. What is secret goes through standard input,
//! never into an argument. Follows no redirect: where it leads needs a permission of its own. It
//! knows nothing about skills.

use std::fmt::Write as _;

use crate::marketplace::fetch::{FailureKind, FetchFailure, Programs};
use crate::marketplace::prelude::*;
use crate::marketplace::reference::is_loopback;

/// How many redirects are followed for one file.
const REDIRECTS: usize = 5;

const HEADERS: EntryName = EntryName::from_static("answer.headers");
const BODY: EntryName = EntryName::from_static("request.body");
/// Seconds for one transfer of at most [`limits::DOWNLOAD`].
const SECONDS: u64 = 120;

/// What is sent.
#[derive(Debug, Clone, Copy)]
pub enum HttpRequest<'r> {
    /// GET.
    Get,
    /// HEAD.
    Head,
    /// POST of a form, already encoded.
    Form(&'r str),
    /// POST or PUT of bytes of some type.
    Bytes(&'r str, &'r str, &'r [u8]),
}

/// A server's answer.
#[derive(Debug)]
pub struct HttpResponse {
    /// The HTTP status.
    pub status: u16,
    /// The body, whatever the status.
    pub body: Vec<u8>,
    headers: Vec<(String, String)>,
}

/// Sends a request with these header lines; the answer has at most `max` bytes.
///
/// # Errors
/// When curl fails, or the answer is too large.
pub fn send(
    tool: &Programs,
    url: &PermittedUrl,
    send: HttpRequest,
    headers: &[String],
    max: u64,
) -> Result<HttpResponse, FetchFailure> {
    let options = format!(
        "--silent --show-error --globoff --no-location --no-compressed --proto =http,https \
         --connect-timeout 20 --max-time {SECONDS} --no-progress-meter --config -"
    );
    let mut command = tool.command("curl");
    command.args(options.split(' '));
    let is_head = matches!(send, HttpRequest::Head);
    // The length that a HEAD tells is that of a body which does not come.
    if !is_head {
        command.args(["--max-filesize", &max.to_string()]);
    }
    let input = config(tool, url.url(), send, headers)?;
    let ran = tool.run(command, input, max).and_then(|ran| {
        if ran.status.success() {
            return Ok(ran);
        }
        Err(tool.tried(FetchFailure::from_curl(ran.status.code(), &ran.errors)))
    });
    // What follows `?` may be a token.
    let shown = url.url().as_str().split('?').next().unwrap_or_default();
    let ran = ran.map_err(|failure| failure.context(format!("could not get `{shown}`")))?;
    let mut body = files::read_all_capped(ran.output, max).map_err(|e| tool.local(&e))?;
    if is_head {
        // curl shows its headers.
        body.clear();
    }
    let told = tool.scratch.read(&HEADERS, limits::SIGNERS);
    let answer = HttpResponse::new(&String::from_utf8_lossy(&told.unwrap_or_default()), body);
    answer.ok_or_else(|| {
        FetchFailure::new(FailureKind::Other, "curl's answer broke off").hint("try again")
    })
}

/// Requests an address and those that its redirects lead to: `next` says where that is, if it may be
/// requested. Returns the last answer with its address.
///
/// # Errors
/// When a request fails, or there are more than [`REDIRECTS`].
pub fn follow(
    start: PermittedUrl,
    get: impl Fn(&PermittedUrl) -> Result<HttpResponse, FetchFailure>,
    mut next: impl FnMut(&PermittedUrl, &str) -> Result<PermittedUrl, FetchFailure>,
) -> Result<(PermittedUrl, HttpResponse), FetchFailure> {
    let (first, mut at) = (start.clone(), start);
    for _ in 0..=REDIRECTS {
        let answer = get(&at)?;
        let Some(to) = answer.redirect() else {
            return Ok((at, answer));
        };
        at = next(&at, to)?;
    }
    let text = format!("`{}` redirects more than {REDIRECTS} times", first.url());
    Err(FetchFailure::new(FailureKind::Other, text))
}

/// What curl reads from its standard input.
fn config(tool: &Programs, url: &WebUrl, send: HttpRequest, headers: &[String]) -> Result<String> {
    let mut config = String::new();
    let mut set = |key: &str, value: &str| {
        quoted(value).map(|value| {
            // A string can be written to.
            let _ = writeln!(config, "{key} = {value}");
        })
    };
    let place = |name: &EntryName| tool.scratch.path_of(name).to_string_lossy().into_owned();
    let _ = tool.scratch.remove_file(&HEADERS);
    set("dump-header", &place(&HEADERS))?;
    set("url", url.as_str())?;
    set("output", "-")?;
    for header in headers {
        set("header", header)?;
    }
    match send {
        HttpRequest::Get => {}
        HttpRequest::Head => config.push_str("head\n"),
        HttpRequest::Form(form) => set("data", form)?,
        HttpRequest::Bytes(method, kind, bytes) => {
            let written = tool.scratch.replace(&BODY, bytes, 0o600, Durable::No);
            written.map_err(|error| tool.scratch.error("write", &BODY, &error))?;
            set("request", method)?;
            set("header", &format!("Content-Type: {kind}"))?;
            set("header", "Expect:")?;
            set("data-binary", &format!("@{}", place(&BODY)))?;
        }
    }
    Ok(config)
}

/// A value as curl reads it, on one line.
fn quoted(value: &str) -> Result<String> {
    if value.contains(char::is_control) {
        let text = "a part of a request has control characters";
        return Err(Error::new(text).hint("look at the credentials of the registry"));
    }
    let value = value.replace('\\', "\\\\").replace('"', "\\\"");
    Ok(format!("\"{value}\""))
}

impl HttpResponse {
    /// The answer whose headers are the last in this text; `None` if there are none.
    fn new(told: &str, body: Vec<u8>) -> Option<Self> {
        // Those of a proxy or an interim answer come first. A header may have `HTTP/` in its value.
        let all: Vec<&str> = told.lines().collect();
        let begins =
            |at: &usize| all[*at].starts_with("HTTP/") && (*at == 0 || all[at - 1].is_empty());
        let (first, headers) = all[(0..all.len()).rfind(begins)?..].split_first()?;
        let header = |line: &&str| {
            let (key, value) = line.split_once(':')?;
            Some((key.trim().to_ascii_lowercase(), value.trim().to_owned()))
        };
        Some(Self {
            status: first.split(' ').nth(1)?.parse().ok()?,
            body,
            headers: headers.iter().map_while(header).collect(),
        })
    }

    /// Every header of this name, in small letters.
    pub fn all<'h>(&'h self, name: &'h str) -> impl Iterator<Item = &'h str> {
        let of_name = self.headers.iter().filter(move |(key, _)| key == name);
        of_name.map(|(_, value)| value.as_str())
    }

    /// The first header of this name, in small letters.
    pub fn get<'h>(&'h self, name: &'h str) -> Option<&'h str> {
        self.all(name).next()
    }

    /// Where a redirect leads.
    pub fn redirect(&self) -> Option<&str> {
        let is_one = matches!(self.status, 301 | 302 | 303 | 307 | 308);
        self.get("location").filter(|_| is_one)
    }

    /// The body, if it is `what` was asked of `host`.
    ///
    /// # Errors
    /// What any other status than 200 means.
    pub fn expect(self, host: &str, what: &str) -> Result<Vec<u8>, FetchFailure> {
        match self.status {
            200 => Ok(self.body),
            _ => Err(self.refusal(host, what)),
        }
    }

    /// What a status says that is no success, about `what` was asked of `host`.
    pub fn refusal(&self, host: &str, what: &str) -> FetchFailure {
        let class = FailureKind::of_status(self.status);
        let text = match class {
            FailureKind::Redirected => format!("redirects {what}, which is not followed"),
            FailureKind::NeedsAuthentication => format!("denies access to {what}"),
            FailureKind::NoRepository => format!("does not have {what}"),
            FailureKind::Busy if self.status == 429 => "limits the rate of requests".to_owned(),
            FailureKind::Busy => format!("cannot give {what} now"),
            _ => format!("does not give {what}"),
        };
        let failure = FetchFailure::new(class, format!("{host} {text} (status {})", self.status));
        match class {
            FailureKind::Redirected => failure.hint("give the address that it redirects to"),
            FailureKind::NeedsAuthentication => {
                failure.hint("check the spelling; if it is private, put credentials in `~/.curlrc`")
            }
            _ => failure,
        }
    }
}

const GITHUB: &str = "github.com";
/// GitHub's stores for what its own addresses serve. Their paths name no owner.
const GITHUB_STORES: [&str; 2] = [
    "objects.githubusercontent.com",
    "release-assets.githubusercontent.com",
];

/// Refuses a source, given its address and the one that is used instead, if different.
type Check<'p> = dyn Fn(&str, Option<&str>) -> Result<()> + 'p;

/// What is asked before a source is contacted.
pub struct Permit<'p> {
    check: Box<Check<'p>>,
    /// Whether a server may redirect git, which does not ask.
    pub git_redirects: bool,
}

impl<'p> Permit<'p> {
    /// Asks `check`, with the address of a source and the one that git or a redirect really leads
    /// to. With `is_selective`, it may refuse some.
    pub fn new(check: impl Fn(&str, Option<&str>) -> Result<()> + 'p, is_selective: bool) -> Self {
        Self {
            check: Box::new(check),
            git_redirects: !is_selective,
        }
    }

    /// Permits any source.
    pub fn any() -> Self {
        Self::new(|_, _| Ok(()), false)
    }

    /// # Errors
    /// When the source, or where it really is, may not be contacted.
    pub fn check(&self, source: &str, address: Option<&str>) -> Result<()> {
        (self.check)(source, address)
    }

    /// # Errors
    /// When the URL may not be contacted.
    pub fn url(&self, url: WebUrl) -> Result<PermittedUrl> {
        self.check(url.as_str(), None)?;
        Ok(PermittedUrl(url))
    }

    /// The address of a registry's repository.
    ///
    /// # Errors
    /// When the repository may not be contacted.
    pub fn registry(&self, repo: &OciRepo) -> Result<PermittedUrl> {
        self.check(repo.as_str(), None)?;
        Ok(PermittedUrl(repo.base()?))
    }
}

/// A URL that may be requested.
#[derive(Debug, Clone)]
pub struct PermittedUrl(WebUrl);

impl PermittedUrl {
    /// The URL.
    pub fn url(&self) -> &WebUrl {
        &self.0
    }

    /// What is below it on the same host is permitted as well.
    #[must_use]
    pub fn join(&self, path: &SubPath) -> Self {
        Self(self.0.join(path))
    }

    /// What this address names: where it redirects to, a registry's service for tokens and its store
    /// of blobs. What comes from these is the registry's own, and proved by its digest.
    ///
    /// # Errors
    /// When it is not encrypted while this one is, or is on this machine while this one is not.
    pub fn named(&self, to: WebUrl) -> Result<Self> {
        let is_less = self.0.is_encrypted() && !to.is_encrypted()
            || !is_loopback(self.0.host()) && is_loopback(to.host());
        if is_less {
            let text = format!("`{}` redirects to `{to}`, which is less safe", self.0);
            return Err(Error::new(text).hint("tell its owner"));
        }
        Ok(Self(to))
    }

    /// As [`PermittedUrl::named`], of what is written at this address.
    ///
    /// # Errors
    /// As [`PermittedUrl::named`], and when it is no address.
    pub fn led(&self, written: &str) -> Result<Self> {
        self.named(self.0.led(written)?)
    }

    /// Whether this is GitHub and `to` one of its stores: what is there belongs to this address.
    pub fn has_store(&self, to: &WebUrl) -> bool {
        self.0.host() == GITHUB && GITHUB_STORES.contains(&to.host())
    }

    /// Whether a redirect to `to` leaves the source. GitHub's archives stay in their repository.
    pub fn is_left_for(&self, to: &WebUrl) -> bool {
        self.0.host() != GITHUB || to.host() != "codeload.github.com"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_answer_counts_and_its_headers_end_with_it() {
        let answer = |text: &str| HttpResponse::new(text, Vec::new()).unwrap();
        let text = "HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n\
                    HTTP/2 401\r\nWWW-Authenticate: Bearer realm=\"x\"\r\nX: a:b\r\n\r\nY: z\r\n";
        let found = answer(text);
        assert_eq!(found.status, 401);
        assert_eq!(found.get("www-authenticate"), Some("Bearer realm=\"x\""));
        assert_eq!((found.get("x"), found.get("y")), (Some("a:b"), None));
        assert!(HttpResponse::new("", Vec::new()).is_none());
        let text =
            "HTTP/1.1 200 OK\r\nVia: HTTP/1.1 proxy\r\nHTTP/x: y\r\nServer: x HTTP/2 404\r\n\r\n";
        assert_eq!(answer(text).get("http/x"), Some("y"));
    }

    #[test]
    fn no_value_ends_its_line_or_its_quotes() {
        assert_eq!(quoted("a\"\\b").unwrap(), "\"a\\\"\\\\b\"");
        assert!(quoted("a\nurl = \"http://x\"").is_err());
    }

    #[test]
    fn an_address_without_a_host_is_beside_the_one_that_names_it() {
        let url = WebUrl::parse("https://h.org/v2/x/uploads/?a=b").unwrap();
        let from = Permit::any().url(url).unwrap();
        for (to, leads) in [
            ("1?s=/x%2B", "https://h.org/v2/x/uploads/1?s=/x%2B"),
            ("?n=2", "https://h.org/v2/x/uploads/?n=2"),
            ("/y", "https://h.org/y"),
            ("../y", "https://h.org/v2/x/y"),
            ("https://o.org/y", "https://o.org/y"),
        ] {
            assert_eq!(from.led(to).unwrap().url().as_str(), leads);
        }
        for refused in ["http://127.0.0.1/x", "file:///x"] {
            assert!(from.led(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn only_github_leads_to_its_stores_unasked() {
        let url = |written: &str| WebUrl::parse(written).unwrap();
        let leads = |from: &str, to: &str| {
            let from = Permit::any().url(url(from)).unwrap();
            from.has_store(&url(to))
        };
        let store = "https://release-assets.githubusercontent.com/x?sig=1";
        assert!(leads(
            "https://github.com/a/x/releases/download/1/x.zip",
            store
        ));
        assert!(!leads("https://h.org/x.zip", store));
        assert!(!leads(
            "https://github.com/a/x.zip",
            "https://raw.githubusercontent.com/e/x"
        ));
        assert!(!leads(
            "https://github.com/a/x.zip",
            "https://codeload.github.com/e/x"
        ));
    }
}
