//! `find`, which runs commands and deletes files: what a rule for it covers
//! (docs/spec/restriction.md#find).

use super::variables::is_name_char;
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

/// Finds actions among the arguments; `untouched` are variables that the command line does not set.
///
/// # Errors
/// For words that could become an action.
pub fn actions(arguments: &[Word], untouched: &[String]) -> Result<Actions, &'static str> {
    let mut actions = Actions::default();
    let mut at = 0;
    while let Some(word) = arguments.get(at) {
        let before = &arguments[..at];
        at += 1;
        let Some(text) = word.text() else {
            let is_value = word.is_one_word() && is_primary_value(before);
            if !(is_value || is_hosts(word, untouched) || is_no_primary(word)) {
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
        let behind = &arguments[at..];
        let is_end = |word: &Word| word.is_one_of(&[";", "+"]);
        let end = behind.iter().position(is_end).unwrap_or(0);
        let ends_none = |text: &str| text.contains(|c| !matches!(c, ';' | '+'));
        // A variable of the host's may be empty, which leaves the `;` or `+` beside it.
        let is_no_end = |word: &&Word| word.text().is_some() || has_text(word, ends_none);
        // If the command ends at an unknown word, `find` refuses what is behind it, up to the plain end,
        // and runs nothing: it begins no primary.
        let mut unknown = behind[..end].iter().skip_while(is_no_end);
        let ends_once = unknown.next().is_none_or(Word::is_one_word)
            && unknown.all(|word| word.fits(|text| !text.starts_with('-')));
        if end == 0 || !ends_once {
            return Err("the command it runs has no plain end");
        }
        let mut words = behind[..end].to_vec();
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

/// Whether the word after these is certainly the value of a primary: the one before it takes no value.
fn is_primary_value(before: &[Word]) -> bool {
    let Some((primary, before)) = before.split_last() else {
        return false;
    };
    let is_number = |text: &str| text[1..].starts_with(|c: char| c.is_ascii_digit());
    let takes_none = |text: &str| !text.starts_with('-') || VALUELESS.has(text) || is_number(text);
    let is_settled = |word: &Word| match word.text() {
        Some(text) => takes_none(text),
        None => word.is_one_word() || word.cannot_be_option(),
    };
    // `-fprintf` takes two values.
    let mut two_before = before.iter().rev().nth(1).into_iter();
    primary.fits(takes_value)
        && before.last().is_none_or(is_settled)
        && two_before.all(|word| word.fits(|text| text != "-fprintf"))
}

/// Whether a word, or each that a glob makes of it, certainly has text of this kind in it.
fn has_text(word: &Word, accepts: impl Fn(&str) -> bool) -> bool {
    let is_name =
        |piece: &Piece| matches!(piece, Piece::Text(_) | Piece::FileNames | Piece::NamePart);
    let is_accepted = |piece: &Piece| matches!(piece, Piece::Text(text) if accepts(text));
    word.is_complete
        && (word.is_one_word() || word.pieces.iter().all(is_name))
        && word.pieces.iter().any(is_accepted)
}

/// Whether a word is certainly no primary: these are letters and digits behind a `-`.
fn is_no_primary(word: &Word) -> bool {
    let is_sign = |c: char| !(c.is_ascii_alphanumeric() || c == '-');
    // A quote leaves an empty text.
    let empty = Piece::Text(String::new());
    let first = word.pieces.iter().find(|piece| **piece != empty);
    word.cannot_be_option()
        || word.is_complete && word.is_one_word() && first == Some(&Piece::NamePart)
        || has_text(word, |text| text.contains(is_sign))
}

/// Whether a word holds the values of these variables, which the command line does not set, or the
/// shell's directory, and no text of its own that would be a primary if they are empty.
fn is_hosts(word: &Word, variables: &[String]) -> bool {
    let raw = word.raw.replace('"', "");
    let mut directories = ["$(pwd)", "$(pwd -P)", "`pwd`", "$PWD"].into_iter();
    if let Some(rest) = directories.find_map(|one| raw.strip_prefix(one)) {
        return word.is_one_word() && (rest.is_empty() || rest.starts_with('/'));
    }
    let mut parts = raw.split('$');
    let mut own_text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = match part.strip_prefix('{') {
            Some(inside) => inside.split_once('}').unwrap_or_default(),
            None => part.split_at(part.find(|c| !is_name_char(c)).unwrap_or(part.len())),
        };
        if !variables.iter().any(|one| one == name) {
            return false;
        }
        own_text += rest;
    }
    word.is_complete
        && !own_text.contains(['*', '?', '[', '~', '`', '\\', '\''])
        && (own_text == "-" || !own_text.starts_with('-'))
}
