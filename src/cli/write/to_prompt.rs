//! `to-prompt`: the catalog block of skills, byte for byte as the reference tool prints it.

use std::path::PathBuf;

use super::read_properties::skill_dir;
use crate::author::strict;
use crate::error::Result;

/// Print the catalog block of skills, as the specification's reference tool does
#[derive(Debug, clap::Args)]
pub struct ToPrompt {
    /// Skills' directories or their SKILL.md
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
}

impl ToPrompt {
    /// The block.
    pub fn run(&self) -> Result<String> {
        let dirs = self.paths.iter().map(|path| skill_dir(path));
        let dirs: Vec<PathBuf> = dirs.collect::<Result<_>>()?;
        Ok(strict::to_prompt(&dirs)? + "\n")
    }
}
