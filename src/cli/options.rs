//! The options that several verbs share, as clap sees them.

use clap::Args;

use crate::catalog::Layer;
use crate::run_context::RunContext;
use crate::sys::Base;

/// Which installation a command works on.
#[derive(Debug, Clone, Copy, Args)]
pub struct Scope {
    /// That of the project, like --layer project: .chibi/skills and .chibi/skills.lock.json
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

    /// The directory where that layer's skills are installed.
    pub fn base(self, ctx: &RunContext) -> Base {
        ctx.base(&ctx.layer_dir(self.layer()))
    }

    /// Whether no option was given.
    pub fn is_default(self) -> bool {
        self.layer.is_none() && !self.project
    }
}

/// Consent without asking.
#[derive(Debug, Clone, Copy, Args)]
pub struct Consent {
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
    /// Continue despite scan findings of severity high or block
    #[arg(long)]
    pub accept_findings: bool,
}

impl Consent {
    /// Whether an option was given.
    pub fn is_given(self) -> bool {
        self.yes || self.accept_findings
    }
}
