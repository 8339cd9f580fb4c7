//! A number in the configuration with its own default.

use serde::{Deserialize, Serialize};

/// A count; `DEFAULT` if it is not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Count<const DEFAULT: usize>(pub usize);

impl<const DEFAULT: usize> Default for Count<DEFAULT> {
    fn default() -> Self {
        Self(DEFAULT)
    }
}
