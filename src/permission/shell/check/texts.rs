//! Command lines nested in a command line.

use super::{Checker, Invocation};
use crate::host::shell::Shell;
use crate::permission::evidence::Grant;
use crate::permission::shell::Rejection;
use crate::permission::shell::programs::{self, Runs};
use crate::permission::shell::step::{Block, BlockKind};

/// The limit of nested texts: `bash -c "bash -c …"`.
const MAX_TEXTS: usize = 8;
impl Checker<'_> {
    /// Checks a command line that something runs, in this shell or in its own.
    pub(super) fn grant_text(
        &mut self,
        runs: Runs,
        text: &str,
        invocation: &Invocation,
    ) -> Result<Grant, Rejection> {
        if self.texts == MAX_TEXTS {
            return Err(self.too_deep("too many command lines within command lines"));
        }
        self.texts += 1;
        let here = runs == Runs::Words;
        let shell = self.shell;
        if !here {
            self.shell = Shell::default();
        }
        let (kind, moves) = if here {
            (BlockKind::Branches, programs::text_may_move(text))
        } else {
            (BlockKind::Subshell, true)
        };
        self.directories.enter_block(Block { kind, moves });
        let before = self.parts.len();
        self.check_text(text, here && invocation.in_loop);
        self.texts -= 1;
        self.directories.leave_block();
        self.shell = shell;
        let mut within = self.parts[before..].iter();
        if within.any(|part| part.outcome.is_err()) {
            return Rejection::err("", "a command in it is not granted");
        }
        Ok(Grant::NeedsNoRule("each command in it is granted"))
    }
}
