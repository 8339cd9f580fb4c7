//! The lexer's position in a line: inside or between words, and whether a reserved word would be
//! recognised. Counts the constructs that those open.

use super::Rejection;
use skill_text::Names;

/// The limit of all reserved words that open a construct: the parser recurses on each.
const MAX_OPENING_WORDS: usize = 64;
/// The limit of words outside here-documents.
const MAX_WORDS: usize = 4096;
/// The limit of commands: the parser's tree is as deep as a list is long.
const MAX_COMMANDS: usize = 1000;

/// Reserved words that open a level for the parser.
const OPENING: Names = Names::new("if elif while until for case { [[ time");
/// Reserved words that another command follows.
const CONTINUING: Names = Names::new("if then else elif while until do ! time { fi done esac }");

/// A position in a command line.
#[derive(Debug, Default)]
pub struct Position {
    word: Option<OpenWord>,
    /// The words that contain the enclosing substitutions.
    outer: Vec<Option<OpenWord>>,
    /// Whether a command may begin here, or begins with the word being read.
    pub begins_command: bool,
    /// The number of open compound commands.
    pub open: usize,
    opening: usize,
    commands: usize,
    words: usize,
}

/// The word being read.
#[derive(Debug, Clone, Copy, Default)]
struct OpenWord {
    start: usize,
    /// `{` outside quotes.
    braces: usize,
    /// `{` in quotes.
    quoted_braces: usize,
    /// Quotes, escapes and expansions.
    segments: usize,
}

/// A word that has been read.
#[derive(Debug, Clone, Copy, Default)]
pub struct FinishedWord<'a> {
    /// The word, if it is bare and at the start of a command.
    pub reserved: &'a str,
    /// As written.
    pub text: &'a str,
    /// The parser's extra work for it: for each brace a search of the word for the closing one, and
    /// at each character a search of the word's segments; for each in quotes, of the segments.
    pub work: usize,
}

impl Position {
    /// The start of a command line.
    pub fn start() -> Self {
        Self {
            begins_command: true,
            ..Self::default()
        }
    }

    /// Whether a word is being read.
    pub fn is_in_word(&self) -> bool {
        self.word.is_some()
    }

    fn word_at(&mut self, start: usize) -> &mut OpenWord {
        self.word.get_or_insert(OpenWord {
            start,
            ..OpenWord::default()
        })
    }

    /// Starts or continues a word at `at` with a plain character.
    pub fn text(&mut self, at: usize, is_brace: bool) {
        let word = self.word_at(at);
        word.braces += usize::from(is_brace);
    }

    /// Starts or continues a word at `at` with quotes, an escape or an expansion.
    pub fn segment(&mut self, at: usize) {
        let word = self.word_at(at);
        word.segments += 1;
    }

    /// Counts braces in quotes.
    pub fn quoted_braces(&mut self, count: usize) {
        if let Some(word) = &mut self.word {
            word.quoted_braces += count;
        }
    }

    /// Ends the word at the end of `read`.
    ///
    /// # Errors
    /// If there are too many words or compound commands.
    pub fn end_word<'a>(&mut self, read: &'a str) -> Result<FinishedWord<'a>, Rejection> {
        let Some(word) = self.word.take() else {
            return Ok(FinishedWord::default());
        };
        let text = &read[word.start..];
        // In any position: inside `[[` each is a level for the parser.
        self.opening += usize::from(text == "!");
        self.words += 1;
        Rejection::err_if(self.words > MAX_WORDS, "", "it has too many words")?;
        if self.opening > MAX_OPENING_WORDS {
            return Rejection::err("", "it has too many compound commands");
        }
        let mut reserved = "";
        if self.begins_command {
            reserved = if word.segments == 0 { text } else { "" };
            self.begins_command = self.count_reserved(reserved)?;
        }
        Ok(FinishedWord {
            reserved,
            text,
            work: word.braces * (1 + word.segments) * text.len() / 32
                + word.quoted_braces * word.segments / 64,
        })
    }

    /// Records a word at the start of a command; returns whether another command follows it.
    fn count_reserved(&mut self, word: &str) -> Result<bool, Rejection> {
        match word {
            "if" | "while" | "until" | "for" | "{" => self.open += 1,
            "fi" | "done" | "}" => self.open = self.open.saturating_sub(1),
            _ => {}
        }
        if matches!(word, "function" | "coproc" | "select") {
            return Rejection::err(word, "shells disagree about it, or it runs later");
        }
        self.opening += usize::from(OPENING.has(word));
        Ok(CONTINUING.has(word))
    }

    /// Ends a command; another may begin.
    ///
    /// # Errors
    /// If there are too many.
    pub fn separate(&mut self) -> Result<(), Rejection> {
        self.begins_command = true;
        self.commands += 1;
        Rejection::err_if(self.commands > MAX_COMMANDS, "", "it has too many commands")
    }

    /// Whether a command may begin here.
    pub fn is_command_begin(&self) -> bool {
        self.begins_command && self.word.is_none()
    }

    /// Begins a parenthesis or substitution, possibly within a word.
    ///
    /// # Errors
    /// If there are too many commands.
    pub fn begin_commands(&mut self) -> Result<(), Rejection> {
        self.outer.push(self.word.take());
        self.separate()
    }

    /// Ends a parenthesis or substitution at `at`; after a substitution its word continues.
    pub fn end_commands(&mut self, at: usize, in_word: bool) {
        self.word = self.outer.pop().flatten();
        self.begins_command = false;
        if in_word {
            self.segment(at);
        }
    }
}
