//! Divides a character budget among texts, fairly and deterministically.

/// The characters each text may keep so that all together keep at most `budget`. Short texts keep
/// everything; the others share the rest equally.
pub fn share(lengths: &[usize], budget: usize) -> usize {
    let mut sorted = lengths.to_vec();
    sorted.sort_unstable();
    let mut left = budget;
    for (done, length) in sorted.iter().enumerate() {
        let each = left / (sorted.len() - done);
        if *length > each {
            return each;
        }
        left -= length;
    }
    usize::MAX
}

/// The length of a text in characters.
pub fn chars(text: &str) -> usize {
    text.chars().count()
}

/// At most `max` characters of `text`, ending in an ellipsis if it was cut.
pub fn shorten(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some(_) if max == 0 => String::new(),
        Some(_) => {
            let kept: String = text.chars().take(max - 1).collect();
            format!("{}…", kept.trim_end())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn short_texts_keep_everything_and_long_ones_share_the_rest() {
        assert_eq!(share(&[10, 100, 100], 110), 50);
        assert_eq!(share(&[10, 20], 30), usize::MAX);
        assert_eq!(share(&[10, 20], 29), 19);
        assert_eq!(share(&[], 0), usize::MAX);
        assert_eq!(share(&[5, 5], 0), 0);
    }

    #[test]
    fn a_text_is_cut_at_a_character() {
        assert_eq!(shorten("äöü", 3), "äöü");
        assert_eq!(shorten("äöü", 2), "ä…");
        assert_eq!(shorten("ab cd", 4), "ab…");
        assert_eq!(shorten("ab", 0), "");
    }

    proptest! {
        #[test]
        fn the_budget_is_kept(lengths in prop::collection::vec(0_usize..300, 0..40), budget in 0_usize..4000) {
            let most = share(&lengths, budget);
            let kept: usize = lengths.iter().map(|length| (*length).min(most)).sum();
            prop_assert!(kept <= budget);
            // No text is cut while there is room for one more character each.
            let cut = lengths.iter().filter(|length| **length > most).count();
            prop_assert!(cut == 0 || kept + cut > budget);
        }
    }
}
