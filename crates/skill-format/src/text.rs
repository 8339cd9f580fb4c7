//! The lines of a text, as YAML ends them, and what a text costs a model.

/// The lines of a text without their ends, each with its offset. As in YAML, a carriage return ends
/// a line, with or without a line feed behind it.
pub fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> + Clone {
    let mut at = 0;
    std::iter::from_fn(move || {
        let (start, rest) = (at, &text[at..]);
        if rest.is_empty() {
            return None;
        }
        // Bytes: a search for one of two characters takes twenty times as long.
        let length = rest.bytes().position(|byte| matches!(byte, b'\n' | b'\r'));
        let length = length.unwrap_or(rest.len());
        let end = &rest[length..];
        at += length
            + if end.starts_with("\r\n") {
                2
            } else {
                end.len().min(1)
            };
        Some((start, &rest[..length]))
    })
}

/// What a text costs a model, whose tokenizer is not known here: a quarter
/// of the bytes. Letters outside ASCII take more bytes, but a token also contains fewer of them.
pub fn tokens(text: &str) -> usize {
    text.len().div_ceil(4)
}

/// A number of tokens for people and models: `1,350`.
pub fn shown_tokens(tokens: usize) -> String {
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
            assert_eq!(shown_tokens(tokens), text);
        }
    }
}
