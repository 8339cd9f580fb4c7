//! How many tokens a text costs, near enough to compare skills: every model counts in its own way.

/// Four characters are taken for a token, as English text comes to in the common tokenisers.
pub fn approximate(text: &str) -> usize {
    text.chars().count().div_ceil(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_token_is_one() {
        for (text, tokens) in [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("éééé", 1)] {
            assert_eq!(approximate(text), tokens);
        }
    }
}
