//! The effective configuration: the user's, tightened by a trusted project and by the policies.

use std::rc::Rc;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::Result;
use crate::policy::config_merge::ProjectConfig;
use crate::policy::{Config, Enterprise, Policies, Trust, Trusts, read_toml};
use crate::run_context::RunContext;

/// One key of the configuration, with its value and where that comes from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Setting {
    /// `key` or `table.key`.
    pub key: String,
    /// The effective value.
    pub value: Value,
    /// `default`, `policy`, or the path of the file.
    pub origin: String,
}

impl RunContext {
    /// The administrator's locations.
    pub fn enterprise(&self) -> Rc<Enterprise> {
        self.once(|| Enterprise::of(&self.env))
    }

    /// The effective policies.
    ///
    /// # Errors
    /// If one cannot be read. Then only reads are allowed.
    pub fn policies(&self) -> Result<Policies> {
        if let Some(policies) = self.known::<Policies>() {
            return Ok(Policies::clone(&policies));
        }
        let policies = Policies::read(&self.enterprise())?;
        Ok(Policies::clone(&self.once(|| policies)))
    }

    /// The effective configuration.
    ///
    /// # Errors
    /// If a file contains a mistake. A person gets the error, and hooks block.
    pub fn config(&self) -> Result<Config> {
        if let Some(config) = self.known::<Config>() {
            return Ok(Config::clone(&config));
        }
        let (_, with_project, policies) = self.stages()?;
        let config = with_project.raised_to(policies.floors());
        // A person's command may change the configuration and read it again.
        if self.protocol.is_some() {
            self.once(|| config.clone());
        }
        Ok(config)
    }

    /// The user's own configuration.
    ///
    /// # Errors
    /// As [`RunContext::config`].
    pub fn own_config(&self) -> Result<Config> {
        Ok(read_toml(&self.config_path())?.unwrap_or_default())
    }

    /// The user's configuration file.
    pub fn config_path(&self) -> std::path::PathBuf {
        self.dirs.plugin.join("config.toml")
    }

    /// Every key with its value and origin, sorted by key.
    ///
    /// # Errors
    /// As [`RunContext::config`].
    pub fn settings(&self) -> Result<Vec<Setting>> {
        let (own, with_project, policies) = self.stages()?;
        let in_force = with_project.clone().raised_to(policies.floors());
        let written = read_toml::<Value>(&self.config_path())?.unwrap_or_default();
        let (own, with_project) = (leaves(&own), leaves(&with_project));
        let written = leaves(&written);
        let origin = |key: &str, value: &Value| {
            if lookup(&with_project, key) != Some(value) {
                "policy".to_owned()
            } else if lookup(&own, key) != Some(value) {
                self.project_config_path().display().to_string()
            } else if lookup(&written, key).is_some() {
                self.config_path().display().to_string()
            } else {
                "default".to_owned()
            }
        };
        let settings = leaves(&in_force).into_iter().map(|(key, value)| Setting {
            origin: origin(&key, &value),
            key,
            value,
        });
        Ok(settings.collect())
    }

    fn stages(&self) -> Result<(Config, Config, Policies)> {
        let policies = self.policies()?;
        let own = self.own_config()?;
        let with_project = match self.trusted_project_config(&policies)? {
            Some(project) => own.clone().tightened_by(project),
            None => own.clone(),
        };
        Ok((own, with_project, policies))
    }

    fn trusted_project_config(&self, policies: &Policies) -> Result<Option<ProjectConfig>> {
        let path = self.project_config_path();
        if path.symlink_metadata().is_err() || policies.forbids_projects().is_some() {
            return Ok(None);
        }
        match Trusts::default().of_config(self, &self.project_dir()) {
            Trust::Given => read_toml(&path),
            Trust::Missing | Trust::Outdated(_) => Ok(None),
        }
    }
}

fn leaves(config: &impl Serialize) -> Vec<(String, Value)> {
    let mut leaves = Vec::new();
    // JSON can represent every value of the configuration.
    if let Ok(Value::Object(keys)) = serde_json::to_value(config) {
        flatten("", keys, &mut leaves);
    }
    leaves.sort_by(|a, b| a.0.cmp(&b.0));
    leaves
}

fn flatten(above: &str, keys: Map<String, Value>, leaves: &mut Vec<(String, Value)>) {
    for (key, value) in keys {
        let key = format!("{above}{key}");
        match value {
            Value::Object(table) => flatten(&format!("{key}."), table, leaves),
            value => leaves.push((key, value)),
        }
    }
}

fn lookup<'a>(leaves: &'a [(String, Value)], key: &str) -> Option<&'a Value> {
    leaves
        .iter()
        .find(|(name, _)| name == key)
        .map(|(_, value)| value)
}
