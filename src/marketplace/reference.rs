//! What a person types to say which skill they want, understood as a list of readings to try in
//! order (MARKETPLACE.md §1). Pure: it knows neither the network nor the disk.

use std::fmt;

use super::address::{RepoUrl, Rev, SubPath};
use super::choose::Want;
use super::forms::{address, github, refused, short};
use crate::error::Result;
use crate::sys::limits;

/// The repository that a bare skill name, `list` and `search` mean.
pub const DEFAULT_OWNER: &str = "anthropics";
/// See [`DEFAULT_OWNER`].
pub const DEFAULT_REPO: &str = "skills";

/// A reference, understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// A directory of this machine, as written: `./x`, `../x`, `/x`, `~/x`.
    Local(String),
    /// What it can mean, best first; never empty. Only `OWNER/NAME` has more than one.
    Remote(Vec<Reading>),
}

/// One meaning: a repository, where to look at it, and what is wanted of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The repository.
    pub url: RepoUrl,
    /// Which of its states.
    pub at: At,
    /// Which of its skills.
    pub want: Want,
}

/// Which state of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum At {
    /// The default branch.
    Default,
    /// A branch, tag or commit.
    Rev(Rev),
    /// A ref and a path in one, as in `/tree/REF/PATH`: only the repository's list of refs tells
    /// where one ends and the other begins.
    RefAndPath(SubPath),
}

impl Reference {
    /// Understands a reference in any of the forms of MARKETPLACE.md §1.
    ///
    /// # Errors
    /// When it has none of the forms, or parts that could leave a directory or reach git as an
    /// option.
    pub fn parse(written: &str) -> Result<Self> {
        let text = written.trim();
        if text.is_empty() || text.len() > limits::REFERENCE || text.chars().any(char::is_control) {
            return Err(refused(
                written,
                "is empty, too long or has control characters",
            ));
        }
        if is_local(text) {
            return Ok(Self::Local(text.to_owned()));
        }
        if text.starts_with('-') {
            return Err(refused(written, "begins with `-`, as options do"));
        }
        let (text, at) = match text.rsplit_once('#') {
            Some((text, rev)) => (text, At::Rev(Rev::parse(rev)?)),
            None => (text, At::Default),
        };
        let text = text.trim_end_matches('/');
        let before_slash = text.split('/').next().unwrap_or_default();
        let readings = if let Some(path) = text.strip_prefix("github:") {
            vec![github(path, at)?]
        } else if let Some(path) = text.strip_prefix("gitlab:") {
            vec![address(&format!("https://gitlab.com/{path}"), at)?]
        } else if text.contains("://") || is_scp(before_slash) {
            vec![address(text, at)?]
        } else if before_slash.contains(':') {
            return Err(refused(written, "has a prefix that is not known"));
        } else if before_slash.contains('.') && text.matches('/').count() >= 2 {
            // No account of GitHub's has a dot in its name, so this is a host.
            vec![address(&format!("https://{text}"), at)?]
        } else {
            short(text, at)?
        };
        Ok(Self::Remote(readings))
    }
}

fn is_local(text: &str) -> bool {
    matches!(text, "." | ".." | "~")
        || ["./", "../", "/", "~/"]
            .iter()
            .any(|start| text.starts_with(start))
}

/// `user@host:path`, of which `start` is what stands before the first slash.
fn is_scp(start: &str) -> bool {
    start
        .split_once('@')
        .is_some_and(|(_, host)| host.contains(':') && !start.contains("::"))
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.want {
            Want::Any => write!(f, "repository {}", self.url)?,
            Want::Named(name) => write!(f, "skill `{name}` of repository {}", self.url)?,
            Want::PathOrName(path) | Want::Path(path) => {
                write!(f, "`{}` of repository {}", path.as_str(), self.url)?;
            }
        }
        match &self.at {
            At::Default => Ok(()),
            At::Rev(rev) => write!(f, " at {}", rev.as_str()),
            At::RefAndPath(place) => write!(f, " at {}", place.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A reading as `URL | at | want`.
    fn shown(reading: &Reading) -> String {
        let at = match &reading.at {
            At::Default => "default".to_owned(),
            At::Rev(rev) => rev.as_str().to_owned(),
            At::RefAndPath(place) => format!("[{}]", place.as_str()),
        };
        let want = match &reading.want {
            Want::Any => "any".to_owned(),
            Want::Named(name) => format!("skill {name}"),
            Want::Path(path) => format!("path {}", path.as_str()),
            Want::PathOrName(path) => format!("path or skill {}", path.as_str()),
        };
        format!("{} | {at} | {want}", reading.url.as_str())
    }

    fn understood(written: &str) -> Vec<String> {
        match Reference::parse(written).unwrap() {
            Reference::Local(path) => vec![format!("local {path}")],
            Reference::Remote(readings) => readings.iter().map(shown).collect(),
        }
    }

    #[test]
    fn every_form_with_one_meaning() {
        let gh = "https://github.com/o/r";
        for (written, expected) in [
            ("./x", "local ./x".to_owned()),
            ("../x#y", "local ../x#y".to_owned()),
            ("/x", "local /x".to_owned()),
            ("~/x", "local ~/x".to_owned()),
            (".", "local .".to_owned()),
            ("github:o/r", format!("{gh} | default | any")),
            ("github:o/r@s#v1", format!("{gh} | v1 | skill s")),
            (
                "github:o/r/a/b",
                format!("{gh} | default | path or skill a/b"),
            ),
            (
                "gitlab:g/s/p",
                "https://gitlab.com/g/s/p | default | any".to_owned(),
            ),
            ("https://github.com/o/r", format!("{gh} | default | any")),
            (
                "https://github.com/o/r.git#dev",
                format!("{gh} | dev | any"),
            ),
            ("https://github.com/o/r/", format!("{gh} | default | any")),
            (
                "https://github.com/o/r@s",
                format!("{gh} | default | skill s"),
            ),
            ("github.com/o/r", format!("{gh} | default | any")),
            (
                "https://github.com/o/r/tree/main",
                format!("{gh} | [main] | any"),
            ),
            (
                "https://github.com/o/r/tree/f/x/skills/s",
                format!("{gh} | [f/x/skills/s] | any"),
            ),
            (
                "https://github.com/o/r/blob/main/a/SKILL.md",
                format!("{gh} | [main/a] | any"),
            ),
            (
                "https://github.com/o/r/tree/main/a%20b",
                format!("{gh} | [main/a b] | any"),
            ),
            (
                "https://gitlab.com/g/s/p/-/tree/main/a",
                "https://gitlab.com/g/s/p | [main/a] | any".to_owned(),
            ),
            (
                "https://gitlab.com/g/s/p",
                "https://gitlab.com/g/s/p | default | any".to_owned(),
            ),
            (
                "https://bitbucket.org/o/r/src/main/a",
                "https://bitbucket.org/o/r | [main/a] | any".to_owned(),
            ),
            ("git@h:o/r.git", "git@h:o/r.git | default | any".to_owned()),
            (
                "git@h:o/r.git@s#v",
                "git@h:o/r.git | v | skill s".to_owned(),
            ),
            (
                "ssh://git@h/o/r",
                "ssh://git@h/o/r | default | any".to_owned(),
            ),
            ("git://h/o/r", "git://h/o/r | default | any".to_owned()),
            ("file:///t/r#x", "file:///t/r | x | any".to_owned()),
            (
                "file:///t/r@s",
                "file:///t/r | default | skill s".to_owned(),
            ),
            ("o/r.git", format!("{gh} | default | any")),
            ("o/r@s", format!("{gh} | default | skill s")),
            ("o/r@ce:work#f/x", format!("{gh} | f/x | skill ce:work")),
            (
                "o/r/skills/s#v1",
                format!("{gh} | v1 | path or skill skills/s"),
            ),
            (
                "pdf",
                "https://github.com/anthropics/skills | default | skill pdf".to_owned(),
            ),
        ] {
            assert_eq!(understood(written), [expected], "{written}");
        }
    }

    #[test]
    fn owner_slash_name_has_three_meanings_in_a_fixed_order() {
        assert_eq!(
            understood("o/n#v"),
            [
                "https://github.com/o/skills | v | skill n",
                "https://github.com/o/n | v | any",
                "https://github.com/o/agent-skills | v | skill n",
            ]
        );
    }

    #[test]
    fn what_could_do_harm_or_has_no_form_is_refused_with_the_forms() {
        for bad in [
            "",
            " ",
            "-x",
            "--upload-pack=x",
            "ext::sh -c x",
            "ext::sh/x",
            "npm:x",
            "C:\\x",
            "o/..",
            "../..\u{0}",
            "o/-r",
            "-o/r",
            "o/r/../x",
            "o/r/a//b",
            "o/r#",
            "o/r#-x",
            "o/r#a..b",
            "o/r@",
            "o/r@..",
            "o/r@../../x",
            "o/r/p@s",
            "s@marketplace",
            "https://-h/o/r",
            "https://github.com/o",
            "https://github.com/o/r/issues/1",
            "https://github.com/o/r/tree/main/../../x",
            "https://github.com/o/r/tree/main/%2e%2e/x",
            "https://github.com/o/r/tree/main#v1",
            "https://h/x.zip",
            "git@h:-o/r",
            "a\u{7}b/c",
        ] {
            let error = Reference::parse(bad).expect_err(bad);
            assert!(error.next_step().is_some(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn nothing_that_is_parsed_begins_with_a_hyphen(
            written in "(-|--|@|:|/|#|\\.\\.|o|r|https://|git@h:|ext::|github:){1,8}"
        ) {
            if let Ok(Reference::Remote(readings)) = Reference::parse(&written) {
                for reading in readings {
                    prop_assert!(!reading.url.as_str().starts_with('-'));
                    prop_assert!(!reading.url.as_str().contains("::"));
                    prop_assert!(!reading.url.as_str().split(['/', ':', '@']).any(|p| p.starts_with('-')));
                    if let At::Rev(rev) = reading.at {
                        prop_assert!(!rev.as_str().starts_with('-'));
                    }
                }
            }
        }
    }
}
