//! One word of a command: its literal and its expanded parts. The parser supplies only word
//! boundaries and substitutions; quoting is read again here, and text that should have been split
//! or expanded is refused.

use rable::{Node, NodeKind};

use super::programs::has_word;
use super::{PLACEHOLDER, Rejection};
use crate::command_pattern::CanonicalCommand;
use crate::protected::{ANY_CHAR, ANY_TEXT};

/// A word after quote removal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// As written.
    pub raw: String,
    /// Its parts after expansion; empty for `''`.
    pub pieces: Vec<Piece>,
    /// Whether the pieces are all of it: no brace or bracket is among them.
    pub is_complete: bool,
}

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Literal text.
    Text(String),
    /// A value known only at run time, and how many words it becomes.
    Expansion(WordCount),
    /// Part of a file name, exactly one word: a number such as `$?` or `$((1+2))`, or the quoted
    /// variable of a loop over plain names.
    NamePart,
    /// Any number of file names without a slash: `*`, `?`, or such a variable unquoted.
    FileNames,
    /// A `~` that the shell expands.
    Tilde,
}

/// How many words something becomes. Where positions matter, as in a wrapper's options or the
/// operands of `test`, everything must be exactly one word: one more would shift the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WordCount {
    /// Exactly one.
    One,
    /// One, or none if empty: `$!`.
    ZeroOrOne,
    /// Any number: `$x`, `$(…)`, a glob, and `"$@"` even though quoted.
    Any,
}

impl Word {
    /// A word of plain text.
    pub fn literal(text: &str) -> Self {
        Self {
            raw: text.to_owned(),
            pieces: vec![Piece::Text(text.to_owned())],
            is_complete: true,
        }
    }

    /// A word as it is written; if it expands to anything, to so many words.
    pub fn from_source(raw: &str, word_count: WordCount) -> Self {
        let is_plain = !raw.contains(['$', '`', '\\', '*', '?', '[', '{', '~', ANY_TEXT, ANY_CHAR]);
        let piece = if is_plain {
            Piece::Text(raw.replace(['"', '\''], ""))
        } else {
            Piece::Expansion(word_count)
        };
        Self {
            raw: raw.to_owned(),
            pieces: vec![piece],
            is_complete: is_plain,
        }
    }

    /// Unknown words, such as those that `xargs` adds.
    pub fn unknown() -> Self {
        Self {
            raw: "…".to_owned(),
            pieces: vec![Piece::Expansion(WordCount::Any)],
            is_complete: true,
        }
    }

    /// The text, if all of it is known.
    pub fn text(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Whether the text is known and accepted.
    pub fn fits(&self, accepts: impl FnOnce(&str) -> bool) -> bool {
        self.text().is_some_and(accepts)
    }

    /// Whether this is known to be one of these texts.
    pub fn is_one_of(&self, texts: &[&str]) -> bool {
        self.fits(|text| texts.contains(&text))
    }

    /// Whether this is, or may become, an option.
    pub fn may_be_option(&self) -> bool {
        self.prefix().starts_with('-')
    }

    /// How many words this becomes.
    pub fn word_count(&self) -> WordCount {
        let of = |piece: &Piece| match piece {
            Piece::Text(_) | Piece::Tilde | Piece::NamePart => WordCount::One,
            Piece::Expansion(word_count) => *word_count,
            Piece::FileNames => WordCount::Any,
        };
        let most = self.pieces.iter().map(of).max().unwrap_or(WordCount::One);
        // Beside other text, a possibly empty value still leaves a word.
        if most == WordCount::ZeroOrOne && self.pieces.len() > 1 {
            return WordCount::One;
        }
        most
    }

    /// Whether this is exactly one word, whatever its values.
    pub fn is_one_word(&self) -> bool {
        self.word_count() == WordCount::One
    }

    /// The known text at the start. A `~` becomes a path, of which only the first character
    /// matters.
    pub fn prefix(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Text(text)) => text,
            Some(Piece::Tilde) => "/",
            _ => "",
        }
    }

    /// Whether the word, or each word it becomes, starts with known text other than an option's.
    pub fn cannot_be_option(&self) -> bool {
        let expands = self.raw.contains(['$', '`']);
        !self.prefix().is_empty() && !self.may_be_option() && (self.is_one_word() || !expands)
    }

    /// Reads a word node of the parser; `names` are variables that hold plain file names there.
    ///
    /// # Errors
    /// For text that this code splits or expands differently from the parser.
    pub fn from_node(node: &Node, names: &[String]) -> Result<Self, Rejection> {
        let NodeKind::Word { value, parts, .. } = &node.kind else {
            return Err(Rejection::misparsed(&format!("{node}")));
        };
        let mut removal = QuoteRemoval {
            raw: value,
            names,
            pieces: Vec::new(),
            in_quotes: false,
            open_ended: false,
        };
        // `[` alone is a program, not a glob.
        if value == "[" {
            return Ok(Self::literal("["));
        }
        for part in parts {
            removal.part(part)?;
        }
        if removal.in_quotes {
            return Err(Rejection::misparsed(value));
        }
        let is_brace = |part: &Node| matches!(part.kind, NodeKind::BraceExpansion { .. });
        Ok(Self {
            raw: value.clone(),
            is_complete: !removal.open_ended && !parts.iter().any(is_brace),
            pieces: removal.pieces,
        })
    }
}

struct QuoteRemoval<'a> {
    raw: &'a str,
    names: &'a [String],
    pieces: Vec<Piece>,
    in_quotes: bool,
    /// Whether a `[` or `{` was read whose end is unknown.
    open_ended: bool,
}

impl QuoteRemoval<'_> {
    fn part(&mut self, part: &Node) -> Result<(), Rejection> {
        let piece = match &part.kind {
            NodeKind::WordLiteral { value } => {
                let raw = self.raw;
                return self.literal(value).ok_or_else(|| Rejection::misparsed(raw));
            }
            // The scan has checked their forms.
            NodeKind::ParamExpansion { param, op, .. } => self.parameter(param, op.is_some()),
            NodeKind::ParamLength { .. } | NodeKind::ArithmeticExpansion { .. } => Piece::NamePart,
            NodeKind::CommandSubstitution { brace: false, .. } if self.in_quotes => {
                Piece::Expansion(WordCount::One)
            }
            NodeKind::CommandSubstitution { brace: false, .. } => Piece::Expansion(WordCount::Any),
            NodeKind::ProcessSubstitution { .. } if !self.in_quotes => {
                Piece::Expansion(WordCount::One)
            }
            NodeKind::BraceExpansion { content } if !self.in_quotes => {
                if content.contains(['$', '`', '\'', '"', '\\', '(', '<', '>', ' ', '\n']) {
                    return Rejection::err(self.raw, "this brace expansion is not read");
                }
                Piece::Expansion(WordCount::Any)
            }
            _ => return Err(Rejection::misparsed(self.raw)),
        };
        self.push(piece);
        Ok(())
    }

    fn parameter(&self, name: &str, has_operator: bool) -> Piece {
        let is_name = !has_operator && self.names.iter().any(|one| one == name);
        match name {
            _ if is_name && self.in_quotes => Piece::NamePart,
            _ if is_name => Piece::FileNames,
            // The positional parameters become as many words as there are, quoted or not.
            "@" => Piece::Expansion(WordCount::Any),
            "?" | "#" | "$" if !has_operator => Piece::NamePart,
            _ if self.in_quotes => Piece::Expansion(WordCount::One),
            "!" if !has_operator => Piece::Expansion(WordCount::ZeroOrOne),
            _ => Piece::Expansion(WordCount::Any),
        }
    }

    /// Reads literal text with its quotes; `None` if it should have been split or expanded.
    fn literal(&mut self, text: &str) -> Option<()> {
        let last_sign = text.rfind([',', '.']);
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match c {
                '"' => {
                    self.in_quotes = !self.in_quotes;
                    self.text("");
                }
                '\\' => {
                    let escaped = chars.next()?;
                    if self.in_quotes && !matches!(escaped, '$' | '`' | '"' | '\\') {
                        self.text("\\");
                    }
                    self.text(escaped.encode_utf8(&mut [0; 4]));
                }
                '`' => return None,
                '$' if chars
                    .as_str()
                    .starts_with(|next| expands(next, self.in_quotes)) =>
                {
                    return None;
                }
                _ if self.in_quotes => self.text(c.encode_utf8(&mut [0; 4])),
                '\'' => {
                    let (inside, rest) = chars.as_str().split_once('\'')?;
                    self.text(inside);
                    chars = rest.chars();
                }
                '|' | '&' | ';' | '<' | '>' | '(' | ')' | ' ' | '\t' | '\n' => return None,
                '*' | '?' => self.push(Piece::FileNames),
                '~' if self.pieces.is_empty() => self.push(Piece::Tilde),
                '[' => self.push_open_ended(),
                // As of `find` and `xargs`; without another brace it is text to every shell.
                '{' if chars.as_str().starts_with('}')
                    && !self.raw.replace("{}", "").contains(['{', '}']) =>
                {
                    chars.next();
                    self.text("{}");
                }
                '{' if last_sign >= Some(text.len() - chars.as_str().len()) => {
                    self.push_open_ended();
                }
                _ => self.text(c.encode_utf8(&mut [0; 4])),
            }
        }
        Some(())
    }

    fn text(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Text(last)) if !self.open_ended => last.push_str(text),
            _ => self.push(Piece::Text(text.to_owned())),
        }
    }

    fn push(&mut self, piece: Piece) {
        if !self.open_ended {
            self.pieces.push(piece);
        }
    }

    /// After a `[` or `{` whose end is unknown, everything is part of it.
    fn push_open_ended(&mut self) {
        self.push(Piece::Expansion(WordCount::Any));
        self.open_ended = true;
    }
}

/// A command in the form that patterns match: the assignments before it, and its words.
pub fn canonical<'a>(
    assignments: &[String],
    words: impl IntoIterator<Item = &'a Word>,
) -> CanonicalCommand {
    let mut canonical = CanonicalCommand::default();
    for assignment in assignments {
        canonical.assignment(assignment);
    }
    for word in words {
        canonical.word();
        for piece in &word.pieces {
            match piece {
                Piece::Text(text) => canonical.literal(text),
                Piece::Expansion(_) | Piece::Tilde => canonical.dynamic(),
                Piece::NamePart | Piece::FileNames => canonical.name_part(),
            }
        }
    }
    canonical
}

/// Makes every word that contains `name` unknown in its place.
pub fn make_unknown(words: &mut [Word], name: &str) {
    for word in words {
        let has_name = |piece: &Piece| matches!(piece, Piece::Text(text) if text.contains(name));
        // Beside a `..` it is not read as text: it looks like an open brace.
        if word.pieces.iter().any(has_name) || word.raw.contains(name) {
            word.raw = word.raw.replace(name, PLACEHOLDER);
            word.pieces = vec![Piece::Expansion(WordCount::Any)];
        }
    }
}

/// Whether every word's text is known and accepted.
pub fn all_literal(words: &[Word], accepts: impl Fn(&str) -> bool) -> bool {
    words.iter().all(|word| word.fits(&accepts))
}

/// The words after as many of these options, separated by blanks, as there are.
pub fn after_options<'w>(words: &'w [Word], options: &str) -> &'w [Word] {
    let is_other = |word: &Word| !word.fits(|text| has_word(options, text));
    &words[words.iter().position(is_other).unwrap_or(words.len())..]
}

/// Whether a text is a number in digits.
pub fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())
}

/// Whether `$` before this character begins an expansion, which the parser should have reported.
fn expands(next: char, in_quotes: bool) -> bool {
    next.is_ascii_alphanumeric()
        || "_@*#?$!-({[".contains(next)
        || !in_quotes && matches!(next, '\'' | '"')
}
