//! The environment of a script: variables of the host by name and by whether their value looks like a
//! secret ([`PassEnv`]), then the script's location and what the caller adds. A caller may set only
//! what the skill itself names and a few variables that change nothing but output: no list of the
//! variables that steer programs can be complete.

use super::prelude::*;
use std::collections::BTreeMap;

use crate::skill::Resource;
use crate::sys::secret;
use crate::sys::variables;
use skill_permission::steering::{self, matches, matches_any};

/// Variables by name.
pub type Variables = BTreeMap<OsString, OsString>;

/// Prefixes and names that only we or the host may set.
const OURS: &str = "CHIBI_* AGENT_SKILLS_* SKILL_DIR SKILL_NAME PROJECT_DIR";

/// Every variable of the script's process, each once. `own` tells it where it is; `temp` is its own
/// temporary directory.
///
/// # Errors
/// When one of the caller's names is invalid or may not be set by the caller.
pub fn for_script(
    base: &Env,
    pass: &PassEnv,
    own: [(&str, &OsStr); 4],
    temp: Option<&Path>,
    callers: &[(String, String)],
) -> Result<Variables> {
    let mut all: Variables = variables::for_others(base)
        .filter(|(name, value)| pass.passes(&name.to_string_lossy(), &value.to_string_lossy()))
        .collect();
    for (name, value) in callers {
        check(name)?;
        all.insert(name.into(), value.into());
    }
    all.extend(own.map(|(name, value)| (name.into(), value.into())));
    if let Some(temp) = temp {
        keep_files_in(temp, &mut all);
    }
    Ok(all)
}

/// Names `temp` as the place for temporary files and caches. What is confined could not write
/// elsewhere; an unconfined script would leave files behind.
pub fn keep_files_in(temp: &Path, all: &mut Variables) {
    for name in ["TMPDIR", "TMP", "TEMP"] {
        all.insert(name.into(), temp.into());
    }
    all.insert("XDG_CACHE_HOME".into(), temp.join("cache").into());
}

/// For what is confined: git would report the user's configuration, which is closed, as an error.
pub fn without_git_configuration(base: &Env, all: &mut Variables) {
    if base.os("GIT_CONFIG_GLOBAL").is_none() {
        all.insert("GIT_CONFIG_GLOBAL".into(), "/dev/null".into());
    }
}

fn check(name: &str) -> Result<()> {
    let shown = name.escape_debug();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    // Stricter than the system: bash takes `BASH_FUNC_x%%` as the body of a function.
    if name.is_empty()
        || name.starts_with(|c: char| c.is_ascii_digit())
        || !name.chars().all(is_word)
    {
        return Err(Error::new(format!(
            "`{shown}` is not a name of an environment variable"
        ))
        .hint("use letters, digits and `_`, not beginning with a digit"));
    }
    if matches_any(OURS, name) {
        return Err(Error::new(format!(
            "`{shown}` cannot be set in `env`: the script gets its own"
        ))
        .hint("leave it out"));
    }
    if steering::steers(name) {
        let text = format!("`{shown}` cannot be set in `env`: it controls what programs execute");
        return Err(Error::new(text).hint("leave it out, or pass the value as an argument"));
    }
    Ok(())
}

/// The host's own secrets, which no setting passes on.
const NEVER: &str = "CHIBI_API_KEY OPENROUTER_API_KEY";

/// What every program needs: where programs and the user's files are, language, terminal, proxies,
/// and the directory of temporary files. Passed under every setting.
const BASICS: &str = "PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_* TZ TERM COLORTERM NO_COLOR HTTP_PROXY \
     HTTPS_PROXY FTP_PROXY ALL_PROXY NO_PROXY SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS \
     TMPDIR TMP TEMP";

/// Which of the host's variables a script gets besides the basic ones.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    rename_all = "lowercase",
    expecting = "`pass_env` is \"all\" or a list of names"
)]
pub enum PassEnv {
    /// All of them.
    All,
    /// All except those whose name or value looks like a secret.
    #[default]
    #[serde(skip_deserializing, untagged)]
    NotSecret,
    /// Only these; `*` at either end of a name is a wildcard.
    #[serde(untagged)]
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

/// Names that any script may be given.
const OF_OUTPUT: &str =
    "CI COLUMNS DEBUG FORCE_COLOR LANG LANGUAGE LC_* LINES LOG_LEVEL NO_COLOR TERM TZ VERBOSE";
/// The longest file that is looked at, and the most that is read of a skill, in bytes.
const LONGEST_FILE: u64 = 1 << 20;
const MOST: u64 = 8 << 20;

/// The first of `names` that no file of the skill in `dir` names.
pub fn first_unnamed<'n>(dir: &Path, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let mut unnamed: Vec<&str> = names.filter(|name| !matches_any(OF_OUTPUT, name)).collect();
    if unnamed.is_empty() {
        return None;
    }
    let Ok(root) = dir.canonicalize().and_then(|dir| Dir::anchor(&dir)) else {
        return unnamed.first().copied();
    };
    let mut files = Resource::all(dir);
    files.retain(|file| file.size <= LONGEST_FILE);
    let paths = files.into_iter().map(|file| (file.path, file.size));
    let mut read = 0;
    for (path, size) in [("SKILL.md".into(), LONGEST_FILE)].into_iter().chain(paths) {
        read += size;
        if read > MOST || unnamed.is_empty() {
            break;
        }
        if let Some(path) = EntryPath::parse(&path)
            && let Ok(bytes) = root.read_below(&path, LONGEST_FILE)
        {
            let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
            let words = bytes.split(|byte| !is_word(byte));
            unnamed.retain(|name| !words.clone().any(|word| word == name.as_bytes()));
        }
    }
    unnamed.first().copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn built(base: &[(&str, &str)], callers: &[(&str, &str)]) -> Result<Vec<String>, String> {
        let base = Env::new(base.iter().copied(), Path::new("/"));
        let own = [
            ("SKILL_NAME", "pdf"),
            ("SKILL_DIR", "/s/pdf"),
            ("PROJECT_DIR", "/p"),
            ("PWD", "/w"),
        ];
        let own = own.map(|(name, value)| (name, OsStr::new(value)));
        let callers: Vec<_> = callers
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect();
        let all = for_script(&base, &PassEnv::NotSecret, own, None, &callers)
            .map_err(|error| error.to_string())?;
        Ok(all
            .iter()
            .map(|(k, v)| format!("{}={}", k.display(), v.display()))
            .collect())
    }

    #[test]
    fn the_environment_passes_without_the_hosts_protocol() {
        let base = [
            ("CHIBI_HOOK", ""),
            ("CHIBI_HOOK_DATA", "{}"),
            ("CHIBI_TOOL_NAME", "x"),
            ("CHIBI_TOOL_ARGS", "{}"),
            ("CHIBI_HOME", "/c"),
            ("CHIBI_API_KEY", "k"),
            ("GITHUB_TOKEN", "t"),
            ("PWD", "/elsewhere"),
            ("SKILL_DIR", "/stale"),
        ];
        let expected = [
            "CHIBI_HOME=/c",
            "PROJECT_DIR=/p",
            "PWD=/w",
            "SKILL_DIR=/s/pdf",
            "SKILL_NAME=pdf",
            "X=",
        ];
        assert_eq!(built(&base, &[("X", "1"), ("X", "")]).unwrap(), expected);
    }

    #[test]
    fn what_the_caller_sets_is_passed_whatever_it_is_called() {
        let all = built(&[("A_TOKEN", "host's")], &[("A_TOKEN", "caller's")]).unwrap();
        assert!(all.contains(&"A_TOKEN=caller's".to_owned()), "{all:?}");
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for bad in ["", "A=B", "A\0B", "1A", "A B", "é", "BASH_FUNC_ls%%"] {
            let error = built(&[], &[(bad, "x")]).unwrap_err();
            assert!(error.contains("is not a name"), "{error}");
        }
    }

    #[test]
    fn variables_that_steer_programs_are_refused() {
        for bad in [
            "PATH",
            "LD_PRELOAD",
            "DYLD_INSERT_LIBRARIES",
            "PYTHONPATH",
            "NODE_OPTIONS",
            "BASH_ENV",
            "ENV",
            "PERL5LIB",
            "RUBYOPT",
            "GIT_SSH_COMMAND",
            "IFS",
            "npm_config_prefix",
            "HOME",
        ] {
            let error = built(&[], &[(bad, "x")]).unwrap_err();
            assert!(error.contains("controls what programs execute"), "{error}");
        }
        for bad in ["CHIBI_HOOK", "AGENT_SKILLS_SESSION", "SKILL_DIR"] {
            let error = built(&[], &[(bad, "x")]).unwrap_err();
            assert!(error.contains("the script gets its own"), "{error}");
        }
        for good in ["PATHS", "R", "DEBUG", "_", "ENVIRONMENT", "MY_PATH", "Lang"] {
            assert!(built(&[], &[(good, "x")]).is_ok(), "{good}");
        }
    }

    #[test]
    fn a_caller_sets_only_what_the_skill_names() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &[u8]| fs::write(dir.path().join(name), text).unwrap();
        let unnamed = |names: &[&'static str]| first_unnamed(dir.path(), names.iter().copied());
        assert_eq!(unnamed(&["NO_COLOR", "LC_ALL", "A"]), Some("A"));
        put("SKILL.md", b"Set `REPORT_ID`.");
        fs::create_dir(dir.path().join("scripts")).unwrap();
        put("scripts/run.sh", b"\xff\n: \"${OUT_DIR:?}\"");
        assert_eq!(unnamed(&["REPORT_ID", "OUT_DIR", "TERM"]), None);
        assert_eq!(unnamed(&["REPORT_ID", "OUT", "DIR"]), Some("OUT"));
        put("big.txt", &b"BIG ".repeat(300_000));
        assert_eq!(unnamed(&["BIG"]), Some("BIG"));
    }

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
