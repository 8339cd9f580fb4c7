//! A number in the configuration, with a default that depends on the key.

use serde::{Deserialize, Serialize};

/// A count; `DEFAULT` if the key is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Count<const DEFAULT: usize>(pub usize);

impl<const DEFAULT: usize> Default for Count<DEFAULT> {
    fn default() -> Self {
        Self(DEFAULT)
    }
}
