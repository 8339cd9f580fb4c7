//! Loops, and what is known about their variables inside them.

use rable::{Node, NodeKind};

use super::{BlockKind, Reader, Rejection, Step, Word};

impl Reader {
    /// Reads `for NAME in WORDS`; the variable may be one that holds plain file names.
    pub(super) fn for_loop(
        &mut self,
        name: &str,
        words: &[Node],
        body: &Node,
        redirects: &[Node],
    ) -> Result<(), Rejection> {
        self.steps.push(Step::Loop(name.to_owned()));
        self.redirects(redirects)?;
        // `for x; do` has this word too; the parser gives it no parts.
        let is_all =
            |node: &Node| matches!(&node.kind, NodeKind::Word { value, .. } if value == "\"$@\"");
        let mut over = Vec::new();
        for word in words {
            over.push(if is_all(word) {
                Word::unknown()
            } else {
                self.word(word)?
            });
        }
        if over.is_empty() {
            over.push(Word::unknown());
        }
        self.for_loops.push((name.to_owned(), over));
        let around = self.names.len();
        if self.plain_loops.iter().any(|plain| plain == name) {
            self.names.push(name.to_owned());
        }
        self.repeated(&[body])?;
        self.names.truncate(around);
        Ok(())
    }

    /// Reads parts that may run any number of times.
    pub(super) fn repeated(&mut self, parts: &[&Node]) -> Result<(), Rejection> {
        self.scoped(BlockKind::Mixed, |this| {
            this.loops += 1;
            for part in parts {
                this.node(part)?;
                this.steps.push(Step::Join);
            }
            Ok(())
        })
    }
}
