//! `enable` and `disable`: who sees a skill, in the configuration.

use crate::cli::prelude::*;
use crate::cli::set_up::config::set_in_config;

/// Show skills to the model
#[derive(Debug, clap::Args)]
pub struct EnableArgs {
    /// The skills' names
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,
    /// Show only the name
    #[arg(long)]
    pub name_only: bool,
}

impl EnableArgs {
    /// Shows the skills to the model, or only their names.
    pub fn run(&self, call: CliCall) -> Answer {
        let visibility = if self.name_only { "name-only" } else { "on" };
        set_visibility(call, &self.names, visibility)
    }
}

/// Hide skills from the model and from people
#[derive(Debug, clap::Args)]
pub struct DisableArgs {
    /// The skills' names
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,
    /// Hide them from the model only
    #[arg(long)]
    pub user: bool,
}

impl DisableArgs {
    /// Hides the skills from everybody, or only from the model.
    pub fn run(&self, call: CliCall) -> Answer {
        let visibility = if self.user { "user" } else { "off" };
        set_visibility(call, &self.names, visibility)
    }
}

fn set_visibility(call: CliCall, names: &[String], visibility: &str) -> Answer {
    Outcomes::of_each(call, names, |written| {
        let name = configurable(call.facts, written)?;
        let key = ["visibility".to_owned(), name.clone()];
        set_in_config(call.facts, &key, visibility, call.common.dry_run)?;
        let would = call.would("is", "be");
        let how = match visibility {
            "name-only" => "shown to the model by its name only,",
            "user" => "hidden from the model, but not from people,",
            plain => plain,
        };
        Ok(format!(
            "`{name}` {would} {how} from the next start of chibi\n"
        ))
    })
}

/// The name of the skill `written`.
///
/// # Errors
/// When there is none, or it is the administrator's.
fn configurable(facts: &Facts, written: &str) -> Result<String> {
    let catalog = Catalog::naming(facts, written);
    let entry = installed(facts, &catalog, written)?;
    let name = entry.name();
    let policies = facts.policies()?;
    let mut same_name = catalog.rivals(entry).chain([entry]);
    let why = if let Some(policy) = policies.requires(&name) {
        format!("the policy `{}` requires `{name}`", policy.display())
    } else if same_name.any(|entry| entry.layer == Layer::Enterprise) {
        format!("`{name}` is the administrator's")
    } else {
        return Ok(name);
    };
    let text = format!("{why}, and a configuration hides or shows it to nobody");
    Err(Error::new(text).hint("ask the administrator of this machine"))
}
