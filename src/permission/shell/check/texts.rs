//! Command lines within a command line.

use super::{Checker, View};
use crate::host::shell::Shell;
use crate::permission::shell::Fault;
use crate::permission::shell::step::{self, Scope, ScopeKind};

/// The limit of nested texts: `bash -c "bash -c …"`.
const MAX_TEXTS: usize = 8;
impl Checker<'_> {
    /// Judges a command line that `program` runs, in this shell or in its own.
    pub(super) fn text_within(
        &mut self,
        program: &str,
        text: &str,
        view: &View,
    ) -> Result<String, Fault> {
        if self.texts == MAX_TEXTS {
            return Err(Fault::new(
                "",
                "too many command lines within command lines",
            ));
        }
        self.texts += 1;
        let here = program == "eval";
        let shell = self.shell;
        if !here {
            self.shell = Shell::default();
        }
        let (kind, moves) = match program {
            "eval" => (ScopeKind::Branches, step::text_may_move(text)),
            _ => (ScopeKind::Subshell, true),
        };
        self.directories.begin(Scope { kind, moves });
        let before = self.findings.len();
        self.text(text, here && view.simple.in_loop);
        self.directories.end();
        self.shell = shell;
        let mut within = self.findings[before..].iter();
        if within.any(|finding| finding.outcome.is_err()) {
            return Err(Fault::new("", "a command in it is not granted"));
        }
        Ok("each command in it is granted".to_owned())
    }
}
