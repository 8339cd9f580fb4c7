//! The paths that a word may name; quotes, `~`, `$HOME`, globs and braces are read as shells read
//! them. Does not know what a program does with a path.

mod behind;
mod braces;
mod expanded;

pub use behind::behind_unknown;
use braces::MAX_ALTERNATIVES;
pub use braces::alternatives;
use expanded::expanded;
pub use expanded::globs;

use super::word::Word;
use crate::permission::protected::{ANY, ANYTHING};

/// What a word may name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operand {
    /// A path, in which [`ANY`] and [`ANYTHING`] mark what a glob matches.
    Path(String),
    /// Something known only at run time, after this text.
    Unknown(String),
    /// A path that `mktemp` has just created.
    Temporary,
    /// More than [`MAX_ALTERNATIVES`]: any path.
    TooMany,
}

impl Operand {
    /// The path, if it is known.
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::Path(path) => Some(path),
            _ => None,
        }
    }
}

/// Known values that a word may refer to.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// `~` and `$HOME`.
    pub home: Option<&'a str>,
    /// What `$PWD` may be; none if that is unknown.
    pub current: &'a [String],
    /// Whether `mktemp` works where it always does.
    pub mktemp: bool,
    /// Whether a variable holds only what `mktemp` created.
    pub is_temporary: &'a dyn Fn(&str) -> bool,
    /// The paths that a loop variable takes in turn.
    pub values: &'a dyn Fn(&str) -> Option<Vec<String>>,
    /// Values that a variable may have among others.
    pub assigned: &'a dyn Fn(&str) -> Vec<String>,
}

/// Everything that a word may name.
pub fn operands(word: &Word, known: Known) -> Vec<Operand> {
    if let Some(text) = word.text() {
        return vec![Operand::Path(text.to_owned())];
    }
    // Words added by wrappers are not in the text.
    if word.pieces.len() == 1
        && !word
            .raw
            .contains(['$', '`', '*', '?', '[', '{', '~', '\\', ANYTHING])
    {
        return vec![Operand::Unknown(String::new())];
    }
    let Some(all) = alternatives(&word.raw) else {
        return vec![Operand::TooMany];
    };
    all.iter()
        .flat_map(|raw| Reader::new(raw, known).read())
        .collect()
}

/// The parts of a word that may each be a path.
pub fn parts(text: &str) -> impl Iterator<Item = &str> {
    // A value may stand behind any letter of clustered options: `-so.claude/x`.
    let cluster = text.strip_prefix('-').unwrap_or_default();
    let letters = cluster.bytes().take_while(u8::is_ascii_alphanumeric);
    let values = (1..=letters.count().max(1)).filter_map(move |at| cluster.get(at..));
    // Without a separator it would be the whole text again.
    let splits = text
        .split(['=', ':', ',', '@'])
        .filter(|part| part.len() < text.len());
    // A program in an argument has many of them; no place has a line end in its name.
    let after = text
        .match_indices(['=', ':'])
        .filter_map(|(at, _)| text[at + 1..].lines().next());
    std::iter::once(text)
        .chain(values)
        .chain(splits)
        .chain(after)
        .filter(|part| !part.is_empty() && !part.starts_with('-'))
}

struct Reader<'a> {
    rest: &'a str,
    known: Known<'a>,
    quoted: bool,
    /// Several if a variable has several values.
    texts: Vec<String>,
    /// What stands before a variable that may have other values than those.
    unknown: Vec<String>,
    /// Whole words before those, where a value has several.
    words: Vec<String>,
    split: bool,
    /// What closes the substitution at which reading stopped.
    opened: Option<char>,
}

/// Why reading stopped before the end of the word.
enum End {
    Unknown,
    Temporary,
}

impl<'a> Reader<'a> {
    fn new(raw: &'a str, known: Known<'a>) -> Self {
        Self {
            rest: raw,
            known,
            quoted: false,
            texts: vec![String::new()],
            unknown: Vec::new(),
            words: Vec::new(),
            split: false,
            opened: None,
        }
    }

    fn read(mut self) -> Vec<Operand> {
        let end = self.tilde().and_then(|()| self.steps());
        let unknown = self.unknown.into_iter().map(Operand::Unknown);
        let unknown = unknown.chain(self.words.into_iter().map(Operand::Path));
        match end {
            Ok(()) => unknown
                .chain(self.texts.into_iter().map(Operand::Path))
                .collect(),
            Err(End::Unknown) => unknown
                .chain(self.texts.into_iter().map(Operand::Unknown))
                .collect(),
            // If `mktemp` fails or does not run, what follows is a path of its own.
            Err(End::Temporary) => {
                let rest = self.rest.trim_start_matches(['"', ')', '}']);
                let rest = Reader::new(rest, self.known).read();
                let stays_below = |path: &str| path.split('/').all(|name| name != "..");
                if !rest.iter().all(|one| one.path().is_some_and(stays_below)) {
                    return vec![Operand::Unknown(String::new())];
                }
                let is_path = |operand: &Operand| *operand != Operand::Path(String::new());
                let paths = rest.into_iter().filter(is_path);
                std::iter::once(Operand::Temporary).chain(paths).collect()
            }
        }
    }

    /// Reads to the end, or to something unknown.
    fn steps(&mut self) -> Result<(), End> {
        while let Some(c) = self.rest.chars().next() {
            self.rest = &self.rest[c.len_utf8()..];
            self.step(c)?;
        }
        Ok(())
    }

    fn push(&mut self, text: &str) {
        for one in &mut self.texts {
            one.push_str(text);
        }
    }

    fn tilde(&mut self) -> Result<(), End> {
        let Some(rest) = self.rest.strip_prefix('~') else {
            return Ok(());
        };
        if !(rest.is_empty() || rest.starts_with('/')) {
            self.rest = &rest[rest.find('/').unwrap_or(rest.len())..];
            return Err(End::Unknown);
        }
        self.rest = rest;
        let home = self.known.home.ok_or(End::Unknown)?;
        self.push(home);
        Ok(())
    }

    fn step(&mut self, c: char) -> Result<(), End> {
        match c {
            '"' => self.quoted = !self.quoted,
            '\'' if !self.quoted => {
                let (inside, rest) = self.rest.split_once('\'').ok_or(End::Unknown)?;
                self.rest = rest;
                self.push(inside);
            }
            '\\' => {
                let next = self.rest.chars().next().ok_or(End::Unknown)?;
                if self.quoted && !matches!(next, '$' | '`' | '"' | '\\') {
                    self.push("\\");
                }
                self.rest = &self.rest[next.len_utf8()..];
                self.push(next.encode_utf8(&mut [0; 4]));
            }
            '`' => {
                self.opened = Some('`');
                return Err(End::Unknown);
            }
            '$' => self.dollar()?,
            '*' | '?' if !self.quoted => {
                if !self.texts.iter().all(|text| text.ends_with(ANY)) {
                    self.push(&ANY.to_string());
                }
            }
            '[' if !self.quoted => {
                // Whatever the bracket means and wherever it ends, the name ends at the slash.
                let name = self.rest.find('/').unwrap_or(self.rest.len());
                let (inside, rest) = self.rest.split_at(name);
                self.rest = rest;
                if inside.contains(['\'', '"', '\\', '$', '`']) {
                    return Err(End::Unknown);
                }
                self.push(&ANYTHING.to_string());
            }
            c => self.push(c.encode_utf8(&mut [0; 4])),
        }
        Ok(())
    }

    fn dollar(&mut self) -> Result<(), End> {
        if self.rest.starts_with('(') {
            return self.substitution();
        }
        let inside = self
            .rest
            .strip_prefix('{')
            .and_then(|rest| rest.split_once('}'));
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (name, rest) = inside.unwrap_or_else(|| {
            let end = self.rest.find(|c| !is_name(c)).unwrap_or(self.rest.len());
            self.rest.split_at(end)
        });
        // `$1a` is `$1` and `a`.
        let is_parameter = |c: &char| c.is_ascii_digit() || "@*#?-!$".contains(*c);
        if inside.is_none()
            && let Some(parameter) = self.rest.chars().next().filter(is_parameter)
        {
            self.rest = &self.rest[parameter.len_utf8()..];
            return Err(End::Unknown);
        }
        if name.is_empty() && inside.is_none() {
            self.push("$");
            return Ok(());
        }
        self.rest = rest;
        let (name, operator) = name.split_at(name.find(|c| !is_name(c)).unwrap_or(name.len()));
        match name {
            "HOME" if operator.is_empty() => {
                self.push(self.known.home.ok_or(End::Unknown)?);
                Ok(())
            }
            "PWD" if operator.is_empty() => self.push_each(self.known.current),
            name if (self.known.is_temporary)(name) && self.begins() => Err(End::Temporary),
            name => {
                let all = (self.known.values)(name);
                let is_all = all.is_some();
                let values = all.unwrap_or_else(|| (self.known.assigned)(name));
                let (values, default) = expanded(values, operator);
                if !(is_all || values.is_empty() && default.is_none()) {
                    self.unknown.extend_from_slice(&self.texts);
                }
                let values: Vec<String> = values.into_iter().chain(default).collect();
                if self.quoted {
                    self.push_each(&values)
                } else {
                    self.push_words(&values)
                }
            }
        }
    }

    /// `$(mktemp …)` and `$(pwd)`; no other command is known to print a path.
    fn substitution(&mut self) -> Result<(), End> {
        self.opened = Some(')');
        let (inside, rest) = self.rest[1..].split_once(')').ok_or(End::Unknown)?;
        let plain = !inside.contains(['$', '`', '(', ';', '&', '|', '<', '>', '\n']);
        let mut words = inside.split_whitespace();
        match words.next() {
            Some("mktemp") if plain && self.known.mktemp && self.begins() => {
                (self.rest, self.opened) = (rest, None);
                Err(End::Temporary)
            }
            Some("pwd") if plain && words.next().is_none() => {
                (self.rest, self.opened) = (rest, None);
                self.push_each(self.known.current)
            }
            _ => Err(End::Unknown),
        }
    }

    /// Appends one of these to each text.
    fn push_each(&mut self, values: &[String]) -> Result<(), End> {
        if values.is_empty() || values.len() * self.texts.len() > MAX_ALTERNATIVES {
            return Err(End::Unknown);
        }
        let before = std::mem::take(&mut self.texts);
        for text in before {
            let both = values.iter().map(|value| format!("{text}{value}"));
            self.texts.extend(both);
        }
        Ok(())
    }

    /// Appends values that become several words, and names of files where they hold globs. A file's
    /// name may hold blanks, too.
    fn push_words(&mut self, values: &[String]) -> Result<(), End> {
        let blank = |c: char| c.is_ascii_whitespace();
        let mut last = Vec::new();
        // In a pattern a backslash quotes; elsewhere it stays.
        let quoting = values.iter().filter(|value| value.contains('\\'));
        let patterns: Vec<String> = quoting.map(|value| value.replace('\\', "")).collect();
        for value in values.iter().chain(&patterns) {
            if value.contains([ANY, ANYTHING]) {
                self.unknown.push(String::new());
            }
            let mut words: Vec<String> = value.split(blank).map(globs).collect();
            last.extend(words.pop());
            if words.is_empty() {
                continue;
            }
            let first = words.remove(0);
            let begun = self.texts.iter().map(|text| format!("{text}{first}"));
            self.words.extend(begun.chain(words));
            // What follows the last one stands behind no text.
            if last.len() * self.texts.len() > MAX_ALTERNATIVES {
                return Err(End::Unknown);
            }
            self.split = true;
        }
        if self.split {
            self.texts.push(String::new());
        }
        self.push_each(&last)
    }

    /// Whether the path begins here.
    fn begins(&self) -> bool {
        self.texts.iter().all(String::is_empty)
    }
}
