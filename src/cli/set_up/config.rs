//! `config`: shows the configuration and where it comes from, and changes it.

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Subcommand;
use serde::Serialize;
use serde_json::json;

use super::config_keys::{KEYS, Key};
use crate::catalog::Layer;
use crate::cli::{Answer, Caller, Common, Outcomes, Screen, json};
use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::policy::{self, Setting, joined, parse_toml, parts, save_toml, set_key, unset_key};
use crate::run_context::RunContext;
use crate::skill::one_line;
use crate::sys::text::{did_you_mean, split_outside};
use crate::sys::{Durable, files, limits};

/// Show or change the configuration
#[derive(Debug, Subcommand)]
pub enum Config {
    /// Show one value and where it comes from
    Get {
        /// KEY or TABLE.KEY
        key: String,
    },
    /// Change a value in config.toml
    Set {
        /// KEY VALUE…, or KEY=VALUE; a list as a,b
        #[arg(
            required = true,
            value_name = "KEY VALUE",
            allow_negative_numbers = true
        )]
        words: Vec<String>,
    },
    /// Remove a value from config.toml, so that the default holds
    Unset {
        /// KEY or TABLE.KEY
        key: String,
    },
    /// Edit config.toml in $VISUAL or $EDITOR; saved if it has no mistake
    Edit,
    /// Show every key with its value, what it is for and what it takes
    List,
    /// Show where the files are
    Path,
}

impl Config {
    /// Shows or changes values.
    pub fn run(&self, facts: &Facts, common: Common, caller: Caller, screen: Screen) -> Answer {
        let changed = |name: &str, outcome| Outcomes::of_one(common, caller, name, outcome);
        match self {
            Self::Get { key } => Ok(get(facts, common, &parts(key))?),
            Self::Set { words } => {
                let (key, values) = match &words[..] {
                    [one] => one
                        .split_once('=')
                        .map_or((&**one, vec![]), |(key, value)| (key, vec![value])),
                    [key, values @ ..] => (&**key, values.iter().map(String::as_str).collect()),
                    [] => ("", vec![]),
                };
                let key = parts(key);
                changed(&joined(&key), set_values(facts, common, &key, &values))
            }
            Self::Unset { key } => {
                let key = parts(key);
                changed(&joined(&key), unset(facts, common, &key))
            }
            Self::Edit => {
                let file = facts.run.config_path().display().to_string();
                let edited = if common.dry_run {
                    Ok(format!("would open {} in an editor\n", one_line(&file)))
                } else {
                    edit(facts)
                };
                changed(&file, edited)
            }
            Self::List => Ok(list(facts, common, screen)?),
            Self::Path => Ok(paths(facts, common)?),
        }
    }
}

fn set_values(facts: &Facts, common: Common, key: &[String], values: &[&str]) -> Result<String> {
    let value = value(key, values)?;
    set(facts, key, &value, common.dry_run)?;
    if common.dry_run {
        return Ok(format!(
            "would set {} to {}\n",
            joined(key),
            one_line(&value)
        ));
    }
    told(facts, key)
}

fn unset(facts: &Facts, common: Common, key: &[String]) -> Result<String> {
    let file = facts.run.config_path();
    let hint = if is_known(key) {
        "`agent-skills config list` shows where each value comes from".to_owned()
    } else {
        suggestion(key)
    };
    unset_key(&file, key, common.dry_run, &|text| check(facts, key, text))
        .map_err(|error| unchanged(key, error.or_hint(hint)))?;
    if common.dry_run {
        let file = file.display().to_string();
        return Ok(format!(
            "would remove {} from {}\n",
            joined(key),
            one_line(&file)
        ));
    }
    Ok(told(facts, key).unwrap_or_else(|_| format!("`{}` is no longer set\n", joined(key))))
}

/// The value as TOML or text. Of a list, `a,b` and each further value is an entry.
fn value(key: &[String], values: &[&str]) -> Result<String> {
    let is_list = Key::find(key).is_some_and(Key::is_list);
    match values {
        [one] if !is_list || one.starts_with('[') || *one == "all" => Ok((*one).to_owned()),
        [_, ..] if is_list => {
            let entries = values.iter().flat_map(|value| entries(value));
            Ok(entries.collect::<toml_edit::Array>().to_string())
        }
        _ => {
            let what = if values.is_empty() {
                "needs a value"
            } else {
                "takes only one value"
            };
            let text = format!("`{}` {what}", joined(key).escape_debug());
            Err(Error::new(text).hint(takes(key).unwrap_or_else(|| suggestion(key))))
        }
    }
}

/// The entries that commas separate, except for commas within parentheses.
fn entries(list: &str) -> impl Iterator<Item = &str> {
    let parts = split_outside(list, |c| c == ',');
    parts.map(str::trim).filter(|entry| !entry.is_empty())
}

/// Changes one key of `config.toml`, unless the result would be invalid, or this is a dry run.
pub fn set(facts: &Facts, key: &[String], value: &str, dry_run: bool) -> Result<()> {
    let set = set_key(&facts.run.config_path(), key, value, dry_run, &|text| {
        check(facts, key, text)
    });
    set.map_err(|error| unchanged(key, error))
}

fn unchanged(key: &[String], error: Error) -> Error {
    error.context(format!("`{}` was not changed", joined(key).escape_debug()))
}

/// Whether the text of the file is valid with `key` changed.
fn check(facts: &Facts, key: &[String], text: &str) -> Result<()> {
    let Err((_, reason)) = parse_toml::<policy::Config>(text) else {
        return Ok(());
    };
    // An existing error is reported with its line.
    facts.own_config()?;
    Err(match takes(key) {
        // The hint says what it takes.
        Some(takes) => Error::new(reason.split(": it takes").next().unwrap_or(&reason)).hint(takes),
        None => Error::new("there is no such key").hint(suggestion(key)),
    })
}

/// Which values a key takes; `None` for an unknown one.
fn takes(key: &[String]) -> Option<String> {
    let known = Key::find(key)?;
    Some(format!("it takes {}", known.values))
}

/// The key that is meant, or where all are found.
fn suggestion(key: &[String]) -> String {
    let alike: Vec<String> = KEYS
        .iter()
        .flat_map(|known| known.with_names_of(key))
        .collect();
    let nearest = did_you_mean(&key.join("."), alike.iter().map(String::as_str));
    let all = "`agent-skills config list` shows every key and its value";
    nearest.unwrap_or_else(|| all.to_owned())
}

/// Whether it is a key, or a table of such.
fn is_known(key: &[String]) -> bool {
    let entry = [key, &["x".to_owned()]].concat();
    Key::find(key).or(Key::find(&entry)).is_some()
}

fn settings(facts: &Facts) -> Result<Vec<Setting>> {
    let (policies, own) = (facts.policies()?, facts.own_config()?);
    policy::settings(&facts.run, facts.state(), &policies, &own)
}

/// The value of a key that was changed, as [`get`] tells a person.
fn told(facts: &Facts, path: &[String]) -> Result<String> {
    get(facts, Common::default(), path)
}

fn get(facts: &Facts, common: Common, path: &[String]) -> Result<String> {
    let settings = settings(facts)?;
    let key = joined(path);
    let below = format!("{key}.");
    let is_meant = |one: &&Setting| one.key == key || one.key.starts_with(&below);
    let found: Vec<&Setting> = settings.iter().filter(is_meant).collect();
    if !found.is_empty() {
        let lines = || found.iter().map(|one| line(one)).collect();
        return json::answers(common, "settings", &found, lines);
    }
    if is_known(path) {
        return Ok(format!("`{key}` is not set\n"));
    }
    let text = format!("there is no key `{}`", key.escape_debug());
    Err(Error::new(text).hint(suggestion(path)))
}

/// A setting with what is known about its key.
#[derive(Serialize)]
struct Described<'a> {
    #[serde(flatten)]
    setting: &'a Setting,
    about: Option<&'a str>,
    values: Option<&'a str>,
}

fn list(facts: &Facts, common: Common, screen: Screen) -> Result<String> {
    let settings = settings(facts)?;
    let described = settings.iter().map(|setting| {
        let key = Key::find(&parts(&setting.key));
        Described {
            setting,
            about: key.map(|key| key.about),
            values: key.map(|key| key.values),
        }
    });
    let described: Vec<Described> = described.collect();
    json::answers(common, "settings", &described, || {
        let lines = described.iter().map(|one| one.line(screen));
        let tables = KEYS.iter().filter(|key| key.is_table());
        let tables = tables.map(|key| {
            let line = format!("  # {}: {}", key.about, key.values);
            screen.hanging(key.name, &line, INDENT)
        });
        lines.chain(tables).collect()
    })
}

/// Where the description of a key goes on.
const INDENT: usize = 4;

impl Described<'_> {
    fn line(&self, screen: Screen) -> String {
        let setting = self.setting;
        let value = one_line(&setting.value.to_string());
        let (about, values) = (
            self.about.unwrap_or_default(),
            self.values.unwrap_or_default(),
        );
        let from = match &*setting.origin {
            "default" => String::new(),
            origin => format!(" (from {})", one_line(origin)),
        };
        let line = format!("{} = {value}  # {about}: {values}{from}", setting.key);
        screen.hanging("", &line, INDENT)
    }
}

fn line(setting: &Setting) -> String {
    let (value, origin) = (setting.value.to_string(), &setting.origin);
    let (value, origin) = (one_line(&value), one_line(origin));
    format!("{} = {value}  # {origin}\n", setting.key)
}

fn paths(facts: &Facts, common: Common) -> Result<String> {
    let mut files = vec![
        ("own", facts.run.config_path()),
        ("project", facts.run.project_config_path()),
    ];
    let policies = facts.enterprise().policy_files().into_iter();
    files.extend(policies.map(|file| ("policy", file.path)));
    let file = |(what, path): &(&str, PathBuf)| json!({"what": what, "path": path, "exists": path.exists()});
    let listed: Vec<_> = files.iter().map(file).collect();
    let line = |(what, path): &(&str, PathBuf)| {
        let missing = if path.exists() { "" } else { "  (not there)" };
        let shown = one_line(&path.display().to_string());
        format!("{what:8} {shown}{missing}\n")
    };
    json::answers(common, "files", &listed, || {
        files.iter().map(line).collect()
    })
}

/// Opens a copy in the editor and saves it, unless it has a mistake. Then the copy is kept, and
/// opened next time.
fn edit(facts: &Facts) -> Result<String> {
    let path = facts.run.config_path();
    let copy = path.with_file_name("config.edited.toml");
    let before = read(&path)?.unwrap_or_default();
    if read(&copy)?.is_none() {
        Layer::Plugin.base(facts).make()?;
        files::replace(&copy, before.as_bytes(), 0o600, Durable::No)?;
    }
    open(&facts.run, &copy)?;
    let after = read(&copy)?.unwrap_or_default();
    let kept = || {
        let copy = copy.display();
        format!("what you wrote is in `{copy}`; `agent-skills config edit` opens it again")
    };
    let check = |text: &str| match parse_toml::<policy::Config>(text) {
        Ok(_) => Ok(()),
        Err((line, reason)) => {
            Err(Error::new(format!("nothing was saved: line {line}: {reason}")).hint(kept()))
        }
    };
    let what = if after == before {
        "unchanged"
    } else {
        save_toml(&path, &before, &after, &check).map_err(|error| error.or_hint(kept()))?;
        "saved"
    };
    files::remove(&copy).map_err(|error| Error::io("remove", &copy, &error))?;
    Ok(format!("{what}: {}\n", path.display()))
}

fn read(path: &Path) -> Result<Option<String>> {
    let bytes = files::unless_missing(path, |path| files::read_capped(path, limits::CONFIG_FILE));
    let bytes = bytes.map_err(|error| Error::io("read", path, &error))?;
    bytes.map(String::from_utf8).transpose().map_err(|_| {
        Error::new(format!("`{}` is not UTF-8", path.display())).hint("save it as UTF-8")
    })
}

/// Runs the editor as git does: the variable may contain options.
fn open(run: &RunContext, file: &Path) -> Result<()> {
    let set = ["VISUAL", "EDITOR"]
        .iter()
        .find_map(|name| run.env.text(name));
    let editor = set.filter(|editor| !editor.trim().is_empty());
    let editor = editor.unwrap_or_else(|| "vi".to_owned());
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &format!("{editor} \"$1\""), "editor"])
        .arg(file);
    let status = shell
        .status()
        .map_err(|error| Error::io("run", Path::new("sh"), &error))?;
    if status.success() {
        return Ok(());
    }
    let text = format!(
        "the editor `{}` failed: nothing was saved",
        editor.escape_debug()
    );
    Err(Error::new(text).hint("set `VISUAL` or `EDITOR` to one that is installed"))
}
