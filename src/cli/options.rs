//! The options that several or all verbs share, as clap sees them, and what every verb is handed.

use clap::Args;

use super::caller::Caller;
use super::screen::Screen;
use crate::catalog::Layer;
use crate::facts::Facts;

/// Which installation a command works on.
#[derive(Debug, Clone, Copy, Args)]
pub struct Scope {
    /// Work on the project's .chibi/skills, like --layer project
    #[arg(long, conflicts_with = "layer")]
    pub project: bool,
    /// The layer: enterprise, personal, project or plugin
    #[arg(long)]
    layer: Option<Layer>,
}

impl Scope {
    /// The selected layer.
    pub fn layer(self) -> Layer {
        match self.layer {
            Some(layer) => layer,
            None if self.project => Layer::Project,
            None => Layer::Plugin,
        }
    }

    /// Whether no option was given.
    pub fn is_default(self) -> bool {
        self.layer.is_none() && !self.project
    }
}

/// The options of every command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Args)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub struct Common {
    /// Print JSON
    #[arg(long, global = true, hide = true)]
    pub json: bool,
    /// Say what would change, and change nothing
    #[arg(long, global = true, hide = true)]
    pub dry_run: bool,
    /// Do not ask; it lifts neither a policy nor what the scan forbids
    #[arg(long, short, global = true, hide = true)]
    pub yes: bool,
    /// Print only errors and what was asked for
    #[arg(long, short, global = true, hide = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print more: reasons, paths, causes of errors
    #[arg(long, global = true, hide = true)]
    pub verbose: bool,
}

/// What a person may accept besides.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct Findings {
    /// Continue despite scan findings of severity high or block
    #[arg(long)]
    pub accept_findings: bool,
}

/// What every command is handed.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// What it is decided and answered on.
    pub facts: &'a Facts,
    /// The options of every command.
    pub common: Common,
    /// Who called it.
    pub caller: Caller,
    /// Where its answer goes.
    pub screen: Screen,
}
