//! Checks the target of a redirection against the rules for files.

use super::Checker;
use crate::permission::evidence::{Grant, Part};
use crate::permission::shell::step::Redirect;
use crate::permission::shell::word::{Arity, Piece, is_digits};

impl Checker<'_> {
    pub(super) fn redirect(&mut self, redirect: &Redirect) {
        self.rules.redirect(redirect, &self.directories);
        let outcome = self.target(redirect);
        if outcome.is_err() {
            self.rules.unclear(&redirect.target.raw, redirect.writes);
        }
        let part = Part::new("redirection", &redirect.target.raw, outcome);
        self.parts.push(part);
    }

    fn target(&self, redirect: &Redirect) -> Result<Grant, String> {
        let path = match redirect.target.pieces.as_slice() {
            [Piece::Text(text)] if text.starts_with('~') => format!("./{text}"),
            [Piece::Text(text)] => text.clone(),
            [Piece::Tilde, Piece::Text(text)] if text.starts_with('/') => format!("~{text}"),
            // `<(…)`: the command in it has been checked already.
            [Piece::Value(Arity::One)] if redirect.target.raw.starts_with(['<', '>']) => {
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
            return self.rules.file(&path, redirect.writes);
        }
        let mut granted = Err("it is not clear in which directory this is".to_owned());
        for path in self.directories.resolve(&path) {
            granted = Ok(self.rules.file(&path, redirect.writes)?);
        }
        granted
    }
}
