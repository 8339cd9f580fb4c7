//! Where in a line the lexer is: inside a word or between two, and whether a reserved word would be
//! recognised. It counts what those words open.

use super::Fault;

/// Reserved words that open something, in all: the parser recurses on each.
const MAX_OPENING_WORDS: usize = 64;
/// Commands: the parser's tree is as deep as a list is long.
const MAX_COMMANDS: usize = 1000;

/// A place in a command line.
#[derive(Debug)]
pub struct Position {
    /// Where the bare word being read began; `None` for one that is partly quoted.
    word: Option<usize>,
    in_word: bool,
    begins_command: bool,
    open: usize,
    opening: usize,
    commands: usize,
}

impl Default for Position {
    fn default() -> Self {
        Self {
            word: None,
            in_word: false,
            begins_command: true,
            open: 0,
            opening: 0,
            commands: 0,
        }
    }
}

impl Position {
    /// Whether a word is being read.
    pub fn is_in_word(&self) -> bool {
        self.in_word
    }

    /// Compound commands that are open here.
    pub fn open_words(&self) -> usize {
        self.open
    }

    /// A word begins at `at`, or goes on there; `bare` says that nothing in it is quoted.
    pub fn begin_word(&mut self, at: usize, bare: bool) {
        if !self.in_word {
            self.in_word = true;
            self.word = bare.then_some(at);
        } else if !bare {
            self.word = None;
        }
    }

    /// The word at the end of `read` is over; what it is, if it stands where a command begins.
    ///
    /// # Errors
    /// When too many compound commands were begun.
    pub fn end_word<'a>(&mut self, read: &'a str) -> Result<&'a str, Fault> {
        let begun = self.word.take().filter(|_| self.begins_command);
        let word = begun.map_or("", |from| &read[from..]);
        if std::mem::take(&mut self.in_word) && self.begins_command {
            self.begins_command = self.reserved(word)?;
        }
        Ok(word)
    }

    /// Takes note of a word where a command begins; whether a command begins after it too.
    fn reserved(&mut self, word: &str) -> Result<bool, Fault> {
        match word {
            "if" | "while" | "until" | "for" | "select" | "{" => self.open += 1,
            "fi" | "done" | "}" => self.open = self.open.saturating_sub(1),
            _ => {}
        }
        let opening = [
            "if", "elif", "while", "until", "for", "case", "select", "{", "[[", "!",
        ];
        self.opening += usize::from(opening.contains(&word));
        if self.opening > MAX_OPENING_WORDS {
            return Err(Fault::new("", "it has too many compound commands"));
        }
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

    /// A parenthesis or substitution begins.
    pub fn begin_commands(&mut self) {
        self.begins_command = true;
        self.in_word = false;
        self.word = None;
    }

    /// A parenthesis or substitution ended; a substitution is part of a word, which goes on.
    pub fn end_commands(&mut self, in_word: bool) {
        self.begins_command = false;
        self.in_word = in_word;
        self.word = None;
    }
}
