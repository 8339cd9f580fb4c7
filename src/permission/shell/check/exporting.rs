//! Detects what makes a shell export every variable that is set, to every program.

use crate::permission::shell::builtins;
use crate::permission::shell::step::Step;
use crate::permission::shell::word::Word;

/// Whether a command may make the shell export everything set from then on (`set -a`), or may do so
/// invisibly.
pub(super) fn may_export_all(step: &Step) -> bool {
    const CHANGE_THE_SHELL: [&str; 9] = [
        "set", "shopt", "setopt", "emulate", "source", ".", "eval", "enable", "trap",
    ];
    let Step::Command(simple) = step else {
        return false;
    };
    let plain = |word: &Word| {
        word.text()
            .is_some_and(|text| CHANGE_THE_SHELL.contains(&text))
    };
    let runs_one = match simple.words.as_slice() {
        [first, others @ ..] => {
            plain(first)
                || first
                    .text()
                    .is_some_and(|text| ["command", "builtin"].contains(&text))
                    && others.iter().any(plain)
        }
        [] => false,
    };
    let strict = simple.words.first().and_then(Word::text) == Some("set")
        && builtins::sets_only_strictness(&simple.words[1..]);
    runs_one && !strict
}
