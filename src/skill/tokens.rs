//! How much of a model's context a text takes.

/// About how many tokens `text` has: a quarter of its characters, rounded up, which is what
/// English prose and code come to with the tokenisers in use (CORPUS.md §5).
pub fn tokens(text: &str) -> usize {
    text.chars().count().div_ceil(4)
}
