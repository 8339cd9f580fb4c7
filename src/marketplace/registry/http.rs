//! One request with the user's curl, with any method and headers. What is secret goes through
//! standard input, never into an argument. Follows no redirect.

use std::fmt::Write as _;

use crate::error::{Error, Result};
use crate::marketplace::fetch::{Failure, Permitted, Tool};
use crate::sys::{Durable, EntryName, files, limits};

const HEADERS: EntryName = EntryName::from_static("answer.headers");
const BODY: EntryName = EntryName::from_static("request.body");
/// Seconds for one request, whose answer is at most [`limits::DOWNLOAD`].
const SECONDS: u64 = 120;

/// What is sent with a request.
#[derive(Debug, Clone, Copy)]
pub enum Send<'r> {
    /// GET.
    Nothing,
    /// HEAD.
    Head,
    /// POST of a form, already encoded.
    Form(&'r str),
    /// POST or PUT of bytes of some type.
    Bytes(&'r str, &'r str, &'r [u8]),
}

/// A request.
#[derive(Debug)]
pub struct Request<'r> {
    /// Where to.
    pub url: &'r Permitted,
    /// What is sent.
    pub send: Send<'r>,
    /// Header lines.
    pub headers: Vec<String>,
    /// The most bytes that the answer may have.
    pub max: u64,
}

/// The head of an answer.
#[derive(Debug, Default)]
pub struct Head {
    /// The HTTP status.
    pub status: u16,
    headers: Vec<(String, String)>,
}

impl Head {
    /// Every header of this name, in small letters.
    pub fn all<'h>(&'h self, name: &'h str) -> impl Iterator<Item = &'h str> {
        let of_name = self.headers.iter().filter(move |(key, _)| key == name);
        of_name.map(|(_, value)| value.as_str())
    }

    /// The first header of this name, in small letters.
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut of_name = self.headers.iter().filter(|(key, _)| key == name);
        of_name.next().map(|(_, value)| value.as_str())
    }

    /// Where a redirect leads.
    pub fn redirect(&self) -> Option<&str> {
        let is_one = matches!(self.status, 301 | 302 | 303 | 307 | 308);
        self.get("location").filter(|_| is_one)
    }

    fn parse(text: &str) -> Option<Self> {
        // Those of a proxy or an interim answer come first. A header may have `HTTP/` in its value.
        let all: Vec<&str> = text.lines().collect();
        let begins = |at: &usize| all[*at].starts_with("HTTP/");
        let follows = |at: &usize| *at == 0 || all[*at - 1].is_empty();
        let last = (0..all.len()).rfind(|at| begins(at) && follows(at))?;
        let mut lines = all[last..].iter();
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let header = |line: &&str| {
            let (key, value) = line.split_once(':')?;
            Some((key.trim().to_ascii_lowercase(), value.trim().to_owned()))
        };
        let headers = lines.map_while(header).collect();
        Some(Self { status, headers })
    }
}

/// Sends a request. Returns the answer's head and its body.
///
/// # Errors
/// When curl fails, or the answer is too large.
pub fn send(tool: &Tool, request: &Request) -> Result<(Head, Vec<u8>), Failure> {
    let mut command = tool.command("curl");
    let proto = if request.url.url().is_encrypted() {
        "=https"
    } else {
        "=http,https"
    };
    let max = request.max;
    let options = format!(
        "--silent --show-error --globoff --no-location --proto {proto} --connect-timeout 20 \
         --max-time {SECONDS} --no-progress-meter --config -"
    );
    command.args(options.split(' '));
    // The length that a HEAD tells is that of a body which does not come.
    if !matches!(request.send, Send::Head) {
        command.args(["--max-filesize", &max.to_string()]);
    }
    let ran = tool.run(command, config(tool, request)?, max)?;
    let told = tool.scratch.read(&HEADERS, limits::SIGNERS);
    let told = told.unwrap_or_default();
    let head = Head::parse(&String::from_utf8_lossy(&told)).unwrap_or_default();
    if !ran.status.success() {
        return Err(tool.curl_failure(&ran));
    }
    let body = files::read_all_capped(ran.output, max).map_err(|e| tool.local(&e))?;
    Ok((head, body))
}

/// What curl reads from its standard input.
fn config(tool: &Tool, request: &Request) -> Result<String> {
    let mut config = String::new();
    let mut set = |key: &str, value: &str| {
        quoted(value).map(|value| {
            // A string can be written to.
            let _ = writeln!(config, "{key} = {value}");
        })
    };
    let place = |name: &EntryName| tool.scratch.path_of(name).to_string_lossy().into_owned();
    let _ = tool.scratch.remove_file(&HEADERS);
    set("url", request.url.url().as_str())?;
    set("dump-header", &place(&HEADERS))?;
    for header in &request.headers {
        set("header", header)?;
    }
    match request.send {
        Send::Nothing | Send::Head => {}
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
    if matches!(request.send, Send::Head) {
        config.push_str("head\n");
    }
    Ok(config)
}

/// A value as curl reads it, on one line.
fn quoted(value: &str) -> Result<String> {
    if value.contains(char::is_control) {
        let text = "a part of a request has control characters";
        return Err(Error::new(text).hint("look at the credentials of the registry"));
    }
    Ok(format!(
        "\"{}\"",
        value.replace('\\', "\\\\").replace('"', "\\\"")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_answer_counts_and_its_headers_end_with_it() {
        let text = "HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n\
                    HTTP/2 401\r\nWWW-Authenticate: Bearer realm=\"x\"\r\nX: a:b\r\n\r\nY: z\r\n";
        let head = Head::parse(text).unwrap();
        assert_eq!(head.status, 401);
        assert_eq!(head.get("www-authenticate"), Some("Bearer realm=\"x\""));
        assert_eq!((head.get("x"), head.get("y")), (Some("a:b"), None));
        assert!(Head::parse("").is_none());
        let text =
            "HTTP/1.1 200 OK\r\nVia: HTTP/1.1 proxy\r\nHTTP/x: y\r\nServer: x HTTP/2 404\r\n\r\n";
        let head = Head::parse(text).unwrap();
        assert_eq!((head.status, head.get("http/x")), (200, Some("y")));
    }

    #[test]
    fn no_value_ends_its_line_or_its_quotes() {
        assert_eq!(quoted("a\"\\b").unwrap(), "\"a\\\"\\\\b\"");
        assert!(quoted("a\nurl = \"http://x\"").is_err());
    }
}
