//! One word of a command: what of it the shell leaves as it is, and where it puts something in.
//! The parser only says where a word begins and ends and what is substituted in it; its quoting is
//! read here again, and text that should have been split or expanded is refused.

use rable::{Node, NodeKind};

use super::Fault;

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
    /// Something only the shell will know. What is not quoted may become several words.
    Hole {
        /// Whether it stays within this word.
        quoted: bool,
    },
    /// A `~` that the shell expands.
    Tilde,
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
            pieces: vec![Piece::Hole { quoted: false }],
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

    /// Whether this is one word whatever is put in.
    pub fn is_one_word(&self) -> bool {
        let splits = |piece: &Piece| *piece == Piece::Hole { quoted: false };
        !self.pieces.iter().any(splits)
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

    /// Reads a word node of the parser.
    ///
    /// # Errors
    /// For text that this reading splits or expands otherwise than the parser did.
    pub fn read(node: &Node) -> Result<Self, Fault> {
        let NodeKind::Word { value, parts, .. } = &node.kind else {
            return Err(Fault::unread(&format!("{node}")));
        };
        let mut quoting = Quoting {
            raw: value,
            pieces: Vec::new(),
            in_quotes: false,
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
    pieces: Vec<Piece>,
    in_quotes: bool,
}

impl Quoting<'_> {
    fn part(&mut self, part: &Node) -> Result<(), Fault> {
        match &part.kind {
            NodeKind::WordLiteral { value } => self.literal(value),
            // Their forms were looked at by the scan.
            NodeKind::ParamExpansion { .. }
            | NodeKind::ParamLength { .. }
            | NodeKind::ArithmeticExpansion { .. }
            | NodeKind::CommandSubstitution { brace: false, .. } => {
                let quoted = self.in_quotes;
                self.pieces.push(Piece::Hole { quoted });
                Ok(())
            }
            NodeKind::ProcessSubstitution { .. } if !self.in_quotes => {
                self.pieces.push(Piece::Hole { quoted: true });
                Ok(())
            }
            NodeKind::BraceExpansion { content } if !self.in_quotes => {
                if content.contains(['$', '`', '\'', '"', '\\', '(', '<', '>', ' ', '\n']) {
                    return Err(Fault::new(self.raw, "this brace expansion is not read"));
                }
                self.pieces.push(Piece::Hole { quoted: false });
                Ok(())
            }
            _ => Err(Fault::unread(self.raw)),
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
                '*' | '?' | '[' => self.pieces.push(Piece::Hole { quoted: false }),
                '~' if self.pieces.is_empty() => self.pieces.push(Piece::Tilde),
                '{' if chars.clone().any(|c| c == ',' || c == '.') => {
                    self.pieces.push(Piece::Hole { quoted: false });
                }
                _ => self.text(c.encode_utf8(&mut [0; 4])),
            }
        }
        Ok(())
    }

    fn text(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Text(last)) => last.push_str(text),
            _ => self.pieces.push(Piece::Text(text.to_owned())),
        }
    }
}

/// Whether `$` before this character begins an expansion, so that the parser should have said so.
fn expands(next: char, in_quotes: bool) -> bool {
    next.is_ascii_alphanumeric()
        || "_@*#?$!-({[".contains(next)
        || !in_quotes && matches!(next, '\'' | '"')
}
