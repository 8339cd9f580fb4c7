//! `show`: the plan of an install.

use crate::cli::prelude::*;
use crate::marketplace::{InstallOptions, Pick, ReferenceForm};

/// Show a skill without installing it
#[derive(Debug, clap::Args)]
pub struct ShowArgs {
    /// owner/skill, owner/repo@skill, owner/repo/path, a URL, skill@source, or ./directory
    #[arg(required = true, value_name = "REFERENCE")]
    pub references: Vec<String>,
    /// Show every skill of the repository
    #[arg(long, conflicts_with = "skill")]
    pub all: bool,
    /// Show these skills of the repository
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub skill: Vec<String>,
    /// How to interpret the reference
    #[arg(long, value_enum)]
    pub reading: Option<ReferenceForm>,
    /// Print this file of it
    #[arg(long, value_name = "PATH")]
    pub file: Option<String>,
    /// Use cached data, without the network
    #[arg(long)]
    pub offline: bool,
}

impl ShowArgs {
    /// Describes what would be installed.
    pub fn run(&self, call: CliCall) -> Answer {
        let options = InstallOptions {
            all: self.all,
            skills: self.skill.clone(),
            reading: self.reading,
            ..InstallOptions::default()
        };
        let market = market(call, Layer::Plugin, self.offline);
        if let Some(path) = &self.file {
            let read = |reference: &str| {
                let bytes = market.cat(reference, path, &options, &mut note)?;
                let text = text(path, &bytes)?;
                let file = json!({"reference": reference, "path": path, "text": text});
                Ok((file, text))
            };
            return answer_each(call, &self.references, "files", read);
        }
        let plan = |reference: &str| {
            let command = shell_command(&["show", reference]);
            let pick = skill_picker(call, None, &command);
            let options = InstallOptions {
                pick: pick.as_ref().map(|pick| pick as Pick),
                ..options.clone()
            };
            let plan = market.show(reference, &options, &mut note)?;
            let shown = describe_plan(&plan, None, call.screen, ToolNames::of(call.facts));
            Ok((json!(plan), shown))
        };
        answer_each(call, &self.references, "plans", plan)
    }
}

/// The content of a file as text that can be shown.
fn text(path: &str, bytes: &[u8]) -> Result<String> {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(printable(text)),
        _ => {
            let (path, size) = (path.escape_debug(), bytes.len());
            Err(Error::new(format!("`{path}` is not text: {size} bytes"))
                .hint("install the skill to get it"))
        }
    }
}
