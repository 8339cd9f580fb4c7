//! Fields other than the description that help to choose a skill: when to use it, and tags.

use super::Fields;

impl Fields {
    /// `when_to_use` in any spelling, which continues the description (docs/spec/skills.md#fields).
    pub fn when_to_use(&self) -> Option<String> {
        let (key, _) = self.spelled("whentouse")?;
        self.text(key)
    }

    /// `tags`, at the top level or in `metadata`: a list, or words separated by commas.
    pub fn tags(&self) -> Vec<String> {
        let own = self.spelled("tags").and_then(|(key, _)| self.text(key));
        let text = own.or_else(|| self.in_metadata("tags")).unwrap_or_default();
        let tags = text.split(',').map(str::trim).filter(|tag| !tag.is_empty());
        tags.map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::mapping;

    fn fields(yaml: &str) -> Fields {
        Fields::from(mapping::read(yaml).values)
    }

    #[test]
    fn tags_in_every_form_seen() {
        for yaml in [
            "tags: [a, b c]",
            "tags: a, b c",
            "Tags:\n- a\n- b c",
            "metadata: {tags: [a, b c]}",
            "metadata:\n  tags: a,b c",
        ] {
            assert_eq!(fields(yaml).tags(), ["a", "b c"], "{yaml}");
        }
        for yaml in ["x: 1", "tags:", "tags: {a: b}", "metadata: x"] {
            assert!(fields(yaml).tags().is_empty(), "{yaml}");
        }
    }

    #[test]
    fn when_to_use_in_every_spelling() {
        for key in ["when_to_use", "when-to-use", "whenToUse"] {
            let fields = fields(&format!("{key}: For forms."));
            assert_eq!(fields.when_to_use().as_deref(), Some("For forms."), "{key}");
        }
        assert_eq!(fields("when_to_use:").when_to_use(), None);
    }
}
