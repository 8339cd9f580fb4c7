//! The redirections of a command, and its here-documents.

use rable::{Node, NodeKind};

use super::Reader;
use crate::permission::shell::step::{Redirection, Step};
use crate::permission::shell::{Rejection, expansion};

/// The limit of redirections to files; each costs file system queries.
const MAX_FILES: usize = 128;

impl Reader {
    pub(super) fn redirects(&mut self, redirects: &[Node]) -> Result<(), Rejection> {
        for node in redirects {
            match &node.kind {
                NodeKind::HereDoc {
                    content,
                    quoted,
                    complete,
                    ..
                } => {
                    self.heredocs.push(content.clone());
                    if !quoted {
                        expansion::plain_variables_only(content, self.zsh)?;
                    }
                    Rejection::err_if(!complete, "<<", "a here-document has no end")?;
                }
                NodeKind::Redirect {
                    op,
                    target,
                    varfd: None,
                    ..
                } => self.redirect(op, target)?,
                _ => return Err(Rejection::misparsed("{…}>")),
            }
        }
        Ok(())
    }

    fn redirect(&mut self, op: &str, target: &Node) -> Result<(), Rejection> {
        let word = self.word(target)?;
        let duplicates = |text: &str| text == "-" || text.chars().all(|c| c.is_ascii_digit());
        let writes = match op {
            "<<<" | ">&-" | "<&-" => return Ok(()),
            ">&" | "<&" if word.text().is_some_and(duplicates) => return Ok(()),
            "<" => false,
            ">" | ">>" | ">|" | "<>" | "&>" | "&>>" | ">&" => true,
            _ => return Rejection::err(op, "this redirection is not read"),
        };
        self.files += 1;
        Rejection::err_if(self.files > MAX_FILES, op, "it redirects to too many files")?;
        self.steps.push(Step::Redirect(Redirection {
            writes,
            target: word,
        }));
        Ok(())
    }
}
