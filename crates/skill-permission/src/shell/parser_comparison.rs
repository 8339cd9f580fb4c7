//! Compares our parse of commands with another parser's. If the simple commands differ, one parser
//! is wrong, and an accepted command may run something that was never checked.

use brush_parser::ast::{
    AndOr, Command, CommandPrefixOrSuffixItem as Item, CompoundCommand, CompoundList,
    IoFileRedirectTarget, IoRedirect, Pipeline, SimpleCommand, Word,
};
use brush_parser::word::{WordPiece, WordPieceWithSource};
use brush_parser::{Parser, ParserOptions};

use super::parse::parse;
use super::step::LineStep;
use super::variables::Variables;
use crate::steps::Steps;
use crate::vocabulary::SH;

#[path = "../../tests/shell_grammar/mod.rs"]
#[rustfmt::skip]
// The integration tests use the rest of it.
#[allow(dead_code)]
mod shell_grammar;

/// The simple commands that our parser finds.
fn our_commands(command: &str) -> Option<Vec<String>> {
    let steps = parse(command, SH, Variables::default(), &Steps::default())
        .ok()?
        .steps;
    let simple = |step: LineStep| match step {
        LineStep::Command(simple) if !simple.words.is_empty() => {
            comparable(simple.words.iter().map(|word| word.raw.clone()).collect())
        }
        _ => None,
    };
    let mut seen: Vec<String> = steps.into_iter().filter_map(simple).collect();
    seen.sort();
    Some(seen)
}

/// A command up to its first process substitution, which is part of a word to one parser and a
/// separate word to the other; without `time`, a program to one and grammar to the other (we treat
/// both alike); without the tabs that `<<-` strips.
fn comparable(mut words: Vec<String>) -> Option<String> {
    if words.first().is_some_and(|word| word == "time") {
        words.remove(0);
    }
    let text = words.join(" ").replace("\n\t", "\n");
    let end = text.find("<(").into_iter().chain(text.find(">(")).min();
    let text = text[..end.unwrap_or(text.len())].trim_end();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The simple commands that `brush-parser` finds; `None` if it cannot parse something.
#[derive(Default)]
struct BrushCommands(Vec<String>);

impl BrushCommands {
    fn of(command: &str) -> Option<Vec<String>> {
        let mut this = Self::default();
        this.text(command)?;
        this.0.sort();
        Some(this.0)
    }

    fn options() -> ParserOptions {
        ParserOptions {
            enable_extended_globbing: false,
            ..ParserOptions::default()
        }
    }

    fn text(&mut self, text: &str) -> Option<()> {
        let program = Parser::new(text.as_bytes(), &Self::options())
            .parse_program()
            .ok()?;
        program
            .complete_commands
            .iter()
            .try_for_each(|list| self.list(list))
    }

    fn list(&mut self, list: &CompoundList) -> Option<()> {
        for item in &list.0 {
            self.pipeline(&item.0.first)?;
            for AndOr::And(pipeline) | AndOr::Or(pipeline) in &item.0.additional {
                self.pipeline(pipeline)?;
            }
        }
        Some(())
    }

    fn pipeline(&mut self, pipeline: &Pipeline) -> Option<()> {
        pipeline
            .seq
            .iter()
            .try_for_each(|command| self.command(command))
    }

    fn command(&mut self, command: &Command) -> Option<()> {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound, redirects) => {
                self.compound(compound)?;
                redirects
                    .iter()
                    .flat_map(|list| &list.0)
                    .try_for_each(|one| self.redirect(one))
            }
            Command::ExtendedTest(_, redirects) => redirects
                .iter()
                .flat_map(|list| &list.0)
                .try_for_each(|one| self.redirect(one)),
            Command::Function(_) => None,
        }
    }

    fn compound(&mut self, compound: &CompoundCommand) -> Option<()> {
        match compound {
            CompoundCommand::BraceGroup(group) => self.list(&group.list),
            CompoundCommand::Subshell(group) => self.list(&group.list),
            CompoundCommand::ForClause(one) => {
                one.values
                    .iter()
                    .flatten()
                    .try_for_each(|word| self.word(word))?;
                self.list(&one.body.list)
            }
            CompoundCommand::CaseClause(one) => {
                self.word(&one.value)?;
                for case in &one.cases {
                    case.patterns.iter().try_for_each(|word| self.word(word))?;
                    case.cmd.iter().try_for_each(|list| self.list(list))?;
                }
                Some(())
            }
            CompoundCommand::IfClause(one) => {
                self.list(&one.condition)?;
                self.list(&one.then)?;
                for branch in one.elses.iter().flatten() {
                    branch
                        .condition
                        .iter()
                        .try_for_each(|list| self.list(list))?;
                    self.list(&branch.body)?;
                }
                Some(())
            }
            CompoundCommand::WhileClause(one) | CompoundCommand::UntilClause(one) => {
                self.list(&one.0)?;
                self.list(&one.1.list)
            }
            _ => None,
        }
    }

    fn simple(&mut self, simple: &SimpleCommand) -> Option<()> {
        let mut words = Vec::new();
        if let Some(word) = &simple.word_or_name {
            self.word(word)?;
            words.push(word.value.clone());
        }
        for item in simple.prefix.iter().flat_map(|prefix| &prefix.0) {
            match item {
                Item::AssignmentWord(_, word) => self.word(word)?,
                other => self.item(other, &mut words)?,
            }
        }
        for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
            self.item(item, &mut words)?;
        }
        self.0.extend(comparable(words));
        Some(())
    }

    fn item(&mut self, item: &Item, words: &mut Vec<String>) -> Option<()> {
        match item {
            Item::Word(word) | Item::AssignmentWord(_, word) => {
                words.push(word.value.clone());
                self.word(word)
            }
            Item::IoRedirect(redirect) => self.redirect(redirect),
            Item::ProcessSubstitution(_, inner) => {
                words.push("<()".to_owned());
                self.list(&inner.list)
            }
        }
    }

    fn redirect(&mut self, redirect: &IoRedirect) -> Option<()> {
        match redirect {
            IoRedirect::File(_, _, IoFileRedirectTarget::ProcessSubstitution(_, inner)) => {
                self.list(&inner.list)
            }
            IoRedirect::File(
                _,
                _,
                IoFileRedirectTarget::Filename(word) | IoFileRedirectTarget::Duplicate(word),
            )
            | IoRedirect::HereString(_, word)
            | IoRedirect::OutputAndError(word, _) => self.word(word),
            _ => Some(()),
        }
    }

    fn word(&mut self, word: &Word) -> Option<()> {
        let pieces = brush_parser::word::parse(&word.value, &Self::options()).ok()?;
        self.pieces(&pieces)
    }

    fn pieces(&mut self, pieces: &[WordPieceWithSource]) -> Option<()> {
        pieces.iter().try_for_each(|piece| match &piece.piece {
            WordPiece::CommandSubstitution(text)
            | WordPiece::BackquotedCommandSubstitution(text) => self.text(text),
            WordPiece::DoubleQuotedSequence(inner) => self.pieces(inner),
            _ => Some(()),
        })
    }
}

#[test]
fn two_parsers_find_the_same_commands() {
    let mut grammar = shell_grammar::Grammar::new(7);
    let (mut compared, mut unparsed) = (0, Vec::new());
    for _ in 0..3000 {
        // `&>` is read in two ways, of which the other parser knows one.
        let command = grammar.command().replace("&>", " >");
        // Nor does it know that a shell runs its input, or read a blank in `${…}` behind a `<<`.
        if command.contains("sh <<") || command.contains("<<") && command.contains(":+a b") {
            continue;
        }
        let Some(ours) = our_commands(&command) else {
            continue;
        };
        match BrushCommands::of(&command) {
            Some(theirs) => {
                assert_eq!(ours, theirs, "{command:?}");
                compared += 1;
            }
            None => unparsed.push(command),
        }
    }
    // It cannot parse everything; failures must stay rare.
    assert!(
        compared > 500 && unparsed.len() * 20 < compared,
        "{unparsed:#?}"
    );
}
