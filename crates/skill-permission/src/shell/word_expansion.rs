//! What a word may become: quotes, `~`, `$HOME`, known values, globs and braces are read as shells
//! read them. Does not know what a program does with it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::directories::WorkingDirectories;
use super::variables::is_name_char;
use super::word::Word;
use crate::protected::{ANY_CHAR, ANY_TEXT, UNKNOWN};

/// The limit of texts that a word may become, and of the characters that are read for them.
const MAX: usize = 1024;
pub const MAX_WORK: usize = 1 << 18;
/// Where `mktemp` makes files, as far as it matters: nothing is kept there.
const TEMPORARY: &str = "/tmp/\u{3}";
const SEPARATORS: [char; 4] = ['=', ':', ',', '@'];
/// The limit of letters in front of an option's value.
const LETTERS: usize = 16;

/// Known values that a word may refer to.
#[derive(Clone, Copy)]
pub struct KnownValues<'a> {
    /// `~` and `$HOME`.
    pub home: Option<&'a str>,
    /// The shell's initial directory.
    pub start: &'a Path,
    /// Where the shell may be.
    pub directories: &'a WorkingDirectories,
    /// Where it may be if that is not known: the directories that the command line names.
    pub entered: &'a RefCell<Vec<PathBuf>>,
    /// The values that the command line gives its variables.
    pub assigned: &'a RefCell<BTreeMap<String, Vec<String>>>,
}

impl KnownValues<'_> {
    /// What `$PWD` may be.
    fn current(&self) -> Vec<String> {
        let known = self.directories.resolve("").map(PathBuf::from);
        let begin = (!self.directories.are_known()).then(PathBuf::new);
        let entered = self.entered.borrow();
        let all = known.chain(begin).chain(entered.iter().cloned());
        let absolute = |here: PathBuf| self.start.join(here).to_string_lossy().into_owned();
        all.map(absolute).collect()
    }

    /// What a variable may hold, as far as it is known.
    fn of_variable(&self, name: &str) -> Vec<String> {
        let assigned = self.assigned.borrow();
        let mut values = assigned.get(name).cloned().unwrap_or_default();
        match name {
            "HOME" => values.extend(self.home.map(str::to_owned)),
            "PWD" => values.extend(self.current()),
            _ => {}
        }
        values
    }
}

/// Everything that a word may become, with [`ANY_TEXT`], [`ANY_CHAR`] and [`UNKNOWN`] in it; `None` if that is
/// too much.
pub fn expansions(word: &Word, known: KnownValues) -> Option<Vec<String>> {
    if let Some(text) = word.text() {
        return Some(vec![text.to_owned()]);
    }
    // Words added by wrappers are not in the text.
    if word.pieces.len() == 1
        && !word
            .raw
            .contains(['$', '`', '*', '?', '[', '{', '~', '\\', ANY_TEXT, ANY_CHAR])
    {
        return Some(vec![UNKNOWN.to_string()]);
    }
    let mut found = Vec::new();
    for raw in brace_expansions(&word.raw)? {
        let mut expander = Expander {
            rest: &raw,
            known,
            quoted: false,
            texts: vec![String::new()],
            work: 0,
        };
        expander.expand()?;
        found.append(&mut expander.texts);
    }
    Some(found)
}

struct Expander<'a> {
    rest: &'a str,
    known: KnownValues<'a>,
    quoted: bool,
    /// Several if a variable has several values.
    texts: Vec<String>,
    work: usize,
}

impl Expander<'_> {
    fn expand(&mut self) -> Option<()> {
        self.tilde();
        while let Some(c) = self.rest.chars().next() {
            self.rest = &self.rest[c.len_utf8()..];
            self.character(c);
            if self.work > MAX_WORK {
                return None;
            }
        }
        Some(())
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
            "" => self.push_each(&self.known.of_variable("HOME")),
            "+" => self.push_each(&self.known.current()),
            _ => self.push_char(UNKNOWN),
        }
    }

    fn character(&mut self, c: char) {
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
            '*' if !self.quoted => self.push_char(ANY_TEXT),
            '?' if !self.quoted => self.push_char(ANY_CHAR),
            '[' if !self.quoted => match after_bracket(self.rest) {
                Some(rest) => {
                    self.rest = rest;
                    self.push_char(ANY_CHAR);
                }
                None => self.push("["),
            },
            c => self.push_char(c),
        }
    }

    fn dollar(&mut self) {
        if let Some(inside) = self.rest.strip_prefix('(') {
            self.rest = inside;
            return self.substitution(Some('('), ')');
        }
        let (name, operator) = if let Some(inside) = self.rest.strip_prefix('{') {
            let Some((inside, rest)) = inside.split_once('}') else {
                self.rest = "";
                return self.push_char(UNKNOWN);
            };
            self.rest = rest;
            inside.split_at(inside.find(|c| !is_name_char(c)).unwrap_or(inside.len()))
        } else {
            let first = self.rest.chars().next();
            // `$1a` is `$1` and `a`.
            let is_parameter = |c: &char| c.is_ascii_digit() || "@*#?-!$".contains(*c);
            let end = match first.filter(is_parameter) {
                Some(parameter) => parameter.len_utf8(),
                None => self
                    .rest
                    .find(|c| !is_name_char(c))
                    .unwrap_or(self.rest.len()),
            };
            if end == 0 {
                return self.push("$");
            }
            let (name, rest) = self.rest.split_at(end);
            self.rest = rest;
            (name, "")
        };
        let instead = [":-", ":=", ":+", "-", "=", "+"];
        let mut values = self.known.of_variable(name);
        match instead.iter().find_map(|sign| operator.strip_prefix(sign)) {
            Some(text) => {
                let mut expander = Expander {
                    rest: text,
                    texts: vec![String::new()],
                    ..*self
                };
                if expander.expand().is_none() {
                    self.work = MAX_WORK + 1;
                }
                values.extend(expander.texts);
            }
            None => values = apply_operator(&values, operator),
        }
        if !self.quoted {
            // Each of several words counts, with what stands beside it.
            let words = values
                .iter()
                .flat_map(|value| value.split_ascii_whitespace());
            values = words.map(mark_wildcards).collect();
        }
        self.push_each(&values);
    }

    /// `$(mktemp …)` and `$(pwd)`; no other command is known to print a path.
    fn substitution(&mut self, opens: Option<char>, closes: char) {
        let inside = std::mem::take(&mut self.rest);
        let Some(rest) = after_closing(inside, opens, closes) else {
            return self.push_char(UNKNOWN);
        };
        self.rest = rest;
        let inside = &inside[..inside.len() - rest.len() - 1];
        let mut words = inside.split_whitespace();
        match words.next() {
            Some("pwd") => self.push_each(&self.known.current()),
            Some("mktemp") => self.push(TEMPORARY),
            _ => self.push_char(UNKNOWN),
        }
    }

    /// Appends one of these to each text; without any, something unknown.
    fn push_each(&mut self, values: &[String]) {
        match values {
            [] => return self.push_char(UNKNOWN),
            [value] => return self.push(value),
            _ => {}
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
}

/// What stands behind the sign that closes a part of a word; `None` if nothing does.
fn after_closing(text: &str, opens: Option<char>, closes: char) -> Option<&str> {
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

/// What `${x…}` makes of a variable's values. A pattern that is cut off is literal, or `*` beside a
/// sign.
fn apply_operator(values: &[String], operator: &str) -> Vec<String> {
    let stripped = |value: &String| {
        let pattern = operator.trim_start_matches(['#', '%']);
        let rest = match operator {
            "" => Some(&**value),
            _ if operator.trim_start_matches(':').starts_with('?') => Some(&**value),
            "##*/" => value.rsplit('/').next(),
            "%/*" => value.rsplit_once('/').map(|(before, _)| before),
            "%.*" => value.rsplit_once('.').map(|(before, _)| before),
            "%%.*" => value.split('.').next(),
            _ if pattern.contains(['*', '?', '[']) => return None,
            _ if operator.starts_with('%') => value.strip_suffix(pattern),
            _ if operator.starts_with('#') => value.strip_prefix(pattern),
            _ => return None,
        };
        Some(rest.unwrap_or(value).to_owned())
    };
    values.iter().filter_map(stripped).collect()
}

/// The words that a word's braces make of it; `None` if there are too many.
fn brace_expansions(raw: &str) -> Option<Vec<String>> {
    let mut alternatives = vec![raw.to_owned()];
    let (mut done, mut work) = (Vec::new(), 0);
    while let Some(raw) = alternatives.pop() {
        work += raw.len();
        match brace_alternatives(&raw) {
            Some(more) => alternatives.extend(more),
            None => done.push(raw),
        }
        if alternatives.len() + done.len() > MAX || work > MAX_WORK {
            return None;
        }
    }
    Some(done)
}

/// The alternatives of an expandable brace, starting with an innermost one. Of a range only letters
/// matter: no place is a number.
fn brace_alternatives(raw: &str) -> Option<Vec<String>> {
    let mut quote = None;
    let mut chars = raw.char_indices();
    // The start of each open brace, and its commas.
    let mut open: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut is_dollar = false;
    while let Some((at, c)) = chars.next() {
        let behind_dollar = std::mem::replace(&mut is_dollar, c == '$');
        match (quote, c) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (quote, '\\') if quote != Some('\'') => drop(chars.next()),
            (None, '\'' | '"') => quote = Some(c),
            // `${x}` is not a brace expansion.
            (None, '{') if behind_dollar => drop(chars.find(|(_, c)| *c == '}')),
            (None, '{') => open.push((at, Vec::new())),
            (None, ',') => open
                .last_mut()
                .into_iter()
                .for_each(|(_, commas)| commas.push(at)),
            (None, '}') => {
                let Some((from, commas)) = open.pop() else {
                    continue;
                };
                let inside = &raw[from + 1..at];
                let whole = |part: &str| format!("{}{part}{}", &raw[..from], &raw[at + 1..]);
                if let Some((first, _)) = inside.split_once("..").filter(|_| commas.is_empty()) {
                    let is_letter = first.chars().all(char::is_alphabetic);
                    return Some(vec![whole(if is_letter { "?" } else { "\u{3}" })]);
                }
                if !commas.is_empty() {
                    let begins = std::iter::once(from).chain(commas.iter().copied());
                    let ends = commas.iter().copied().chain([at]);
                    let parts = begins.zip(ends).map(|(begin, end)| &raw[begin + 1..end]);
                    return Some(parts.map(whole).collect());
                }
            }
            _ => {}
        }
    }
    None
}

/// What stands behind a bracket of a glob, whose inside this begins with; `None` if it is none: it
/// ends within the name.
fn after_bracket(inside: &str) -> Option<&str> {
    // As in `[[:alpha:]_]`.
    let class = inside
        .strip_prefix("[:")
        .and_then(|rest| rest.split_once(":]"));
    let rest = class.map_or(inside, |(_, rest)| rest);
    let first = usize::from(class.is_none());
    let mut chars = rest.char_indices().skip(first).take(LONGEST_BRACKET);
    let (end, c) = chars.find(|(_, c)| matches!(c, ']' | '/'))?;
    (c == ']').then(|| &rest[end + 1..])
}

/// A longer one is none.
const LONGEST_BRACKET: usize = 64;

/// A word of a value as the shell expands it outside quotes.
pub fn mark_wildcards(word: &str) -> String {
    if !word.contains(['*', '?', '[']) {
        return word.to_owned();
    }
    let (mut text, mut rest) = (String::new(), word);
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match (c, after_bracket(rest).filter(|_| c == '[')) {
            ('*', _) => text.push(ANY_TEXT),
            ('?', _) => text.push(ANY_CHAR),
            ('[', Some(behind)) => {
                text.push(ANY_CHAR);
                rest = behind;
            }
            (c, _) => text.push(c),
        }
    }
    text
}

/// The parts of a word that may each be a path: the word, the value behind each letter of clustered
/// options (`-so.claude/x`), and what stands between and behind `=`, `:`, `,` and `@`. Linear in the
/// word's length.
pub fn possible_paths(text: &str) -> impl Iterator<Item = &str> {
    let cluster = text.strip_prefix('-').unwrap_or_default();
    let letters = cluster.bytes().take_while(u8::is_ascii_alphanumeric);
    let letters = letters.count().min(LETTERS);
    let values = (1..=letters).filter_map(move |at| cluster.get(at..));
    // Without a separator it would be the whole text again.
    let splits = text
        .split(SEPARATORS)
        .filter(|part| part.len() < text.len());
    // A path may hold such signs itself.
    let after = SEPARATORS
        .into_iter()
        .filter_map(|sign| text.split_once(sign).map(|(_, rest)| rest));
    std::iter::once(text)
        .chain(values)
        .chain(splits)
        .chain(after)
        // No place has a line end in its name.
        .filter_map(|part| part.lines().next())
        .filter(|part| !part.is_empty() && !part.starts_with('-'))
}
