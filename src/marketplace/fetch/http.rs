//! The one HTTP client: the user's own `curl`, with its configuration (proxies, certificates). https,
//! or http to this machine; limited in size and time. What is secret goes through standard input,
//! never into an argument. Follows no redirect: where it leads needs a permission of its own. It
//! knows nothing about skills.

use std::fmt::Write as _;
use std::slice;

use crate::error::{Error, Result};
use crate::marketplace::fetch::{Class, Failure, Permitted, Tool};
use crate::sys::{Durable, EntryName, files, limits};

/// How many redirects are followed for one file.
pub const REDIRECTS: usize = 5;

const HEADERS: EntryName = EntryName::from_static("answer.headers");
const BODY: EntryName = EntryName::from_static("request.body");
/// Seconds for one transfer of at most [`limits::DOWNLOAD`].
const SECONDS: u64 = 120;
/// Marks the line on standard error that describes a transfer.
const MARK: &str = "agent-skills-transfer";

/// What is sent.
#[derive(Debug, Clone, Copy)]
pub enum Send<'r> {
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
pub struct Answer {
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
    tool: &Tool,
    url: &Permitted,
    send: Send,
    headers: &[String],
    max: u64,
) -> Result<Answer, Failure> {
    let answers = send_all(tool, slice::from_ref(url), send, headers, max);
    // What follows `?` may be a token.
    let shown = url.url().as_str().split('?').next().unwrap_or_default();
    let mut answers =
        answers.map_err(|failure| failure.context(format!("could not get `{shown}`")))?;
    // There is one for each address.
    Ok(answers.remove(0))
}

/// Downloads each address in turn, at most `max` bytes in total. The answers have no headers.
///
/// # Errors
/// When curl fails, or the answers are too large.
pub fn get_all(tool: &Tool, urls: &[Permitted], max: u64) -> Result<Vec<Answer>, Failure> {
    send_all(tool, urls, Send::Get, &[], max)
}

fn send_all(
    tool: &Tool,
    urls: &[Permitted],
    send: Send,
    headers: &[String],
    max: u64,
) -> Result<Vec<Answer>, Failure> {
    let mut command = tool.command("curl");
    let is_encrypted = |url: &Permitted| url.url().is_encrypted();
    let proto = if urls.iter().all(is_encrypted) {
        "=https"
    } else {
        "=http,https"
    };
    let options = format!(
        "--silent --show-error --globoff --no-location --no-compressed --proto {proto} \
         --connect-timeout 20 --max-time {SECONDS} --no-progress-meter --config -"
    );
    command.args(options.split(' '));
    let is_head = matches!(send, Send::Head);
    // The length that a HEAD tells is that of a body which does not come.
    if !is_head {
        command.args(["--max-filesize", &max.to_string()]);
    }
    let report = format!("%{{stderr}}{MARK} %{{http_code}} %{{size_download}}\\n");
    command.args(["--write-out", &report]);
    let ran = tool.run(command, config(tool, urls, send, headers)?, max)?;
    if !ran.status.success() {
        return Err(tool.tried(Failure::from_curl(ran.status.code(), &ran.errors)));
    }
    let mut bytes = files::read_all_capped(ran.output, max).map_err(|e| tool.local(&e))?;
    if is_head {
        // curl shows its headers.
        bytes.clear();
    }
    let told = tool.scratch.read(&HEADERS, limits::SIGNERS);
    let told = told.unwrap_or_default();
    let mut headers = last_headers(&String::from_utf8_lossy(&told));
    let (mut rest, mut answers) = (bytes.as_slice(), Vec::new());
    for line in ran.errors.lines() {
        let sizes = line.strip_prefix(MARK).unwrap_or_default().trim();
        if let Some((status, size)) = sizes.split_once(' ')
            && let (Ok(status), Ok(size)) = (status.parse(), size.parse())
            && let Some((body, after)) = rest.split_at_checked(size)
        {
            rest = after;
            answers.push(Answer {
                status,
                body: body.to_vec(),
                headers: std::mem::take(&mut headers),
            });
        }
    }
    if answers.len() != urls.len() || !rest.is_empty() {
        return Err(Failure::new(Class::Other, "curl's answer broke off").hint("try again"));
    }
    Ok(answers)
}

/// What curl reads from its standard input.
fn config(tool: &Tool, urls: &[Permitted], send: Send, headers: &[String]) -> Result<String> {
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
    for url in urls {
        set("url", url.url().as_str())?;
        set("output", "-")?;
    }
    for header in headers {
        set("header", header)?;
    }
    match send {
        Send::Get => {}
        Send::Head => config.push_str("head\n"),
        Send::Form(form) => set("data", form)?,
        Send::Bytes(method, kind, bytes) => {
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

/// The headers of the last answer, their names in small letters.
fn last_headers(text: &str) -> Vec<(String, String)> {
    // Those of a proxy or an interim answer come first. A header may have `HTTP/` in its value.
    let all: Vec<&str> = text.lines().collect();
    let begins = |at: &usize| all[*at].starts_with("HTTP/") && (*at == 0 || all[at - 1].is_empty());
    let last = (0..all.len()).rfind(begins).unwrap_or(all.len());
    let header = |line: &&str| {
        let (key, value) = line.split_once(':')?;
        Some((key.trim().to_ascii_lowercase(), value.trim().to_owned()))
    };
    all[last..].iter().skip(1).map_while(header).collect()
}

impl Answer {
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
    pub fn expect(self, host: &str, what: &str) -> Result<Vec<u8>, Failure> {
        match self.status {
            200 => Ok(self.body),
            _ => Err(self.refusal(host, what)),
        }
    }

    /// What a status says that is no success, about `what` was asked of `host`.
    pub fn refusal(&self, host: &str, what: &str) -> Failure {
        let status = self.status;
        let failure =
            |class, text: String| Failure::new(class, format!("{text} (status {status})"));
        match status {
            300..=399 => {
                let text = format!("{host} sends us elsewhere for {what}, which is not followed");
                failure(Class::Redirected, text).hint("give the address that it leads to")
            }
            401 | 403 => failure(
                Class::NeedsAuthentication,
                format!("{host} denies access to {what}"),
            )
            .hint("check the spelling; if it is private, let curl know your credentials (`~/.curlrc`)"),
            404 | 410 => failure(Class::NoRepository, format!("{host} does not have {what}")),
            429 => failure(Class::Busy, format!("{host} limits how often it is asked")),
            408 | 500..=599 => failure(Class::Busy, format!("{host} cannot give {what} now")),
            _ => failure(Class::Other, format!("{host} does not give {what}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_answer_counts_and_its_headers_end_with_it() {
        let answer = |text: &str| Answer {
            status: 200,
            body: Vec::new(),
            headers: last_headers(text),
        };
        let text = "HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n\
                    HTTP/2 401\r\nWWW-Authenticate: Bearer realm=\"x\"\r\nX: a:b\r\n\r\nY: z\r\n";
        let found = answer(text);
        assert_eq!(found.get("www-authenticate"), Some("Bearer realm=\"x\""));
        assert_eq!((found.get("x"), found.get("y")), (Some("a:b"), None));
        assert!(answer("").headers.is_empty());
        let text =
            "HTTP/1.1 200 OK\r\nVia: HTTP/1.1 proxy\r\nHTTP/x: y\r\nServer: x HTTP/2 404\r\n\r\n";
        assert_eq!(answer(text).get("http/x"), Some("y"));
    }

    #[test]
    fn no_value_ends_its_line_or_its_quotes() {
        assert_eq!(quoted("a\"\\b").unwrap(), "\"a\\\"\\\\b\"");
        assert!(quoted("a\nurl = \"http://x\"").is_err());
    }
}
