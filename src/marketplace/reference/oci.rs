//! Parts of a reference to an OCI registry: a repository, a tag, a digest, by the grammar of the
//! distribution specification 1.1. Pure.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::marketplace::reference::WebUrl;
use crate::marketplace::reference::address::{self, Address, written};
use crate::sys::checked_text;

const SCHEME: &str = "oci://";
const SHA256: &str = "sha256:";
/// Docker Hub under its names, of which a rule about it has the first.
const HUB: [&str; 3] = ["docker.io", "index.docker.io", "registry-1.docker.io"];

/// A repository of a registry, `oci://HOST[:PORT]/NAME`, in the form the lockfile keeps.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OciRepo(String);

/// The SHA-256 of a manifest or blob, as `sha256:HEX`. Other algorithms are refused.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct OciDigest(String);

/// Which manifest of a repository is meant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OciReference {
    /// The one that the tag names now: at most 128 letters, digits, `_`, `.` and `-`.
    Tag(String),
    /// Exactly this one.
    Digest(OciDigest),
}

impl OciRepo {
    /// Parses `oci://HOST[:PORT]/NAME`.
    ///
    /// # Errors
    /// For another scheme, credentials, and names that the specification does not allow.
    pub fn parse(written: &str) -> Result<Self> {
        let refused = |why: &str| {
            let written = address::public(written);
            Error::new(format!("the repository `{}` {why}", written.escape_debug()))
                .hint("give it as oci://HOST/NAME, in small letters")
        };
        let address = Address::parse(written, &["oci"]).map_err(refused)?;
        let (host, name) = (&*address.authority, address.path);
        let host = if HUB.contains(&host) { HUB[0] } else { host };
        if name.len() > 255 || !name.split('/').all(is_component) {
            return Err(refused("has a name that registries do not allow"));
        }
        Ok(Self(format!("{SCHEME}{host}/{name}")))
    }

    /// Host and port of the registry.
    pub fn host(&self) -> &str {
        self.parts().0
    }

    /// The name in the registry.
    pub fn name(&self) -> &str {
        self.parts().1
    }

    /// The last part of the name.
    pub fn short_name(&self) -> &str {
        self.name().rsplit('/').next().unwrap_or_default()
    }

    /// The first part of a name of several: an account or a group.
    pub fn owner(&self) -> Option<&str> {
        Some(self.name().split_once('/')?.0)
    }

    fn parts(&self) -> (&str, &str) {
        let rest = &self.0[SCHEME.len()..];
        rest.split_once('/').unwrap_or((rest, ""))
    }

    /// Where its manifests and blobs are: https, or http on this machine. Docker Hub's registry has
    /// another host than its names.
    ///
    /// # Errors
    /// When the host cannot be part of a URL.
    pub fn base(&self) -> Result<WebUrl> {
        let (host, name) = self.parts();
        let scheme = if address::is_loopback(host) {
            "http"
        } else {
            "https"
        };
        let host = if host == HUB[0] { HUB[2] } else { host };
        WebUrl::parse(&format!("{scheme}://{host}/v2/{name}/"))
    }
}

written!(OciRepo);

impl OciDigest {
    /// # Errors
    /// When it is not `sha256:` and 64 small hexadecimal digits.
    pub fn parse(written: &str) -> Result<Self> {
        let hex = written.strip_prefix(SHA256).unwrap_or_default();
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if hex.len() == 64 && hex.bytes().all(is_digit) {
            return Ok(Self(written.to_owned()));
        }
        let text = format!("`{}` is not a SHA-256 digest", written.escape_debug());
        Err(Error::new(text).hint("give it as `sha256:` and 64 hexadecimal digits"))
    }

    /// That of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        use sha2::{Digest, Sha256};
        Self(format!("{SHA256}{:x}", Sha256::digest(bytes)))
    }

    /// The digest as text, with its algorithm.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its 64 digits.
    pub fn hex(&self) -> &str {
        &self.0[SHA256.len()..]
    }
}

checked_text!(OciDigest);

impl OciReference {
    /// Parses a tag or a digest.
    ///
    /// # Errors
    /// When it is neither.
    pub fn parse(written: &str) -> Result<Self> {
        if written.contains(':') {
            return OciDigest::parse(written).map(Self::Digest);
        }
        let is_letter = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
        let is_tag = (1..=128).contains(&written.len())
            && !written.starts_with(['.', '-'])
            && written.chars().all(is_letter);
        if !is_tag {
            let text = format!("`{}` cannot be a tag", written.escape_debug());
            let hint = "a tag has letters, digits, `_`, `.` and `-`, 128 at most";
            return Err(Error::new(text).hint(hint));
        }
        Ok(Self::Tag(written.to_owned()))
    }

    /// The tag that is meant where none is named.
    pub fn latest() -> Self {
        Self::Tag("latest".to_owned())
    }

    /// As it is in the address of a manifest.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Tag(tag) => tag,
            Self::Digest(digest) => digest.as_str(),
        }
    }

    /// As it follows a repository in a reference.
    pub fn suffix(&self) -> String {
        match self {
            Self::Tag(tag) => format!(":{tag}"),
            Self::Digest(digest) => format!("@{digest}"),
        }
    }
}

/// Small letters and digits, between them single `.` or `_`, `__` or any number of `-`.
fn is_component(part: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let between = part.split(is_plain).filter(|text| !text.is_empty());
    part.starts_with(is_plain)
        && part.ends_with(is_plain)
        && between
            .into_iter()
            .all(|text| matches!(text, "." | "_" | "__") || text.chars().all(|c| c == '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_follow_the_specification() {
        for (written, base) in [
            ("oci://ghcr.io/acme/pdf", "https://ghcr.io/v2/acme/pdf/"),
            ("oci://GHCR.io:443/a", "https://ghcr.io/v2/a/"),
            (
                "oci://localhost:5000/a/b__c/d-1",
                "http://localhost:5000/v2/a/b__c/d-1/",
            ),
            ("oci://127.0.0.1:1/x.y", "http://127.0.0.1:1/v2/x.y/"),
            (
                "oci://docker.io/library/x",
                "https://registry-1.docker.io/v2/library/x/",
            ),
        ] {
            let repo = OciRepo::parse(written).unwrap();
            assert_eq!(repo.base().unwrap().as_str(), base, "{written}");
            assert_eq!(OciRepo::parse(repo.as_str()).unwrap(), repo);
        }
        for bad in [
            "",
            "oci://",
            "oci://ghcr.io",
            "oci://ghcr.io/",
            "https://ghcr.io/x",
            "oci://user:pass@ghcr.io/x",
            "oci://ghcr.io/Acme/x",
            "oci://ghcr.io/a//x",
            "oci://ghcr.io/../x",
            "oci://ghcr.io/a/./x",
            "oci://ghcr.io/a_-b",
            "oci://ghcr.io/a___b",
            "oci://ghcr.io/-a",
            "oci://ghcr.io/a-",
            "oci://ghcr.io/a b",
            "oci://ghcr.io/a\u{202e}",
            "oci://-h/x",
            "oci://h:0/x",
            "oci://ghcr.io/x?y",
        ] {
            assert!(OciRepo::parse(bad).is_err(), "{bad}");
        }
        assert!(OciRepo::parse(&format!("oci://h/{}", "a".repeat(256))).is_err());
    }

    #[test]
    fn a_state_is_a_tag_or_a_sha256() {
        let hex = "0123456789abcdef".repeat(4);
        assert_eq!(OciReference::latest().suffix(), ":latest");
        assert_eq!(
            OciReference::parse("v1.0_a-B").unwrap().suffix(),
            ":v1.0_a-B"
        );
        let digest = format!("sha256:{hex}");
        let at = OciReference::parse(&digest).unwrap();
        assert_eq!(at.suffix(), format!("@{digest}"));
        for bad in [
            "",
            ".a",
            "-a",
            "a b",
            "a/b",
            &"a".repeat(129),
            &format!("sha512:{hex}{hex}"),
            &format!("sha256:{}", &hex[1..]),
            &digest.to_uppercase(),
        ] {
            assert!(OciReference::parse(bad).is_err(), "{bad}");
        }
    }
}
