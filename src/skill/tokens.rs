//! Estimates what a text costs a model. Each model has its own tokenizer, and none is available
//! here.

/// A quarter of the bytes (docs/spec/skills.md#files). Letters outside ASCII take more bytes, but a
/// token also contains fewer of them.
pub fn tokens(text: &str) -> usize {
    text.len().div_ceil(4)
}

/// A number of tokens for people and models: `1,350`.
pub fn shown(tokens: usize) -> String {
    let digits = tokens.to_string();
    let mut shown = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_about_four_bytes() {
        assert_eq!((tokens(""), tokens("a"), tokens("abcde")), (0, 1, 2));
        assert_eq!(tokens("技能"), 2);
    }

    #[test]
    fn thousands_are_set_apart() {
        for (tokens, text) in [
            (0, "0"),
            (999, "999"),
            (1350, "1,350"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(shown(tokens), text);
        }
    }
}
