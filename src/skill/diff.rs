//! Differences between two texts, for people.

use std::time::Duration;

use similar::TextDiff;

/// Time to search for the smallest difference; after that, a larger one is shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// The unified diff; empty if the texts are equal. Carriage returns are shown as `␍`.
pub fn unified_diff(names: (&str, &str), old: &str, new: &str) -> String {
    let [old, new] = [old, new].map(|text| text.replace('\r', "␍"));
    TextDiff::configure()
        .timeout(PATIENCE)
        .diff_lines(&old, &new)
        .unified_diff()
        .header(names.0, names.1)
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_shown_in_their_surroundings() {
        let names = ("a/f", "b/f");
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
        let new = "1\ntwo\n3\n4\n5\n6\n7\n8\n9\n10\n12\n";
        assert_eq!(
            unified_diff(names, old, new),
            "--- a/f\n+++ b/f\n@@ -1,5 +1,5 @@\n 1\n-2\n+two\n 3\n 4\n 5\n\
             @@ -8,5 +8,4 @@\n 8\n 9\n 10\n-11\n 12\n"
        );
        assert_eq!(unified_diff(names, old, old), "");
        assert!(unified_diff(names, "a\r\nb\n", "a\nb\n").contains("-a␍\n+a\n"));
    }
}
