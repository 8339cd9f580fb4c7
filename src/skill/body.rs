//! Diagnostics on a body: its length, and commands that other clients would run.

use super::Diagnostic;
use super::injected::injected_commands;
use super::tokens::tokens;
use crate::sys::limits;

/// The diagnostics of a body.
pub fn diagnostics(body: &str) -> impl Iterator<Item = Diagnostic> {
    let tokens = tokens(body);
    let long = (tokens > limits::MANY_TOKENS).then_some(Diagnostic::ManyTokens(tokens));
    let commands = (injected_commands(body) > 0).then_some(Diagnostic::CommandsNotRun);
    long.into_iter().chain(commands)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_tokens_and_commands_are_remarked() {
        let codes =
            |body: &str| -> Vec<String> { diagnostics(body).map(|found| found.code()).collect() };
        assert!(codes(&"x".repeat(4 * limits::MANY_TOKENS)).is_empty());
        assert_eq!(
            codes(&"x".repeat(4 * limits::MANY_TOKENS + 1)),
            ["many-tokens"]
        );
        assert_eq!(codes("!`git status`"), ["commands-not-run"]);
    }
}
