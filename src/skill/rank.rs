//! Ranks skills, installed or not, by how well they match some words: Okapi BM25 over name, tags
//! and description, with an exact name first. Pure.

/// BM25 term saturation: how soon a repeated word stops counting more.
const K1: f32 = 1.2;
/// BM25 length normalization: how much a long text counts less.
const B: f32 = 0.75;
/// The weight of a word in the name, in a tag and in the description.
const WEIGHTS: [f32; 3] = [4.0, 2.0, 1.0];
/// The weight of a prefix match, and the minimum number of letters in a prefix.
const PREFIX: (f32, usize) = (0.4, 3);

/// The searchable text of a skill.
#[derive(Debug, Clone)]
pub struct Searchable<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its tags.
    pub tags: Vec<String>,
    /// Its description.
    pub description: &'a str,
}

/// The skills that match the words, best first. Only those that match the highest number of words.
pub fn rank<T>(
    skills: Vec<T>,
    words: &[String],
    searchable: impl Fn(&T) -> Searchable<'_>,
) -> Vec<T> {
    let words = words.iter().flat_map(|word| words_of(word));
    let words: Vec<String> = words.map(str::to_lowercase).collect();
    let whole = words.join("-");
    let document = |skill: &T| Document::new(&searchable(skill), &words);
    let documents: Vec<Document> = skills.iter().map(document).collect();
    let count = number(documents.len());
    let average = documents.iter().map(|d| d.length).sum::<f32>() / count.max(1.0);
    let rarity = |word: usize| {
        let having = documents.iter().filter(|d| d.counts[word] > 0.0);
        let having = number(having.count());
        (1.0 + (count - having + 0.5) / (having + 0.5)).ln()
    };
    let rarity: Vec<f32> = (0..words.len()).map(rarity).collect();
    let most = documents.iter().map(Document::matched).max().unwrap_or(0);
    let score = |(skill, document): (T, Document)| {
        let exact = searchable(&skill).name == whole;
        let fits = exact || most > 0 && document.matched() == most;
        fits.then(|| (exact, document.score(&rarity, average), skill))
    };
    let scored = skills.into_iter().zip(documents).filter_map(score);
    let mut scored: Vec<(bool, f32, T)> = scored.collect();
    scored.sort_by(|a, b| {
        let by_score = b.0.cmp(&a.0).then(b.1.total_cmp(&a.1));
        by_score.then_with(|| searchable(&a.2).name.cmp(searchable(&b.2).name))
    });
    scored.into_iter().map(|(.., skill)| skill).collect()
}

/// How often each of the words occurs in a skill.
struct Document {
    counts: Vec<f32>,
    length: f32,
}

impl Document {
    fn new(skill: &Searchable, words: &[String]) -> Self {
        let mut document = Self {
            counts: vec![0.0; words.len()],
            length: 0.0,
        };
        let tags = skill.tags.join(" ");
        let texts = [skill.name, &tags, skill.description];
        for (text, weight) in texts.into_iter().zip(WEIGHTS) {
            for term in words_of(text) {
                document.length += weight;
                for (count, word) in document.counts.iter_mut().zip(words) {
                    *count += weight * likeness(term, word);
                }
            }
        }
        document
    }

    fn matched(&self) -> usize {
        self.counts.iter().filter(|count| **count > 0.0).count()
    }

    fn score(&self, rarity: &[f32], average: f32) -> f32 {
        let norm = K1 * (1.0 - B + B * self.length / average.max(1.0));
        let part = |(count, rarity): (&f32, &f32)| rarity * count * (K1 + 1.0) / (count + norm);
        self.counts.iter().zip(rarity).map(part).sum()
    }
}

/// Converts a count; a catalog is too small for the loss of precision to matter.
#[allow(clippy::cast_precision_loss)]
fn number(count: usize) -> f32 {
    count as f32
}

/// How well a term matches a lowercase word: fully, as a prefix, or not at all. Allocates nothing
/// for ASCII, since a catalog has half a million terms.
fn likeness(term: &str, word: &str) -> f32 {
    let (begins, length) = if term.is_ascii() {
        let start = term.get(..word.len());
        let begins = start.is_some_and(|start| start.eq_ignore_ascii_case(word));
        (begins, term.len())
    } else {
        let term = term.to_lowercase();
        (term.starts_with(word), term.len())
    };
    match begins {
        true if length == word.len() => 1.0,
        true if word.len() >= PREFIX.1 => PREFIX.0,
        _ => 0.0,
    }
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let terms = text.split(|c: char| !c.is_alphanumeric());
    terms.filter(|term| !term.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_names_come_before_names_tags_and_descriptions() {
        let skill = |name: &'static str, description: &'static str, tag: &str| Searchable {
            name,
            description,
            tags: vec![tag.to_owned()],
        };
        let skills = vec![
            skill("docx", "Word files; can export PDF", ""),
            skill("pdf", "Work with PDF files", ""),
            skill("pdf-ocr", "Scanned PDF and PDF and PDF files", ""),
            skill("xlsx", "Spreadsheets", "office"),
        ];
        let search = |words: &str| -> Vec<String> {
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            rank(skills.clone(), &words, |skill| skill.clone())
                .into_iter()
                .map(|s| s.name.to_owned())
                .collect()
        };
        assert_eq!(search("pdf"), ["pdf", "pdf-ocr", "docx"]);
        assert_eq!(search("PDF OCR"), ["pdf-ocr"]);
        assert_eq!(search("word export"), ["docx"]);
        assert_eq!(search("spreadsheets of whales"), ["xlsx"]);
        assert_eq!(search("spread"), ["xlsx"]);
        assert_eq!(search("office"), ["xlsx"]);
        assert_eq!(search("whales"), Vec::<String>::new());
    }
}
