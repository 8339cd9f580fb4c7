//! What a word may become: quotes, `~`, `$HOME`, known values, globs and braces are read as shells
//! read them. Does not know what a program does with it.

mod braces;
mod expanded;
mod parts;

pub use braces::alternatives;
use braces::bracket;
use expanded::expanded;
pub use parts::parts;

use super::word::Word;
use crate::permission::protected::{ANY, ONE, UNKNOWN};

/// The limit of texts that a word may become, and of the characters that are read for them.
const MAX: usize = 4096;
const MAX_WORK: usize = 1 << 20;
/// Where `mktemp` makes files, as far as it matters: nothing is kept there.
const TEMPORARY: &str = "/tmp/\u{3}";

/// Known values that a word may refer to.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// `~` and `$HOME`.
    pub home: Option<&'a str>,
    /// What `$PWD` may be.
    pub current: &'a [String],
    /// The values that the command line gives a variable.
    pub assigned: &'a dyn Fn(&str) -> Vec<String>,
}

/// Everything that a word may become, with [`ANY`], [`ONE`] and [`UNKNOWN`] in it; `None` if that is
/// too much.
pub fn texts(word: &Word, known: Known) -> Option<Vec<String>> {
    if let Some(text) = word.text() {
        return Some(vec![text.to_owned()]);
    }
    // Words added by wrappers are not in the text.
    if word.pieces.len() == 1
        && !word
            .raw
            .contains(['$', '`', '*', '?', '[', '{', '~', '\\', ANY, ONE])
    {
        return Some(vec![UNKNOWN.to_string()]);
    }
    let all = alternatives(&word.raw)?;
    let mut found = Vec::new();
    for raw in &all {
        found.extend(Reader::new(raw, known).read()?);
    }
    Some(found)
}

struct Reader<'a> {
    rest: &'a str,
    known: Known<'a>,
    quoted: bool,
    /// Several if a variable has several values.
    texts: Vec<String>,
    /// Whole words before those, where a value has several.
    words: Vec<String>,
    /// A bracket closes only if the rest is shorter than this.
    unclosed: usize,
    work: usize,
}

impl<'a> Reader<'a> {
    fn new(raw: &'a str, known: Known<'a>) -> Self {
        Self {
            rest: raw,
            known,
            quoted: false,
            texts: vec![String::new()],
            words: Vec::new(),
            unclosed: usize::MAX,
            work: 0,
        }
    }

    fn read(mut self) -> Option<Vec<String>> {
        self.tilde();
        while let Some(c) = self.rest.chars().next() {
            self.rest = &self.rest[c.len_utf8()..];
            self.step(c);
            if self.work > MAX_WORK {
                return None;
            }
        }
        self.words.append(&mut self.texts);
        Some(self.words)
    }

    fn push(&mut self, text: &str) {
        self.work += (self.texts.len() - 1) * text.len();
        for one in &mut self.texts {
            one.push_str(text);
        }
    }

    fn push_char(&mut self, c: char) {
        self.push(c.encode_utf8(&mut [0; 4]));
    }

    fn tilde(&mut self) {
        let Some(rest) = self.rest.strip_prefix('~') else {
            return;
        };
        let (user, rest) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        self.rest = rest;
        match user {
            "" => self.push_each(&self.values("HOME")),
            "+" => self.push_each(self.known.current),
            _ => self.push_char(UNKNOWN),
        }
    }

    fn step(&mut self, c: char) {
        match c {
            '"' => self.quoted = !self.quoted,
            '\'' if !self.quoted => {
                let (inside, rest) = self.rest.split_once('\'').unwrap_or((self.rest, ""));
                self.rest = rest;
                self.push(inside);
            }
            '\\' => {
                let Some(next) = self.rest.chars().next() else {
                    return;
                };
                if self.quoted && !matches!(next, '$' | '`' | '"' | '\\') {
                    self.push("\\");
                }
                self.rest = &self.rest[next.len_utf8()..];
                self.push_char(next);
            }
            '`' => self.substitution(None, '`'),
            '$' => self.dollar(),
            '*' if !self.quoted => self.push_char(ANY),
            '?' if !self.quoted => self.push_char(ONE),
            '[' if !self.quoted && self.rest.len() <= self.unclosed => {
                if let Some(rest) = bracket(self.rest) {
                    self.rest = rest;
                    self.push_char(ONE);
                } else {
                    let name = self.rest.find('/').unwrap_or(self.rest.len());
                    self.unclosed = self.rest.len() - name;
                    self.push("[");
                }
            }
            c => self.push_char(c),
        }
    }

    fn dollar(&mut self) {
        if let Some(inside) = self.rest.strip_prefix('(') {
            self.rest = inside;
            return self.substitution(Some('('), ')');
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (name, operator) = if let Some(inside) = self.rest.strip_prefix('{') {
            let Some(rest) = behind(inside, Some('{'), '}') else {
                self.rest = "";
                return self.push_char(UNKNOWN);
            };
            self.rest = rest;
            let inside = &inside[..inside.len() - rest.len() - 1];
            inside.split_at(inside.find(|c| !is_name(c)).unwrap_or(inside.len()))
        } else {
            let first = self.rest.chars().next();
            // `$1a` is `$1` and `a`.
            let is_parameter = |c: &char| c.is_ascii_digit() || "@*#?-!$".contains(*c);
            let end = match first.filter(is_parameter) {
                Some(parameter) => parameter.len_utf8(),
                None => self.rest.find(|c| !is_name(c)).unwrap_or(self.rest.len()),
            };
            if end == 0 {
                return self.push("$");
            }
            let (name, rest) = self.rest.split_at(end);
            self.rest = rest;
            (name, "")
        };
        let values = expanded(&self.values(name), operator);
        if self.quoted {
            self.push_each(&values);
        } else {
            self.push_words(&values);
        }
    }

    /// What a variable may hold, as far as it is known.
    fn values(&self, name: &str) -> Vec<String> {
        let mut values = (self.known.assigned)(name);
        match name {
            "HOME" => values.extend(self.known.home.map(str::to_owned)),
            "PWD" => values.extend_from_slice(self.known.current),
            _ => {}
        }
        values
    }

    /// `$(mktemp …)` and `$(pwd)`; no other command is known to print a path.
    fn substitution(&mut self, opens: Option<char>, closes: char) {
        let inside = std::mem::take(&mut self.rest);
        let Some(rest) = behind(inside, opens, closes) else {
            return self.push_char(UNKNOWN);
        };
        self.rest = rest;
        let inside = &inside[..inside.len() - rest.len() - 1];
        let mut words = inside.split_whitespace();
        match words.next() {
            Some("pwd") => self.push_each(self.known.current),
            Some("mktemp") => self.push(TEMPORARY),
            _ => self.push_char(UNKNOWN),
        }
    }

    /// Appends one of these to each text; without any, something unknown.
    fn push_each(&mut self, values: &[String]) {
        if values.is_empty() {
            return self.push_char(UNKNOWN);
        }
        let length = |texts: &[String]| texts.iter().map(String::len).sum::<usize>();
        self.work += length(values) * self.texts.len() + length(&self.texts) * values.len();
        if values.len() * self.texts.len() > MAX || self.work > MAX_WORK {
            self.work = MAX_WORK + 1;
            return;
        }
        let before = std::mem::take(&mut self.texts);
        for text in before {
            let both = values.iter().map(|value| format!("{text}{value}"));
            self.texts.extend(both);
        }
    }

    /// Appends values that become several words, and names of files where they hold globs.
    fn push_words(&mut self, values: &[String]) {
        let mut last = Vec::new();
        let mut is_split = false;
        for value in values {
            let mut words: Vec<String> = value
                .split(|c: char| c.is_ascii_whitespace())
                .map(braces::globs)
                .collect();
            last.extend(words.pop());
            if words.is_empty() {
                continue;
            }
            is_split = true;
            let first = words.remove(0);
            let begun = self.texts.iter().map(|text| format!("{text}{first}"));
            self.words.extend(begun.chain(words));
        }
        // What follows the last word stands behind no text.
        if is_split {
            self.texts.push(String::new());
        }
        self.push_each(&last);
    }
}

/// What stands behind the sign that closes a part of a word; `None` if nothing does.
fn behind(text: &str, opens: Option<char>, closes: char) -> Option<&str> {
    let (mut depth, mut quote) = (0, None);
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (quote, '\\') if quote != Some('\'') => drop(chars.next()),
            (None, '\'' | '"') if opens.is_some() => quote = Some(c),
            (None, c) if Some(c) == opens => depth += 1,
            (None, c) if c == closes && depth == 0 => return Some(&text[at + c.len_utf8()..]),
            (None, c) if c == closes => depth -= 1,
            (_, _) => {}
        }
    }
    None
}
