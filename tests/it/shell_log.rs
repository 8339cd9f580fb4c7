//! What the stubs of a world write down, and how it is read.

use std::fs;
use std::path::{Path, PathBuf};

/// One call that a stub wrote down.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Logged {
    pub program: String,
    pub arguments: Vec<String>,
    pub directory: PathBuf,
    pub input: String,
    /// The exported variables.
    pub variables: Vec<(String, String)>,
}

pub fn text(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned()
}

pub fn logs(dir: &Path) -> Vec<Logged> {
    let entries = fs::read_dir(dir).into_iter().flatten();
    entries
        .filter_map(|log| logged(&text(&log.ok()?.path())))
        .collect()
}

fn logged(log: &str) -> Option<Logged> {
    let mut parts = log.strip_prefix('P')?.splitn(4, '\u{1e}');
    let mut words = parts.next()?.split('\u{1f}').map(str::to_owned);
    let variable = |text: &str| {
        let (name, value) = text
            .trim_end_matches('\n')
            .split_once('=')
            .unwrap_or((text, ""));
        let value = value
            .strip_prefix('\'')
            .and_then(|value| value.strip_suffix('\''))
            .unwrap_or(value);
        (name.to_owned(), value.to_owned())
    };
    Some(Logged {
        program: words.next()?,
        arguments: words.collect(),
        directory: parts.next()?.into(),
        input: parts.next()?.to_owned(),
        variables: parts
            .next()?
            .split("export ")
            .filter(|text| !text.is_empty())
            .map(variable)
            .collect(),
    })
}
