//! Checks programs that only show files, where they are the host's tools for reading.

use super::{Checker, Invocation};
use crate::permission::evidence::Grant;
use crate::permission::shell::Rejection;
use crate::permission::shell::reading_programs::{Reading, reading};
use crate::permission::shell::step::Input;

impl Checker<'_> {
    /// What the rules say about a command that shows files; `None` if it runs another program.
    pub(super) fn grant_reading_program(
        &self,
        invocation: &Invocation,
    ) -> Option<Result<Grant, Rejection>> {
        if !self.rules.reads_by_shell() {
            return None;
        }
        let simple = invocation.simple;
        let has_input = match simple.input {
            Input::Outer => simple.stage > 0,
            Input::Text => true,
            // Of an input that is a device, `rg` takes no notice, and searches the directory.
            Input::File => !invocation
                .words
                .first()?
                .text_is(|name| name.ends_with("rg")),
            Input::Unknown => false,
        };
        let read = reading(invocation.words, has_input)?;
        let granted = match read {
            _ if !simple.assignments.is_empty() => Err("no variable may be set for it".to_owned()),
            Ok(reading) => self.grant_operands(&reading),
            Err(why) => Err(why),
        };
        Some(granted.map_err(|why| Rejection::new("", &why)))
    }

    fn grant_operands(&self, reading: &Reading) -> Result<Grant, String> {
        // The kind of entry comes first: a file that none covers is another mistake.
        let mut granted = self.rules.grant_read(reading.shows, None).map_err(|why| {
            let program = reading.program;
            format!("{why} `{program}`")
        })?;
        for operand in &reading.operands {
            let path = &operand.path;
            let paths: Vec<String> = if path.starts_with(['/', '~']) {
                vec![path.clone()]
            } else {
                self.directories.resolve(path).collect()
            };
            if paths.is_empty() {
                return Err("it is not clear in which directory this is".to_owned());
            }
            for path in paths {
                let place = Some((path.as_str(), &operand.extent));
                granted = self.rules.grant_read(reading.shows, place)?;
            }
        }
        Ok(granted)
    }
}
