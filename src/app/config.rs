//! `config.toml` in the plugin directory: every key there is, handed to the rooms that use it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use super::{App, ModelInstalls};
use crate::error::Result;
use crate::governance::read_toml;
use crate::permission::{Enforce, ScriptScope, Settings, Stacking};
use crate::script::{self, CallSeconds, Limit, Mode, Network, PassEnv, SkillSettings};

/// The user's choices. A key that is not written has its default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// `restrict` (default), `warn` or `off`: what happens to a call that a skill does not allow.
    pub enforce: Enforce,
    /// `replace` (default), `ratchet`, `intersect` or `union`: how two active skills combine.
    pub stacking: Stacking,
    /// Whether filters such as `| head -20` need no grant of their own; `true` by default.
    pub pipe_filters: Option<bool>,
    /// `own` (default), `listed` or `any`: whose scripts a restricted skill may run.
    pub scripts: ScriptScope,
    /// Tools that no restriction forbids, by name.
    pub always_allowed: Vec<String>,
    /// `note` (default) or `block`: what happens when the active skill's script is read, not run.
    pub script_reads: ScriptReads,
    /// `sources` (default), `any` or `off`: what a model may install without its user.
    pub model_installs: ModelInstalls,
    /// Which of the host's variables scripts get: `"all"` or a list of names; by default all but
    /// those that look like secrets.
    pub pass_env: PassEnv,
    /// `off` (default), `auto` or `require`: whether scripts are confined (Linux).
    pub sandbox: Mode,
    /// What a confined script may use of the network.
    pub network: Network,
    /// Where else a confined script may write.
    pub allowed_paths: Vec<PathBuf>,
    /// Seconds a script may take altogether; 120 by default.
    pub script_seconds: Limit,
    /// Seconds after which a call answers and its script goes on as a job, by host generation.
    pub call_seconds: CallSeconds,
    /// What differs for the scripts of single skills, by name.
    pub skills: BTreeMap<String, SkillSettings>,
}

/// What happens when a script of the active skill is read instead of run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScriptReads {
    /// The result says how to run it.
    #[default]
    Note,
    /// The refusal says how to run it.
    Block,
}

impl Config {
    /// What the script room takes.
    pub fn script(&self) -> script::Settings {
        script::Settings {
            pass_env: self.pass_env.clone(),
            sandbox: self.sandbox,
            network: self.network,
            allowed_paths: self.allowed_paths.clone(),
            timeout: self.script_seconds,
            call_seconds: self.call_seconds,
            skills: self.skills.clone(),
        }
    }

    /// What the permission room takes.
    pub fn permission(&self) -> Settings {
        let default = Settings::default();
        Settings {
            enforce: self.enforce,
            stacking: self.stacking,
            pipe_filters: self.pipe_filters.unwrap_or(default.pipe_filters),
            scripts: self.scripts,
            always_allowed: self.always_allowed.clone(),
            ..default
        }
    }
}

impl App {
    /// The configuration in force.
    ///
    /// # Errors
    /// When the file has a mistake: for people an error, and hooks stay closed.
    pub fn config(&self) -> Result<Config> {
        Ok(read_toml(&self.dirs.plugin.join("config.toml"))?.unwrap_or_default())
    }
}
