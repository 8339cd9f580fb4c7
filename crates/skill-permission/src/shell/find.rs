//! `find`, which runs commands and deletes files: what a rule for it covers
//! (docs/spec/restriction.md#find).

use super::word::{Piece, Word, make_unknown};
use skill_text::Names;

/// Primaries that write; a rule must spell them out.
pub const WRITE_PRIMARIES: [&str; 5] = ["-delete", "-fprint", "-fprint0", "-fprintf", "-fls"];
/// Primaries that run the words after them.
pub const EXEC_PRIMARIES: [&str; 4] = ["-exec", "-execdir", "-ok", "-okdir"];
/// Primaries whose next word is a value in some `find`, except those in `WRITE_PRIMARIES`.
const VALUED: Names = Names::new(
    "-D -f -name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -lname \
     -ilname -anewer -cnewer -mnewer -samefile -type -xtype -fstype -size -mtime -mmin -atime \
     -amin -ctime -cmin -Btime -Bmin -used -since -user -group -uid -gid -perm -inum -links \
     -flags -xattrname -maxdepth -mindepth -printf -context -files0-from -acl",
);
/// Words that take no value: what follows is certainly a primary.
const VALUELESS: Names = Names::new("-o -or -a -and -not -print -print0 -prune -empty -L -H");

/// What a `find` command does in addition to finding.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Actions {
    /// Commands it runs.
    pub commands: Vec<ExecAction>,
    /// Primaries that the granting rule must spell out.
    pub spelled: Vec<&'static str>,
}

/// A command that `find` runs.
#[derive(Debug, PartialEq, Eq)]
pub struct ExecAction {
    /// Its words, followed by an unknown one.
    pub words: Vec<Word>,
    /// Whether it runs in the directory of each file found.
    pub in_file_directory: bool,
}

/// Finds actions among the arguments.
///
/// # Errors
/// For words that could become an action.
pub fn actions(arguments: &[Word]) -> Result<Actions, &'static str> {
    let mut actions = Actions::default();
    let mut at = 0;
    while let Some(word) = arguments.get(at) {
        let before = &arguments[..at];
        at += 1;
        let Some(text) = word.text() else {
            let is_value = word.is_one_word() && is_primary_value(before);
            if !(word.cannot_be_option() || is_value || ends_unlike_an_action(word)) {
                return Err("this may become an action of `find`");
            }
            continue;
        };
        let write = WRITE_PRIMARIES.iter().find(|primary| **primary == text);
        if write.is_none() && !EXEC_PRIMARIES.contains(&text) {
            continue;
        }
        // Values are not skipped: an apparent primary before one may itself be a value.
        if before.last().is_some_and(|word| word.fits(takes_value)) {
            return Err("it may be a value or an action of `find`");
        }
        if let Some(primary) = write {
            actions.spelled.push(primary);
            continue;
        }
        let may_end = |word: &Word| match word.text() {
            Some(text) => matches!(text, ";" | "+"),
            None => !(word.is_one_word() && word.cannot_be_option()),
        };
        let end = arguments[at..].iter().position(may_end);
        let plain = |end: &usize| *end > 0 && arguments[at + end].text().is_some();
        let Some(end) = end.filter(plain) else {
            return Err("the command it runs has no plain end");
        };
        let mut words = arguments[at..at + end].to_vec();
        substitute_file_names(&mut words);
        let in_file_directory = text.ends_with("dir");
        actions.commands.push(ExecAction {
            words,
            in_file_directory,
        });
        at += end + 1;
    }
    Ok(actions)
}

/// Whether the word behind this one is a value.
pub fn takes_value(text: &str) -> bool {
    VALUED.has(text) || WRITE_PRIMARIES[1..].contains(&text) || text.starts_with("-newer")
}

/// The commands that a `find` with these arguments runs. A second action in a row shows that the
/// first is a value.
pub fn exec_commands(arguments: &[Word]) -> Vec<Vec<Word>> {
    let mut found = Vec::new();
    let mut rest = arguments;
    while let Some(at) = rest.iter().position(|word| word.is_one_of(&EXEC_PRIMARIES)) {
        let behind = &rest[at..];
        let begin = behind
            .iter()
            .position(|word| !word.is_one_of(&EXEC_PRIMARIES));
        let behind = &behind[begin.unwrap_or(behind.len())..];
        let end = behind.iter().position(|word| word.is_one_of(&[";", "+"]));
        let (command, after) = behind.split_at(end.unwrap_or(behind.len()));
        let mut words = command.to_vec();
        substitute_file_names(&mut words);
        found.push(words);
        rest = after;
    }
    found
}

/// Makes of `{}` in a command, and behind it, what is not known: names of files are put in.
pub fn substitute_file_names(words: &mut Vec<Word>) {
    make_unknown(words, "{}");
    words.push(Word::unknown());
}

/// Whether a glob ends in text with which no action does, as `*.py`, so that no name that it matches is
/// one.
fn ends_unlike_an_action(word: &Word) -> bool {
    let is_name =
        |piece: &Piece| matches!(piece, Piece::Text(_) | Piece::FileNames | Piece::NamePart);
    let Some(Piece::Text(end)) = word.pieces.last() else {
        return false;
    };
    let mut actions = WRITE_PRIMARIES.iter().chain(&EXEC_PRIMARIES);
    word.is_complete
        && word.pieces.iter().all(is_name)
        && !actions.any(|action| action.ends_with(end.as_str()))
}

/// Whether the word after these is certainly the value of a primary.
fn is_primary_value(before: &[Word]) -> bool {
    let Some((primary, before)) = before.split_last() else {
        return false;
    };
    let takes_none = |text: &str| !text.starts_with('-') || VALUELESS.has(text);
    primary.fits(takes_value) && before.last().and_then(Word::text).is_none_or(takes_none)
}
