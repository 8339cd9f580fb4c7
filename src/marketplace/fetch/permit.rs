//! Which sources may be contacted. Every request needs an address that was permitted.

use crate::error::{Error, Result};
use crate::marketplace::reference::{OciRepo, SubPath, WebUrl, is_loopback};

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
    pub fn url(&self, url: WebUrl) -> Result<Permitted> {
        self.check(url.as_str(), None)?;
        Ok(Permitted(url))
    }

    /// The address of a registry's repository.
    ///
    /// # Errors
    /// When the repository may not be contacted.
    pub fn registry(&self, repo: &OciRepo) -> Result<Permitted> {
        self.check(repo.as_str(), None)?;
        Ok(Permitted(repo.base()?))
    }
}

/// A URL that may be requested.
#[derive(Debug, Clone)]
pub struct Permitted(WebUrl);

impl Permitted {
    /// The URL.
    pub fn url(&self) -> &WebUrl {
        &self.0
    }

    /// What is below it on the same host is permitted as well.
    #[must_use]
    pub fn join(&self, path: &SubPath) -> Self {
        Self(self.0.join(path))
    }

    /// What a registry names: its service for tokens, its store of blobs. What comes from there is
    /// its own, and proved by its digest.
    ///
    /// # Errors
    /// When it is not encrypted while the registry is, or is on this machine while the registry is
    /// not.
    pub fn named(&self, to: WebUrl) -> Result<Self> {
        let is_less = self.0.is_encrypted() && !to.is_encrypted()
            || !is_loopback(self.0.host()) && is_loopback(to.host());
        if is_less {
            let text = format!("`{}` leads to `{to}`, which is less safe", self.0);
            return Err(Error::new(text).hint("tell the registry's owner"));
        }
        Ok(Self(to))
    }

    /// As [`Permitted::named`], of what is written at this address.
    ///
    /// # Errors
    /// As [`Permitted::named`], and when it is no address.
    pub fn led(&self, written: &str) -> Result<Self> {
        self.named(self.0.led(written)?)
    }

    /// `to`, if this is GitHub and `to` one of its stores: what is there belongs to this address.
    pub fn store(&self, to: &WebUrl) -> Option<Self> {
        let is_store = self.0.host() == GITHUB && GITHUB_STORES.contains(&to.host());
        is_store.then(|| Self(to.clone()))
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
            from.store(&url(to)).is_some()
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
