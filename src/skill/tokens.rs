//! What a text costs a model, roughly. Every model has a tokenizer of its own and none is at hand,
//! so this is a rule of thumb and is told as one.

/// About how many tokens a text is: a quarter of its bytes, a rule of thumb
/// (docs/spec/skills.md#files). Of letters beyond ASCII there are fewer to a token, and they have
/// more bytes.
pub fn tokens(text: &str) -> usize {
    text.len().div_ceil(4)
}

/// The same for people and models: `1,350`.
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
