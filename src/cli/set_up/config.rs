//! `config`: shows the configuration and where it comes from, and changes it.

use std::fmt::Write;

use clap::Subcommand;

use crate::cli::json;
use crate::error::{Error, Result};
use crate::policy::{self, Setting, folded_key, parse_toml, set_key};
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
        /// KEY or TABLE.KEY
        key: String,
        /// The value
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Show every value and where it comes from
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show where the files are
    Path,
}

impl Config {
    /// Shows or changes values.
    pub fn run(&self, ctx: &RunContext) -> Result<String> {
        match self {
            Self::Get { key } => get(ctx, &folded_key(key)),
            Self::Set { key, value } => {
                let key = folded_key(key);
                let path: Vec<&str> = key.split('.').collect();
                set(ctx, &path, value)?;
                get(ctx, &key)
            }
            Self::List { json } => list(ctx, *json),
            Self::Path => Ok(paths(ctx)),
        }
    }
}

/// Changes one key of `config.toml`, unless the result would be invalid.
pub fn set(ctx: &RunContext, key: &[&str], value: &str) -> Result<()> {
    let written = key.join(".");
    let check = |text: &str| match parse_toml::<policy::Config>(text) {
        Ok(_) => Ok(()),
        Err((_, reason)) => {
            // An existing error is reported with its line.
            ctx.own_config()?;
            Err(Error::new(reason).hint(hint(ctx, &written)))
        }
    };
    set_key(&ctx.config_path(), key, value, &check)
        .map_err(|error| error.context(format!("`{written}` was not changed")))
}

fn hint(ctx: &RunContext, key: &str) -> String {
    let settings = ctx.settings().unwrap_or_default();
    let is_known = settings.iter().any(|setting| setting.key == key);
    let near = suggestion(key, &settings).filter(|_| !is_known);
    near.unwrap_or_else(|| ALL.to_owned())
}

/// Where all keys are found.
const ALL: &str = "`agent-skills config list` shows every key and its value";

fn suggestion(key: &str, settings: &[Setting]) -> Option<String> {
    did_you_mean(key, settings.iter().map(|setting| &*setting.key))
}

fn get(ctx: &RunContext, key: &str) -> Result<String> {
    let settings = ctx.settings()?;
    let below = format!("{key}.");
    let is_meant = |one: &&Setting| one.key == key || one.key.starts_with(&below);
    let found: String = settings.iter().filter(is_meant).map(line).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let text = format!("there is no key `{}`", key.escape_debug());
    Err(Error::new(text).hint(suggestion(key, &settings).unwrap_or_else(|| ALL.to_owned())))
}

fn list(ctx: &RunContext, as_json: bool) -> Result<String> {
    let settings = ctx.settings()?;
    if as_json {
        return json::list("settings", &settings);
    }
    Ok(settings.iter().map(line).collect())
}

fn line(setting: &Setting) -> String {
    let (value, origin) = (setting.value.to_string(), &setting.origin);
    let (value, origin) = (one_line(&value), one_line(origin));
    format!("{} = {value}  # {origin}\n", setting.key)
}

fn paths(ctx: &RunContext) -> String {
    let mut files = vec![
        ("own", ctx.config_path()),
        ("project", ctx.project_config_path()),
    ];
    let policies = ctx.enterprise().policy_files().into_iter();
    files.extend(policies.map(|file| ("policy", file.path)));
    let mut text = String::new();
    for (what, path) in files {
        let missing = if path.exists() { "" } else { "  (not there)" };
        let shown = one_line(&path.display().to_string());
        let _ = writeln!(text, "{what:8} {shown}{missing}");
    }
    text
}
