//! The arguments of `run_skill_script`, which starts a script or looks after a job.

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
    /// The skill's name; without one, the most recently loaded skill is meant.
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
    /// How the answer reads.
    pub format: Format,
}

/// Which job, and what about it.
#[derive(Debug, PartialEq)]
pub struct UseJob {
    /// Its id, as somebody wrote it.
    pub job: String,
    /// Whether to stop it.
    pub stop: bool,
    /// How the answer reads.
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
    /// In an empty directory of its own, gone after the run.
    Temp,
    /// In this directory of the skill.
    Inside(String),
}

/// How an answer reads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// The output as it is, remarks after it.
    #[default]
    Text,
    /// One JSON object.
    Json,
}

/// As it is written. Nulls, and empty names, are as good as nothing: some models fill in every key
/// they know of.
#[derive(Deserialize)]
struct Written {
    #[serde(default)]
    skill: Option<String>,
    #[serde(default)]
    script: Option<String>,
    #[serde(default, deserialize_with = "null_is_default")]
    args: Vec<String>,
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
    /// Takes the arguments apart.
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
                "the arguments of `run_skill_script` are not right: {error}"
            ))
        })?;
        let given = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
        let (skill, script) = (given(written.skill), given(written.script));
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
            args: written.args,
            stdin: written.stdin,
            workdir: written.workdir,
            env: written.env,
            timeout_secs: written.timeout_secs,
            background: written.background,
            format: written.format,
        }))
    }

    /// Whether a call with these arguments looks after a job, so that it can start nothing.
    pub fn is_about_a_job(arguments: &Value) -> bool {
        let text = |key: &str| {
            arguments
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        !text("job").trim().is_empty() && text("script").trim().is_empty()
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

fn null_is_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn started(arguments: Value) -> StartScript {
        match RunSkillScript::parse(arguments) {
            Ok(RunSkillScript::Start(start)) => start,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn nulls_and_nothing_are_defaults() {
        for rest in [
            json!({"skill": "x", "script": "y"}),
            json!({"skill": "x", "script": "y", "args": null, "env": null, "workdir": null,
                "timeout_secs": null, "background": null, "format": null, "job": null,
                "stop": null, "stdin": null}),
            json!({"skill": "x", "script": "y", "job": "", "stop": false}),
        ] {
            let start = started(rest);
            assert_eq!((start.args.len(), start.timeout_secs), (0, None));
            assert_eq!(
                (start.workdir, start.format),
                (WorkDir::Skill, Format::Text)
            );
            assert!(!start.background);
        }
    }

    #[test]
    fn working_directories_are_words_or_paths() {
        for (written, expected) in [
            ("skill", WorkDir::Skill),
            (".", WorkDir::Skill),
            ("project", WorkDir::Project),
            ("temp", WorkDir::Temp),
            ("data/in", WorkDir::Inside("data/in".to_owned())),
            ("./project", WorkDir::Inside("./project".to_owned())),
        ] {
            let start = started(json!({"skill": "x", "script": "y", "workdir": written}));
            assert_eq!(start.workdir, expected);
        }
    }

    #[test]
    fn a_job_stands_alone() {
        let job = |stop, format| {
            RunSkillScript::Job(UseJob {
                job: "abc".to_owned(),
                stop,
                format,
            })
        };
        for (arguments, expected) in [
            (json!({"job": "abc"}), job(false, Format::Text)),
            (
                json!({"job": "abc", "skill": "x", "stop": true}),
                job(true, Format::Text),
            ),
            (
                json!({"job": "abc", "format": "json"}),
                job(false, Format::Json),
            ),
        ] {
            assert!(RunSkillScript::is_about_a_job(&arguments));
            assert_eq!(RunSkillScript::parse(arguments).unwrap(), expected);
        }
    }

    #[test]
    fn what_does_not_say_what_to_do_is_explained() {
        for (arguments, part) in [
            (json!(null), "missing field `script`"),
            (json!([1]), "run_skill_script"),
            (json!({"skill": "x"}), "missing field `script`"),
            (
                json!({"skill": "x", "script": "y", "args": [1]}),
                "expected a string",
            ),
            (
                json!({"skill": "x", "script": "y", "args": "a"}),
                "expected a sequence",
            ),
            (
                json!({"skill": "x", "script": "y", "env": {"A": 1}}),
                "expected a string",
            ),
            (
                json!({"skill": "x", "script": "y", "timeout_secs": "9"}),
                "expected f64",
            ),
            (
                json!({"skill": "x", "script": "y", "format": "xml"}),
                "`text` or `json`",
            ),
            (json!({"stop": true}), "`stop` needs `job`"),
            (
                json!({"job": "a", "script": "y"}),
                "cannot be given together",
            ),
            (
                json!({"job": "a", "background": true}),
                "cannot be given together",
            ),
            (json!({"job": 5}), "expected a string"),
        ] {
            let error = RunSkillScript::parse(arguments.clone()).unwrap_err();
            assert!(error.to_string().contains(part), "{arguments}: {error}");
            assert!(error.next_step().is_some(), "{arguments}");
        }
        for starts in [
            json!({"job": "", "script": "y"}),
            json!({"job": "a", "script": "y"}),
        ] {
            assert!(!RunSkillScript::is_about_a_job(&starts));
        }
    }
}
