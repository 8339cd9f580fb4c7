//! Patterns for the domain of a URL (docs/spec/restriction.md#domain-patterns).

use url::{Host, Url};

use super::entry_grammar::EntryError;
use crate::vocabulary::{Argument, ArgumentTarget};

/// A pattern for URLs: `domain:example.com` or `domain:*.example.com`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainPattern {
    host: String,
    below: bool,
}

impl DomainPattern {
    /// Parses the text inside `WebFetch(…)`.
    ///
    /// # Errors
    /// A code and a message for anything but a domain.
    pub fn parse(body: &str) -> Result<Self, EntryError> {
        const INVALID: EntryError = ("invalid-domain", "only `domain:NAME` is understood");
        let domain = body.strip_prefix("domain:").ok_or(INVALID)?.trim();
        let (host, below) = match domain.strip_prefix("*.") {
            Some(host) => (host, true),
            None => (domain, false),
        };
        // Parsed as a URL, it gets the same case and IDNA treatment as the URLs it is compared
        // with.
        let url = Url::parse(&format!("https://{host}/")).map_err(|_| INVALID)?;
        let parsed = host_of(&url).ok_or(INVALID)?;
        // Only these could make it more than a host.
        if host.contains(['*', '/', '?', '#', '@', ':', '\\']) {
            return Err(INVALID);
        }
        Ok(Self {
            host: parsed,
            below,
        })
    }

    /// Whether the pattern covers a URL.
    pub fn covers(&self, url: &Url) -> bool {
        host_of(url).is_some_and(|host| match host.strip_suffix(&self.host) {
            Some("") => !self.below,
            Some(rest) => self.below && rest.ends_with('.'),
            None => false,
        })
    }
}

/// A web address; `None` for text that the host does not fetch or that is not a URL.
pub fn web_address(text: &str) -> Option<Url> {
    let is_address = Argument::Url.names(text) == ArgumentTarget::Address;
    is_address.then(|| Url::parse(text).ok()).flatten()
}

fn host_of(url: &Url) -> Option<String> {
    match url.host()? {
        Host::Domain(name) => Some(name.strip_suffix('.').unwrap_or(name).to_owned()),
        address => Some(address.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(body: &str, url: &str) -> bool {
        let pattern = DomainPattern::parse(body).unwrap();
        web_address(url).is_some_and(|url| pattern.covers(&url))
    }

    #[test]
    fn a_domain_is_this_host_and_nothing_else() {
        let pattern = "domain:Example.com";
        for url in [
            "https://example.com/x",
            "http://EXAMPLE.com",
            "https://example.com.:8443/",
            "https://user:pw@example.com/",
        ] {
            assert!(covers(pattern, url), "{url}");
        }
        for url in [
            "https://evil.com/example.com",
            "https://example.com.evil.com",
            "https://example.com@evil.com/",
            "https://www.example.com",
            "https://notexample.com",
            "ftp://example.com",
            "file:///example.com",
            "example.com",
            "https:example.com",
            "https:/example.com",
            "HTTPS://example.com",
            " https://example.com",
            "https://evil.com\\@example.com",
            "",
        ] {
            assert!(!covers(pattern, url), "{url}");
        }
        assert!(covers("domain: linear.app", "https://linear.app/x"));
    }

    #[test]
    fn a_star_covers_what_is_below_at_any_depth() {
        let pattern = "domain:*.example.com";
        assert!(
            covers(pattern, "https://a.example.com") && covers(pattern, "https://a.b.example.com")
        );
        assert!(
            !covers(pattern, "https://example.com") && !covers(pattern, "https://aexample.com")
        );
        assert!(covers("domain:bücher.de", "https://xn--bcher-kva.de/"));
    }

    #[test]
    fn anything_else_is_an_error() {
        for body in [
            "example.com",
            "domain:",
            "domain:a/b",
            "domain:*",
            "domain:a.*",
            "domain:u@a",
            "domain:a:80",
        ] {
            assert!(DomainPattern::parse(body).is_err(), "{body}");
        }
    }
}
