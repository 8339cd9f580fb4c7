//! Searches the offered skills.

use super::{Catalog, Offered};
use crate::skill::{Searchable, rank};

impl Catalog {
    /// The offered skills that match these words by name, tags or description, best first; if there
    /// are none, those with similar names.
    pub fn search(&self, words: &[String]) -> Vec<Offered<'_>> {
        let offered: Vec<_> = self
            .offered()
            .into_iter()
            .map(|offered| (offered, offered.told()))
            .collect();
        let found = rank(offered, words, |(offered, told)| Searchable {
            name: offered.skill.name.as_str(),
            tags: offered.tags(),
            description: told,
        });
        if !found.is_empty() {
            return found.into_iter().map(|(offered, _)| offered).collect();
        }
        let named = |name: &String| self.by_name(name)?.offered();
        self.nearest(&words.join("-"))
            .iter()
            .filter_map(named)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::catalog::testing::catalog;

    #[test]
    fn a_search_covers_names_tags_descriptions_and_misspellings() {
        let (_root, catalog) = catalog(&[
            (
                "pdf-forms",
                "---\ndescription: Fills them.\ntags: [paper]\n---\n",
            ),
            (
                "docx",
                "---\ndescription: Office documents, not forms.\n---\n",
            ),
            ("hidden", "no description of forms"),
        ]);
        let search = |words: &str| -> Vec<String> {
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            let found = catalog.search(&words);
            found
                .iter()
                .map(|found| found.skill.name.to_string())
                .collect()
        };
        assert_eq!(search("forms"), ["pdf-forms", "docx"]);
        assert_eq!(search("PAPER"), ["pdf-forms"]);
        assert_eq!(search("office"), ["docx"]);
        assert_eq!(search("pfd forms"), ["pdf-forms", "docx"]);
        assert_eq!(search("dcox"), ["docx"]);
        assert!(search("whales").is_empty());
    }
}
