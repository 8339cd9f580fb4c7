//! The fields of a skill that asks to run in a sub-agent: `context: fork`, with `model` and
//! `agent`. It does not know whether the host supports that.

use super::Fields;

impl Fields {
    /// Whether the skill has `context: fork`. Most skills use the key for tags of their own
    /// (docs/spec/skills.md#fields).
    pub fn is_forked(&self) -> bool {
        self.text("context")
            .is_some_and(|text| text.eq_ignore_ascii_case("fork"))
    }

    /// The requested `model`, if it is an id with its provider, as hosts with several providers
    /// write it. Nearly all real values belong to one other client (`opus`, `inherit`) and mean
    /// nothing here.
    pub fn model_id(&self) -> Option<String> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.:/".contains(c);
        self.text("model").filter(|id| {
            let (provider, name) = id.split_once('/').unwrap_or_default();
            !provider.is_empty() && !name.is_empty() && id.len() <= 100 && id.chars().all(is_part)
        })
    }

    /// Whether it names an `agent`, which is always one of another client.
    pub fn names_an_agent(&self) -> bool {
        self.text("agent").is_some()
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
    fn only_the_word_fork_forks() {
        assert!(fields("context: fork").is_forked() && fields("context: ' Fork '").is_forked());
        for other in [
            "context: inline",
            "context: [fork, x]",
            "context:",
            "x: fork",
        ] {
            assert!(!fields(other).is_forked(), "{other}");
        }
    }

    #[test]
    fn a_model_is_an_id_with_its_provider() {
        for (written, id) in [
            ("anthropic/claude-opus-4.5:beta", true),
            ("sonnet", false),
            ("inherit", false),
            ("claude-opus-4-5-20251101", false),
            ("/x", false),
            ("a/b c", false),
            ("'a/b\"}'", false),
        ] {
            let found = fields(&format!("model: {written}")).model_id();
            assert_eq!(found.is_some(), id, "{written}");
        }
    }
}
