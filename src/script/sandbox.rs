//! How far a script is trusted: what it may read, write and reach (Linux, Landlock). Everything is
//! made before the fork; the script's process only has to enter it.

use serde::Deserialize;

/// Whether scripts are confined. Later ones are stricter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// They are not.
    #[default]
    Off,
    /// As far as this system can.
    Auto,
    /// They are, or do not run.
    Require,
}

/// What a confined script may use of the network. Later ones are stricter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// All of it.
    #[default]
    Open,
    /// No TCP connection to anywhere, no TCP port of its own.
    Restricted,
}
