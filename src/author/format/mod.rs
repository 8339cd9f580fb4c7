//! Findings as text for people, and in formats for other programs.

mod github;
mod sarif;
mod text;

use super::Findings;
use crate::error::{Error, Result};

/// The format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
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

/// Renders the report.
///
/// # Errors
/// When it cannot be written as JSON.
pub fn render(findings: &Findings, format: Format) -> Result<String> {
    let json = |value: serde_json::Result<String>| {
        value
            .map(|json| json + "\n")
            .map_err(|error| Error::caused("could not write the report", error))
    };
    match format {
        Format::Text => Ok(text::render(findings)),
        Format::Github => Ok(github::render(findings)),
        Format::Json => json(serde_json::to_string_pretty(findings)),
        Format::Sarif => json(serde_json::to_string_pretty(&sarif::log(findings))),
    }
}
