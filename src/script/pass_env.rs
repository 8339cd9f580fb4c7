//! Which of the host's variables a script gets. It decides by name alone and never looks at a
//! value.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The host's own secrets, which no setting passes on.
const NEVER: [&str; 2] = ["CHIBI_API_KEY", "OPENROUTER_API_KEY"];

/// What every program needs: where programs and the user's files are, language, terminal, the way
/// into the network, and where temporary files go. Passed under every setting.
const BASICS: [&str; 23] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "FTP_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "TMPDIR",
    "TMP",
    "TEMP",
];

/// How names of secrets look.
const SECRETS: [&str; 10] = [
    "*TOKEN*",
    "*SECRET*",
    "*PASSW*",
    "*_PWD",
    "*API_KEY*",
    "*ACCESS_KEY*",
    "*PRIVATE_KEY*",
    "*CREDENTIAL*",
    "*_DSN",
    "DATABASE_URL",
];

/// Which of the host's variables a script gets besides those that every program needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum PassEnv {
    /// All but those whose name looks like a secret's.
    #[default]
    NotSecret,
    /// All of them.
    All,
    /// These and no others; `*` at either end of a name stands for anything.
    Named(Vec<String>),
}

impl PassEnv {
    /// Whether the variable of this name is passed.
    pub fn passes(&self, name: &str) -> bool {
        if is_never_passed(name) {
            return false;
        }
        any(&BASICS, name)
            || match self {
                Self::NotSecret => !any(&SECRETS, name),
                Self::All => true,
                Self::Named(names) => any(names, name),
            }
    }
}

/// Whether no setting passes it.
pub fn is_never_passed(name: &str) -> bool {
    any(&NEVER, name)
}

/// Whether one of the patterns is this name. Case does not count, `*` at either end stands for
/// anything.
pub fn any<P: AsRef<str>>(patterns: &[P], name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    patterns.iter().any(|pattern| {
        let pattern = pattern.as_ref().to_ascii_uppercase();
        match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
            (Some(rest), Some(_)) => name.contains(rest.strip_suffix('*').unwrap_or(rest)),
            (Some(end), None) => name.ends_with(end),
            (None, Some(start)) => name.starts_with(start),
            (None, None) => name == pattern,
        }
    })
}

/// As it is written in a configuration; nothing is written for the default.
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
        ] {
            assert!(!PassEnv::NotSecret.passes(secret), "{secret}");
            assert!(PassEnv::All.passes(secret), "{secret}");
        }
        for plain in [
            "PATH",
            "EDITOR",
            "PWD",
            "JAVA_HOME",
            "DATABASE_URLS",
            "https_proxy",
            "X",
        ] {
            assert!(PassEnv::NotSecret.passes(plain), "{plain}");
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
            assert!(listed.passes(passed), "{passed}");
        }
        for kept in ["XY", "EDITOR", "OPENAI_API_KEY", "MY_GITHUB_X"] {
            assert!(!listed.passes(kept), "{kept}");
        }
    }

    #[test]
    fn the_hosts_own_keys_pass_under_no_setting() {
        let listed = PassEnv::Named(vec!["*".to_owned(), "CHIBI_API_KEY".to_owned()]);
        for setting in [PassEnv::NotSecret, PassEnv::All, listed] {
            assert!(!setting.passes("CHIBI_API_KEY") && !setting.passes("OPENROUTER_API_KEY"));
        }
    }
}
