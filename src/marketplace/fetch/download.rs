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
    let given = |url| format!("url = \"{url}\"\noutput = \"-\"\n");
    let config: String = urls.iter().map(given).collect();
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
        if let Some((status, size)) = line.trim().split_once(' ')
            && let (Ok(status), Ok(size)) = (status.parse(), size.parse())
            && let Some((body, after)) = rest.split_at_checked(size)
        {
            rest = after;
            let body = body.to_vec();
            answers.push(Answer { status, body });
        }
    }
    if answers.len() != urls.len() || !rest.is_empty() {
        return Err(Failure::new(Class::Other, "curl's answer broke off"));
    }
    Ok(answers)
}

/// As [`get`], for one address.
pub fn one(tool: &Tool, url: &WebUrl, max: u64, redirects: bool) -> Result<Answer, Failure> {
    let answers = get(tool, std::slice::from_ref(url), max, redirects);
    let mut answers =
        answers.map_err(|failure| failure.context(format!("could not get `{url}`")))?;
    // There is one for each address.
    Ok(answers.remove(0))
}

impl Answer {
    /// The file at `url`, if this is one.
    pub fn file(self, url: &WebUrl) -> Result<Vec<u8>, Failure> {
        let class = match self.status {
            200 => return Ok(self.body),
            401 | 403 => Class::NeedsAuthentication,
            404 | 410 => Class::NoRepository,
            408 | 429 | 500..=599 => Class::Unreachable,
            _ => Class::Other,
        };
        let text = format!("`{url}` answers with status {}", self.status);
        Err(Failure::new(class, text))
    }
}
