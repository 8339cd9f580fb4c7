//! `read-properties` and `to-prompt`: what the specification's reference tool prints, byte for byte.

use std::fs;
use std::path::{Path, PathBuf};

use crate::author::strict;
use crate::error::{Error, Result};

/// Print a skill's properties as JSON, as the specification's reference tool does
#[derive(Debug, clap::Args)]
pub struct ReadProperties {
    /// A skill's directory or its SKILL.md
    pub path: PathBuf,
}

impl ReadProperties {
    /// The properties.
    pub fn run(&self) -> Result<String> {
        Ok(strict::read_properties(&skill_dir(&self.path)?)?.to_json() + "\n")
    }
}

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

/// The skill's directory.
///
/// # Errors
/// When nothing is there.
fn skill_dir(path: &Path) -> Result<PathBuf> {
    fs::metadata(path).map_err(|error| {
        Error::io("open", path, &error).hint("give a skill's directory or its SKILL.md")
    })?;
    Ok(match path.parent() {
        Some(dir) if strict::is_skill_file(path) && dir.as_os_str().is_empty() => {
            PathBuf::from(".")
        }
        Some(dir) if strict::is_skill_file(path) => dir.to_owned(),
        _ => path.to_owned(),
    })
}
