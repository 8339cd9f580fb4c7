//! `cd` to the top of the working tree (docs/spec/restriction.md#the-top-of-the-working-tree), if
//! the shell is already there.

use super::{Checker, View};

impl Checker<'_> {
    /// Whether this is `cd "$(git rev-parse --show-toplevel)"` as the first command in a shell that
    /// is already there. If git finds no repository, the shell stays too.
    pub(super) fn stays_at_toplevel(&self, view: &View) -> bool {
        const COMMAND: &str = "git rev-parse --show-toplevel";
        let is_first = matches!(self.parts.as_slice(), [only] if only.text == COMMAND);
        is_first
            && self.texts == 0
            && view.depth == 0
            && !view.in_loop
            && matches!(view.words, [_, word] if word.raw == format!("\"$({COMMAND})\""))
            && self.rules.is_toplevel()
    }
}
