//! A skill that somebody may choose.

use serde::Serialize;

/// One of several skills that a reference means.
#[derive(Debug, Clone, Serialize)]
pub struct Candidate {
    /// Its name.
    pub name: String,
    /// Its directory in the source.
    pub path: String,
    /// Its author's description, unescaped.
    pub description: Option<String>,
    /// The plugin to which the source's manifest assigns it.
    pub plugin: Option<String>,
    /// Whether it is installed from there.
    pub installed: bool,
    /// What `--skill` takes to mean exactly this one.
    #[serde(skip)]
    pub select: String,
}
