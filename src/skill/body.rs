//! Diagnostics on a body: its length, and commands that other clients would run.

use super::Diagnostic;
use super::injected::injected_commands;
use super::tokens::{shown, tokens};
use crate::sys::limits;

/// The diagnostics of a body.
pub fn diagnostics(body: &str) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let tokens = tokens(body);
    if tokens > limits::MANY_TOKENS {
        let text = format!(
            "the instructions are approx. {} tokens, over {}: move parts into files that are read \
             when they are needed",
            shown(tokens),
            shown(limits::MANY_TOKENS),
        );
        found.push(Diagnostic::warning("many-tokens", text));
    }
    if injected_commands(body) > 0 {
        let text = "commands written as !`…` are never run here, which the model is told";
        found.push(Diagnostic::note("commands-not-run", text));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_tokens_and_commands_are_remarked() {
        let codes = |body: &str| -> Vec<String> {
            let found = diagnostics(body).into_iter();
            found.map(|diagnostic| diagnostic.code).collect()
        };
        assert!(codes(&"x".repeat(4 * limits::MANY_TOKENS)).is_empty());
        assert_eq!(
            codes(&"x".repeat(4 * limits::MANY_TOKENS + 1)),
            ["many-tokens"]
        );
        assert_eq!(codes("!`git status`"), ["commands-not-run"]);
    }
}
