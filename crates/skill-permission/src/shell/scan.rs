//! Reads a command before the parser does: one pass with an explicit stack of enclosing constructs.
//! Refuses what is too long, too deep or too expensive to parse
//! (docs/spec/restriction.md#how-a-command-is-read), and what shells are known to read differently.
//! Counts what it saw, for comparison with the parser; builds no tree and knows no rules.

use super::heredoc::{PendingHeredoc, unclear_heredoc};
use super::lexer_position::Position;
use super::{Rejection, accepted_expansions, zsh};
use crate::steps::Steps;
use crate::vocabulary::{Language, Shell};

/// The maximum length of a command.
const MAX_BYTES: usize = 64 * 1024;
/// The limit of nested constructs.
const MAX_DEPTH: usize = 32;

/// What was seen, and the text to parse.
#[derive(Debug, Default)]
pub struct Scan {
    /// The command without line continuations.
    pub text: String,
    /// The number of command and process substitutions, including nested ones.
    pub substitutions: usize,
    /// The bodies of here-documents, in textual order.
    pub heredocs: Vec<String>,
    /// Where in the text there is a `>` behind an `&`, as in `&>` and `&>>`.
    pub ampersand_redirections: Vec<usize>,
}

impl Scan {
    /// The text as dash reads it, if that differs: `a &>f b` runs `a` in the background, then `b`.
    pub fn text_for_dash(&self) -> Option<String> {
        let mut text = self.text.clone();
        for at in self.ampersand_redirections.iter().rev() {
            text.insert(*at, ' ');
        }
        (text.len() > self.text.len()).then_some(text)
    }
}

/// Scans `source` once.
///
/// # Errors
/// For anything that this scan, or some shell, could misread.
pub fn scan(source: &str, shell: Shell, steps: &Steps) -> Result<Scan, Rejection> {
    Rejection::err_if(source.len() > MAX_BYTES, "", "it is longer than 64 KiB")?;
    if shell.language == Language::Other {
        return Rejection::err("", "the shell that would run it is not known");
    }
    let strange = |c: char| c.is_control() && c != '\n' && c != '\t';
    Rejection::err_if(source.contains(strange), "", "it has control characters")?;
    let lexer = Lexer {
        source,
        shell,
        steps,
        at: 0,
        copied: 0,
        levels: Vec::new(),
        pending: Vec::new(),
        position: Position::start(),
        scan: Scan::default(),
    };
    lexer.read()
}

/// Reads a command once from left to right.
struct Lexer<'a> {
    source: &'a str,
    shell: Shell,
    steps: &'a Steps,
    at: usize,
    copied: usize,
    levels: Vec<OpenConstruct>,
    pending: Vec<PendingHeredoc>,
    position: Position,
    scan: Scan,
}

impl<'a> Lexer<'a> {
    fn read(mut self) -> Result<Scan, Rejection> {
        while let Some(c) = self.peek() {
            self.charge(1)?;
            match self.levels.last() {
                Some(OpenConstruct::DoubleQuote) => self.double_quoted(c)?,
                _ => self.unquoted(c)?,
            }
        }
        self.finish()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Whether zsh may be the shell.
    fn may_be_zsh(&self) -> bool {
        self.shell.language == Language::BashOrZsh
    }

    fn rest(&self) -> &'a str {
        &self.source[self.at..]
    }

    /// Counts the parser's work for this many bytes.
    fn charge(&mut self, bytes: usize) -> Result<(), Rejection> {
        let depth = self.levels.len();
        if depth + self.position.open > MAX_DEPTH {
            return Rejection::err("", "it is nested too deeply");
        }
        // The parser reads the inside of a substitution again at each enclosing level.
        Rejection::spend(self.steps, bytes * (1 + depth * depth))
    }

    /// Reads one step inside double quotes.
    fn double_quoted(&mut self, c: char) -> Result<(), Rejection> {
        match c {
            '"' => {
                self.levels.pop();
                self.at += 1;
            }
            '\\' => self.escape()?,
            '$' => self.dollar()?,
            '`' => self.backtick()?,
            '\n' if !self.pending.is_empty() => return Err(unclear_heredoc()),
            _ => {
                self.position.quoted_braces(usize::from(c == '{'));
                self.at += c.len_utf8();
            }
        }
        Ok(())
    }

    /// Reads one step outside quotes.
    fn unquoted(&mut self, c: char) -> Result<(), Rejection> {
        match c {
            ' ' | '\t' => self.end_word(1)?,
            '\n' => {
                self.end_word(1)?;
                self.position.separate()?;
                self.heredoc_bodies()?;
            }
            ';' | '&' | '|' => {
                if self.may_be_zsh() && c == '&' {
                    zsh::operator(self.rest(), 1)?;
                }
                if c != '|' && self.in_substitution() && !self.pending.is_empty() {
                    return Err(joined_by_bash());
                }
                if [";;", ";&", ";|"]
                    .iter()
                    .any(|end| self.rest().starts_with(end))
                {
                    replace_innermost(&mut self.levels, OpenConstruct::Branch, OpenConstruct::Case);
                }
                if self.rest().starts_with("&>") && !self.may_be_zsh() {
                    let at = self.scan.text.len() + self.at - self.copied;
                    self.scan.ampersand_redirections.push(at + 1);
                }
                self.end_word(1)?;
                self.position.separate()?;
            }
            '(' => {
                self.end_word(0)?;
                // In a word it would be a glob of zsh, which can run commands: `*(+x)`.
                let begins = self.source[..self.at].ends_with([' ', '\t', '\n', ';', '&', '|']);
                let is_pattern = begins && self.levels.last() == Some(&OpenConstruct::Case);
                if !is_pattern && !self.position.is_command_begin() {
                    let why =
                        "functions and arrays are not supported; write the words or commands out";
                    return Rejection::err("(", why);
                }
                if self.rest().starts_with("((") {
                    return Rejection::err("((", "shells disagree about `((`");
                }
                self.open(OpenConstruct::Subshell)?;
            }
            ')' => {
                self.end_word(0)?;
                self.close_paren()?;
            }
            '<' | '>' => self.redirection()?,
            '\'' => self.single_quotes()?,
            '"' => {
                self.begin_quote()?;
                self.levels.push(OpenConstruct::DoubleQuote);
                self.at += 1;
            }
            '\\' => self.escape()?,
            '$' => self.dollar()?,
            '`' => self.backtick()?,
            '#' if !self.position.is_in_word() => self.comment()?,
            '[' if self.position.is_in_word() && !self.source[..self.at].ends_with('[') => {
                refuse_open_bracket(self.rest())?;
                self.position.text(self.at, false);
                self.at += 1;
            }
            c if may_be_blank(c) => {
                let text = c.encode_utf8(&mut [0; 4]).to_owned();
                return Rejection::err(&text, "some shells split words at it; quote it");
            }
            _ => {
                self.position.text(self.at, c == '{');
                self.at += c.len_utf8();
            }
        }
        Ok(())
    }

    /// Ends the word before this character and advances `width` bytes.
    fn end_word(&mut self, width: usize) -> Result<(), Rejection> {
        let ended = self.position.end_word(&self.source[..self.at])?;
        self.charge(ended.work)?;
        if self.may_be_zsh() && !["{", "}"].contains(&ended.reserved) {
            zsh::argument(ended.text)?;
        }
        match ended.reserved {
            "case" => self.levels.push(OpenConstruct::Case),
            "esac" => {
                let is_case = |level: &mut OpenConstruct| {
                    matches!(level, OpenConstruct::Case | OpenConstruct::Branch)
                };
                self.levels.pop_if(is_case).ok_or_else(unclosed)?;
            }
            _ => {}
        }
        self.at += width;
        Ok(())
    }

    fn open(&mut self, level: OpenConstruct) -> Result<(), Rejection> {
        self.levels.push(level);
        self.position.begin_commands()?;
        self.at += 1;
        Ok(())
    }

    fn close_paren(&mut self) -> Result<(), Rejection> {
        match self.levels.last() {
            Some(OpenConstruct::Case) => self.begin_branch(),
            Some(level @ (OpenConstruct::Subshell | OpenConstruct::Substitution)) => {
                // A substitution is part of a word, which continues after it.
                let in_word = *level == OpenConstruct::Substitution;
                self.position.end_commands(self.at, in_word);
                self.refuse_pending_heredoc()?;
                self.levels.pop();
                // This was a pattern in parentheses.
                if self.levels.last() == Some(&OpenConstruct::Case) && !in_word {
                    self.begin_branch();
                }
            }
            _ => return Err(unclosed()),
        }
        self.at += 1;
        Ok(())
    }

    fn begin_branch(&mut self) {
        replace_innermost(&mut self.levels, OpenConstruct::Case, OpenConstruct::Branch);
        self.position.begins_command = true;
    }

    fn escape(&mut self) -> Result<(), Rejection> {
        if self.levels.contains(&OpenConstruct::Backtick) {
            return Rejection::err("`", "backslashes inside backticks are read in several ways");
        }
        let Some(escaped) = self.rest()[1..].chars().next() else {
            return Rejection::err("\\", "it ends in a backslash");
        };
        if escaped == '\n' {
            return self.skip_line_continuation();
        }
        self.position.segment(self.at);
        self.at += 1 + escaped.len_utf8();
        Ok(())
    }

    /// Removes a line continuation, if it does not join two tokens or parts of an expansion.
    fn skip_line_continuation(&mut self) -> Result<(), Rejection> {
        let blank = |c: Option<char>| c.is_none_or(|c| c == ' ' || c == '\t' || c == '\n');
        let before = &self.source[..self.at];
        let after = self.rest()[2..].chars().next();
        let is_quoted = self.levels.last() == Some(&OpenConstruct::DoubleQuote);
        // `$x` may go on too, with a subscript or a modifier of zsh.
        let of_expansion = |c: char| c.is_ascii_alphanumeric() || "_@*#?!-:[]".contains(c);
        let goes_on = before.trim_end_matches(of_expansion).ends_with(['$', '`']);
        if !blank(before.chars().next_back()) && !blank(after) && (!is_quoted || goes_on) {
            return Rejection::err("\\", "a word goes on after a backslash and a line break");
        }
        if !is_quoted {
            self.end_word(0)?;
        }
        self.scan.text.push_str(&self.source[self.copied..self.at]);
        self.at += 2;
        self.copied = self.at;
        Ok(())
    }

    fn single_quotes(&mut self) -> Result<(), Rejection> {
        self.begin_quote()?;
        let inside = &self.rest()[1..];
        let end = inside.find('\'').ok_or_else(unclosed)?;
        let inside = &inside[..end];
        // Backticks take away a backslash before `$`, a backtick or a backslash, here too.
        if self.levels.contains(&OpenConstruct::Backtick) && inside.contains(['`', '\\']) {
            return Rejection::err("`", "quotes inside backticks are read in several ways");
        }
        if inside.contains('\n') {
            self.refuse_pending_heredoc()?;
        }
        self.charge(end)?;
        self.position.quoted_braces(inside.matches('{').count());
        self.at += end + 2;
        Ok(())
    }

    fn begin_quote(&mut self) -> Result<(), Rejection> {
        let mut inner = self.levels.iter().rev();
        if inner.any(|level| *level == OpenConstruct::Backtick)
            && inner.any(|level| *level == OpenConstruct::DoubleQuote)
        {
            return Rejection::err("`", "quotes inside backticks are read in several ways");
        }
        self.position.segment(self.at);
        Ok(())
    }

    fn dollar(&mut self) -> Result<(), Rejection> {
        self.position.segment(self.at);
        let rest = self.rest();
        let quoted = self.levels.last() == Some(&OpenConstruct::DoubleQuote);
        if self.may_be_zsh() {
            zsh::expansion(rest)?;
        }
        if rest.starts_with("$((") {
            self.at += accepted_expansions::arithmetic(rest)?;
        } else if rest.starts_with("$(") {
            self.scan.substitutions += 1;
            self.at += 1;
            self.open(OpenConstruct::Substitution)?;
        } else if rest.starts_with("${") {
            let width = accepted_expansions::parameter(rest)?;
            if self.may_be_zsh() {
                zsh::expansions(&rest[..width])?;
            }
            self.at += width;
        } else if rest.starts_with("$[") {
            return Rejection::err("$[", "arithmetic of this form is not read");
        } else if !quoted && (rest.starts_with("$'") || rest.starts_with("$\"")) {
            return Rejection::err(&rest[..2], "shells disagree about this kind of quotes");
        } else {
            self.at += 1;
        }
        Ok(())
    }

    fn backtick(&mut self) -> Result<(), Rejection> {
        if self.levels.last() == Some(&OpenConstruct::Backtick) {
            self.refuse_pending_heredoc()?;
            self.end_word(0)?;
            self.levels.pop();
            self.position.end_commands(self.at, true);
        } else if self.levels.contains(&OpenConstruct::Backtick) {
            return Rejection::err("`", "nested backticks are read in several ways");
        } else {
            self.position.segment(self.at);
            self.levels.push(OpenConstruct::Backtick);
            self.scan.substitutions += 1;
            self.position.begin_commands()?;
        }
        self.at += 1;
        Ok(())
    }

    fn comment(&mut self) -> Result<(), Rejection> {
        if self.levels.contains(&OpenConstruct::Backtick) {
            return Rejection::err("#", "comments inside backticks are read in several ways");
        }
        if self.may_be_zsh() && self.shell.persists {
            let why = "an interactive shell may not treat this as a comment";
            return Rejection::err("#", why);
        }
        self.at += self.rest().find('\n').unwrap_or(self.rest().len());
        Ok(())
    }

    fn redirection(&mut self) -> Result<(), Rejection> {
        let rest = self.rest();
        refuse_long_descriptor(&self.source[..self.at])?;
        if rest.starts_with("<(") || rest.starts_with(">(") {
            // A part of the word, as `$(…)` is.
            self.position.segment(self.at);
            self.scan.substitutions += 1;
            self.at += 1;
            return self.open(OpenConstruct::Substitution);
        }
        self.end_word(0)?;
        if rest.starts_with("<<<") {
            self.at += 3;
        } else if rest.starts_with("<<") {
            if self.levels.contains(&OpenConstruct::Backtick) {
                return Err(unclear_heredoc());
            }
            if self.in_substitution() && self.levels.last() != Some(&OpenConstruct::Substitution) {
                return Err(joined_by_bash());
            }
            let (pending, width) = PendingHeredoc::read(rest, self.levels.len())?;
            self.pending.push(pending);
            self.at += width;
        } else {
            // `>&` and `&>` are single operators, not the end of a command.
            let width = 1 + usize::from(rest[1..].starts_with(['&', '>', '|']));
            if rest[1..].starts_with('&') {
                refuse_moved_descriptor(&rest[2..])?;
            }
            if self.may_be_zsh() {
                zsh::operator(rest, width)?;
            }
            self.at += width;
        }
        Ok(())
    }

    /// Skips the bodies of the here-documents that this line began.
    fn heredoc_bodies(&mut self) -> Result<(), Rejection> {
        let is_last = self.in_substitution() && !self.pending.is_empty();
        for pending in std::mem::take(&mut self.pending) {
            if pending.depth != self.levels.len() {
                return Err(unclear_heredoc());
            }
            let (body, width) = pending.body(self.rest(), self.may_be_zsh())?;
            self.scan.heredocs.push(body);
            self.charge(width)?;
            self.at += width;
        }
        let ends = |rest: &str| rest.trim_start_matches([' ', '\t', '\n']).starts_with(')');
        // Last: in a text of empty lines it would take quadratic time.
        if is_last && !ends(self.rest()) {
            return Err(joined_by_bash());
        }
        Ok(())
    }

    fn in_substitution(&self) -> bool {
        self.levels.contains(&OpenConstruct::Substitution)
    }

    fn refuse_pending_heredoc(&self) -> Result<(), Rejection> {
        if self.pending.is_empty() {
            return Ok(());
        }
        Err(unclear_heredoc())
    }

    fn finish(mut self) -> Result<Scan, Rejection> {
        self.end_word(0)?;
        self.refuse_pending_heredoc()?;
        if !self.levels.is_empty() {
            return Err(unclosed());
        }
        self.scan.text.push_str(&self.source[self.copied..]);
        self.scan.heredocs.sort_unstable();
        Ok(self.scan)
    }
}

/// For commands after a here-document in a substitution. Bash 5.2 prints a substitution and reads
/// the print, which has no separator before the second command after a here-document:
/// `a; b` becomes `a b`.
fn joined_by_bash() -> Rejection {
    Rejection::new(
        "<<",
        "bash 5.2 joins the commands after a here-document in a substitution; end the substitution with it",
    )
}

/// Refuses `33>x`: a descriptor in bash, the word `33` in dash and zsh.
fn refuse_long_descriptor(before: &str) -> Result<(), Rejection> {
    let word = before.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_complete =
        word.is_empty() || word.ends_with([' ', '\t', '\n', ';', '|', '&', '(', ')', '`']);
    if is_complete && before.len() > word.len() + 1 {
        let why = "a descriptor of several digits is a word to some shells";
        return Rejection::err(&before[word.len()..], why);
    }
    Ok(())
}

/// Refuses `>&1-`, which moves a descriptor in bash and writes the file `1-` in busybox; the parser
/// drops the `-`, and that of any other target. One whose end is not plain to see is refused too.
fn refuse_moved_descriptor(text: &str) -> Result<(), Rejection> {
    let target = text.trim_start_matches([' ', '\t']);
    let ends = [' ', '\t', '\n', ';', '&', '|', '<', '>', '(', ')'];
    let target = target.split(ends).next().unwrap_or_default();
    let is_quoted = target.contains(['"', '\'', '\\', '`']);
    let has_dash = target.starts_with('-') || target.ends_with('-');
    if is_quoted || target.len() > 1 && has_dash {
        return Rejection::err(
            &format!("&{target}"),
            "shells disagree about this redirection",
        );
    }
    Ok(())
}

fn unclosed() -> Rejection {
    const WHY: &str = "a quote or parenthesis is not closed where it should be";
    Rejection::new("", WHY)
}

/// An enclosing construct.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OpenConstruct {
    /// `( … )`.
    Subshell,
    /// `$(…)`, `<(…)` or `>(…)`.
    Substitution,
    Backtick,
    DoubleQuote,
    /// Where `case` reads its word and patterns, which end in an unmatched parenthesis.
    Case,
    /// The commands behind such a pattern, up to `;;` or `esac`.
    Branch,
}

/// Replaces the innermost level, if it is `from`.
fn replace_innermost(levels: &mut [OpenConstruct], from: OpenConstruct, to: OpenConstruct) {
    if let Some(level) = levels.last_mut().filter(|level| **level == from) {
        *level = to;
    }
}

/// Whether a byte of this character is a blank in some shell's locale.
fn may_be_blank(c: char) -> bool {
    !c.is_ascii()
        && c.encode_utf8(&mut [0; 4])
            .bytes()
            .any(|byte| byte == 0x85 || byte == 0xa0)
}

/// Refuses brackets not closed within their word. For the parser, an array subscript, and any
/// bracket in `[[ … ]]`, continues across blanks and quotes, which moves word boundaries.
fn refuse_open_bracket(text: &str) -> Result<(), Rejection> {
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            ' ' | '\t' | '\n' | '\'' | '"' | '\\' | '$' | '`' | '(' | ')' | '<' | '>' | '|'
            | '&' | ';' => break,
            _ => {}
        }
        if depth == 0 {
            return Ok(());
        }
    }
    Rejection::err("[", "a bracket is not closed in its word; quote it")
}
