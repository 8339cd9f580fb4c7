//! Redirections and here-documents, as the lexer meets them.

use super::{Level, Lexer};
use crate::permission::shell::heredoc::{Pending, heredoc_astray};
use crate::permission::shell::{Rejection, zsh};

impl Lexer<'_> {
    pub(super) fn redirection(&mut self) -> Result<(), Rejection> {
        let rest = self.rest();
        one_digit_at_most(&self.source[..self.at])?;
        if rest.starts_with("<(") || rest.starts_with(">(") {
            // A part of the word, as `$(…)` is.
            self.position.segment(self.at);
            self.seen.substitutions += 1;
            self.at += 1;
            return self.open(Level::Substitution);
        }
        self.end_word(0)?;
        if rest.starts_with("<<<") {
            self.at += 3;
        } else if rest.starts_with("<<") {
            if self.levels.contains(&Level::Backtick) {
                return Err(heredoc_astray());
            }
            if self.in_substitution() && self.levels.last() != Some(&Level::Substitution) {
                return Err(joined_in_bash());
            }
            let (pending, width) = Pending::read(rest, self.levels.len())?;
            self.pending.push(pending);
            self.at += width;
        } else {
            // `>&` and `&>` are single operators, not the end of a command.
            let width = 1 + usize::from(rest[1..].starts_with(['&', '>', '|']));
            if rest[1..].starts_with('&') {
                names_a_descriptor_or_file(&rest[2..])?;
            }
            if self.zsh() {
                zsh::operator(rest, width)?;
            }
            self.at += width;
        }
        Ok(())
    }

    /// Skips the bodies of the here-documents that this line began.
    pub(super) fn bodies(&mut self) -> Result<(), Rejection> {
        let is_last = self.in_substitution() && !self.pending.is_empty();
        for pending in std::mem::take(&mut self.pending) {
            if pending.depth != self.levels.len() {
                return Err(heredoc_astray());
            }
            let (body, width) = pending.body(self.rest(), self.zsh())?;
            self.seen.heredocs.push(body);
            self.weigh(width)?;
            self.at += width;
        }
        let ends = |rest: &str| rest.trim_start_matches([' ', '\t', '\n']).starts_with(')');
        // Only then: in a text of empty lines each would look through all the others.
        if is_last && !ends(self.rest()) {
            return Err(joined_in_bash());
        }
        Ok(())
    }

    /// Refuses the end of a command whose here-document's body is yet to come, in a substitution.
    pub(super) fn another_command(&self) -> Result<(), Rejection> {
        if self.in_substitution() && !self.pending.is_empty() {
            return Err(joined_in_bash());
        }
        Ok(())
    }

    fn in_substitution(&self) -> bool {
        self.levels.contains(&Level::Substitution)
    }

    pub(super) fn no_pending(&self) -> Result<(), Rejection> {
        if self.pending.is_empty() {
            return Ok(());
        }
        Err(heredoc_astray())
    }
}

/// For commands after a here-document in a substitution. Bash 5.2 prints a substitution and reads
/// the print, which has no separator before the second command after a here-document:
/// `a; b` becomes `a b`.
fn joined_in_bash() -> Rejection {
    Rejection::new(
        "<<",
        "bash 5.2 joins the commands after a here-document in a substitution; end the substitution with it",
    )
}

/// Refuses `33>x`: a descriptor in bash, the word `33` in dash and zsh.
fn one_digit_at_most(before: &str) -> Result<(), Rejection> {
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
fn names_a_descriptor_or_file(text: &str) -> Result<(), Rejection> {
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
