//! Commands looked at for denials, harder than for grants (RESTRICTION.md §6): programs by base
//! name, behind every wrapper and assignment, in texts that are run later; and what cannot be
//! read is denied too.

use super::Fault;
use super::read::{Simple, Step, read};
use super::scan::Budget;
use super::word::{Piece, Word};
use crate::permission::command::Canonical;

/// Programs that run the words after them, whatever their options.
const RUN_WORDS: [&str; 31] = [
    "sudo", "doas", "env", "timeout", "time", "nice", "nohup", "stdbuf", "command", "builtin",
    "exec", "xargs", "find", "watch", "setsid", "ionice", "flock", "parallel", "ssh", "docker",
    "podman", "kubectl", "npx", "bunx", "pnpx", "uvx", "nix", "strace", "chroot", "unshare",
    "busybox",
];
/// Programs that run text among their arguments.
const RUN_TEXT: [&str; 15] = [
    "env", "bash", "sh", "dash", "zsh", "ksh", "eval", "trap", "su", "ssh", "watch", "parallel",
    "script", "nix", "flock",
];
/// Words after a program that runs them.
const MAX_WORDS: usize = 256;
/// Texts within texts that are followed.
const MAX_DEPTH: usize = 8;

/// The first part of a command line for which `denies` finds a rule: the part, and the rule's number.
///
/// # Errors
/// When the command cannot be read, or runs a program whose name is not plain text: it may be the
/// one that is denied.
pub fn denied(
    command: &str,
    denies: &dyn Fn(&Canonical) -> Option<usize>,
) -> Result<Option<(String, usize)>, Fault> {
    Seeker {
        denies,
        budget: Budget::default(),
    }
    .text(command, 0)
}

struct Seeker<'a> {
    denies: &'a dyn Fn(&Canonical) -> Option<usize>,
    budget: Budget,
}

type Found = Result<Option<(String, usize)>, Fault>;

impl Seeker<'_> {
    fn text(&mut self, text: &str, depth: usize) -> Found {
        if depth > MAX_DEPTH {
            return Err(Fault::new(
                "",
                "too many command lines within command lines",
            ));
        }
        for step in read(text, &mut self.budget)? {
            if let Step::Command(simple) = step
                && let Some(found) = self.simple(&simple, depth)?
            {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn simple(&mut self, simple: &Simple, depth: usize) -> Found {
        // Every word may begin the command that is run, so the work is the square of their number.
        let many = simple.words.len() > MAX_WORDS;
        let mut runs_words = true;
        for (at, word) in simple.words.iter().enumerate() {
            if !runs_words {
                break;
            }
            let words = &simple.words[at..];
            let Some(program) = word.text() else {
                if at == 0 {
                    return Err(Fault::new(&word.raw, "the program must be plain text"));
                }
                continue;
            };
            let base = program.rsplit('/').next().unwrap_or(program);
            for name in [program, base] {
                if let Some(rule) = (self.denies)(&canonical(name, &words[1..])) {
                    return Ok(Some((simple.shown(), rule)));
                }
            }
            if RUN_TEXT.contains(&base)
                && let Some(found) = self.arguments(base, &words[1..], depth)?
            {
                return Ok(Some(found));
            }
            runs_words = at > 0 || RUN_WORDS.contains(&base);
            if runs_words && many {
                return Err(Fault::new(base, "it runs too long a command"));
            }
        }
        Ok(None)
    }

    /// Looks into arguments that may be command lines themselves.
    fn arguments(&mut self, program: &str, arguments: &[Word], depth: usize) -> Found {
        if program == "eval" {
            let texts: Option<Vec<&str>> = arguments.iter().map(Word::text).collect();
            let Some(texts) = texts else {
                return Err(Fault::new("eval", "it runs text that is not known"));
            };
            return self.text(&texts.join(" "), depth + 1);
        }
        for word in arguments {
            match word.text() {
                Some(text) if text.contains(char::is_whitespace) => {
                    if let Some(found) = self.text(text, depth + 1)? {
                        return Ok(Some(found));
                    }
                }
                Some(_) => {}
                None => return Err(Fault::new(&word.raw, "it runs text that is not known")),
            }
        }
        Ok(None)
    }
}

fn canonical(program: &str, arguments: &[Word]) -> Canonical {
    let mut canonical = Canonical::default();
    canonical.word();
    canonical.literal(program);
    for word in arguments {
        canonical.word();
        for piece in &word.pieces {
            match piece {
                Piece::Text(text) => canonical.literal(text),
                Piece::Hole { .. } | Piece::Tilde => canonical.dynamic(),
            }
        }
    }
    canonical
}
