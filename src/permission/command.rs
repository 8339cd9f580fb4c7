//! Patterns for one simple command (docs/spec/restriction.md#command-patterns) and the canonical
//! form that they match. Does not know how a command line splits into simple commands.

mod matching;

use matching::{ASSIGNMENT, Atom, BREAK, DYNAMIC, HOME, NAME_PART};

use super::list::EntryError;
use super::shell::{is_name, may_be_exported};
use super::template::Piece;

/// The words of one simple command in an unambiguous form: two words `a b` never equal one word `'a
/// b'`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CanonicalCommand(String);

impl CanonicalCommand {
    /// Starts the next word.
    pub fn word(&mut self) {
        if !self.0.is_empty() {
            self.0.push(BREAK);
        }
    }

    /// Adds a leading assignment, `NAME=value`.
    pub fn assignment(&mut self, text: &str) {
        self.word();
        self.0.push(ASSIGNMENT);
        self.0.push_str(text);
    }

    /// Adds text that the shell leaves unchanged to the current word.
    pub fn literal(&mut self, text: &str) {
        self.0.push_str(text);
    }

    /// Adds text known only at run time.
    pub fn dynamic(&mut self) {
        self.0.push(DYNAMIC);
    }

    /// Adds part of a file name known only at run time. It has no slash, and cannot turn other text
    /// into `..`.
    pub fn name_part(&mut self) {
        self.0.push(NAME_PART);
    }

    /// The forms that patterns match: this one, and if the home directory is in it, one in which
    /// each word that starts with it starts with [`HOME`].
    pub fn forms(&self, home: Option<&str>) -> Vec<Self> {
        let below_home = home.filter(|home| self.0.contains(home));
        let below_home = below_home.map(|home| self.below_home(home));
        std::iter::once(self.clone()).chain(below_home).collect()
    }

    fn below_home(&self, home: &str) -> Self {
        let below = |word: &str| match word.strip_prefix(home) {
            Some(rest) if rest.starts_with('/') => format!("{HOME}{rest}"),
            _ => word.to_owned(),
        };
        let words: Vec<String> = self.0.split(BREAK).map(below).collect();
        Self(words.join(&BREAK.to_string()))
    }
}

/// What a rule says about one simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandPattern {
    atoms: Vec<Atom>,
    /// What may follow them.
    endings: &'static [&'static [Atom]],
}

/// Nothing may follow.
const NOTHING: &[&[Atom]] = &[&[]];
/// Further words may follow (`git:*`).
const WORDS: &[&[Atom]] = &[&[], &[Atom::Is(BREAK), Atom::Any]];
/// As [`WORDS`]; `:` may also continue the last word (`npm run test:*` covers `npm run test:unit`).
const WORDS_OR_COLON: &[&[Atom]] = &[
    &[],
    &[Atom::Is(BREAK), Atom::Any],
    &[Atom::Is(':'), Atom::Any],
];

impl CommandPattern {
    /// Parses the text inside `Bash(…)`.
    ///
    /// # Errors
    /// A code and a message for a pattern that cannot match.
    pub fn parse(pieces: &[Piece]) -> Result<Self, EntryError> {
        let mut pieces = pieces.to_vec();
        let open = strip_open_end(&mut pieces);
        let mut words = Words::default();
        for piece in &pieces {
            match piece {
                Piece::Written(text) => words.written(text),
                Piece::Literal(text) => words.add(text.chars().map(Atom::Is)),
            }
        }
        if words.quote.is_some() {
            return Err(("unbalanced", "a quote is not closed"));
        }
        let (lead, mut atoms) = split_assignments(&words.atoms);
        if atoms.is_empty() {
            return Err(("empty-pattern", "the pattern names no command"));
        }
        let mut words = atoms.rsplit(|atom| *atom == Atom::Is(BREAK));
        // With a suffix, a path names another file.
        let is_path = words
            .next()
            .is_some_and(|last| last.contains(&Atom::Is('/')));
        let endings = match (open, words.next().is_some(), atoms.last()) {
            (false, ..) => NOTHING,
            (true, true, Some(Atom::Is(_))) if !is_path => WORDS_OR_COLON,
            (true, ..) => {
                split_program_at_colons(&mut atoms);
                WORDS
            }
        };
        let mut atoms = [lead, atoms].concat();
        matching::hold_below(&mut atoms, open);
        Ok(Self { atoms, endings })
    }

    /// A pattern for every command that begins with `program`.
    pub fn program(program: &str) -> Self {
        Self {
            atoms: program.chars().map(Atom::Is).collect(),
            endings: WORDS,
        }
    }

    /// A pattern for plain text, in which only `*` is special.
    pub fn text(glob: &str) -> Self {
        let atom = |c| if c == '*' { Atom::Any } else { Atom::Is(c) };
        Self {
            atoms: glob.chars().map(atom).collect(),
            endings: NOTHING,
        }
    }

    /// Whether the pattern covers a command.
    pub fn matches(&self, command: &CanonicalCommand) -> bool {
        let mut endings = self.endings.iter();
        endings.any(|ending| matching::wildcard(&self.atoms, ending, &command.0))
    }

    /// Whether the pattern itself contains this word, rather than matching it by a `*`.
    pub fn spells(&self, word: &str) -> bool {
        let is = |atoms: &[Atom]| atoms.iter().copied().eq(word.chars().map(Atom::Is));
        self.atoms.split(|atom| *atom == Atom::Is(BREAK)).any(is)
    }

    /// Whether one of its words is a relative path, which means another file in another directory.
    pub fn holds_relative_path(&self) -> bool {
        let mut words = self.atoms.split(|atom| *atom == Atom::Is(BREAK));
        words.any(matching::is_relative_path)
    }

    /// Whether the pattern covers what a command may become, whatever replaces its unknown text.
    pub fn may_match(&self, command: &CanonicalCommand) -> bool {
        let may_end = |ending: &&[Atom]| {
            let atoms = [&self.atoms, *ending].concat();
            // Text after the last word may also begin another one.
            let more = ending.first().map(|_| BREAK);
            matching::may_reach_the_end(&atoms, command.0.chars().chain(more))
        };
        self.endings.iter().any(may_end)
    }
}

/// Removes a trailing `:*` or ` *` and reports whether it was there.
fn strip_open_end(pieces: &mut [Piece]) -> bool {
    let Some(Piece::Written(last)) = pieces.last_mut() else {
        return false;
    };
    let trimmed = last.trim_end();
    let starred = trimmed.strip_suffix('*');
    let before = trimmed
        .strip_suffix(":*")
        .or(starred.filter(|before| before.ends_with(char::is_whitespace)));
    *last = before.unwrap_or(trimmed);
    before.is_some()
}

/// Splits leading assignments off a pattern. Harmless ones are ignored; others must match exactly.
fn split_assignments(atoms: &[Atom]) -> (Vec<Atom>, Vec<Atom>) {
    let mut lead = Vec::new();
    let mut rest = atoms;
    loop {
        let end = rest.iter().position(|atom| *atom == Atom::Is(BREAK));
        let (word, after) = end.map_or((rest, None), |end| (&rest[..end], Some(&rest[end + 1..])));
        let name = word.iter().map_while(|atom| match atom {
            Atom::Is(c) if *c != '=' => Some(*c),
            _ => None,
        });
        let name: String = name.collect();
        let assigns = is_name(&name) && word.get(name.len()) == Some(&Atom::Is('='));
        let Some(after) = after.filter(|_| assigns) else {
            return (lead, rest.to_vec());
        };
        if !may_be_exported(&name) {
            lead.push(Atom::Is(ASSIGNMENT));
            lead.extend(word);
            lead.push(Atom::Is(BREAK));
        }
        rest = after;
    }
}

/// Some skills write `Bash(aws:s3:*)` for `aws s3`; no program has a colon in its name.
fn split_program_at_colons(atoms: &mut [Atom]) {
    if !atoms.contains(&Atom::Is('/')) && atoms.first() != Some(&Atom::Is(':')) {
        for atom in atoms.iter_mut().filter(|atom| **atom == Atom::Is(':')) {
            *atom = Atom::Is(BREAK);
        }
    }
}

/// Reads a pattern word by word, as a shell reads plain text.
#[derive(Default)]
struct Words {
    atoms: Vec<Atom>,
    quote: Option<char>,
    between: bool,
}

impl Words {
    fn written(&mut self, text: &str) {
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            if self.quote.is_none() && c.is_whitespace() {
                self.between = true;
                continue;
            }
            if self.quote == Some(c) {
                self.quote = None;
                continue;
            }
            let begins_word = self.between || self.atoms.is_empty();
            let atom = match (self.quote, c) {
                (None, '\'' | '"') => {
                    self.quote = Some(c);
                    None
                }
                (None, '~') if begins_word && chars.as_str().starts_with('/') => {
                    Some(Atom::Is(HOME))
                }
                (None | Some('"'), '$') if begins_word && below_home(chars.as_str()).is_some() => {
                    chars = below_home(chars.as_str()).unwrap_or_default().chars();
                    Some(Atom::Is(HOME))
                }
                (None, '*') => Some(Atom::Any),
                (Some('"'), '*') => Some(Atom::Within),
                (None, '\\') => chars.next().map(Atom::Is),
                _ => Some(Atom::Is(c)),
            };
            self.add(atom);
        }
    }

    /// Adds to the current word, which begins here if white space came before.
    fn add(&mut self, atoms: impl IntoIterator<Item = Atom>) {
        if std::mem::take(&mut self.between) && !self.atoms.is_empty() {
            self.atoms.push(Atom::Is(BREAK));
        }
        self.atoms.extend(atoms);
    }
}

/// What stands behind `HOME` or `{HOME}`, if that is a path.
fn below_home(text: &str) -> Option<&str> {
    let mut names = ["HOME", "{HOME}"].iter();
    let rest = names.find_map(|name| text.strip_prefix(name));
    rest.filter(|rest| rest.starts_with('/'))
}

#[cfg(test)]
mod tests;
