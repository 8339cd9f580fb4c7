//! `config`: shows the configuration and where it comes from, and changes it.

use std::cell::Cell;
use std::fmt::Write;
use std::path::PathBuf;

use clap::Subcommand;
use serde::Serialize;
use serde_json::json;

use super::config_edit::edit;
use super::config_keys::{KEYS, Key};
use crate::cli::options::Common;
use crate::cli::outcome::Outcomes;
use crate::cli::screen::Screen;
use crate::cli::{Answer, Caller, json};
use crate::error::{Error, Result};
use crate::host::agent::Agent;
use crate::policy::{self, Setting, folded_key, parse_toml, set_keys, unset_key};
use crate::run_context::RunContext;
use crate::skill::one_line;
use crate::sys::text::did_you_mean;

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
        /// KEY VALUE…, or KEY=VALUE…; a list as a,b
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
    pub fn run(&self, ctx: &RunContext, common: Common, caller: Caller, screen: Screen) -> Answer {
        match self {
            Self::Get { key } => Ok(get(ctx, common, &folded_key(key))?),
            Self::Set { words } => set_all(ctx, common, caller, words),
            Self::Unset { key } => {
                let key = folded_key(key);
                Outcomes::of_one(common, caller, &key, unset(ctx, common, &key))
            }
            Self::Edit => {
                let file = ctx.config_path().display().to_string();
                let edited = if common.dry_run {
                    Ok(format!("would open {} in an editor\n", one_line(&file)))
                } else {
                    edit(ctx)
                };
                Outcomes::of_one(common, caller, &file, edited)
            }
            Self::List => Ok(list(ctx, common.json, screen)?),
            Self::Path => Ok(paths(ctx, common.json)?),
        }
    }
}

/// Sets all keys or none.
fn set_all(ctx: &RunContext, common: Common, caller: Caller, words: &[String]) -> Answer {
    let changes = changes(words);
    let read = changes.iter().map(|(key, values)| {
        let path = Key::parts(key);
        let value = value(&path, values)?;
        Ok((path, value))
    });
    let read: Result<Vec<_>> = read.collect();
    let saved = read.and_then(|all| save(ctx, &all, common.dry_run).map(|()| all));
    let keys: Vec<&str> = changes.iter().map(|(key, _)| key.as_str()).collect();
    let all = match saved {
        Ok(all) => all,
        Err(error) => return Outcomes::of_one(common, caller, &keys.join(", "), Err(error)),
    };
    let mut outcomes = Outcomes::new(common, caller);
    for (key, (_, value)) in keys.into_iter().zip(all) {
        let would = || Ok(format!("would set {key} to {}\n", one_line(&value)));
        let is = || get(ctx, Common::default(), key);
        outcomes.push(key, if common.dry_run { would() } else { is() });
    }
    outcomes.answer()
}

fn unset(ctx: &RunContext, common: Common, key: &str) -> Result<String> {
    let path = Key::parts(key);
    let file = ctx.config_path();
    let hint = if is_known(&path) {
        "`agent-skills config list` shows where each value comes from".to_owned()
    } else {
        suggestion(&path)
    };
    let unset = change(common.dry_run, &check(ctx, &path), |check| {
        unset_key(&file, &path, check, &hint)
    });
    unset.map_err(|error| unchanged(key, error))?;
    if common.dry_run {
        return Ok(format!(
            "would remove {key} from {}\n",
            one_line(&file.display().to_string())
        ));
    }
    Ok(get(ctx, Common::default(), key).unwrap_or_else(|_| format!("`{key}` is no longer set\n")))
}

/// What `KEY VALUE…` or `KEY=VALUE…` sets, each key once with all its values.
fn changes(words: &[String]) -> Vec<(String, Vec<&str>)> {
    let pairs = words.iter().map(|word| word.split_once('='));
    let is_key = |key: &str| !key.contains(['"', '(', ' ']);
    let Some(pairs) = pairs
        .collect::<Option<Vec<_>>>()
        .filter(|all| is_key(all[0].0))
    else {
        let values = words[1..].iter().map(String::as_str).collect();
        return vec![(folded_key(&words[0]), values)];
    };
    let mut changes: Vec<(String, Vec<&str>)> = Vec::new();
    for (key, value) in pairs {
        let key = folded_key(key);
        match changes.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => changes.push((key, vec![value])),
        }
    }
    changes
}

/// The value as TOML or text. Of a list, `a,b` and each further value is an entry.
fn value(key: &[&str], values: &[&str]) -> Result<String> {
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
            let text = format!("`{}` {what}", key.join(".").escape_debug());
            Err(Error::new(text).hint(takes(key).unwrap_or_else(|| suggestion(key))))
        }
    }
}

/// The entries that commas separate, except for commas within parentheses.
fn entries(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    let parts = list.split(move |c| {
        match c {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    parts.map(str::trim).filter(|entry| !entry.is_empty())
}

/// Changes one key of `config.toml`, unless the result would be invalid, or this is a dry run.
pub fn set(ctx: &RunContext, key: &[&str], value: &str, dry_run: bool) -> Result<()> {
    save(ctx, &[(key.to_vec(), value.to_owned())], dry_run)
}

fn save(ctx: &RunContext, changes: &[(Vec<&str>, String)], dry_run: bool) -> Result<()> {
    let valid = |key: &[&str], text: &str| check(ctx, key)(text);
    change(dry_run, &|_| Ok(()), |last| {
        set_keys(&ctx.config_path(), changes, &valid, last)
    })
}

/// Makes a change that passes `check`, or in a dry run only finds out whether it would.
fn change(
    dry_run: bool,
    check: &dyn Fn(&str) -> Result<()>,
    make: impl FnOnce(&dyn Fn(&str) -> Result<()>) -> Result<()>,
) -> Result<()> {
    if !dry_run {
        return make(check);
    }
    let is_valid = Cell::new(false);
    let tried = make(&|text| {
        check(text)?;
        is_valid.set(true);
        Err(Error::new("a dry run writes nothing"))
    });
    if is_valid.get() { Ok(()) } else { tried }
}

fn unchanged(key: &str, error: Error) -> Error {
    error.context(format!("`{}` was not changed", key.escape_debug()))
}

/// Whether the text of the file is valid with `key` changed.
fn check<'a>(ctx: &'a RunContext, key: &'a [&str]) -> impl Fn(&str) -> Result<()> + 'a {
    |text| match parse_toml::<policy::Config>(text) {
        Ok(_) => Ok(()),
        Err((_, reason)) => {
            // An existing error is reported with its line.
            ctx.own_config()?;
            Err(match takes(key) {
                // The hint says what it takes.
                Some(takes) => {
                    Error::new(reason.split(": it takes").next().unwrap_or(&reason)).hint(takes)
                }
                None => Error::new("there is no such key").hint(suggestion(key)),
            })
        }
    }
}

/// Which values a key takes; `None` for an unknown one.
fn takes(key: &[&str]) -> Option<String> {
    let known = Key::find(key)?;
    Some(format!("it takes {}", known.values))
}

/// The key that is meant, or where all are found.
fn suggestion(key: &[&str]) -> String {
    let alike = KEYS.iter().flat_map(|known| known.with_names_of(key));
    let alike: Vec<String> = alike.collect();
    let nearest = did_you_mean(&key.join("."), alike.iter().map(String::as_str));
    let all = match key {
        ["hosts", agent, ..] if agent.parse::<Agent>().is_err() => {
            format!(
                "the agents are {}",
                Agent::ALL.map(Agent::as_str).join(", ")
            )
        }
        _ if nearest.is_some() => String::new(),
        _ => "`agent-skills config list` shows every key and its value".to_owned(),
    };
    let parts = nearest.into_iter().chain([all]);
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
    parts.join(" ")
}

/// Whether it is a key, or a table of such.
fn is_known(key: &[&str]) -> bool {
    let entry = [key, &["x"]].concat();
    Key::find(key).or(Key::find(&entry)).is_some()
}

fn get(ctx: &RunContext, common: Common, key: &str) -> Result<String> {
    let settings = ctx.settings()?;
    let below = format!("{key}.");
    let is_meant = |one: &&Setting| one.key == key || one.key.starts_with(&below);
    let found: Vec<&Setting> = settings.iter().filter(is_meant).collect();
    if !found.is_empty() && common.json {
        return json::list("settings", &found);
    }
    if !found.is_empty() {
        return Ok(found.into_iter().map(line).collect());
    }
    let path = Key::parts(key);
    if is_known(&path) {
        return Ok(format!("`{key}` is not set\n"));
    }
    let text = format!("there is no key `{}`", key.escape_debug());
    Err(Error::new(text).hint(suggestion(&path)))
}

/// A setting with what is known about its key.
#[derive(Serialize)]
struct Described<'a> {
    #[serde(flatten)]
    setting: &'a Setting,
    about: Option<&'a str>,
    values: Option<&'a str>,
}

fn list(ctx: &RunContext, as_json: bool, screen: Screen) -> Result<String> {
    let settings = ctx.settings()?;
    let described = settings.iter().map(|setting| {
        let path = Key::parts(&setting.key);
        let key = Key::find(&path);
        Described {
            setting,
            about: key.map(|key| key.about),
            values: key.map(|key| key.values),
        }
    });
    if as_json {
        return json::list("settings", &described.collect::<Vec<_>>());
    }
    let mut text: String = described.map(|one| one.line(screen)).collect();
    for key in KEYS.iter().filter(|key| key.is_table()) {
        let line = format!("  # {}: {}", key.about, key.values);
        text += &screen.hanging(key.name, &line, INDENT);
    }
    Ok(text)
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

fn paths(ctx: &RunContext, as_json: bool) -> Result<String> {
    let mut files = vec![
        ("own", ctx.config_path()),
        ("project", ctx.project_config_path()),
    ];
    let policies = ctx.enterprise().policy_files().into_iter();
    files.extend(policies.map(|file| ("policy", file.path)));
    if as_json {
        let file = |(what, path): &(&str, PathBuf)| json!({"what": what, "path": path, "exists": path.exists()});
        return json::list("files", &files.iter().map(file).collect::<Vec<_>>());
    }
    let mut text = String::new();
    for (what, path) in files {
        let missing = if path.exists() { "" } else { "  (not there)" };
        let shown = one_line(&path.display().to_string());
        let _ = writeln!(text, "{what:8} {shown}{missing}");
    }
    Ok(text)
}
