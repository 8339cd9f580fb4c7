//! The arguments of `run_skill_script`, which starts a script or accesses a job.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::error::{Error, Result};

/// A call of `run_skill_script`.
#[derive(Debug, PartialEq)]
pub enum RunSkillScript {
    /// Start a script.
    Start(StartScript),
    /// Wait for a job, or stop it.
    Job(UseJob),
}

/// Which script, and how.
#[derive(Debug, PartialEq)]
pub struct StartScript {
    /// The skill's name; if absent, the most recently loaded skill.
    pub skill: Option<String>,
    /// The script, relative to the skill's directory.
    pub script: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its standard input.
    pub stdin: String,
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

/// Which job, and whether to stop it.
#[derive(Debug, PartialEq)]
pub struct UseJob {
    /// Its id, as the caller wrote it.
    pub job: String,
    /// Whether to stop it.
    pub stop: bool,
    /// The format of the answer.
    pub format: Format,
}

/// Where a script runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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

/// The arguments as written. Nulls and empty names count as absent, because some models fill in
/// every key they know.
#[derive(Deserialize)]
struct Written {
    #[serde(default)]
    skill: Option<String>,
    #[serde(default)]
    script: Option<String>,
    /// The name that `read_skill_file` uses.
    #[serde(default)]
    path: Option<String>,
    #[serde(default, deserialize_with = "null_is_default")]
    args: Args,
    #[serde(default, deserialize_with = "null_is_default")]
    stdin: String,
    #[serde(default, deserialize_with = "null_is_default")]
    workdir: WorkDir,
    #[serde(default, deserialize_with = "null_is_default")]
    env: BTreeMap<String, String>,
    #[serde(default)]
    timeout_secs: Option<f64>,
    #[serde(default, deserialize_with = "null_is_default")]
    background: bool,
    #[serde(default, deserialize_with = "null_is_default")]
    format: Format,
    #[serde(default)]
    job: Option<String>,
    #[serde(default, deserialize_with = "null_is_default")]
    stop: bool,
}

impl RunSkillScript {
    /// Parses the arguments.
    ///
    /// # Errors
    /// When one has the wrong type, or together they do not say what to do.
    pub fn parse(arguments: Value) -> Result<Self> {
        let arguments = match arguments {
            Value::Null => Value::Object(serde_json::Map::new()),
            Value::Object(map) => Value::Object(map),
            _ => {
                return Err(wrong(
                    "the arguments of `run_skill_script` are one JSON object",
                ));
            }
        };
        let written: Written = serde_json::from_value(arguments).map_err(|error| {
            wrong(format!(
                "the arguments of `run_skill_script` are invalid: {error}"
            ))
        })?;
        let given = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
        let skill = given(written.skill);
        let script = match (given(written.script), given(written.path)) {
            (Some(script), Some(path)) if script != path => {
                return Err(wrong("`script` and `path` name two different scripts"));
            }
            (script, path) => script.or(path),
        };
        if let Some(job) = given(written.job) {
            if script.is_some() || written.background {
                let text = "`job` stands for a script that runs already, so it cannot be given \
                            together with `script` or `background`";
                return Err(Error::new(text).hint(format!(
                    "to go on with the job, call it with {{\"job\": \"{}\"}} alone",
                    job.escape_debug()
                )));
            }
            return Ok(Self::Job(UseJob {
                job,
                stop: written.stop,
                format: written.format,
            }));
        }
        if written.stop {
            return Err(wrong("`stop` needs `job`: which one is to be stopped"));
        }
        let missing = |key| wrong(format!("missing field `{key}`"));
        Ok(Self::Start(StartScript {
            skill,
            script: script.ok_or_else(|| missing("script"))?,
            args: written.args.0,
            stdin: written.stdin,
            workdir: written.workdir,
            env: written.env,
            timeout_secs: written.timeout_secs,
            background: written.background,
            format: written.format,
        }))
    }

    /// Whether a call with these arguments accesses a job, so that it cannot start anything.
    pub fn is_about_a_job(arguments: &Value) -> bool {
        let text = |key: &str| {
            arguments
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let names_script = ["script", "path"]
            .iter()
            .any(|key| !text(key).trim().is_empty());
        !text("job").trim().is_empty() && !names_script
    }
}

fn wrong(text: impl Into<String>) -> Error {
    Error::new(text).hint(
        r#"for example {"skill": "pdf", "script": "scripts/fill.py", "args": ["a.pdf"]}, or {"job": "…"} for one that runs"#,
    )
}

impl<'de> Deserialize<'de> for WorkDir {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = String::deserialize(deserializer)?;
        Ok(match written.trim() {
            "." | "skill" => Self::Skill,
            "project" => Self::Project,
            "temp" => Self::Temp,
            _ => Self::Inside(written),
        })
    }
}

/// Arguments of a script: a list, or one string whose words are unambiguous.
#[derive(Debug, Default, PartialEq)]
struct Args(Vec<String>);

impl<'de> Deserialize<'de> for Args {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;

        let word = |value: Value| match value {
            Value::String(word) => Ok(word),
            Value::Number(number) => Ok(number.to_string()),
            other => Err(D::Error::custom(format!(
                "expected a string, found {other}"
            ))),
        };
        let list = |items: Vec<Value>| items.into_iter().map(word).collect::<Result<_, _>>();
        match Value::deserialize(deserializer)? {
            Value::Array(items) => list(items).map(Self),
            Value::String(line) => match serde_json::from_str(&line) {
                // A list encoded as a string.
                Ok(Value::Array(items)) => list(items).map(Self),
                _ => words(&line).map(Self).ok_or_else(|| {
                    D::Error::custom(
                        "expected a list of strings: one string of words was meant in \
                                      several ways",
                    )
                }),
            },
            other => Err(D::Error::custom(format!(
                "expected a list of strings, found {other}"
            ))),
        }
    }
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

fn null_is_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests;
