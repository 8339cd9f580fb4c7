//! Detects what makes a shell export every variable that is set, to every program.

use crate::permission::shell::builtins;
use crate::permission::shell::step::Step;
use crate::permission::shell::word::Word;
use crate::sys::name_list::Names;

/// Whether a command may make the shell export everything set from then on (`set -a`), or may do so
/// invisibly.
pub(super) fn may_export_all(step: &Step) -> bool {
    const CHANGE_THE_SHELL: Names =
        Names::new("set shopt setopt emulate source . eval enable trap");
    let Step::Command(simple) = step else {
        return false;
    };
    let Some((first, others)) = simple.words.split_first() else {
        return false;
    };
    let changes = |word: &Word| word.fits(|text| CHANGE_THE_SHELL.has(text));
    let runs_one = first.is_any(&["command", "builtin"]) && others.iter().any(changes);
    let strict = first.is_any(&["set"]) && builtins::sets_only_strictness(others);
    (changes(first) || runs_one) && !strict
}
