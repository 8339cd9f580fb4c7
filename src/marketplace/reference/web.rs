//! The URL of a file on the web, safe to pass to curl and to compare with others.

use std::fmt;

use percent_encoding::utf8_percent_encode;

use crate::error::{Error, Result};
use crate::marketplace::reference::{SubPath, address, address::Address};
use crate::sys::URI_PATH;

/// An https URL, or an http URL of the local machine.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WebUrl(String);

impl WebUrl {
    /// Parses a URL without a fragment.
    ///
    /// # Errors
    /// When it is not encrypted, contains credentials, or has parts such as `..`.
    pub fn parse(written: &str) -> Result<Self> {
        let refused = |why: &str| {
            let written = address::public(written);
            Error::new(format!("the address `{}` {why}", written.escape_debug()))
                .hint("give an address like https://HOST/FILE")
        };
        let address = Address::parse(written, &["https", "http"]).map_err(refused)?;
        let path = address.path;
        let place = path.split('?').next().unwrap_or_default();
        let place = place.to_ascii_lowercase();
        let mut parts = place.split('/').map(|part| part.replace("%2e", "."));
        if parts.any(|part| matches!(part.as_str(), "." | ".."))
            || path.contains(['\\', '"', '<', '>', '#', '{', '}', '|', '^', '`'])
        {
            return Err(refused("has parts that cannot be used"));
        }
        Ok(Self(address.to_string()))
    }

    /// The URL as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Host and port.
    pub fn host(&self) -> &str {
        self.0.split('/').nth(2).unwrap_or_default()
    }

    /// The URL of the host's root.
    #[must_use]
    pub fn root(&self) -> Self {
        let scheme = if self.is_encrypted() { "https" } else { "http" };
        Self(format!("{scheme}://{}/", self.host()))
    }

    /// The URL of `path` below this URL, which is treated as a directory.
    #[must_use]
    pub fn join(&self, path: &SubPath) -> Self {
        let mut url = self.0.trim_end_matches('/').to_owned();
        url.push('/');
        url.extend(utf8_percent_encode(path.as_str(), URI_PATH));
        Self(url)
    }

    /// Where `written` leads, which is at this URL: an address, or a path on this host.
    ///
    /// # Errors
    /// As [`WebUrl::parse`].
    pub fn led(&self, written: &str) -> Result<Self> {
        let to = url::Url::parse(&self.0).and_then(|own| own.join(written));
        let to = to.map_err(|error| {
            let text = format!("`{self}` leads to what is no address");
            Error::caused(text, error).hint("tell the site's owner")
        })?;
        Self::parse(to.as_str().split('#').next().unwrap_or_default())
    }

    /// Whether it is https. Otherwise its host is the local machine.
    pub fn is_encrypted(&self) -> bool {
        self.0.starts_with("https://")
    }

    /// The last part of its path; empty for a root.
    pub fn file_name(&self) -> &str {
        let path = self.0.split('?').next().unwrap_or_default();
        path.rsplit('/').next().unwrap_or_default()
    }
}

impl fmt::Display for WebUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_could_do_harm_are_refused() {
        for bad in [
            "",
            "-o",
            "http://example.org/x.zip",
            "ftp://example.org/x",
            "file:///etc/passwd",
            "https://user:pass@example.org/x",
            "https://example.org/a/../b",
            "https://example.org/a/%2E%2e/b",
            "https://example.org/\"x",
            "https://-h/x",
            "https:///x",
            "https://example.org/a b",
        ] {
            assert!(WebUrl::parse(bad).is_err(), "{bad}");
        }
        for good in ["https://example.org", "http://127.0.0.1:80/x?a=b"] {
            assert!(WebUrl::parse(good).is_ok(), "{good}");
        }
    }

    #[test]
    fn what_is_below_stays_below() {
        let base = WebUrl::parse("https://Example.org/a/").unwrap();
        let path = SubPath::parse("b c/é?.md").unwrap();
        assert_eq!(
            base.join(&path).as_str(),
            "https://example.org/a/b%20c/%C3%A9%3F.md"
        );
        assert_eq!(base.root().as_str(), "https://example.org/");
    }
}
