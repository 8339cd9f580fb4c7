//! Where in a line the lexer is: inside a word or between two, and whether a reserved word would be
//! recognised. It counts what those words open.

use super::Fault;

/// Reserved words that open something, in all: the parser recurses on each.
const MAX_OPENING_WORDS: usize = 64;
/// Words outside here-documents.
const MAX_WORDS: usize = 4096;
/// Commands: the parser's tree is as deep as a list is long.
const MAX_COMMANDS: usize = 1000;

/// A place in a command line.
#[derive(Debug)]
pub struct Position {
    word: Option<Word>,
    /// The words that the substitutions around this place are part of.
    outer: Vec<Option<Word>>,
    begins_command: bool,
    open: usize,
    opening: usize,
    commands: usize,
    words: usize,
}

/// A word that is being read.
#[derive(Debug, Clone, Copy)]
struct Word {
    start: usize,
    /// Whether nothing in it is quoted or expanded.
    bare: bool,
    /// `{` outside quotes.
    braces: usize,
    /// Quotes, escapes and expansions.
    segments: usize,
}

/// A word that was read.
#[derive(Debug, Clone, Copy)]
pub struct Ended<'a> {
    /// What it is, if it is bare and stands where a command begins.
    pub reserved: &'a str,
    /// As it is written.
    pub text: &'a str,
    /// What the parser has to do for it besides reading it: for each brace it looks through the
    /// word for the closing one, and at each character through the word's segments.
    pub work: usize,
}

impl Default for Position {
    fn default() -> Self {
        Self {
            word: None,
            outer: Vec::new(),
            begins_command: true,
            open: 0,
            opening: 0,
            commands: 0,
            words: 0,
        }
    }
}

impl Position {
    /// Whether a word is being read.
    pub fn is_in_word(&self) -> bool {
        self.word.is_some()
    }

    /// Compound commands that are open here.
    pub fn open_words(&self) -> usize {
        self.open
    }

    /// A word begins at `at`, or goes on there with a character as it is.
    pub fn text(&mut self, at: usize, is_brace: bool) {
        let word = self.word.get_or_insert(Word::at(at));
        word.braces += usize::from(is_brace);
    }

    /// A word begins at `at`, or goes on there with quotes, an escape or an expansion.
    pub fn segment(&mut self, at: usize) {
        let word = self.word.get_or_insert(Word::at(at));
        word.bare = false;
        word.segments += 1;
    }

    /// The word at the end of `read` is over.
    ///
    /// # Errors
    /// When there were too many words, or too many compound commands were begun.
    pub fn end_word<'a>(&mut self, read: &'a str) -> Result<Ended<'a>, Fault> {
        let mut ended = Ended {
            reserved: "",
            text: "",
            work: 0,
        };
        if let Some(word) = self.word.take() {
            let text = &read[word.start..];
            // Wherever it stands: inside `[[` each is a level for the parser.
            self.opening += usize::from(text == "!");
            ended.text = text;
            self.words += 1;
            if self.words > MAX_WORDS {
                return Err(Fault::new("", "it has too many words"));
            }
            ended.work = word.braces * (1 + word.segments) * text.len() / 32;
            if self.opening > MAX_OPENING_WORDS {
                return Err(Fault::new("", "it has too many compound commands"));
            }
            if self.begins_command {
                ended.reserved = if word.bare { text } else { "" };
                self.begins_command = self.reserved(ended.reserved)?;
            }
        }
        Ok(ended)
    }

    /// Takes note of a word where a command begins; whether a command begins after it too.
    fn reserved(&mut self, word: &str) -> Result<bool, Fault> {
        match word {
            "if" | "while" | "until" | "for" | "{" => self.open += 1,
            "fi" | "done" | "}" => self.open = self.open.saturating_sub(1),
            _ => {}
        }
        if ["function", "coproc", "select"].contains(&word) {
            return Err(Fault::new(
                word,
                "shells disagree about it, or it runs later",
            ));
        }
        let opening = [
            "if", "elif", "while", "until", "for", "case", "{", "[[", "time",
        ];
        self.opening += usize::from(opening.contains(&word));
        let continues = [
            "if", "then", "else", "elif", "while", "until", "do", "!", "time", "{", "fi", "done",
            "esac", "}",
        ];
        Ok(continues.contains(&word))
    }

    /// One command is over and another may begin.
    ///
    /// # Errors
    /// When there were too many.
    pub fn separate(&mut self) -> Result<(), Fault> {
        self.begins_command = true;
        self.commands += 1;
        if self.commands > MAX_COMMANDS {
            return Err(Fault::new("", "it has too many commands"));
        }
        Ok(())
    }

    /// Whether a command may begin here.
    pub fn is_command_begin(&self) -> bool {
        self.begins_command && self.word.is_none()
    }

    /// A command may begin here.
    pub fn begin_command(&mut self) {
        self.begins_command = true;
    }

    /// A parenthesis or substitution begins, maybe within a word.
    ///
    /// # Errors
    /// When there were too many commands.
    pub fn begin_commands(&mut self) -> Result<(), Fault> {
        self.outer.push(self.word.take());
        self.separate()
    }

    /// A parenthesis or substitution ends at `at`; a substitution is part of a word, which goes on.
    pub fn end_commands(&mut self, at: usize, in_word: bool) {
        self.word = self.outer.pop().flatten();
        self.begins_command = false;
        if in_word {
            self.segment(at);
        }
    }
}

impl Word {
    fn at(start: usize) -> Self {
        Self {
            start,
            bare: true,
            braces: 0,
            segments: 0,
        }
    }
}
