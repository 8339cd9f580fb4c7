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
