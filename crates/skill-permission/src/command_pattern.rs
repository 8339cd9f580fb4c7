//! Patterns for one simple command (docs/spec/restriction.md#command-patterns) and the canonical
//! form that they match. Does not know how a command line splits into simple commands.

mod wildcards;

use wildcards::{ASSIGNMENT, BREAK, DYNAMIC, HOME, NAME_PART, Token};

use super::entry_grammar::EntryError;
use super::placeholders::PatternPiece;
use super::shell::{is_name, may_be_exported};

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
    tokens: Vec<Token>,
    /// What may follow them.
    endings: &'static [&'static [Token]],
}

/// Nothing may follow.
const NOTHING: &[&[Token]] = &[&[]];
/// Further words may follow (`git:*`).
const WORDS: &[&[Token]] = &[&[], &[Token::Char(BREAK), Token::Any]];
/// As [`WORDS`]; `:` may also continue the last word (`npm run test:*` covers `npm run test:unit`).
const WORDS_OR_COLON: &[&[Token]] = &[
    &[],
    &[Token::Char(BREAK), Token::Any],
    &[Token::Char(':'), Token::Any],
];

impl CommandPattern {
    /// Parses the text inside `Bash(…)`.
    ///
    /// # Errors
    /// A code and a message for a pattern that cannot match.
    pub fn parse(pieces: &[PatternPiece]) -> Result<Self, EntryError> {
        let mut pieces = pieces.to_vec();
        let open = strip_open_end(&mut pieces);
        let mut words = PatternWords::default();
        for piece in &pieces {
            match piece {
                PatternPiece::Written(text) => words.written(text),
                PatternPiece::Literal(text) => words.add(text.chars().map(Token::Char)),
            }
        }
        if words.quote.is_some() {
            return Err(("unbalanced", "a quote is not closed"));
        }
        let (assignments, mut tokens) = split_assignments(&words.tokens);
        if tokens.is_empty() {
            return Err(("empty-pattern", "the pattern names no command"));
        }
        let mut words = tokens.rsplit(|token| *token == Token::Char(BREAK));
        // With a suffix, a path names another file.
        let is_path = words
            .next()
            .is_some_and(|last| last.contains(&Token::Char('/')));
        let endings = match (open, words.next().is_some(), tokens.last()) {
            (false, ..) => NOTHING,
            (true, true, Some(Token::Char(_))) if !is_path => WORDS_OR_COLON,
            (true, ..) => {
                split_program_at_colons(&mut tokens);
                WORDS
            }
        };
        let mut tokens = [assignments, tokens].concat();
        wildcards::confine_stars(&mut tokens, open);
        Ok(Self { tokens, endings })
    }

    /// A pattern for every command that begins with `program`.
    pub fn program(program: &str) -> Self {
        Self {
            tokens: program.chars().map(Token::Char).collect(),
            endings: WORDS,
        }
    }

    /// A pattern for plain text, in which only `*` is special.
    pub fn text(glob: &str) -> Self {
        let token = |c| {
            if c == '*' { Token::Any } else { Token::Char(c) }
        };
        Self {
            tokens: glob.chars().map(token).collect(),
            endings: NOTHING,
        }
    }

    /// Whether the pattern covers a command.
    pub fn matches(&self, command: &CanonicalCommand) -> bool {
        let mut endings = self.endings.iter();
        endings.any(|ending| wildcards::matches(&self.tokens, ending, &command.0))
    }

    /// Whether the pattern itself contains this word, rather than matching it by a `*`.
    pub fn has_literal_word(&self, word: &str) -> bool {
        let is = |tokens: &[Token]| tokens.iter().copied().eq(word.chars().map(Token::Char));
        self.tokens
            .split(|token| *token == Token::Char(BREAK))
            .any(is)
    }

    /// Whether one of its words is a relative path, which means another file in another directory.
    pub fn has_relative_path(&self) -> bool {
        let mut words = self.tokens.split(|token| *token == Token::Char(BREAK));
        words.any(wildcards::is_relative_path)
    }

    /// Whether the pattern covers what a command may become, whatever replaces its unknown text.
    pub fn may_match(&self, command: &CanonicalCommand) -> bool {
        let may_end = |ending: &&[Token]| {
            let tokens = [&self.tokens, *ending].concat();
            // Text after the last word may also begin another one.
            let more = ending.first().map(|_| BREAK);
            wildcards::may_match(&tokens, command.0.chars().chain(more))
        };
        self.endings.iter().any(may_end)
    }
}

/// Removes a trailing `:*` or ` *` and reports whether it was there.
fn strip_open_end(pieces: &mut [PatternPiece]) -> bool {
    let Some(PatternPiece::Written(last)) = pieces.last_mut() else {
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
fn split_assignments(tokens: &[Token]) -> (Vec<Token>, Vec<Token>) {
    let mut assignments = Vec::new();
    let mut rest = tokens;
    loop {
        let end = rest.iter().position(|token| *token == Token::Char(BREAK));
        let (word, after) = end.map_or((rest, None), |end| (&rest[..end], Some(&rest[end + 1..])));
        let name = word.iter().map_while(|token| match token {
            Token::Char(c) if *c != '=' => Some(*c),
            _ => None,
        });
        let name: String = name.collect();
        let assigns = is_name(&name) && word.get(name.len()) == Some(&Token::Char('='));
        let Some(after) = after.filter(|_| assigns) else {
            return (assignments, rest.to_vec());
        };
        if !may_be_exported(&name) {
            assignments.push(Token::Char(ASSIGNMENT));
            assignments.extend(word);
            assignments.push(Token::Char(BREAK));
        }
        rest = after;
    }
}

/// Some skills write `Bash(aws:s3:*)` for `aws s3`; no program has a colon in its name.
fn split_program_at_colons(tokens: &mut [Token]) {
    if !tokens.contains(&Token::Char('/')) && tokens.first() != Some(&Token::Char(':')) {
        for token in tokens
            .iter_mut()
            .filter(|token| **token == Token::Char(':'))
        {
            *token = Token::Char(BREAK);
        }
    }
}

/// Reads a pattern word by word, as a shell reads plain text.
#[derive(Default)]
struct PatternWords {
    tokens: Vec<Token>,
    quote: Option<char>,
    between: bool,
}

impl PatternWords {
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
            let begins_word = self.between || self.tokens.is_empty();
            let token = match (self.quote, c) {
                (None, '\'' | '"') => {
                    self.quote = Some(c);
                    None
                }
                (None, '~') if begins_word && chars.as_str().starts_with('/') => {
                    Some(Token::Char(HOME))
                }
                (None | Some('"'), '$') if begins_word && below_home(chars.as_str()).is_some() => {
                    chars = below_home(chars.as_str()).unwrap_or_default().chars();
                    Some(Token::Char(HOME))
                }
                (None, '*') => Some(Token::Any),
                (Some('"'), '*') => Some(Token::Within),
                (None, '\\') => chars.next().map(Token::Char),
                _ => Some(Token::Char(c)),
            };
            self.add(token);
        }
    }

    /// Adds to the current word, which begins here if white space came before.
    fn add(&mut self, tokens: impl IntoIterator<Item = Token>) {
        if std::mem::take(&mut self.between) && !self.tokens.is_empty() {
            self.tokens.push(Token::Char(BREAK));
        }
        self.tokens.extend(tokens);
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
