//! The address that git really uses for a repository. The user's configuration may redirect it
//! (`url.….insteadOf`), so policies are applied to the real address, which is also recorded.

use crate::marketplace::fetch::{Call, Class, Failure, Git, Permit};
use crate::marketplace::reference::{RepoUrl, is_authority};

/// The name of the remote in all our git calls, so that they all use the same address.
pub const NAME: &str = "agent-skills";
/// Arguments before a fetch that leaves out what is not asked for. Only a fetch gets them: for any
/// other command a missing object is then missing, whatever the version of git. With them git fetches
/// it by itself, or fails.
pub const PARTIAL: [&str; 4] = [
    "-c",
    "remote.agent-skills.promisor=true",
    "-c",
    "remote.agent-skills.partialclonefilter=blob:none",
];
/// The maximum length of an address that git returns, in bytes.
const ADDRESS: u64 = 16 * 1024;

/// A repository that may be contacted, as passed to git.
#[derive(Debug, Clone)]
pub struct Remote {
    /// Settings for each call that uses [`NAME`].
    pub settings: Vec<String>,
    /// The address that git uses, without user and password.
    pub address: String,
    rewritten: bool,
}

impl Remote {
    /// Asks git which address it uses for `address`, which is the repository `url` or its mirror.
    /// This needs no network.
    ///
    /// # Errors
    /// When git cannot be run, or the repository may not be contacted.
    pub fn find(
        git: &Git,
        permit: &Permit,
        address: &RepoUrl,
        url: &RepoUrl,
    ) -> Result<Self, Failure> {
        let mut settings = vec![format!("remote.{NAME}.url={}", address.as_str())];
        let call = Call::new(&settings, &["ls-remote", "--get-url", NAME]);
        let answer = git.read(&call, ADDRESS)?;
        let answer = String::from_utf8_lossy(&answer);
        let answer = answer.trim_end_matches('\n');
        // A server may redirect git, but not to where anybody on the way can answer.
        let plain = ["http", "ftp", "ftps"].into_iter();
        let plain = plain.filter(|scheme| !answer.starts_with(&format!("{scheme}://")));
        settings.extend(plain.map(|scheme| format!("protocol.{scheme}.allow=never")));
        if !permit.git_redirects {
            settings.push("http.followRedirects=false".to_owned());
        }
        let remote = Self {
            rewritten: answer != url.as_str(),
            address: without_user(answer).ok_or_else(|| not_known(url))?,
            settings,
        };
        permit.check(url.as_str(), remote.elsewhere())?;
        Ok(remote)
    }

    /// The address that git uses, if it differs from the given one.
    pub fn elsewhere(&self) -> Option<&str> {
        self.rewritten.then_some(&self.address)
    }
}

fn not_known(url: &RepoUrl) -> Failure {
    let text =
        format!("git's configuration replaces `{url}` by an address whose host is not certain");
    Failure::new(Class::Other, text)
}

/// The address as `scheme://host/path`, or the path of a directory. Tokens in the user's git
/// configuration must not get into a lockfile, and policies look at hosts and paths.
///
/// `None` if it is not certain which host that is: git, curl and ssh read some addresses
/// differently.
fn without_user(address: &str) -> Option<String> {
    let host = |authority: &str| {
        let host = authority.rsplit('@').next().unwrap_or_default();
        let user = authority.strip_suffix(host).unwrap_or_default();
        let is_plain = !authority.contains(['%', '?', '#', '\\']) && !user.contains(['[', ']']);
        (is_plain && (host.is_empty() || is_authority(&host.to_ascii_lowercase())))
            .then(|| host.to_owned())
    };
    if let Some((scheme, rest)) = address.split_once("://") {
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let path = path.split(['?', '#']).next().unwrap_or_default();
        return Some(format!("{scheme}://{}/{path}", host(authority)?));
    }
    // This is ssh's `user@host:path`; with a slash before the colon it would be a path.
    match address.split_once(':') {
        Some((authority, path)) if !authority.contains('/') && !path.starts_with(':') => {
            let path = path.trim_start_matches('/');
            Some(format!("ssh://{}/{path}", host(authority)?))
        }
        _ => Some(address.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marketplace::testing::World;

    #[test]
    fn no_credential_is_kept_of_an_address() {
        for (address, kept) in [
            ("https://h/o/r", "https://h/o/r"),
            ("https://me:secret@h/o/r.git", "https://h/o/r.git"),
            ("https://x-access-token:s@cret@h:1/o/r", "https://h:1/o/r"),
            ("https://h/o/r?token=secret", "https://h/o/r"),
            ("git@h:o/r.git", "ssh://h/o/r.git"),
            ("ssh://git@h:22/o/r", "ssh://h:22/o/r"),
            ("file:///srv/o/r", "file:///srv/o/r"),
            ("/srv/o:r", "/srv/o:r"),
            ("ext::sh -c x", "ext::sh -c x"),
        ] {
            assert_eq!(without_user(address).as_deref(), Some(kept), "{address}");
        }
        for address in [
            "ssh://git@evil.org%2frepos%2f@good.org/acme/x",
            "http://127.0.0.1:9?@good.org/acme/x",
            "http://127.0.0.1:9#@good.org/acme/x",
            "[git@h.org:22]:evil/x",
            "[git@h.org]:evil/x",
            "git@[h.org]:evil/x",
            "ssh://git@[h.org]/evil/x",
            "ssh://[git@h.org]:22/evil/x",
            "ssh://h%2eorg/evil/x",
        ] {
            assert_eq!(without_user(address), None, "{address}");
        }
    }

    #[test]
    fn what_the_users_configuration_makes_of_an_address_is_seen() {
        let world = World::new();
        let config = |text: &str| std::fs::write(world.path("gitconfig"), text).unwrap();
        let found = || {
            let url = RepoUrl::github("acme", "skills").unwrap();
            world.with_git(|git| Remote::find(&git, &Permit::any(), &url, &url).unwrap())
        };
        config("");
        assert_eq!(found().elsewhere(), None);
        for (text, address) in [
            (
                "[url \"file:///evil/\"]\n insteadOf = https://github.com/\n",
                "file:///evil/acme/skills",
            ),
            (
                "[url \"https://u:token@evil.example/x/\"]\n insteadOf = https://github.com/acme/\n",
                "https://evil.example/x/skills",
            ),
            (
                "[url \"git@github.com:\"]\n insteadOf = https://github.com/\n",
                "ssh://github.com/acme/skills",
            ),
            // A remote may have several addresses; git fetches from the first.
            (
                "[remote \"agent-skills\"]\n url = https://evil.example/x\n",
                "https://evil.example/x",
            ),
        ] {
            config(text);
            assert_eq!(found().elsewhere(), Some(address), "{text}");
        }
    }

    #[test]
    fn git_is_not_redirected_to_plain_http() {
        let world = World::new();
        let refused = |address: &str| {
            let url = RepoUrl::parse(address).unwrap();
            world.with_git(|git| {
                let remote = Remote::find(&git, &Permit::any(), &url, &url).unwrap();
                let call = Call {
                    settings: &remote.settings,
                    args: &["ls-remote", "http://127.0.0.1:1/x"],
                    ..Call::default()
                };
                let failure = git.read(&call, ADDRESS).unwrap_err();
                format!("{failure:?}").contains("transport 'http' not allowed")
            })
        };
        assert!(refused("https://127.0.0.1/o/r.git"));
        assert!(!refused("http://127.0.0.1:1/o/r.git"));
    }
}
