//! The layers in which skills are found, and their order of precedence.

use std::path::PathBuf;

use crate::error::named;

/// To whom a skill belongs, highest precedence first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// The administrator's, for all users of the machine.
    Enterprise,
    /// The user's own.
    Personal,
    /// A project's.
    Project,
    /// Those installed into the plugin directory.
    Plugin,
}

/// A directory of skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// Whose skills it holds.
    pub layer: Layer,
    /// The directory; every entry in it is a skill.
    pub dir: PathBuf,
}

impl Layer {
    /// Every layer, in order of precedence.
    pub const ALL: [Self; 4] = [
        Self::Enterprise,
        Self::Personal,
        Self::Project,
        Self::Plugin,
    ];

    /// Its name in configuration, qualified names and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Enterprise => "enterprise",
            Self::Personal => "personal",
            Self::Project => "project",
            Self::Plugin => "plugin",
        }
    }
}

named!(Layer, "a layer");
