//! `cd` to the top of the working tree (docs/spec/restriction.md#the-top-of-the-working-tree),
//! where that is where the shell is.

use super::{Judge, View};

impl Judge<'_> {
    /// Whether this is `cd "$(git rev-parse --show-toplevel)"` before anything else was done, where
    /// that is where the shell is. If git finds nothing, the shell stays there, too.
    pub(super) fn stays_at_toplevel(&self, view: &View) -> bool {
        const COMMAND: &str = "git rev-parse --show-toplevel";
        let is_first = matches!(self.findings.as_slice(), [only] if only.part == COMMAND);
        is_first
            && self.texts == 0
            && !view.wrapped
            && !view.simple.in_loop
            && matches!(view.words, [_, word] if word.raw == format!("\"$({COMMAND})\""))
            && self.rules.is_toplevel()
    }
}
