//! Directories that a command may enter unseen, so that what follows is checked in another one.

use super::{Checked, Reach};
use crate::permission::shell::step::Simple;
use crate::permission::shell::word::Word;

impl Reach<'_> {
    /// Refuses to enter a directory of protected places by a command that is not followed, such as
    /// `pushd .claude`, `command -p cd .claude` or `CDPATH=.claude cd skills`.
    ///
    /// # Errors
    /// The word that names the directory.
    pub fn entered(&self, command: &Simple) -> Checked {
        let is_followed = command.assignments.is_empty()
            && matches!(&*command.words, [cd, to] if cd.is_any(&["cd"]) && to.text().is_some());
        if is_followed || !command.may_move() {
            return Ok(());
        }
        let values: Vec<Word> = command.assigned().collect();
        let is_place = |path: &str| self.is_foreign(path) || self.holds_little_else(path);
        let mut words = command.words.iter().skip(1).chain(&values);
        words.try_for_each(|word| self.each_path(word, is_place))
    }
}
