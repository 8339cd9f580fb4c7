//! The effective configuration: the user's, tightened by a trusted project and by the policies; and
//! where each key is written.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use toml_edit::{Document, Item, TableLike};

use super::file::line_of;
use crate::error::Result;
use crate::host::Protocol;
use crate::policy::{Config, Ledger, Policies, Trust, TrustChecker, joined, read_toml};
use crate::run_context::RunContext;
use crate::script::TimeLimit;
use crate::skill::SkillName;
use crate::sys::{Env, fallback_answer, files, limits};

/// The part of a call that is not spent waiting for a script, as by default.
const BESIDES_SCRIPT: Duration = Duration::from_secs(2);

/// A key that is set, in the format that `policy show --json` documents.
#[derive(Debug, Clone, Serialize)]
pub struct Setting {
    /// `key` or `table.key`.
    pub key: String,
    /// Of the configuration, the value that results; of a policy, the text as TOML.
    pub value: Value,
    /// Who set it: `policy`, `user`, `project` or `default`.
    pub layer: &'static str,
    /// Where it is written; `None` for a value of the configuration that a policy decides.
    pub file: Option<String>,
    /// The number of the line.
    pub line: Option<usize>,
}

impl Setting {
    /// `default`, `policy`, or the path of the file.
    pub fn origin(&self) -> &str {
        self.file.as_deref().unwrap_or(self.layer)
    }
}

/// The user's own configuration.
///
/// # Errors
/// If the file contains a mistake.
pub fn own_config(file: &Path) -> Result<Config> {
    Ok(read_toml(file)?.unwrap_or_default())
}

/// The effective configuration; `state` is where the record of trust is.
///
/// # Errors
/// If the project's file contains a mistake.
pub fn effective(
    run: &RunContext,
    state: &Path,
    policies: &Policies,
    own: &Config,
) -> Result<Config> {
    Ok(raised_by_policies(
        policies,
        with_project(run, state, policies, own)?,
    ))
}

/// How long a call of this host waits for a script before it becomes a job. Extends the call's
/// deadline accordingly.
pub fn script_wait(run: &RunContext) -> Option<Duration> {
    let wait = call_seconds(run.protocol?, &run.env)?;
    fallback_answer::allow(wait + BESIDES_SCRIPT);
    Some(wait)
}

/// Whether the user's configuration, which has a mistake, may name skills that are always on: it
/// is no readable TOML, or says something about them, be it under a wrong key.
pub fn may_have_always_on(file: &Path) -> bool {
    match read_toml::<Value>(file) {
        Ok(keys) => keys.is_some_and(|keys| keys.to_string().contains("uses_skill")),
        Err(_) => true,
    }
}

/// Every key with its value and origin, sorted by key.
///
/// # Errors
/// As [`effective`].
pub fn settings(
    run: &RunContext,
    state: &Path,
    policies: &Policies,
    own: &Config,
) -> Result<Vec<Setting>> {
    let with_project = with_project(run, state, policies, own)?;
    let in_force = raised_by_policies(policies, with_project.clone());
    let in_own = written(&run.config_path(), "user");
    let project_file = run.project_config_path();
    let in_project = written(&project_file, "project");
    let [own, with_project] = [leaves(own), leaves(&with_project)];
    let settings = leaves(&in_force).into_iter().map(|(key, value)| {
        let sets_key = |written: &&Setting| written.key == key;
        let (layer, file, line) = if with_project.get(&key) != Some(&value) {
            ("policy", None, None)
        } else if own.get(&key) != Some(&value) {
            let line = in_project.iter().find(sets_key).and_then(|it| it.line);
            ("project", Some(project_file.display().to_string()), line)
        } else if let Some(written) = in_own.iter().find(sets_key) {
            (written.layer, written.file.clone(), written.line)
        } else {
            ("default", None, None)
        };
        Setting {
            key,
            value,
            layer,
            file,
            line,
        }
    });
    Ok(settings.collect())
}

/// The user's configuration tightened by the project's, if that is trusted.
fn with_project(
    run: &RunContext,
    state: &Path,
    policies: &Policies,
    own: &Config,
) -> Result<Config> {
    let (own, path) = (own.clone(), run.project_config_path());
    if path.symlink_metadata().is_err() || policies.forbids_projects().is_some() {
        return Ok(own);
    }
    let trusts = TrustChecker::new(Ledger::trusted(state), policies);
    match trusts.of_part(&run.project_dir(), &path) {
        Trust::Given => Ok(own.tightened_by(read_toml(&path)?.unwrap_or_default())),
        Trust::Missing | Trust::Outdated(_) => Ok(own),
    }
}

/// The configuration with all that the policies decide.
fn raised_by_policies(policies: &Policies, config: Config) -> Config {
    let each = policies.each().iter().map(|policy| &policy.enforce);
    let mut raised_by_policies = each.fold(config, |config, floors| floors.raise(config));
    for (_, required) in policies.required() {
        raised_by_policies.require_skill(&required.name);
    }
    let always = policies.always_on(false).map(SkillName::to_string);
    raised_by_policies
        .uses_skills
        .everywhere_first(always.collect());
    raised_by_policies
}

/// Every key with its value; `table.key` for those in a table.
fn leaves(config: &impl Serialize) -> BTreeMap<String, Value> {
    let mut leaves = BTreeMap::new();
    // JSON can represent every value of the configuration.
    let all = serde_json::to_value(config).unwrap_or_default();
    flatten(&mut Vec::new(), all, &mut leaves);
    leaves
}

fn flatten(path: &mut Vec<String>, value: Value, leaves: &mut BTreeMap<String, Value>) {
    let Value::Object(table) = value else {
        leaves.insert(joined(path), value);
        return;
    };
    for (key, value) in table {
        path.push(key);
        flatten(path, value, leaves);
        path.pop();
    }
}

/// How long a call waits for its script before that becomes a job: under chibi 0.6, which waits for
/// ever, until the end; from 0.7, which kills a call after 30 seconds and loses its answer, less.
/// `AGENT_SKILLS_CALL_SECONDS` says otherwise.
fn call_seconds(protocol: Protocol, env: &Env) -> Option<Duration> {
    let seconds = env.text("AGENT_SKILLS_CALL_SECONDS");
    let seconds = seconds.and_then(|text| text.trim().parse::<f64>().ok());
    let chosen = seconds.and_then(|seconds| TimeLimit::try_from(seconds).ok());
    let usual = || match protocol {
        Protocol::Environment => None,
        Protocol::Stdin => Some(Duration::from_secs(limits::HOST_CALL_SECONDS)),
    };
    chosen.map(TimeLimit::duration).or_else(usual)
}

/// Every key of every policy, then those of the configuration that do not have their default.
///
/// # Errors
/// As [`settings`].
pub fn in_force(
    run: &RunContext,
    state: &Path,
    policies: &Policies,
    own: &Config,
) -> Result<Vec<Setting>> {
    let mut all = Vec::new();
    for file in policies.each().iter().map(|policy| &policy.file) {
        all.extend(written(file, "policy"));
    }
    let mut settings = settings(run, state, policies, own)?;
    settings.retain(|one| one.layer != "default");
    for one in &mut settings {
        one.value = one.value.to_string().into();
    }
    all.extend(settings);
    Ok(all)
}

/// The keys of a file of this layer as they are written, in its order; none if it is not TOML.
fn written(file: &Path, layer: &'static str) -> Vec<Setting> {
    let bytes = files::read_capped(file, limits::CONFIG_FILE).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let mut found = Vec::new();
    if let Ok(document) = Document::parse(&*text) {
        let shown = file.display().to_string();
        let mut add = |key: &[String], item: &Item| {
            let value = item.span().map(|span| &text[span]).unwrap_or_default();
            found.push(Setting {
                key: joined(key),
                value: value.into(),
                layer,
                file: Some(shown.clone()),
                line: Some(line_of(&text, item.span())),
            });
        };
        each_key(&mut Vec::new(), document.as_table(), &mut add);
    }
    found
}

fn each_key(
    path: &mut Vec<String>,
    table: &dyn TableLike,
    visit: &mut dyn FnMut(&[String], &Item),
) {
    for (key, item) in table.iter() {
        path.push(key.to_owned());
        match item.as_table_like() {
            Some(inner) => each_key(path, inner, visit),
            None => visit(path, item),
        }
        path.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_says_how_long_a_call_waits() {
        let wait = |protocol, value: &str| {
            let env = Env::new([("AGENT_SKILLS_CALL_SECONDS", value)], Path::new("/"));
            call_seconds(protocol, &env)
        };
        for protocol in [Protocol::Environment, Protocol::Stdin] {
            assert_eq!(wait(protocol, "0.5"), Some(Duration::from_millis(500)));
        }
        for odd in ["", "x", "-1", "0", "inf"] {
            assert_eq!(wait(Protocol::Environment, odd), None, "{odd}");
            assert_eq!(wait(Protocol::Stdin, odd), Some(Duration::from_secs(25)));
        }
    }

    #[test]
    fn keys_have_their_lines_wherever_their_table_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.toml");
        let text = "a = 1\n\n[t]\n# why\nb = [\"x\"]\nc = {d = true}\n";
        std::fs::write(&path, text).unwrap();
        let found = written(&path, "user");
        let found: Vec<_> = found
            .iter()
            .map(|it| {
                (
                    it.key.as_str(),
                    it.value.as_str().unwrap(),
                    it.line.unwrap(),
                )
            })
            .collect();
        assert_eq!(
            found,
            [("a", "1", 1), ("t.b", "[\"x\"]", 5), ("t.c.d", "true", 6)]
        );
        assert!(written(&dir.path().join("none"), "user").is_empty());
    }
}
