//! The arguments of `run_skill_script`, which starts a script or accesses a job.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::arguments::{name, typed, wrong};
use crate::error::{Error, Result};
use crate::host::ours;

/// A call of `run_skill_script`.
#[derive(Debug, PartialEq)]
pub enum RunSkillScript {
    /// Start a script.
    Start(StartScript),
    /// Wait for a job, or stop it.
    Job {
        /// Its id, as the caller wrote it.
        job: String,
        /// Whether to stop it.
        stop: bool,
        /// The format of the answer.
        format: Format,
    },
}

/// Which script, and how.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct StartScript {
    /// The skill's name; if absent, the most recently loaded skill.
    #[serde(deserialize_with = "name")]
    pub skill: Option<String>,
    /// The script, relative to the skill's directory.
    #[serde(skip)]
    pub script: String,
    /// Its arguments.
    #[serde(deserialize_with = "args")]
    pub args: Vec<String>,
    /// Its standard input.
    pub stdin: String,
    /// The file of the project that is its standard input instead.
    #[serde(deserialize_with = "name")]
    pub stdin_file: Option<String>,
    /// Where it runs.
    pub workdir: WorkDir,
    /// Further environment variables.
    pub env: BTreeMap<String, String>,
    /// Seconds after which it is stopped.
    pub timeout_secs: Option<f64>,
    /// Whether it becomes a job at once.
    pub background: bool,
    /// The format of the answer.
    pub format: Format,
}

/// Where a script runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub enum WorkDir {
    /// In the skill's directory, which is what skills assume.
    #[default]
    Skill,
    /// In the user's project.
    Project,
    /// In an empty directory of its own, removed after the run.
    Temp,
    /// In this directory of the skill.
    Inside(String),
}

/// The format of an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// The output unchanged, remarks after it.
    #[default]
    Text,
    /// One JSON object.
    Json,
}

/// The arguments as written.
#[derive(Deserialize)]
struct Written {
    #[serde(default, deserialize_with = "name")]
    script: Option<String>,
    /// The name that `read_skill_file` uses.
    #[serde(default, deserialize_with = "name")]
    path: Option<String>,
    #[serde(default, deserialize_with = "name")]
    job: Option<String>,
    #[serde(default)]
    stop: bool,
    #[serde(flatten)]
    start: StartScript,
}

impl RunSkillScript {
    /// Parses the arguments.
    ///
    /// # Errors
    /// When one has the wrong type, or together they do not say what to do.
    pub fn parse(arguments: Value) -> Result<Self> {
        let wrong = |text| wrong(ours::RUN_SCRIPT, text);
        let written: Written = typed(ours::RUN_SCRIPT, arguments)?;
        let script = match (written.script, written.path) {
            (Some(script), Some(path)) if script != path => {
                return Err(wrong("`script` and `path` name two different scripts"));
            }
            (script, path) => script.or(path),
        };
        let start = written.start;
        match (written.job, script) {
            (Some(job), script) if script.is_some() || start.background => {
                let text = "`job` stands for a script that runs already, so it cannot be given \
                            together with `script` or `background`";
                let job = job.escape_debug();
                let alone =
                    format!(r#"to go on with the job, call it with {{"job": "{job}"}} alone"#);
                Err(Error::new(text).hint(alone))
            }
            (Some(job), _) => Ok(Self::Job {
                job,
                stop: written.stop,
                format: start.format,
            }),
            (None, _) if written.stop => {
                Err(wrong("`stop` needs `job`: which one is to be stopped"))
            }
            (None, None) => Err(wrong("missing field `script`")),
            (None, Some(_)) if start.stdin_file.is_some() && !start.stdin.is_empty() => {
                Err(wrong("`stdin` and `stdin_file` exclude each other"))
            }
            (None, Some(script)) => Ok(Self::Start(StartScript { script, ..start })),
        }
    }
}

impl From<String> for WorkDir {
    fn from(written: String) -> Self {
        match written.trim() {
            "." | "skill" => Self::Skill,
            "project" => Self::Project,
            "temp" => Self::Temp,
            _ => Self::Inside(written),
        }
    }
}

/// Arguments of a script: a list, or one string whose words are unambiguous.
fn args<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let unclear = "expected a list of strings: one string of words was meant in several ways";
    let items = match Value::deserialize(deserializer)? {
        Value::Array(items) => items,
        // Perhaps a list encoded as a string.
        Value::String(line) => match serde_json::from_str(&line) {
            Ok(Value::Array(items)) => items,
            _ => return words(&line).ok_or_else(|| D::Error::custom(unclear)),
        },
        other => {
            let text = format!("expected a list of strings, found {other}");
            return Err(D::Error::custom(text));
        }
    };
    let word = |value| match value {
        Value::String(word) => Ok(word),
        Value::Number(number) => Ok(number.to_string()),
        other => Err(D::Error::custom(format!(
            "expected a string, found {other}"
        ))),
    };
    items.into_iter().map(word).collect()
}

/// Splits a line into words; `None` if a quote is unclosed or a shell would do more than split,
/// because no shell runs.
fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('$' | '`' | '\\', Some('"') | None) => return None,
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => {
                words.extend(word.take());
            }
            (
                '*' | '?' | '[' | ']' | '{' | '}' | '~' | '|' | '&' | ';' | '<' | '>' | '(' | ')'
                | '!' | '#',
                None,
            ) => {
                return None;
            }
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests;
