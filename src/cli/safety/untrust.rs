//! `untrust`: the opposite of `trust`.

use std::fmt::Write as _;

use super::trust::Parts;
use crate::error::{Error, Result};
use crate::policy::Event;
use crate::run_context::RunContext;
use crate::skill::one_line;

/// Stop trusting a project's skills and configuration
#[derive(Debug, clap::Args)]
pub struct Untrust {
    #[command(flatten)]
    pub parts: Parts,
}

impl Untrust {
    /// Revokes trust.
    pub fn run(&self, ctx: &RunContext) -> Result<String> {
        let (from, names) = (self.parts.dir(ctx), self.parts.names());
        let mut text = String::new();
        for holder in ctx.project_holders(&from) {
            let mut parts = self.parts.within(&holder);
            // The other skills there stay trusted, together with the files next to them.
            parts.retain(|part| !RunContext::is_place(part));
            let only = names.is_some().then_some(&*parts);
            if ctx.distrust(&holder, only)? {
                let shown = one_line(&holder.display().to_string());
                let event = Event::new("untrust").with("path", holder.display().to_string());
                ctx.record(event.with("skill", names.clone()));
                let _ = match &names {
                    Some(names) => write!(text, "{} in ", one_line(names)),
                    None => Ok(()),
                };
                let _ = writeln!(text, "`{shown}` is no longer trusted");
            }
        }
        if text.is_empty() {
            let text = format!("`{}` was not trusted", from.display());
            return Err(Error::new(text).hint("`agent-skills trust --list` shows what is"));
        }
        Ok(text)
    }
}
