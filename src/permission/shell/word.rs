//! One word of a command: what of it the shell leaves as it is, and where it puts something in.
//! The parser only says where a word begins and ends and what is substituted in it; its quoting is
//! read here again, and text that should have been split or expanded is refused.

use rable::{Node, NodeKind};

use super::Fault;
use crate::permission::command::Canonical;

/// A word after quote removal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// As it is written.
    pub raw: String,
    /// What it becomes, piece by piece; empty for `''`.
    pub pieces: Vec<Piece>,
}

/// A stretch of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text that the shell leaves as it is.
    Text(String),
    /// Something only the shell will know, and how many words it becomes.
    Value(Arity),
    /// Part of a file's name, and exactly one word: a number such as `$?` or `$((1+2))`, or the
    /// quoted variable of a loop over plain names.
    Name,
    /// Names of files without a slash, any number of them: `*`, `?`, or such a variable unquoted.
    Names,
    /// A `~` that the shell expands.
    Tilde,
}

/// How many words something becomes. What is looked at position by position, such as the options
/// of a wrapper or the operands of `test`, must be exactly one word each: a word more would move
/// all that follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Arity {
    /// Exactly one.
    One,
    /// One, or none if it is empty: `$!`.
    ZeroOrOne,
    /// Any number: `$x`, `$(…)`, a glob, and `"$@"` although it is quoted.
    Any,
}

impl Word {
    /// A word of plain text.
    pub fn literal(text: &str) -> Self {
        Self {
            raw: text.to_owned(),
            pieces: vec![Piece::Text(text.to_owned())],
        }
    }

    /// Words that are not known, such as those that `xargs` adds.
    pub fn unknown() -> Self {
        Self {
            raw: "…".to_owned(),
            pieces: vec![Piece::Value(Arity::Any)],
        }
    }

    /// The text, when all of it is known.
    pub fn text(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// How many words this becomes.
    pub fn arity(&self) -> Arity {
        let of = |piece: &Piece| match piece {
            Piece::Text(_) | Piece::Tilde | Piece::Name => Arity::One,
            Piece::Value(arity) => *arity,
            Piece::Names => Arity::Any,
        };
        let most = self.pieces.iter().map(of).max().unwrap_or(Arity::One);
        // What may be empty leaves a word where something stands beside it.
        if most == Arity::ZeroOrOne && self.pieces.len() > 1 {
            return Arity::One;
        }
        most
    }

    /// Whether this is exactly one word whatever is put in.
    pub fn is_one_word(&self) -> bool {
        self.arity() == Arity::One
    }

    /// Adds the word to the form in which patterns are compared with commands.
    pub fn write(&self, command: &mut Canonical) {
        command.word();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => command.literal(text),
                Piece::Value(_) | Piece::Tilde => command.dynamic(),
                Piece::Name | Piece::Names => command.name_part(),
            }
        }
    }

    /// The known text at the beginning. A `~` becomes a path, of which only the beginning counts.
    pub fn prefix(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Text(text)) => text,
            Some(Piece::Tilde) => "/",
            _ => "",
        }
    }

    /// Whether the word, or each word it becomes, begins with known text that makes it no option.
    pub fn is_never_option(&self) -> bool {
        let expands = self.raw.contains(['$', '`']);
        !matches!(self.prefix(), "")
            && !self.prefix().starts_with('-')
            && (self.is_one_word() || !expands)
    }

    /// Reads a word node of the parser; `names` are variables that hold plain names of files there.
    ///
    /// # Errors
    /// For text that this reading splits or expands otherwise than the parser did.
    pub fn read(node: &Node, names: &[String]) -> Result<Self, Fault> {
        let NodeKind::Word { value, parts, .. } = &node.kind else {
            return Err(Fault::unread(&format!("{node}")));
        };
        let mut quoting = Quoting {
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
            quoting.part(part)?;
        }
        if quoting.in_quotes {
            return Err(Fault::unread(value));
        }
        Ok(Self {
            raw: value.clone(),
            pieces: quoting.pieces,
        })
    }
}

struct Quoting<'a> {
    raw: &'a str,
    names: &'a [String],
    pieces: Vec<Piece>,
    in_quotes: bool,
    /// Whether `[` or `{` was read, of which it is not known where it ends.
    open_ended: bool,
}

impl Quoting<'_> {
    fn part(&mut self, part: &Node) -> Result<(), Fault> {
        match &part.kind {
            NodeKind::WordLiteral { value } => self.literal(value),
            // Their forms were looked at by the scan.
            NodeKind::ParamExpansion { param, op, .. } => {
                let piece = self.parameter(param, op.is_some());
                self.push(piece);
                Ok(())
            }
            NodeKind::ParamLength { .. } | NodeKind::ArithmeticExpansion { .. } => {
                self.push(Piece::Name);
                Ok(())
            }
            NodeKind::CommandSubstitution { brace: false, .. } => {
                let arity = if self.in_quotes {
                    Arity::One
                } else {
                    Arity::Any
                };
                self.push(Piece::Value(arity));
                Ok(())
            }
            NodeKind::ProcessSubstitution { .. } if !self.in_quotes => {
                self.push(Piece::Value(Arity::One));
                Ok(())
            }
            NodeKind::BraceExpansion { content } if !self.in_quotes => {
                if content.contains(['$', '`', '\'', '"', '\\', '(', '<', '>', ' ', '\n']) {
                    return Err(Fault::new(self.raw, "this brace expansion is not read"));
                }
                self.push(Piece::Value(Arity::Any));
                Ok(())
            }
            _ => Err(Fault::unread(self.raw)),
        }
    }

    fn parameter(&self, name: &str, has_operator: bool) -> Piece {
        let is_name = !has_operator && self.names.iter().any(|one| one == name);
        match name {
            _ if is_name && self.in_quotes => Piece::Name,
            _ if is_name => Piece::Names,
            // The positional parameters are as many words as there are, quoted or not.
            "@" => Piece::Value(Arity::Any),
            "?" | "#" | "$" if !has_operator => Piece::Name,
            _ if self.in_quotes => Piece::Value(Arity::One),
            "!" if !has_operator => Piece::Value(Arity::ZeroOrOne),
            _ => Piece::Value(Arity::Any),
        }
    }

    fn literal(&mut self, text: &str) -> Result<(), Fault> {
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '"' => {
                    self.in_quotes = !self.in_quotes;
                    self.text("");
                }
                '\\' => {
                    let escaped = chars.next().ok_or_else(|| Fault::unread(self.raw))?;
                    if self.in_quotes && !matches!(escaped, '$' | '`' | '"' | '\\') {
                        self.text("\\");
                    }
                    self.text(escaped.encode_utf8(&mut [0; 4]));
                }
                '`' => return Err(Fault::unread(self.raw)),
                '$' if chars
                    .peek()
                    .is_some_and(|next| expands(*next, self.in_quotes)) =>
                {
                    return Err(Fault::unread(self.raw));
                }
                _ if self.in_quotes => self.text(c.encode_utf8(&mut [0; 4])),
                '\'' => {
                    self.text("");
                    loop {
                        match chars.next() {
                            Some('\'') => break,
                            Some(c) => self.text(c.encode_utf8(&mut [0; 4])),
                            None => return Err(Fault::unread(self.raw)),
                        }
                    }
                }
                '|' | '&' | ';' | '<' | '>' | '(' | ')' | ' ' | '\t' | '\n' => {
                    return Err(Fault::unread(self.raw));
                }
                '*' | '?' => self.push(Piece::Names),
                '~' if self.pieces.is_empty() => self.push(Piece::Tilde),
                '[' => self.open_end(),
                '{' if chars.clone().any(|c| c == ',' || c == '.') => self.open_end(),
                _ => self.text(c.encode_utf8(&mut [0; 4])),
            }
        }
        Ok(())
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

    /// `[` or `{` was read, and where it ends is not known: all that follows is part of it.
    fn open_end(&mut self) {
        self.push(Piece::Value(Arity::Any));
        self.open_ended = true;
    }
}

/// Whether `$` before this character begins an expansion, so that the parser should have said so.
fn expands(next: char, in_quotes: bool) -> bool {
    next.is_ascii_alphanumeric()
        || "_@*#?$!-({[".contains(next)
        || !in_quotes && matches!(next, '\'' | '"')
}
