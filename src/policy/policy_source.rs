//! `[from]` in a policy: where another one is, how it is known, and for how long it counts.

use std::path::PathBuf;

use serde::Deserialize;

use crate::sys::Moment;

/// `[from]` in a policy: another policy, which is fetched.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Written")]
pub struct PolicySource {
    /// `https://…`, or a file.
    pub url: String,
    /// The digest of its bytes, in hexadecimal.
    pub sha256: Option<String>,
    /// The file of those who may sign it, relative to the policy that says so.
    pub signers: Option<PathBuf>,
    /// The file of keys that count no longer.
    pub revoked: Option<PathBuf>,
    /// Which of the signers may; any if empty.
    pub principals: Vec<String>,
    /// How long it counts after it was fetched, in milliseconds.
    pub keep: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    url: String,
    sha256: Option<String>,
    signers: Option<PathBuf>,
    revoked: Option<PathBuf>,
    #[serde(default)]
    principals: Vec<String>,
    keep: Option<String>,
}

impl TryFrom<Written> for PolicySource {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let far = Moment(u64::MAX);
        let keep = written.keep.as_deref().unwrap_or("7d");
        let is_span = keep.ends_with(['s', 'm', 'h', 'd', 'w']);
        let keep = Moment::parse(keep, far).filter(|_| is_span);
        let keep = keep.ok_or("`keep` is a time such as `12h` or `7d`")?;
        let is_digest =
            |text: &String| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if written.sha256.as_ref().is_some_and(|text| !is_digest(text)) {
            return Err("`sha256` is 64 hexadecimal digits".to_owned());
        }
        if written.sha256.is_none() && written.signers.is_none() {
            return Err("what is fetched has to be known by `sha256` or `signers`".to_owned());
        }
        Ok(Self {
            url: written.url,
            sha256: written.sha256.map(|text| text.to_ascii_lowercase()),
            signers: written.signers,
            revoked: written.revoked,
            principals: written.principals,
            keep: far.0 - keep.0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_says_how_it_is_known_and_for_how_long() {
        let read = |text: &str| {
            let source: Result<PolicySource, _> = toml::from_str(text);
            source.map_err(|error| error.to_string())
        };
        let whole = read("url = 'x'\nsigners = 's'\nkeep = '12h'").unwrap();
        assert_eq!(whole.keep, 12 * 60 * 60 * 1000);
        let digest = "A".repeat(64);
        let pinned = read(&format!("url = 'x'\nsha256 = '{digest}'")).unwrap();
        assert_eq!(pinned.sha256, Some("a".repeat(64)));
        assert_eq!(pinned.keep, 7 * 24 * 60 * 60 * 1000);
        for (text, part) in [
            ("url = 'x'", "`sha256` or `signers`"),
            ("url = 'x'\nsha256 = 'abc'", "64 hexadecimal"),
            ("url = 'x'\nsigners = 's'\nkeep = '2026-01-01'", "`keep`"),
            ("url = 'x'\nsigners = 's'\nkeep = 'd'", "`keep`"),
            ("signers = 's'", "url"),
            ("url = 'x'\nsigner = 's'", "signer"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
