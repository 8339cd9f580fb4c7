//! `find`, which runs and deletes: what a grant for it covers (RESTRICTION.md §4.7).

use super::Fault;
use super::word::Word;
use super::wrappers::make_unknown;

/// Primaries that write, which an entry must spell.
const WRITES: [&str; 5] = ["-delete", "-fprint", "-fprint0", "-fprintf", "-fls"];
/// Primaries whose next word is a value.
const VALUED: [&str; 14] = [
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-regex",
    "-iregex",
    "-newer",
    "-type",
    "-size",
    "-mtime",
    "-mmin",
    "-maxdepth",
    "-mindepth",
];

/// What a `find` command does besides finding.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Actions {
    /// Commands it runs, with a word that is not known at the end of each.
    pub commands: Vec<Vec<Word>>,
    /// Primaries that the granting entry must spell.
    pub spelled: Vec<&'static str>,
}

/// Looks for actions among the arguments.
///
/// # Errors
/// For words that could become an action.
pub fn actions(arguments: &[Word]) -> Result<Actions, Fault> {
    let mut actions = Actions::default();
    let mut at = 0;
    while let Some(word) = arguments.get(at) {
        at += 1;
        let Some(text) = word.text() else {
            if !word.is_never_option() {
                return Err(Fault::new(&word.raw, "this may become an action of `find`"));
            }
            continue;
        };
        if let Some(primary) = WRITES.iter().find(|primary| **primary == text) {
            actions.spelled.push(primary);
        } else if VALUED.contains(&text) {
            if !arguments.get(at).is_some_and(Word::is_one_word) {
                return Err(Fault::new(text, "its value may become an action of `find`"));
            }
            at += 1;
        } else if ["-exec", "-execdir", "-ok", "-okdir"].contains(&text) {
            let may_end = |word: &Word| match word.text() {
                Some(text) => text == ";" || text == "+",
                None => !(word.is_one_word() && word.is_never_option()),
            };
            let end = arguments[at..].iter().position(may_end);
            let plain = |end: &usize| *end > 0 && arguments[at + end].text().is_some();
            let Some(end) = end.filter(plain) else {
                return Err(Fault::new(text, "the command it runs has no plain end"));
            };
            let mut command = arguments[at..at + end].to_vec();
            make_unknown(&mut command, "{}");
            command.push(Word::unknown());
            actions.commands.push(command);
            at += end + 1;
        }
    }
    Ok(actions)
}
