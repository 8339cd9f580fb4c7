//! Divides a character budget among texts, deterministically: each gets an equal share of what the
//! shorter ones leave.

/// The maximum length for each text so that together they fit in `budget`: texts below it are kept
/// whole, longer ones are cut to it.
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
            // Texts are cut only as far as needed: the rest is too small to give each one more
            // character.
            let cut = lengths.iter().filter(|length| **length > most).count();
            prop_assert!(cut == 0 || kept + cut > budget);
        }
    }
}
