//! The commands of a command line as plain words, for hosts that see a skill's use in them. It grants
//! nothing.

use std::collections::BTreeSet;
use std::path::Path;

use super::places::RuleDirectories;
use super::shell::{LineStep, ParseCache, SimpleCommand, Variables};
use super::steps::Steps;

/// The commands of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// Its commands.
    pub commands: Vec<Vec<Option<String>>>,
    /// Whether there is one command, of known words, without assignments and redirections.
    pub is_plain: bool,
}

impl Outline {
    /// The outline of `text` as the shell of `places` reads it, with the home for `~` and `$HOME` if
    /// that is known there; `None` if it cannot be read.
    pub fn read(text: &str, places: &RuleDirectories) -> Option<Self> {
        let budget = Steps::default();
        let home = places.home.as_deref().and_then(Path::to_str);
        let nothing = BTreeSet::new();
        let variables = Variables {
            inherited: home.map(|_| &nothing),
            home,
            ..Variables::default()
        };
        let cache = ParseCache::new(&budget, places, variables);
        let reading = cache.parse(text, places.shell, home.is_some());
        let reading = reading.as_ref().as_ref().ok()?;
        let words = |simple: &SimpleCommand| {
            let words = simple.words.iter();
            words.map(|word| word.text().map(str::to_owned)).collect()
        };
        let commands: Vec<Vec<_>> = reading.commands().map(words).collect();
        let mut all = reading.commands();
        let mut steps = reading.steps.iter();
        let is_plain = steps.all(|step| matches!(step, LineStep::Command(_) | LineStep::Join))
            && commands.len() == 1
            && all.all(|simple| simple.assignments.is_empty())
            && commands.iter().flatten().all(Option::is_some);
        Some(Self { commands, is_plain })
    }

    /// The words of the only command, if it is plain.
    pub fn plain(&self) -> Option<Vec<&str>> {
        let command = self.commands.first().filter(|_| self.is_plain)?;
        command.iter().map(Option::as_deref).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_command_of_known_words_is_plain() {
        let plain = |text: &str| {
            let outline = Outline::read(text, &RuleDirectories::default());
            let plain = outline.as_ref().and_then(Outline::plain);
            plain.map(|words| words.join("|"))
        };
        assert_eq!(plain("bash 'a b' c").as_deref(), Some("bash|a b|c"));
        for other in [
            "x; y", "x > f", "A=1 x", "x \"$y\"", "x | y", "(x)", "x $(y)", "",
        ] {
            assert_eq!(plain(other), None, "{other}");
        }
        let outline =
            Outline::read("cd a && cat SKILL.md | wc -l", &RuleDirectories::default()).unwrap();
        assert_eq!(outline.commands.len(), 3);
    }

    #[test]
    fn tilde_and_home_are_replaced() {
        let places = RuleDirectories {
            home: Some("/h".into()),
            ..RuleDirectories::default()
        };
        for (text, word) in [
            ("cat ~/x", Some("/h/x")),
            ("cat \"$HOME/x\"", Some("/h/x")),
            ("cat ${HOME}/x", Some("/h/x")),
            ("cat \"~/x\"", Some("~/x")),
            ("cat $OTHER/x", None),
            ("HOME=/; cat $HOME/x", None),
        ] {
            let outline = Outline::read(text, &places).unwrap();
            let words = outline.commands.last().unwrap();
            assert_eq!(words.last().unwrap().as_deref(), word, "{text}");
        }
    }
}
