//! Checks how well a model can choose a skill by its description.

use std::collections::{BTreeMap, HashMap};

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

/// Descriptions by their words, to find those that say nearly the same as another one.
#[derive(Debug, Default)]
pub struct Descriptions {
    /// By word, the descriptions that have it, and how often.
    with: HashMap<String, Vec<(usize, u32)>>,
    /// The length of each one's counts as a vector.
    lengths: Vec<f64>,
}

impl Descriptions {
    /// An index of descriptions, each known by its place in their order.
    pub fn new<'d>(descriptions: impl IntoIterator<Item = &'d str>) -> Self {
        let mut index = Self::default();
        for (at, description) in descriptions.into_iter().enumerate() {
            let counts = word_counts(description);
            index.lengths.push(length(&counts));
            for (word, n) in counts {
                index.with.entry(word).or_default().push((at, n));
            }
        }
        index
    }

    /// The places of the descriptions whose similarity to this one is at least `least`, with it: a
    /// number from 0 to 1, the cosine of the word counts. Deterministic on every machine.
    pub fn similar(&self, description: &str, least: f64) -> Vec<(usize, f64)> {
        let counts = word_counts(description);
        let own = length(&counts);
        let mut dots = vec![0; self.lengths.len()];
        for (word, n) in &counts {
            for (at, others) in self.with.get(word).into_iter().flatten() {
                dots[*at] += n * others;
            }
        }
        let met = dots.into_iter().enumerate().filter(|(_, dot)| *dot > 0);
        let alike = met.map(|(at, dot): (_, u32)| (at, f64::from(dot) / (own * self.lengths[at])));
        alike.filter(|(_, alike)| *alike >= least).collect()
    }
}

/// The length of these counts as a vector.
fn length(counts: &BTreeMap<String, u32>) -> f64 {
    f64::from(counts.values().map(|n| n * n).sum::<u32>()).sqrt()
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_lowercase)
}

fn word_counts(text: &str) -> BTreeMap<String, u32> {
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
        let similarity = |one: &str, other: &str| {
            let similar = Descriptions::new([other]).similar(one, 0.01);
            similar.first().map_or(0.0, |(_, alike)| *alike)
        };
        let pdf = "Fill PDF forms and extract text. Use when the user has a PDF.";
        assert!((similarity(pdf, pdf) - 1.0).abs() < 1e-9);
        assert!(similarity(pdf, "Extract text from PDF files and fill forms.") > 0.7);
        assert!(similarity(pdf, "Use when the user has a spreadsheet.") < 0.2);
        assert!(similarity("", pdf).abs() < 1e-9);
    }

    fn cosine(one: &BTreeMap<String, u32>, other: &BTreeMap<String, u32>) -> f64 {
        let dot = |other: &BTreeMap<String, u32>| {
            let products = one
                .iter()
                .map(|(word, n)| n * other.get(word).unwrap_or(&0));
            f64::from(products.sum::<u32>())
        };
        let lengths = length(one) * length(other);
        if lengths == 0.0 {
            0.0
        } else {
            dot(other) / lengths
        }
    }

    #[test]
    fn the_index_finds_what_comparing_all_with_all_finds() {
        // Words of very different frequency, from a small generator.
        let mut seed = 7_u32;
        let mut draw = |most: u32| {
            seed = seed.wrapping_mul(1_103_515_245).wrapping_add(12_345);
            seed / 65_536 % most
        };
        let texts: Vec<String> = (0..200)
            .map(|_| {
                let most = 2 + draw(12);
                let words = (0..=draw(8)).map(|_| format!("word{}", draw(most)));
                words.collect::<Vec<_>>().join(" ")
            })
            .collect();
        let index = Descriptions::new(texts.iter().map(String::as_str));
        let mut found = 0;
        for text in &texts {
            let one = word_counts(text);
            let all = texts.iter().enumerate();
            let all = all.map(|(at, other)| (at, cosine(&one, &word_counts(other))));
            let slowly: Vec<(usize, f64)> = all.filter(|(_, alike)| *alike >= 0.75).collect();
            assert_eq!(index.similar(text, 0.75), slowly, "{text}");
            found += slowly.len();
        }
        assert!(found > 400, "{found}");
    }
}
