//! What encloses a place in a command line.

/// An enclosing construct.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// `( … )`.
    Subshell,
    /// `$(…)`, `<(…)` or `>(…)`.
    Substitution,
    Backtick,
    DoubleQuote,
    /// Where `case` reads its word and patterns, which end in an unmatched parenthesis.
    Case,
    /// The commands behind such a pattern, up to `;;` or `esac`.
    Branch,
}

/// Replaces the innermost level, if it is `from`.
pub fn replace(levels: &mut [Level], from: Level, to: Level) {
    if let Some(level) = levels.last_mut().filter(|level| **level == from) {
        *level = to;
    }
}
