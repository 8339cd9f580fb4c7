//! Ranking what can be installed by how well it fits some words: Okapi BM25 over name, tags and
//! description, the exact name first. Pure.

use super::listing::Listed;

/// How soon a word counts no more for being repeated.
const K1: f32 = 1.2;
/// How much a long text counts less.
const B: f32 = 0.75;
/// What a word counts in the name, in a tag and in the description.
const WEIGHTS: [f32; 3] = [4.0, 2.0, 1.0];
/// What the beginning of a word counts, of at least this many letters.
const PREFIX: (f32, usize) = (0.4, 3);

/// The skills that some words fit, best first. Of several words, as many as any skill has.
pub fn rank(skills: Vec<Listed>, words: &[String]) -> Vec<Listed> {
    let words: Vec<String> = words.iter().flat_map(|word| terms(word)).collect();
    let whole = words.join("-");
    let documents: Vec<Document> = skills
        .iter()
        .map(|skill| Document::of(skill, &words))
        .collect();
    let count = number(documents.len());
    let average = documents.iter().map(|d| d.length).sum::<f32>() / count.max(1.0);
    let rarity: Vec<f32> = (0..words.len())
        .map(|word| {
            let having = documents.iter().filter(|d| d.counts[word] > 0.0);
            let having = number(having.count());
            (1.0 + (count - having + 0.5) / (having + 0.5)).ln()
        })
        .collect();
    let most = documents.iter().map(Document::matched).max().unwrap_or(0);
    let mut scored: Vec<(bool, f32, Listed)> = skills
        .into_iter()
        .zip(documents)
        .filter_map(|(skill, document)| {
            let exact = skill.name == whole;
            let fits = exact || most > 0 && document.matched() == most;
            fits.then(|| (exact, document.score(&rarity, average), skill))
        })
        .collect();
    scored.sort_by(|a, b| {
        let by_score = b.0.cmp(&a.0).then(b.1.total_cmp(&a.1));
        by_score.then_with(|| a.2.name.cmp(&b.2.name))
    });
    scored.into_iter().map(|(.., skill)| skill).collect()
}

/// How often a skill has each of the words.
struct Document {
    counts: Vec<f32>,
    length: f32,
}

impl Document {
    fn of(skill: &Listed, words: &[String]) -> Self {
        let mut document = Self {
            counts: vec![0.0; words.len()],
            length: 0.0,
        };
        let tags = skill.tags.join(" ");
        for (text, weight) in [&skill.name, &tags, &skill.description]
            .into_iter()
            .zip(WEIGHTS)
        {
            for term in terms(text) {
                document.length += weight;
                for (count, word) in document.counts.iter_mut().zip(words) {
                    if term == *word {
                        *count += weight;
                    } else if word.len() >= PREFIX.1 && term.starts_with(word.as_str()) {
                        *count += weight * PREFIX.0;
                    }
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

/// No catalog is so large that this would lose anything that shows.
#[allow(clippy::cast_precision_loss)]
fn number(count: usize) -> f32 {
    count as f32
}

fn terms(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|term| !term.is_empty())
        .map(str::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exact_name_comes_first_then_names_then_tags_and_descriptions() {
        let skill = |name: &str, description: &str, tag: &str| Listed {
            name: name.to_owned(),
            description: description.to_owned(),
            tags: vec![tag.to_owned()],
            ..Listed::default()
        };
        let skills = vec![
            skill("docx", "Word files; can export PDF", ""),
            skill("pdf", "Work with PDF files", ""),
            skill("pdf-ocr", "Scanned PDF and PDF and PDF files", ""),
            skill("xlsx", "Spreadsheets", "office"),
        ];
        let search = |words: &str| -> Vec<String> {
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            rank(skills.clone(), &words)
                .into_iter()
                .map(|s| s.name)
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
