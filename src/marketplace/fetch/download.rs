//! Downloads files with the user's own `curl`: https only, limited in size and time. It knows
//! nothing about skills.

use crate::marketplace::fetch::{Class, Failure, Permitted, Tool};
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
    /// Where a redirect leads to, as an absolute URL; else empty.
    pub redirect: String,
}

/// Downloads each address in turn, at most `max` bytes in total. Follows no redirect: where it leads
/// to needs a permission of its own.
pub fn get(tool: &Tool, urls: &[Permitted], max: u64) -> Result<Vec<Answer>, Failure> {
    let given = |url: &Permitted| format!("url = \"{}\"\noutput = \"-\"\n", url.url());
    let config: String = urls.iter().map(given).collect();
    let mut command = tool.command("curl");
    let is_encrypted = |url: &Permitted| url.url().is_encrypted();
    let proto = if urls.iter().all(is_encrypted) {
        "=https"
    } else {
        "=http,https"
    };
    let options = format!(
        "--silent --show-error --globoff --no-location --proto {proto} \
         --connect-timeout 20 --max-time {DOWNLOAD_SECONDS} --max-filesize {max} \
         --no-progress-meter --config -"
    );
    command.args(options.split(' '));
    let report =
        format!("%{{stderr}}{MARK} %{{http_code}} %{{size_download}} %{{redirect_url}}\\n");
    command.args(["--write-out", &report]);
    let ran = tool.run(command, &config, max)?;
    if !ran.status.success() {
        return Err(tool.curl_failure(&ran));
    }
    let bytes = files::read_all_capped(ran.output, max).map_err(|e| tool.local(&e))?;
    let mut rest = bytes.as_slice();
    let mut answers = Vec::new();
    let lines = ran.errors.lines();
    for line in lines.filter_map(|line| line.strip_prefix(MARK)) {
        let mut words = line.split_whitespace();
        let mut word = || words.next().unwrap_or_default();
        if let (Ok(status), Ok(size)) = (word().parse(), word().parse())
            && let Some((body, after)) = rest.split_at_checked(size)
        {
            rest = after;
            answers.push(Answer {
                status,
                body: body.to_vec(),
                redirect: word().to_owned(),
            });
        }
    }
    if answers.len() != urls.len() || !rest.is_empty() {
        return Err(Failure::new(Class::Other, "curl's answer broke off").hint("try again"));
    }
    Ok(answers)
}

/// As [`get`], for one address.
pub fn one(tool: &Tool, url: &Permitted, max: u64) -> Result<Answer, Failure> {
    let answers = get(tool, std::slice::from_ref(url), max);
    let could_not = |failure: Failure| failure.context(format!("could not get `{}`", url.url()));
    let mut answers = answers.map_err(could_not)?;
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
