//! Downloads files with the user's own `curl`: https only, limited in size and time. It knows
//! nothing about skills.

use crate::marketplace::fetch::{Class, Failure, Tool};
use crate::marketplace::reference::WebUrl;
use crate::sys::files;

/// Seconds for one download of at most 10 MiB.
const DOWNLOAD_SECONDS: u64 = 120;

/// Marks the line on standard error that describes a transfer.
const MARK: &str = "agent-skills-transfer";

/// A server's response.
#[derive(Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The body, whatever the status.
    pub body: Vec<u8>,
}

/// Downloads each address in turn, at most `max` bytes in total. With `redirects`, a redirect may
/// lead to another host, but never from https to http.
pub fn get(
    tool: &Tool,
    urls: &[WebUrl],
    max: u64,
    redirects: bool,
) -> Result<Vec<Answer>, Failure> {
    let config = urls
        .iter()
        .map(|url| format!("url = \"{url}\"\noutput = \"-\"\n"));
    let config: String = config.collect();
    let mut command = tool.command("curl");
    let proto = if urls.iter().all(WebUrl::is_encrypted) {
        "=https"
    } else {
        "=http,https"
    };
    let options = format!(
        "--silent --show-error --globoff --max-redirs 5 --proto {proto} --proto-redir {proto} \
         --connect-timeout 20 --max-time {DOWNLOAD_SECONDS} --max-filesize {max} \
         --no-progress-meter --config -"
    );
    command.args(options.split(' '));
    let report = format!("%{{stderr}}{MARK} %{{http_code}} %{{size_download}}\\n");
    command.args(["--write-out", &report]);
    if redirects {
        command.arg("--location");
    }
    let ran = tool.run(command, &config, max)?;
    if !ran.status.success() {
        return Err(Failure::from_curl(ran.status.code(), &ran.errors));
    }
    let bytes = files::read_all_capped(ran.output, max).map_err(|e| tool.local(&e))?;
    let mut rest = bytes.as_slice();
    let mut answers = Vec::new();
    let lines = ran.errors.lines();
    for line in lines.filter_map(|line| line.strip_prefix(MARK)) {
        let mut words = line.split_whitespace();
        let status = words.next().and_then(|word| word.parse().ok());
        let size = words.next().and_then(|word| word.parse().ok());
        if let (Some(status), Some(size)) = (status, size)
            && let Some((body, after)) = rest.split_at_checked(size)
        {
            rest = after;
            let body = body.to_vec();
            answers.push(Answer { status, body });
        }
    }
    if answers.len() == urls.len() && rest.is_empty() {
        Ok(answers)
    } else {
        let text = "curl's answer broke off";
        Err(Failure::new(Class::Other, text))
    }
}

/// As [`get`], for one address.
pub fn one(tool: &Tool, url: &WebUrl, max: u64, redirects: bool) -> Result<Answer, Failure> {
    let answers = get(tool, std::slice::from_ref(url), max, redirects);
    let answers = answers.map_err(|failure| failure.context(format!("could not get `{url}`")))?;
    answers.into_iter().next().ok_or_else(|| refused(url, 0))
}

/// Downloads a file, which must exist.
pub fn file(tool: &Tool, url: &WebUrl, max: u64) -> Result<Vec<u8>, Failure> {
    match one(tool, url, max, true)? {
        Answer { status: 200, body } => Ok(body),
        answer => Err(refused(url, answer.status)),
    }
}

/// The failure for a status other than 200.
pub fn refused(url: &WebUrl, status: u16) -> Failure {
    let class = match status {
        401 | 403 => Class::NeedsAuthentication,
        404 | 410 => Class::NoRepository,
        408 | 429 | 500..=599 => Class::Unreachable,
        _ => Class::Other,
    };
    Failure::new(class, format!("`{url}` answers with status {status}"))
}
