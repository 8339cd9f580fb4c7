//! Checks the target of a redirection against the rules for files.

use super::Checker;
use crate::permission::evidence::{Grant, Part};
use crate::permission::shell::step::Redirection;
use crate::permission::shell::word::{Piece, WordCount, is_digits};

impl Checker<'_> {
    pub(super) fn check_redirection(&mut self, redirect: &Redirection) {
        self.rules.on_redirection(redirect, &self.directories);
        let outcome = self.grant_redirection(redirect);
        if outcome.is_err() {
            self.rules
                .on_unclear_file(&redirect.target.raw, redirect.writes);
        }
        let part = Part::new("redirection", &redirect.target.raw, outcome);
        self.parts.push(part);
    }

    fn grant_redirection(&self, redirect: &Redirection) -> Result<Grant, String> {
        let path = match redirect.target.pieces.as_slice() {
            [Piece::Text(text)] if text.starts_with('~') => format!("./{text}"),
            [Piece::Text(text)] => text.clone(),
            [Piece::Tilde, Piece::Text(text)] if text.starts_with('/') => format!("~{text}"),
            // `<(…)`: the command in it has been checked already.
            [Piece::Expansion(WordCount::One)] if redirect.target.raw.starts_with(['<', '>']) => {
                return Ok(Grant::NeedsNoRule("it is a pipe"));
            }
            _ => return Err("the file must be plain text".to_owned()),
        };
        let descriptor = path.strip_prefix("/dev/fd/").is_some_and(is_digits);
        if descriptor || ["/dev/null", "/dev/stdout", "/dev/stderr"].contains(&path.as_str()) {
            return Ok(Grant::NeedsNoRule("it is not a file"));
        }
        if path.starts_with("/dev/tcp") || path.starts_with("/dev/udp") {
            return Err("it is a network connection".to_owned());
        }
        if path.starts_with(['/', '~']) {
            return self.rules.grant_file(&path, redirect.writes);
        }
        let mut granted = Err("it is not clear in which directory this is".to_owned());
        for path in self.directories.resolve(&path) {
            granted = Ok(self.rules.grant_file(&path, redirect.writes)?);
        }
        granted
    }
}
