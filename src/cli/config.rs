//! `config`: what is configured, where that comes from, and how to change it.

use std::fmt::Write;

use super::json;
use super::options::ConfigVerb;
use crate::app::{App, Config, Setting};
use crate::error::{Error, Result};
use crate::governance::{parse_toml, set_key};
use crate::skill::one_line;

/// Does what the words say.
pub fn config(app: &App, verb: ConfigVerb) -> Result<String> {
    match verb {
        ConfigVerb::Get { key } => get(app, &key),
        ConfigVerb::Set { key, value } => {
            let path: Vec<&str> = key.split('.').collect();
            set(app, &path, &value)?;
            get(app, &key)
        }
        ConfigVerb::List { json } => list(app, json),
        ConfigVerb::Path => Ok(paths(app)),
    }
}

/// Changes one key of `config.toml`, unless that would be a mistake.
pub fn set(app: &App, key: &[&str], value: &str) -> Result<()> {
    let path = app.config_path();
    let check = |text: &str| parse_toml::<Config>(&path, text).map(|_| ());
    set_key(&path, key, value, &check)
        .map_err(|error| error.context(format!("`{}` was not changed", key.join("."))))
}

fn get(app: &App, key: &str) -> Result<String> {
    let settings = app.settings()?;
    let below = format!("{key}.");
    let found: Vec<&Setting> = settings
        .iter()
        .filter(|setting| setting.key == key || setting.key.starts_with(&below))
        .collect();
    if found.is_empty() {
        let known = || settings.iter().map(|setting| setting.key.as_str());
        let text = format!("there is no key `{}`", key.escape_debug());
        let likeness = |name| (strsim::normalized_damerau_levenshtein(key, name), name);
        let scored = known().map(likeness).filter(|(score, _)| *score >= 0.6);
        let nearest = scored.max_by(|a, b| a.0.total_cmp(&b.0));
        return Err(Error::new(text).hint(match nearest {
            Some((_, name)) => format!("did you mean `{name}`?"),
            None => format!("there are {}", known().collect::<Vec<_>>().join(", ")),
        }));
    }
    Ok(found.into_iter().map(line).collect())
}

fn list(app: &App, as_json: bool) -> Result<String> {
    let settings = app.settings()?;
    if as_json {
        return json::list("settings", &settings);
    }
    Ok(settings.iter().map(line).collect())
}

fn line(setting: &Setting) -> String {
    let Setting { key, value, origin } = setting;
    format!(
        "{key} = {}  # {}\n",
        one_line(&value.to_string()),
        one_line(origin)
    )
}

fn paths(app: &App) -> String {
    let mut text = String::new();
    let mut field = |what: &str, path: &std::path::Path| {
        let missing = if path.exists() { "" } else { "  (not there)" };
        let _ = writeln!(
            text,
            "{what:8} {}{missing}",
            one_line(&path.display().to_string())
        );
    };
    field("own", &app.config_path());
    field("project", &app.project_config_path());
    for file in app.enterprise().policy_files() {
        field("policy", &file.path);
    }
    text
}
