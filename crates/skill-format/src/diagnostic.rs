//! Diagnostics: remarks on a skill that still loads, or the reason why it does not.

use std::fmt::Debug;

use serde::{Deserialize, Serialize};
use skill_text::{SkillName, shown_name};

use crate::text::shown_tokens;
use crate::{Level, limits, rules};

/// Scripts of one hook of a skill. Nobody needs more.
pub(crate) const HOOK_SCRIPTS: usize = 8;

/// What is unusual or wrong in one `SKILL.md`. Its text is one sentence for a person: what is wrong,
/// why, and what to do. The name of its variant is its code, which is stable across releases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "code", content = "fields", rename_all = "kebab-case")]
pub enum Diagnostic {
    /// Bytes that are not UTF-8.
    #[error("SKILL.md is not UTF-8, so some characters were replaced: save it as UTF-8")]
    NotUtf8,
    /// No frontmatter.
    #[error("SKILL.md has no frontmatter: put `---`, name and description, `---` at its top")]
    NoFrontmatter,
    /// The fence.
    #[error(
        "the frontmatter begins with `{0}` and is not read, so only what is always allowed can be \
         used: write YAML between two `---` lines"
    )]
    ForeignFence(String),
    /// A code fence around the file.
    #[error("all of SKILL.md is inside a code fence: remove its first and last line")]
    WrappedInFence,
    /// A first line that is a key.
    #[error("the frontmatter has no `---` line before it: add one")]
    NoOpeningFence,
    /// A heading or a banner before the frontmatter.
    #[error("there is text before the frontmatter: move `---` to the first line")]
    TextBeforeFrontmatter,
    /// A frontmatter whose end is a guess.
    #[error("the frontmatter has no closing `---` line: add one before the first heading")]
    UnclosedFrontmatter,
    /// A fence with text behind it.
    #[error("the closing `---` is on one line with other text: give it a line of its own")]
    GluedFence,
    /// The limit that it exceeds.
    #[error("the frontmatter {0}, so only its plain lines were read")]
    FrontmatterTooLarge(String),
    /// Invalid YAML.
    #[error(
        "the frontmatter is not valid YAML, so its keys were read one by one: quote values that \
         contain `: ` or begin with `*`, `@` or a backtick"
    )]
    YamlRepaired,
    /// The directory's name.
    #[error("the name was taken from the directory `{0}`: add the field `name`")]
    NameMissing(String),
    /// The directory's name.
    #[error("neither `name` nor the directory `{0}` has a letter or digit")]
    NameUnusable(String),
    /// A name over the limit.
    #[error("the name is longer than {} characters and was cut", SkillName::MAX)]
    NameTooLong,
    /// The name as written and as used.
    #[error("the name `{0}` is used as `{1}`: use lowercase letters, digits and single hyphens")]
    NameAltered(String, String),
    /// The name, and the directory's.
    #[error("the name `{0}` differs from its directory `{1}`")]
    NameMismatch(String, String),
    /// No visible description.
    #[error("the skill has no description, so the model could not know when to use it: add one")]
    DescriptionMissing,
    /// The number of characters.
    #[error("the description has {0} characters, over the specification's 1024")]
    DescriptionTooLong(usize),
    /// The key as written.
    #[error("`{0}` was read as `allowed-tools`: spell it that way")]
    AllowedToolsSpelling(String),
    /// A key without a value.
    #[error(
        "`allowed-tools` has no value and restricts nothing: list tools, write `\"\"` to allow \
         none, or remove the key"
    )]
    NullAllowedTools,
    /// The key, whose value is left out.
    #[error(
        "`{}` cannot be read with certainty, so {}: correct the frontmatter",
        .0,
        less(.0)
    )]
    KeyNotRead(String),
    /// A key that is none, and the one that is likely meant.
    #[error(
        "`{}` restricts nothing: did you mean `{}`?",
        shown_name(.0),
        .1
    )]
    NearMiss(String, String),
    /// Different lists.
    #[error("there are several `allowed-tools`, so nothing is allowed: keep one")]
    AllowedToolsTwice,
    /// The key.
    #[error(
        "`{0}` is not run: write `hooks: {{pre: scripts/a.sh, post: scripts/b.sh}}`, each a script \
         or a list of at most {max} scripts",
        max = HOOK_SCRIPTS
    )]
    HooksUnclear(String),
    /// The events.
    #[error(
        "`hooks` has events of other clients ({0}): Claude Code and Qwen Code run their commands"
    )]
    ForeignHooks(String),
    /// The number of tokens.
    #[error(
        "the instructions are approx. {} tokens, over {}: move parts into files that are read when \
         they are needed",
        shown_tokens(*.0),
        shown_tokens(limits::MANY_TOKENS)
    )]
    ManyTokens(usize),
    /// Commands that another client would run.
    #[error("Claude Code runs commands written as !`…` when it loads the skill")]
    CommandsNotRun,
}

/// The name of a value's variant, as serde writes it in kebab case.
pub fn variant_code(value: &impl Debug) -> String {
    let written = format!("{value:?}");
    let name = written.split(|c: char| !c.is_alphanumeric()).next();
    let mut code = String::new();
    for c in name.unwrap_or_default().chars() {
        if c.is_uppercase() && !code.is_empty() {
            code.push('-');
        }
        code.push(c.to_ascii_lowercase());
    }
    code
}

impl Diagnostic {
    /// Its code: lowercase, hyphenated.
    pub fn code(&self) -> String {
        variant_code(self)
    }

    /// Whether a key that restricts the skill is not what it seems.
    pub fn is_about_restriction(&self) -> bool {
        matches!(
            self,
            Self::ForeignFence(_)
                | Self::KeyNotRead(_)
                | Self::NearMiss(..)
                | Self::AllowedToolsTwice
        )
    }

    /// Its severity.
    pub fn level(&self) -> Level {
        rules::of(&self.code()).0
    }
}

/// What is left to a skill whose key cannot be read.
fn less(key: &str) -> &'static str {
    match key {
        "disable-model-invocation" => "the skill is hidden from the model",
        _ => "only what is always allowed can be used",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_what_serde_writes() {
        let all = [
            Diagnostic::NotUtf8,
            Diagnostic::KeyNotRead("a-B".to_owned()),
            Diagnostic::DescriptionTooLong(1),
            Diagnostic::NearMiss("a".to_owned(), "b".to_owned()),
        ];
        for diagnostic in all {
            let written = serde_json::to_value(&diagnostic).unwrap();
            assert_eq!(written["code"], diagnostic.code());
        }
    }
}
