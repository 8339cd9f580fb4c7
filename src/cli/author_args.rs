//! The options of the verbs for skill authors, as clap sees them.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::author;
use crate::catalog::Layer;
use crate::host::Protocol;

/// Arguments of `new`.
#[derive(Debug, Args)]
pub struct New {
    /// The skill's name: lowercase letters, digits and single hyphens
    pub name: String,
    /// What it does and when to use it
    #[arg(long)]
    pub description: Option<String>,
    /// Include a script
    #[arg(long, value_enum)]
    pub script: Option<Language>,
    /// Allow only these tools; `Read Grep` if none are named
    #[arg(long, value_name = "TOOLS", num_args = 0..=1, require_equals = true, default_missing_value = "Read Grep")]
    pub restrict: Option<String>,
    /// The parent directory; the working directory if omitted
    #[arg(long, conflicts_with = "layer")]
    pub dir: Option<PathBuf>,
    /// Create it in a layer: enterprise, personal, project or plugin
    #[arg(long)]
    pub layer: Option<Layer>,
}

/// Arguments of `validate`.
#[derive(Debug, Args)]
pub struct Validate {
    /// Skill directories, SKILL.md files, or directories that contain skills
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Apply exactly the rules of the specification's reference validator
    #[arg(long)]
    pub strict: bool,
    /// Apply safe fixes and show the difference
    #[arg(long)]
    pub fix: bool,
    /// The format of the report
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}

/// Arguments of `try`.
#[derive(Debug, Args)]
pub struct Try {
    /// The name of an installed skill, or a skill's directory
    pub skill: String,
    /// The `arguments` that the model would pass
    #[arg(long, allow_hyphen_values = true)]
    pub arguments: Option<String>,
    /// Act as this generation of the host
    #[arg(long, value_enum, default_value = "stdin")]
    pub host: Generation,
}

/// Arguments of `simulate`.
#[derive(Debug, Args)]
pub struct Simulate {
    /// Conversations in YAML or JSON
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Record the answers in the files, for later plays to repeat
    #[arg(long)]
    pub record: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `package`.
#[derive(Debug, Args)]
pub struct Pack {
    /// A skill's directory, or the name of an installed skill
    pub skill: String,
    /// The file to write; NAME.zip if omitted
    #[arg(long, short)]
    pub output: Option<PathBuf>,
}

/// A generation of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Generation {
    /// chibi 0.7 and later
    Stdin,
    /// chibi up to 0.6
    Environment,
}

impl From<Generation> for Protocol {
    fn from(generation: Generation) -> Self {
        match generation {
            Generation::Stdin => Self::Stdin,
            Generation::Environment => Self::Environment,
        }
    }
}

/// The language of a script, as `--script` takes it.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Language {
    /// Python
    Py,
    /// Shell
    Sh,
    /// JavaScript
    Js,
}

impl From<Language> for author::Script {
    fn from(language: Language) -> Self {
        match language {
            Language::Py => Self::Py,
            Language::Sh => Self::Sh,
            Language::Js => Self::Js,
        }
    }
}

/// A report format, as `--format` takes it.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Format {
    /// Lines for people
    Text,
    /// The findings as JSON
    Json,
    /// SARIF 2.1.0, for code scanning services
    Sarif,
    /// Workflow commands of GitHub Actions
    Github,
}

impl From<Format> for author::Format {
    fn from(format: Format) -> Self {
        match format {
            Format::Text => Self::Text,
            Format::Json => Self::Json,
            Format::Sarif => Self::Sarif,
            Format::Github => Self::Github,
        }
    }
}
