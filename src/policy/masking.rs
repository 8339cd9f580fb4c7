//! Masks secrets in what is recorded. They are recognised by name, by format or by their position
//! in a command; others stay.

use serde_json::Value;

use crate::sys::secret;
use crate::sys::text::shorten;
use skill_text::Names;

const MASK: &str = "***";

/// Bytes dropped from the end of the examined text, because a secret that begins there may not be
/// recognised.
const CUT_OFF: usize = 512;

/// Programs with password options: those whose value is the next word, and those of two characters
/// to which it is attached.
const OPTIONS: [(Names, Names, Names); 10] = [
    open_options("curl", "-u --user -U --proxy-user", "-u -U"),
    open_options("http https redis-cli", "-a", ""),
    // `-p` alone asks for the password, and the next word is a database.
    open_options("mysql mysqldump mysqladmin mariadb 7z", "", "-p"),
    open_options("mongo mongosh mongodump login", "-p", ""),
    open_options("sshpass", "-p", "-p"),
    open_options("ldapsearch ldapmodify", "-w", ""),
    open_options("smbclient", "-U", "-U"),
    open_options("zip unzip", "-P", "-P"),
    open_options("ssh-keygen", "-N -P", ""),
    open_options("openssl", "-k -K -pass -passin -passout", ""),
];
const NONE: Names = Names::new("");

const fn open_options(
    programs: &'static str,
    apart: &'static str,
    attached: &'static str,
) -> (Names, Names, Names) {
    (
        Names::new(programs),
        Names::new(apart),
        Names::new(attached),
    )
}

/// Words between the name of a header and its secret.
const SCHEMES: Names = Names::new("apikey basic bearer digest key negotiate token bot");

/// Last words of option names whose value is not a secret but says something about one.
const ABOUT_ONE: Names =
    Names::new("dir env expiry fd file helper length name path policy stdin ttl type");

/// Masks every text in `value` and cuts it to `max` characters. A value under the name of a secret
/// is masked completely.
pub fn mask_value(value: &mut Value, max: usize) {
    match value {
        Value::String(text) => *text = mask_and_cut(text, max),
        Value::Array(items) => {
            let mut next_is_secret = false;
            for item in items {
                let takes_one = item.as_str().is_some_and(is_option_of_one);
                if next_is_secret {
                    *item = MASK.into();
                } else {
                    mask_value(item, max);
                }
                next_is_secret = takes_one;
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                if secret::is_name(name) && !field.is_null() {
                    *field = MASK.into();
                } else {
                    mask_value(field, max);
                }
            }
        }
        _ => {}
    }
}

/// A command line or other text, with what looks like a secret masked.
pub fn mask(text: &str) -> String {
    let mut walk = MaskingWalk {
        rest: text,
        masked: String::with_capacity(text.len()),
        quote: None,
        apart: NONE,
        attached: NONE,
        sets: false,
    };
    while !walk.rest.is_empty() {
        walk.step();
    }
    walk.masked
}

/// Whether the value of this option, the next word, is a secret.
fn is_option_of_one(word: &str) -> bool {
    let about_one = || {
        let last = word.rsplit('-').next().unwrap_or_default();
        ABOUT_ONE.has(&last.to_ascii_lowercase())
    };
    word.starts_with('-') && !word.contains('=') && secret::is_name(word) && !about_one()
}

struct MaskingWalk<'a> {
    rest: &'a str,
    masked: String,
    quote: Option<char>,
    /// The current program's password options, with separate and with attached values.
    apart: Names,
    attached: Names,
    /// Whether the command assigns values to names.
    sets: bool,
}

impl MaskingWalk<'_> {
    fn step(&mut self) {
        if self.rest.starts_with("://") {
            self.keep(3);
            self.drop(secret::user_info(self.rest).unwrap_or(0));
        } else if !self.rest.starts_with(is_name_char) || self.masked.ends_with(is_name_char) {
            self.mark();
        } else if let Some(secret) = secret::private_key(self.rest) {
            self.keep(secret.start);
            self.drop(secret.len());
        } else if let Some(length) = secret::issued(self.rest) {
            self.drop(length);
        } else if let Some(address) = secret::address(self.rest) {
            self.keep(address);
            self.hide(end_of_word(self.rest, self.quote));
        } else {
            self.name();
        }
    }

    fn mark(&mut self) {
        let mut chars = self.rest.chars();
        let Some(c) = chars.next() else {
            return;
        };
        match (c, self.quote) {
            ('\\', _) => return self.keep(1 + chars.next().map_or(0, char::len_utf8)),
            ('"' | '\'' | '`', None) => self.quote = Some(c),
            (c, Some(quote)) if c == quote => self.quote = None,
            ('|' | ';' | '&' | '\n' | '(', _) => {
                (self.apart, self.attached, self.sets) = (NONE, NONE, false);
            }
            _ => {}
        }
        self.keep(c.len_utf8());
    }

    fn name(&mut self) {
        let length = self.rest.find(|c| !is_name_char(c));
        let (word, after) = self.rest.split_at(length.unwrap_or(self.rest.len()));
        if let Some((_, apart, attached)) = OPTIONS.iter().find(|(names, ..)| names.has(word)) {
            (self.apart, self.attached) = (*apart, *attached);
        }
        self.sets |= matches!(word, "set" | "put");
        if let Some(between) = assigned(after)
            && secret::is_name(word)
        {
            self.keep(word.len());
            let left = self.rest.len() - between;
            while self.rest.len() > left {
                self.mark();
            }
            return self.value(after[..between].ends_with(' '));
        }
        let next = after.trim_start_matches([' ', '\t']);
        let gap = after.len() - next.len();
        let announces = || {
            is_option_of_one(word)
                || self.apart.has(word)
                || (self.sets && secret::is_name(word))
                || word.eq_ignore_ascii_case("bearer")
                || (word == "login" && self.masked.ends_with("vault ") && !next.starts_with('-'))
                || (word.eq_ignore_ascii_case("basic") && is_base64(next))
        };
        if gap > 0 && !next.is_empty() && announces() {
            self.keep(word.len() + gap);
            self.value(false);
        } else if let Some((option, 1..)) = word.get(..2).zip(word.len().checked_sub(2))
            && self.attached.has(option)
        {
            self.keep(2);
            self.value(false);
        } else {
            self.keep(word.len());
        }
    }

    /// Masks the value that begins here: for a `line` the rest of the line or of the enclosing
    /// quote, otherwise one shell word.
    fn value(&mut self, line: bool) {
        let closes = self.quote.is_some_and(|quote| self.rest.starts_with(quote));
        if let Some((open, close)) = opening(self.rest).filter(|_| !closes) {
            self.keep(open);
            self.scheme();
            if self.hide(end_of_quote(self.rest, close)) {
                self.keep(close.len().min(self.rest.len()));
            } else {
                self.quote = self.quote.or(close.chars().next_back());
            }
        } else if line {
            self.scheme();
            let quote = self.quote;
            // Outside quotes a shell runs what stands behind these.
            let ends =
                |c: char| c == '\n' || quote.map_or("\"';|&".contains(c), |quote| c == quote);
            let end = self.rest.find(ends).unwrap_or(self.rest.len());
            self.hide(self.rest[..end].trim_end_matches('\\').len());
        } else {
            self.hide(end_of_word(self.rest, self.quote));
        }
    }

    /// Keeps a word such as `Bearer`, which says what kind of secret follows.
    fn scheme(&mut self) {
        if let Some((word, secret)) = self.rest.split_once(' ')
            && !secret.is_empty()
            && SCHEMES.has(&word.to_ascii_lowercase())
        {
            self.keep(word.len() + 1);
        }
    }

    fn keep(&mut self, length: usize) {
        let (kept, rest) = self.rest.split_at(length);
        self.masked.push_str(kept);
        self.rest = rest;
    }

    /// Masks this many bytes, unless they only refer to a variable, or those before what a shell runs.
    /// Returns whether that was all.
    fn hide(&mut self, length: usize) -> bool {
        let text = &self.rest[..length];
        if is_variable(text) {
            self.keep(length);
            return true;
        }
        let runs = ["$(", "`", "<(", ">("];
        let runs = runs.iter().filter_map(|part| text.find(part)).min();
        self.drop(runs.unwrap_or(length));
        runs.is_none()
    }

    fn drop(&mut self, length: usize) {
        if length > 0 {
            self.masked.push_str(MASK);
            self.rest = &self.rest[length..];
        }
    }
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// The distance from a name to its assigned value: `=`, `: `, `":"`, …; `None` if there is none.
fn assigned(after: &str) -> Option<usize> {
    let closed = after.trim_start_matches('\\');
    let closed = closed.trim_start_matches(['"', '\'', ']']);
    let spaced = closed.trim_start_matches([' ', '\t']);
    let mut marks = [":=", "=>", "=", ":"].iter();
    let mut value = marks.find_map(|mark| spaced.strip_prefix(mark))?;
    // `name = value` with spaces assigns only in files, at the start of a line; a shell allows no
    // spaces around `=`.
    if after.len() > closed.len() || closed.len() > spaced.len() || spaced.starts_with(':') {
        value = value.trim_start_matches([' ', '\t']);
    }
    let is_address = spaced.starts_with("://") || spaced.starts_with("==");
    let nothing = value.is_empty() || value.starts_with(char::is_whitespace);
    (!is_address && !nothing).then(|| after.len() - value.len())
}

/// The length of a value's opening quote, and the closing quote.
fn opening(text: &str) -> Option<(usize, &'static str)> {
    let quotes = [
        ("\\\"", "\\\""),
        ("\\'", "\\'"),
        ("$'", "'"),
        ("\"", "\""),
        ("'", "'"),
        ("`", "`"),
    ];
    let mut quotes = quotes.into_iter();
    let (open, close) = quotes.find(|(open, _)| text.starts_with(open))?;
    Some((open.len(), close))
}

fn end_of_quote(text: &str, close: &str) -> usize {
    let mut from = 0;
    while let Some(at) = text[from..].find(close).map(|at| from + at) {
        // The closing quote of a nested string is escaped where the quotes support escapes.
        if close == "'" || !text[..at].ends_with('\\') {
            return at;
        }
        from = at + close.len();
    }
    text.len()
}

/// Whether a value only refers to a variable: `$NAME`, `${NAME}`.
fn is_variable(value: &str) -> bool {
    let name = value.strip_prefix('$');
    let braced = name.and_then(|name| name.strip_prefix('{')?.strip_suffix('}'));
    let Some(name) = braced.or(name) else {
        return false;
    };
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The end of a word that begins inside this quote, or outside any. Quoted and substituted parts
/// belong to the word.
fn end_of_word(text: &str, outer: Option<char>) -> usize {
    let mut inner = None;
    let mut depth = 0_u32;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        if let Some(quote) = inner {
            escaped = c == '\\' && quote == '"';
            inner = (c != quote).then_some(quote);
            continue;
        }
        if Some(c) == outer {
            return at;
        }
        match c {
            '\\' => escaped = true,
            '"' | '\'' => inner = Some(c),
            '(' => depth += 1,
            ')' if depth > 0 => depth -= 1,
            c if depth == 0 && (c.is_whitespace() || ";&|<>)}]`".contains(c)) => return at,
            _ => {}
        }
    }
    text.len()
}

fn is_base64(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '_' | '-');
    let word = text.find(|c| !is_part(c)).unwrap_or(text.len());
    word >= 8
        && text[..word].contains(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '=')
}

/// The masked text, cut to `max` characters. Examines no more of a long text than that needs.
fn mask_and_cut(text: &str, max: usize) -> String {
    let end = text.floor_char_boundary(4 * max + 2 * CUT_OFF);
    let mut masked = mask(&text[..end]);
    if end < text.len() {
        let whole = masked.len().saturating_sub(CUT_OFF);
        masked.truncate(masked.floor_char_boundary(whole));
    }
    shorten(&masked, max)
}

#[cfg(test)]
mod tests;
