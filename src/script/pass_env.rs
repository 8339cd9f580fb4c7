//! Which of the host's variables a script gets: by name, and by default also by whether the value
//! looks like a secret.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::sys::secret;
use crate::sys::variables::{matches, matches_any};

/// The host's own secrets, which no setting passes on.
const NEVER: &str = "CHIBI_API_KEY OPENROUTER_API_KEY";

/// What every program needs: where programs and the user's files are, language, terminal, proxies,
/// and the directory of temporary files. Passed under every setting.
const BASICS: &str = "PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_* TZ TERM COLORTERM NO_COLOR HTTP_PROXY \
     HTTPS_PROXY FTP_PROXY ALL_PROXY NO_PROXY SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS \
     TMPDIR TMP TEMP";

/// Which of the host's variables a script gets besides the basic ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum PassEnv {
    /// All except those whose name or value looks like a secret.
    #[default]
    NotSecret,
    /// All of them.
    All,
    /// Only these; `*` at either end of a name is a wildcard.
    Named(Vec<String>),
}

impl PassEnv {
    /// Whether the variable with this name and value is passed.
    pub fn passes(&self, name: &str, value: &str) -> bool {
        if is_never_passed(name) {
            return false;
        }
        matches_any(BASICS, name)
            || match self {
                Self::NotSecret => !secret::is_name(name) && !secret::is_value(value),
                Self::All => true,
                Self::Named(names) => names.iter().any(|pattern| matches(pattern, name)),
            }
    }
}

/// Whether no setting passes it.
pub fn is_never_passed(name: &str) -> bool {
    matches_any(NEVER, name)
}

/// The form in a configuration file; the default is not written.
impl Serialize for PassEnv {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::NotSecret => serializer.serialize_none(),
            Self::All => serializer.serialize_str("all"),
            Self::Named(names) => names.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for PassEnv {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Word(String),
            Names(Vec<String>),
        }
        match Form::deserialize(deserializer) {
            Ok(Form::Word(word)) if word == "all" => Ok(Self::All),
            Ok(Form::Names(names)) => Ok(Self::Named(names)),
            _ => Err(serde::de::Error::custom(
                "`pass_env` is \"all\" or a list of names",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_default_what_looks_like_a_secret_stays() {
        for secret in [
            "GITHUB_TOKEN",
            "token",
            "AWS_SECRET_ACCESS_KEY",
            "CLIENT_SECRET",
            "PGPASSWORD",
            "DB_PASSWD",
            "MYSQL_PWD",
            "OPENAI_API_KEY",
            "API_KEY_2",
            "S3_ACCESS_KEY_ID",
            "SSH_PRIVATE_KEY_FILE",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "SENTRY_DSN",
            "DATABASE_URL",
            "DB_PASS",
            "GPG_PASSPHRASE",
            "OPENAI_APIKEY",
            "STRIPE_KEY",
            "GH_PAT",
            "JWT",
            "REDIS_URL",
            "MONGODB_URI",
            "SLACK_WEBHOOK_URL",
            "SSH_AUTH_SOCK",
            "KRB5CCNAME",
            "githubToken",
            "NPM_AUTH",
            "AZURE_STORAGE_CONNECTION_STRING",
            "BEARER",
        ] {
            assert!(!PassEnv::NotSecret.passes(secret, "x"), "{secret}");
            assert!(PassEnv::All.passes(secret, "x"), "{secret}");
        }
        for plain in [
            "PATH",
            "EDITOR",
            "PWD",
            "JAVA_HOME",
            "DATABASE_URLS",
            "https_proxy",
            "X",
            "GIT_AUTHOR_NAME",
            "KEYBOARD",
            "PUBLIC_KEY",
            "MAX_TOKENS",
            "TOKENIZERS_PARALLELISM",
            "XDG_SESSION_ID",
            "SERVER_URL",
            "COMPASS",
        ] {
            assert!(PassEnv::NotSecret.passes(plain, "x"), "{plain}");
        }
    }

    #[test]
    fn by_default_a_value_that_looks_like_a_secret_stays() {
        for secret in [
            "https://me:pw@example.com/x",
            "jdbc:postgres://u:p@h/d",
            "ghp_0123456789abcdefghijABCDEF",
            "a b sk-proj-0123456789abcdef",
            "-----BEGIN RSA PRIVATE KEY-----\nx",
            "https://hooks.slack.com/services/T0/B0/x",
            "AccountName=a;AccountKey=eA==;EndpointSuffix=core.windows.net",
            "Server=h;User Id=me;Password=x",
            "https://a.blob.core.windows.net/c?sv=2024&sig=x",
        ] {
            assert!(!PassEnv::NotSecret.passes("X", secret), "{secret}");
            assert!(PassEnv::All.passes("X", secret), "{secret}");
            // The basic variables are passed whatever their value.
            assert!(PassEnv::NotSecret.passes("HTTPS_PROXY", secret));
        }
        for plain in [
            "",
            "/usr/bin:/bin",
            "https://example.com",
            "git@github.com:a/b",
            "me@x.org",
            "https://example.com/?page=2&sort=key",
            "rs=0:di=01;34:*.pat=01;31",
            "Server=h;Database=d",
        ] {
            assert!(PassEnv::NotSecret.passes("X", plain), "{plain}");
        }
    }

    #[test]
    fn a_list_passes_what_it_names_and_what_everybody_needs() {
        let listed = PassEnv::Named(vec!["GITHUB_*".to_owned(), "X".to_owned()]);
        for passed in [
            "GITHUB_TOKEN",
            "X",
            "PATH",
            "HOME",
            "LC_ALL",
            "no_proxy",
            "TMPDIR",
        ] {
            assert!(listed.passes(passed, "x"), "{passed}");
        }
        for kept in ["XY", "EDITOR", "OPENAI_API_KEY", "MY_GITHUB_X"] {
            assert!(!listed.passes(kept, "x"), "{kept}");
        }
    }

    #[test]
    fn the_hosts_own_keys_pass_under_no_setting() {
        let listed = PassEnv::Named(vec!["*".to_owned(), "CHIBI_API_KEY".to_owned()]);
        for setting in [PassEnv::NotSecret, PassEnv::All, listed] {
            for name in NEVER.split(' ') {
                assert!(!setting.passes(name, "x"), "{name}");
            }
        }
    }
}
