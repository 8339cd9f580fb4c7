//! A number in the configuration with a default of its own.

use serde::{Deserialize, Serialize};

/// How many of something, `DEFAULT` unless it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Count<const DEFAULT: usize>(pub usize);

impl<const DEFAULT: usize> Default for Count<DEFAULT> {
    fn default() -> Self {
        Self(DEFAULT)
    }
}
