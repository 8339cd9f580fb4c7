//! The environment of a script: variables of the host, except its protocol variables, then the
//! script's location and what the caller adds. It only builds the list.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::pass_env::PassEnv;
use crate::error::{Error, Result};
use crate::sys::Env;
use crate::sys::variables::{self, matches_any};

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
    if variables::steer(name) {
        let text = format!("`{shown}` cannot be set in `env`: it controls what programs execute");
        return Err(Error::new(text).hint("leave it out, or pass the value as an argument"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
