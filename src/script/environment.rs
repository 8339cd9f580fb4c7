//! The environment a script gets: what is passed of the host's, never its protocol variables,
//! then where the script is and what the caller adds. It passes nothing to anyone.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use super::pass_env::{self, PassEnv};
use crate::error::{Error, Result};
use crate::sys::Env;

/// One variable's name and value.
pub type Variable = (OsString, OsString);

/// What a nested host would mistake for its own call (HOST.md §2), and the directory that the
/// shell had before us, which is not where the script is.
const REMOVED: [&str; 8] = [
    "CHIBI_HOOK",
    "CHIBI_HOOK_DATA",
    "CHIBI_TOOL_NAME",
    "CHIBI_TOOL_ARGS",
    "CHIBI_PROJECT_ROOT",
    "CHIBI_INDEX_DB",
    // A nested host is another session than the one that is restricted.
    "AGENT_SKILLS_SESSION",
    "OLDPWD",
];

/// Names that decide what an interpreter, a loader or a common tool executes (RESTRICTION.md §5).
/// With one of them, permission to run a script would be permission to run anything. A final `*`
/// stands for any ending; case does not count.
const STEERING: [&str; 45] = [
    "PATH",
    "HOME",
    "SHELL",
    "IFS",
    "ENV",
    "PS4",
    "CDPATH",
    "PWD",
    "OLDPWD",
    "ZDOTDIR",
    "BASH*",
    "SHELLOPTS",
    "LD_*",
    "DYLD_*",
    "GLIBC_*",
    "GCONV_PATH",
    "LOCPATH",
    "MALLOC_*",
    "PYTHON*",
    "VIRTUAL_ENV",
    "UV_*",
    "PIP_*",
    "NODE_*",
    "NPM_*",
    "BUN_*",
    "DENO_*",
    "TSX_*",
    "TS_NODE*",
    "PERL*",
    "RUBY*",
    "GEM_*",
    "BUNDLE_*",
    "R_*",
    "PSMODULEPATH",
    "JAVA_*",
    "_JAVA_*",
    "JDK_*",
    "CLASSPATH",
    "GIT_*",
    "SSH_*",
    "XDG_*",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "LESSOPEN",
];

/// Prefixes and names that are ours or the host's to set.
const OURS: [&str; 5] = [
    "CHIBI_*",
    "AGENT_SKILLS_*",
    "SKILL_DIR",
    "SKILL_NAME",
    "PROJECT_DIR",
];

/// Where a script is: the variables that tell it so.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// `SKILL_NAME`.
    pub skill_name: &'a str,
    /// `SKILL_DIR`.
    pub skill_dir: &'a Path,
    /// `PROJECT_DIR`.
    pub project_dir: &'a Path,
    /// `PWD`.
    pub workdir: &'a Path,
    /// `TMPDIR`, when the script has a temporary directory of its own.
    pub temp: Option<&'a Path>,
}

/// Every variable of the script's process, each once.
///
/// # Errors
/// When one of the caller's names is not one or is not the caller's to set.
pub fn of(
    base: &Env,
    pass: &PassEnv,
    place: &Place,
    callers: &[(String, String)],
) -> Result<Vec<Variable>> {
    let mut all: BTreeMap<OsString, OsString> = without_protocol(base)
        .filter(|(name, _)| pass.passes(&name.to_string_lossy()))
        .collect();
    for (name, value) in callers {
        check(name)?;
        all.insert(name.into(), value.into());
    }
    all.insert("SKILL_NAME".into(), place.skill_name.into());
    all.insert("SKILL_DIR".into(), place.skill_dir.into());
    all.insert("PROJECT_DIR".into(), place.project_dir.into());
    all.insert("PWD".into(), place.workdir.into());
    if let Some(temp) = place.temp {
        for name in ["TMPDIR", "TMP", "TEMP"] {
            all.insert(name.into(), temp.into());
        }
        // Elsewhere a confined script could not write, and another would leave litter.
        all.insert("XDG_CACHE_HOME".into(), temp.join("cache").into());
    }
    Ok(all.into_iter().collect())
}

/// Every variable of one of our own commands, which is trusted with all of them.
pub fn of_command(base: &Env, more: &[(String, String)]) -> Vec<Variable> {
    let mut all: BTreeMap<OsString, OsString> = without_protocol(base).collect();
    all.extend(more.iter().map(|(name, value)| (name.into(), value.into())));
    all.into_iter().collect()
}

fn without_protocol(base: &Env) -> impl Iterator<Item = Variable> + '_ {
    base.vars()
        .filter(|(name, _)| REMOVED.iter().all(|removed| name != removed))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
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
    if pass_env::any(&OURS, name) {
        return Err(Error::new(format!(
            "`{shown}` cannot be set in `env`: it is set for the script"
        ))
        .hint("leave it out"));
    }
    if pass_env::any(&STEERING, name) {
        let text = format!("`{shown}` cannot be set in `env`: it steers what programs execute");
        return Err(Error::new(text).hint("leave it out, or pass the value as an argument"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(base: &[(&str, &str)], callers: &[(&str, &str)]) -> Result<Vec<String>, String> {
        let base = Env::new(base.iter().copied(), Path::new("/"));
        let place = Place {
            skill_name: "pdf",
            skill_dir: Path::new("/s/pdf"),
            project_dir: Path::new("/p"),
            workdir: Path::new("/w"),
            temp: None,
        };
        let callers: Vec<_> = callers
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect();
        let all =
            of(&base, &PassEnv::NotSecret, &place, &callers).map_err(|error| error.to_string())?;
        Ok(all
            .iter()
            .map(|(k, v)| format!("{}={}", k.display(), v.display()))
            .collect())
    }

    #[test]
    fn the_hosts_environment_passes_without_its_protocol_and_with_where_the_script_is() {
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
            assert!(error.contains("steers what programs execute"), "{error}");
        }
        for bad in ["CHIBI_HOOK", "AGENT_SKILLS_SESSION", "SKILL_DIR"] {
            let error = built(&[], &[(bad, "x")]).unwrap_err();
            assert!(error.contains("it is set for the script"), "{error}");
        }
        for good in ["PATHS", "R", "DEBUG", "_", "ENVIRONMENT", "MY_PATH", "Lang"] {
            assert!(built(&[], &[(good, "x")]).is_ok(), "{good}");
        }
    }
}
