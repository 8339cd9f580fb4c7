//! Which variables a command may set (docs/spec/restriction.md#variables). Programs mostly read
//! upper-case names, and setting one can change what a granted program does.

use std::collections::BTreeSet;

use super::special_variables::is_special;
use crate::steering;
use skill_text::Names;

/// Variables that affect how output looks, never what runs.
const HARMLESS: Names = Names::new(
    "LANG TZ TERM NO_COLOR FORCE_COLOR CLICOLOR COLUMNS LINES CI DEBUG RUST_BACKTRACE RUST_LOG \
     NODE_ENV PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE TF_LOG",
);

/// How names end of variables that say to what a program connects, or how it runs.
const SETTING_SUFFIXES: [&str; 7] = [
    "_URL", "_HOST", "_PORT", "_ENV", "_MODE", "_LEVEL", "_TIMEOUT",
];

/// Whether this text, `NAME=value`, gives such a variable a plain value, and it steers no known program.
/// It may stand before a program; in the shell itself it is a variable like others.
pub fn is_setting(text: &str) -> bool {
    let is_upper = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    assignment(text).is_some_and(|(name, value)| {
        let has_form = name == "PORT" || SETTING_SUFFIXES.iter().any(|end| name.ends_with(end));
        has_form
            && name.chars().all(is_upper)
            && is_safe_value(name, value)
            && !steering::steers(name)
    })
}

/// Whether a variable may be exported, or set before a command.
pub fn may_be_exported(name: &str) -> bool {
    let is_category = |rest: &str| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_uppercase());
    HARMLESS.has(name) || name.strip_prefix("LC_").is_some_and(is_category)
}

/// Whether a value is safe for a program in a harmless variable of this name: evaluating it has no
/// effect. `make`, for example, runs `$(shell …)` (docs/spec/restriction.md#safe-values).
pub fn is_safe_value(name: &str, value: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.,:/@%+=-".contains(c);
    match name {
        // Some shells evaluate these values.
        "COLUMNS" | "LINES" => value.chars().all(|c| c.is_ascii_digit()),
        _ if name == "LANG" || name.starts_with("LC_") => is_ascii_safe_locale(value),
        _ => value.chars().all(plain),
    }
}

/// Whether in this locale no character but ASCII contains a byte of ASCII: in `zh_CN.GBK` the last
/// byte of a character and the backslash behind it are one character, and what it quotes is syntax.
fn is_ascii_safe_locale(locale: &str) -> bool {
    let name = locale.split('@').next().unwrap_or_default();
    let charset = name.split_once('.').map_or(name, |(_, charset)| charset);
    let charset = charset.to_ascii_lowercase();
    let valid = |c: char| c.is_ascii_alphanumeric() || "_.@-".contains(c);
    locale.chars().all(valid) && matches!(&*charset, "" | "c" | "posix" | "utf-8" | "utf8")
}

/// Whether this text, `NAME=value`, gives a harmless variable a plain value.
pub fn is_harmless_assignment(text: &str) -> bool {
    assignment(text)
        .is_some_and(|(name, value)| may_be_exported(name) && is_safe_value(name, value))
}

/// Whether programs read this lower-case variable if it is already exported.
fn is_read_by_programs(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let prefixes = ["npm_config_", "yarn_", "pnpm_"];
    lower.ends_with("_proxy") || prefixes.iter().any(|prefix| lower.starts_with(prefix))
}

/// What is known about the initial environment of the host's shell.
#[derive(Debug, Clone, Copy, Default)]
pub struct Variables<'a> {
    /// The names in it: setting one affects every program. `None` if they are unknown, or if the
    /// shell may export what is set.
    pub inherited: Option<&'a BTreeSet<String>>,
    /// Whether the shell may have more, from files that it reads as it starts: those that steer
    /// programs count as if they were among them.
    pub has_startup_files: bool,
    /// The value of `$HOME` and `~`, if known.
    pub home: Option<&'a str>,
    /// A variable of the host that an entry names: a program's path may begin with it.
    pub host: Option<&'a str>,
    /// Whether the shell may be zsh, which also ties lower-case names: `path` to `PATH`.
    pub zsh: bool,
}

impl Variables<'_> {
    /// Whether a variable may be set in the shell itself: harmless ones, lower-case names that no
    /// known program reads, and others that reach no program and mean nothing to a shell.
    pub fn may_be_set(self, name: &str) -> bool {
        let lower = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        let begins = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
        let stays_here = |inherited: &BTreeSet<String>| {
            let may_be_there = || self.has_startup_files && steering::steers(name);
            is_name(name) && !is_special(name) && !inherited.contains(name) && !may_be_there()
        };
        may_be_exported(name)
            || name != "_"
                && !is_read_by_programs(name)
                && !(self.zsh && is_special(name))
                && (begins && name.chars().all(lower) || self.inherited.is_some_and(stays_here))
    }

    /// Whether a variable may be given any text: it reaches no program, even if it is already
    /// exported.
    pub fn may_have_any_value(self, name: &str) -> bool {
        self.may_be_set(name) && !may_be_exported(name)
    }
}

/// The name and raw value of an assignment word; `None` for `a[0]=x`, `a+=x` and other forms that
/// shells read differently.
pub fn assignment(raw: &str) -> Option<(&str, &str)> {
    let (name, value) = raw.split_once('=')?;
    is_name(name).then_some((name, value))
}

/// Whether this is a valid variable name.
pub fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(is_name_char)
}

/// Whether this may be part of a variable's name.
pub fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_steer_programs_may_not_be_set() {
        let unknown = Variables::default();
        let inherited = BTreeSet::from(["EDITOR_ARGS".to_owned(), "GIT_DIR".to_owned()]);
        let grows = Variables {
            inherited: Some(&inherited),
            has_startup_files: true,
            ..Variables::default()
        };
        for (name, may_be_set) in [("BASE", true), ("GIT_EDITOR", false), ("LESSOPEN", false)] {
            assert_eq!(grows.may_be_set(name), may_be_set, "{name}");
        }
        let known = Variables {
            inherited: Some(&inherited),
            ..Variables::default()
        };
        for name in ["LANG", "LC_ALL", "LC_TIME", "CI", "RUST_LOG"] {
            assert!(may_be_exported(name) && unknown.may_be_set(name), "{name}");
        }
        for name in ["f", "_x", "my_var2", "file"] {
            assert!(unknown.may_be_set(name) && !may_be_exported(name), "{name}");
        }
        for name in ["X", "VERSION", "camelCase", "A_1"] {
            assert!(
                known.may_be_set(name) && !unknown.may_be_set(name),
                "{name}"
            );
            assert!(!may_be_exported(name), "{name}");
        }
        for name in [
            "EDITOR_ARGS",
            "GIT_DIR",
            "PATH",
            "IFS",
            "RANDOM",
            "HTTPS_PROXY",
            "NPM_CONFIG_X",
            "_",
            "BASH_ENV",
            "HISTCMD",
            "LC_x",
            "1X",
            "A-B",
            "HOME",
            "PS4",
            "TMPDIR",
            "CHIBI_X",
            "",
        ] {
            assert!(!known.may_be_set(name), "{name}");
        }
        for name in [
            "PATH",
            "IFS",
            "LD_PRELOAD",
            "BASH_ENV",
            "ENV",
            "GIT_DIR",
            "PAGER",
            "NODE_OPTIONS",
            "PYTHONPATH",
            "http_proxy",
            "npm_config_script_shell",
            "yarn_x",
            "pnpm_config_x",
            "X",
            "LC_",
            "LC_x",
            "PS4",
            "1x",
            "",
            "a-b",
        ] {
            assert!(
                !unknown.may_be_set(name) && !may_be_exported(name),
                "{name}"
            );
        }
    }

    #[test]
    fn a_program_is_given_plain_values_only() {
        for text in [
            "CI=",
            "CI=1",
            "LANG=en_US.UTF-8",
            "DEBUG=a:b,-c",
            "TZ=Europe/Rome",
            "LINES=24",
        ] {
            assert!(is_harmless_assignment(text), "{text}");
        }
        for text in [
            "DEBUG=$(shell x)",
            "CI=a b",
            "CI=`x`",
            "DEBUG=*",
            "TERM=x\ny",
            "COLUMNS=x",
            "x=1",
            "PATH=/x",
            "CI=~",
        ] {
            assert!(!is_harmless_assignment(text), "{text}");
        }
        let variables = Variables::default();
        assert!(variables.may_have_any_value("f"));
        assert!(!variables.may_have_any_value("DEBUG") && !variables.may_have_any_value("PATH"));
    }

    #[test]
    fn a_locale_hides_no_syntax_in_its_characters() {
        for value in [
            "",
            "C",
            "POSIX",
            "C.UTF-8",
            "en_US.utf8",
            "ca_ES.UTF-8@valencia",
        ] {
            assert!(is_safe_value("LC_ALL", value), "{value}");
        }
        for value in [
            "zh_CN.GBK",
            "zh_TW",
            "zh_HK",
            "ja_JP.SJIS",
            "ko_KR.CP949",
            "en_US",
            "/x/y",
            "x.C/UTF-8",
        ] {
            assert!(
                !is_safe_value("LANG", value) && !is_safe_value("LC_ALL", value),
                "{value}"
            );
        }
    }

    #[test]
    fn only_plain_assignments_are_read() {
        assert_eq!(assignment("x=a=b"), Some(("x", "a=b")));
        for raw in ["x", "x+=a", "x[0]=a", "1=a", "=a", "a-b=c", "'x'=a"] {
            assert_eq!(assignment(raw), None, "{raw}");
        }
    }
}
