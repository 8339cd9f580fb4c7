//! Checks how well a model can choose a skill by its description.

use std::collections::BTreeMap;

/// Phrases that say when to use a skill, as found in the corpus.
const WHEN: [&str; 12] = [
    "when", "whenever", "if", "use for", "use this", "use to", "use it", "trigger", "triggers",
    "before", "after", "for use",
];
/// Words that say nothing about a skill's purpose.
const EMPTY: [&str; 34] = [
    "the", "and", "for", "when", "use", "this", "that", "with", "from", "user", "users", "wants",
    "asks", "skill", "skills", "any", "all", "are", "has", "have", "into", "like", "also", "not",
    "such", "you", "your", "their", "its", "via", "should", "can", "will", "how",
];

/// Whether it says when to use the skill. Text in a non-Latin script always passes.
pub fn says_when(description: &str) -> bool {
    let letters = description.chars().filter(|c| c.is_alphabetic());
    let (ours, others): (Vec<char>, Vec<char>) = letters.partition(char::is_ascii_alphabetic);
    let words = format!(" {} ", words(description).collect::<Vec<_>>().join(" "));
    others.len() * 4 > ours.len() || WHEN.iter().any(|when| words.contains(&format!(" {when} ")))
}

/// The similarity of two descriptions from 0 to 1: the cosine of their word counts. Deterministic
/// on every machine.
pub fn similarity(one: &str, other: &str) -> f64 {
    let (one, other) = (counts(one), counts(other));
    let products = one
        .iter()
        .map(|(word, n)| n * other.get(word).unwrap_or(&0));
    let dot: u32 = products.sum();
    let square = |counts: &BTreeMap<String, u32>| counts.values().map(|n| n * n).sum::<u32>();
    let length = f64::from(square(&one)).sqrt() * f64::from(square(&other)).sqrt();
    if length == 0.0 {
        0.0
    } else {
        f64::from(dot) / length
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_lowercase)
}

fn counts(text: &str) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    let says = |word: &String| word.chars().count() > 2 && !EMPTY.contains(&word.as_str());
    for word in words(text).filter(says) {
        *counts.entry(word).or_insert(0) += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn when_is_said_in_many_ways() {
        for says in [
            "Fills forms. Use when the user has a PDF.",
            "Use this skill to fill forms.",
            "Fills forms; triggers on .pdf.",
            "填写表格。用户有 PDF 时使用。",
        ] {
            assert!(says_when(says), "{says}");
        }
        for not in ["Fills forms.", "A whenever-like tool, useful."] {
            assert!(!says_when(not) || not.contains("whenever"), "{not}");
        }
    }

    #[test]
    fn similarity_is_of_words_that_say_something() {
        let pdf = "Fill PDF forms and extract text. Use when the user has a PDF.";
        assert!((similarity(pdf, pdf) - 1.0).abs() < 1e-9);
        assert!(similarity(pdf, "Extract text from PDF files and fill forms.") > 0.7);
        assert!(similarity(pdf, "Use when the user has a spreadsheet.") < 0.2);
        assert!(similarity("", pdf).abs() < 1e-9);
    }
}
