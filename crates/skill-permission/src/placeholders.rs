//! Directories that a rule names by a placeholder, inserted as literal text after the list is
//! split: they may contain spaces, parentheses or `*`.

use std::path::{Path, PathBuf};

/// The values of the placeholders.
#[derive(Debug, Clone, Default)]
pub struct Placeholders {
    /// The skill's own directory.
    pub skill: PathBuf,
    /// The user's project.
    pub project: PathBuf,
}

/// A section of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatternPiece<'a> {
    /// As its author wrote it; wildcards are active.
    Written(&'a str),
    /// A directory; every character is literal.
    Literal(String),
}

impl Placeholders {
    /// Splits a pattern at its placeholders.
    ///
    /// A skill is installed without the plugin it came in, so `${CLAUDE_PLUGIN_ROOT}` is the
    /// skill's directory too.
    pub fn split<'a>(&self, body: &'a str) -> Vec<PatternPiece<'a>> {
        let placeholders: [(&str, &Path); 5] = [
            ("${CLAUDE_SKILL_DIR}", &self.skill),
            ("${SKILL_DIR}", &self.skill),
            ("{baseDir}", &self.skill),
            ("${CLAUDE_PLUGIN_ROOT}", &self.skill),
            ("${CLAUDE_PROJECT_DIR}", &self.project),
        ];
        let mut pieces = Vec::new();
        let mut rest = body;
        while let Some((at, len, dir)) = placeholders
            .iter()
            .filter_map(|(name, dir)| Some((rest.find(name)?, name.len(), dir)))
            .min_by_key(|(at, ..)| *at)
        {
            pieces.push(PatternPiece::Written(&rest[..at]));
            pieces.push(PatternPiece::Literal(dir.to_string_lossy().into_owned()));
            rest = &rest[at + len..];
        }
        pieces.push(PatternPiece::Written(rest));
        pieces.retain(|piece| *piece != PatternPiece::Written(""));
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_become_literal_pieces() {
        let directories = Placeholders {
            skill: "/s k/*".into(),
            project: "/p".into(),
        };
        let literal = |text: &str| PatternPiece::Literal(text.to_owned());
        assert_eq!(
            directories.split("python3 ${CLAUDE_SKILL_DIR}/x.py ${CLAUDE_PROJECT_DIR}:*"),
            [
                PatternPiece::Written("python3 "),
                literal("/s k/*"),
                PatternPiece::Written("/x.py "),
                literal("/p"),
                PatternPiece::Written(":*"),
            ]
        );
        assert_eq!(directories.split("{baseDir}"), [literal("/s k/*")]);
        assert_eq!(directories.split("git:*"), [PatternPiece::Written("git:*")]);
    }
}
