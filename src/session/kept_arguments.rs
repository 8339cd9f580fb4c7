//! The arguments of an activation as the state keeps them: text of the user or the model, never
//! instructions and never a command.

use serde::{Deserialize, Serialize};

use crate::sys::limits;

/// Arguments short enough to be kept; longer ones exist only in the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeptArguments(String);

impl KeptArguments {
    /// The arguments of a call; `None` if it has none or they are too long.
    pub fn of(given: Option<&str>) -> Option<Self> {
        let text = given?.trim();
        let is_kept = !text.is_empty() && text.len() <= limits::KEPT_ARGUMENTS;
        is_kept.then(|| Self(text.to_owned()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_and_overlong_ones_are_not_kept() {
        let longest = "é".repeat(limits::KEPT_ARGUMENTS / 2);
        let longer = format!("{longest}x");
        for (given, kept) in [
            (None, None),
            (Some(" \n"), None),
            (Some(" a  b\n"), Some("a  b")),
            (Some(longest.as_str()), Some(longest.as_str())),
            (Some(longer.as_str()), None),
        ] {
            let arguments = KeptArguments::of(given);
            assert_eq!(arguments.as_ref().map(KeptArguments::as_str), kept);
        }
    }
}
