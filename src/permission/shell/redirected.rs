//! What a command's redirections name, whatever grants the command: denials and protected places
//! ask for it.

use std::cell::RefCell;

use super::judge::{Rules, judge};
use super::names::Variables;
use crate::permission::command::Canonical;
use crate::permission::steps::Steps;

/// The files that redirections of a command lead to.
#[derive(Debug, Default)]
pub struct Redirected {
    /// Each file, and whether it is written.
    pub files: Vec<(String, bool)>,
    /// Parts that lead to files which are not known, and whether these are written.
    pub unclear: Vec<(String, bool)>,
}

/// Looks for the redirections of a command. `cdpath` says whether `CDPATH` is set.
pub fn redirected(command: &str, variables: Variables, cdpath: bool, steps: &Steps) -> Redirected {
    let recorder = Recorder {
        seen: RefCell::default(),
        variables,
        cdpath,
    };
    judge(command, &recorder, steps);
    recorder.seen.into_inner()
}

struct Recorder<'a> {
    seen: RefCell<Redirected>,
    variables: Variables<'a>,
    cdpath: bool,
}

impl Rules for Recorder<'_> {
    fn grants(&self, _: &Canonical, _: &[&str], _: bool) -> Option<String> {
        None
    }

    fn file(&self, path: &str, writes: bool) -> Result<String, String> {
        let mut seen = self.seen.borrow_mut();
        seen.files.push((path.to_owned(), writes));
        Ok(String::new())
    }

    fn is_home_ground(&self, _: &str) -> bool {
        true
    }

    fn is_home(&self, _: &str) -> bool {
        true
    }

    fn searches_directories(&self) -> bool {
        self.cdpath
    }

    fn pipe_filters(&self) -> bool {
        true
    }

    fn variables(&self) -> Variables<'_> {
        self.variables
    }

    fn unclear(&self, part: &str, writes: bool) {
        let mut seen = self.seen.borrow_mut();
        seen.unclear.push((part.to_owned(), writes));
    }
}
