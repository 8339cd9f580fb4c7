//! Protected places that a command line names where an operand is not known: it may be that place.

use super::Recorder;
use crate::permission::protected::{ANY, ANYTHING};
use crate::permission::shell::Fault;
use crate::permission::shell::directories::WorkingDirectories;
use crate::permission::shell::operand::{alternatives, globs};
use crate::permission::shell::programs::runs_words_from;
use crate::permission::shell::reach::Guard;
use crate::permission::shell::read::Reading;
use crate::permission::shell::runners::{self, base};
use crate::permission::shell::step::Step;
use crate::permission::shell::word::Word;
use crate::sys::name_list::Names;

/// Programs that set variables to their operands, or run others with them.
const KEEPS: Names = Names::new(
    "read set printf print export declare typeset local readonly integer let getopts mapfile \
     readarray env xargs find fd fdfind pushd",
);
/// Programs that print none of their operands, without options.
const SILENT: Names = Names::new("cat cp cd test [");
/// Steps to find the names in a text, beside its length.
const NAMES: usize = 8;
const QUOTES: [char; 3] = ['"', '\'', '\\'];
/// How many letters may stand before a path in one word.
const MAX_LETTERS: usize = 256;
const MAY_BE_OPERAND: &str = "an operand that is not known may be this protected place";

/// Whether a command neither sets variables to its operands nor runs them, and prints none where the
/// command line uses what is printed, or what it says of errors.
fn hands_on_nothing(words: &[Word], output_is_used: bool, errors_are_used: bool) -> bool {
    let name = words.first().and_then(Word::text).map(base);
    let is_silent =
        |name| SILENT.has(name) && !errors_are_used && !words.iter().any(Word::begins_option);
    name.is_some_and(|name| {
        let keeps = KEEPS.has(name) || runners::runs_text(name) || runs_words_from(words).is_some();
        is_silent(name) || !keeps && !output_is_used
    })
}

impl Recorder<'_> {
    /// Refuses a protected place that the command names while an operand is not known at all: it may
    /// be what `read`, `printf -v` or a substitution makes of that name.
    pub(super) fn check_names(&self) {
        let Guard {
            context, readings, ..
        } = self.guard;
        let mut seen = self.seen.borrow_mut();
        if !self.met_unknown.get() || seen.protected.is_some() {
            return;
        }
        // These do not end a path.
        let is_inside = |c| matches!(c, '*' | '-' | '.' | '/' | '?' | '[' | '\\' | ']' | '_');
        let is_end = |c: char| c.is_whitespace() || c.is_ascii_punctuation() && !is_inside(c);
        let is_named = |path: &&str| {
            let names = path.split('/');
            let is_glob = path.contains(['/', '*', '?']);
            // A wildcard without any letter would be every name.
            let mut names = names.filter(|name| name.contains(char::is_alphanumeric));
            names.any(|name| {
                let glob = is_glob.then(|| globs(name));
                context.protection.has_part(glob.as_deref().unwrap_or(name))
            })
        };
        // Whoever reads the text again may take away its quotes.
        let has_quotes = self.command.contains(QUOTES);
        let named = |text: &'_ str| -> Vec<String> {
            if !context.steps.spend(NAMES + text.len()) {
                return Vec::new();
            }
            let plain = has_quotes.then(|| text.replace(QUOTES, ""));
            let plain = plain.as_deref().unwrap_or_default();
            let paths = text.split(is_end).chain(plain.split(is_end));
            paths.filter(is_named).map(str::to_owned).collect()
        };
        // What other programs are given, they do not hand on.
        let reading = readings.read(self.command, context.places.shell, true);
        let mut kept: Vec<String> = Vec::new();
        let commands = || reading.iter().flat_map(Reading::commands);
        let cuts = self.command.contains("${");
        let is_file = |step: &Step| matches!(step, Step::Redirect(redirect) if redirect.writes);
        let mut steps = reading.iter().flat_map(|reading| &reading.steps);
        let writes = steps.any(is_file);
        // Each command leaves its last operand in `$_`, and what it says of errors names operands.
        let leaves = ["$_", "${_", "BASH_"]
            .iter()
            .any(|name| self.command.contains(name));
        let errors = self.command.replace("2>/dev/null", "").replace(">&2", "");
        let errors = ["2>", "2<>", "&>", ">&", "|&"]
            .iter()
            .any(|sign| errors.contains(sign));
        for simple in commands().filter(|_| !leaves) {
            if hands_on_nothing(&simple.words, writes || simple.is_captured, errors) {
                let plain = simple
                    .words
                    .iter()
                    .filter(|word| !word.raw.contains(['$', '`']));
                kept.extend(plain.flat_map(|word| named(&word.raw)));
            }
        }
        self.reaching(&WorkingDirectories::default(), &[], |reach| {
            let nothing = ['/', '.', ANY, ANYTHING];
            // It may be part of a path below the project or the home directory, and stand behind
            // the letter of an option: `-o.claude/x`.
            let leads_in = |path: &str| {
                let path = globs(path.trim_end_matches('/'));
                // `${x%…}` may leave only its directory.
                let above = path.rsplit_once('/').filter(|_| cuts);
                let bases = std::iter::once(&*path).chain(above.map(|(above, _)| above));
                let bases = bases.filter(|base| !base.trim_matches(nothing).is_empty());
                let below = bases.map(|base| format!("{base}/{ANYTHING}"));
                let ends = (0..path.len().min(MAX_LETTERS)).filter_map(|at| path.get(at..));
                let mut all = below.chain(ends.map(str::to_owned));
                all.any(|end| {
                    !context.steps.spend(4 + end.len() / 8)
                        || reach.is_foreign(&end)
                        || reach.is_foreign(&format!("~/{end}"))
                })
            };
            let is_found = |path: &String| {
                let at = kept.iter().position(|one| one == path);
                at.map(|at| kept.swap_remove(at)).is_none()
                    && (!context.steps.spend(1 + kept.len()) || leads_in(path))
            };
            // Braces hide names from a search of the text.
            let braced = commands().flat_map(|simple| &simple.words);
            let braced = braced.filter(|word| word.raw.contains('{'));
            let braced = braced.filter_map(|word| alternatives(&word.raw)).flatten();
            let braced: Vec<String> = braced.flat_map(|text| named(&text)).collect();
            let found = named(self.command).into_iter().chain(braced).find(is_found);
            seen.protected = found.map(|name| Fault::new(&name, MAY_BE_OPERAND));
        });
    }
}
