//! How far scripts are confined.

use serde::{Deserialize, Serialize};

/// Whether scripts are confined, ordered from lenient to strict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Not confined.
    #[default]
    Off,
    /// Confined as far as this system can.
    Auto,
    /// Fully confined, or not run.
    Require,
}

/// A confined script's network access, ordered from lenient to strict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// All of it.
    #[default]
    Open,
    /// No sockets except Unix ones and netlink queries about interfaces and routes.
    Restricted,
}
