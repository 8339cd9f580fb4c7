//! The table and tests/decisions.md say the same of every verb.

use super::super::args::Cli;
use super::*;
use clap::{CommandFactory, Parser};

/// The rows of tests/decisions.md: the words, what they do, and whether models may.
fn rows() -> Vec<(Vec<&'static str>, AuthorityClass, bool)> {
    let text = include_str!("../../../tests/decisions.md");
    let section = text.split("## What only a person decides").nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| {
        let cells: Vec<&str> = line.strip_prefix("| `")?.split(" | ").collect();
        let words = cells[0].trim_end_matches('`').split_whitespace().collect();
        let class = match cells[1].split(',').next().unwrap() {
            "reads" => AuthorityClass::Reads,
            "changes" => AuthorityClass::Changes,
            "decides" => AuthorityClass::Decides,
            other => panic!("{other}"),
        };
        Some((words, class, cells[2].starts_with("yes")))
    });
    rows.collect()
}

#[test]
fn the_documentation_says_what_holds() {
    for (words, class, for_models) in rows() {
        let line = ["agent-skills"].iter().chain(&words);
        let cli = Cli::try_parse_from(line).unwrap_or_else(|error| panic!("{words:?}: {error}"));
        let decided = decision(cli.common, &cli.verb.unwrap());
        assert_eq!(decided, (class, for_models), "{words:?}");
    }
}

#[test]
fn every_verb_is_in_the_documentation() {
    let mut missing = Vec::new();
    for verb in Cli::command().get_subcommands() {
        let inner: Vec<&str> = verb
            .get_subcommands()
            .map(clap::Command::get_name)
            .collect();
        let is_there = |words: &[&str]| rows().iter().any(|(row, ..)| row.starts_with(words));
        if inner.is_empty() && !is_there(&[verb.get_name()]) {
            missing.push(verb.get_name().to_owned());
        }
        let lacking = inner
            .iter()
            .filter(|inner| !is_there(&[verb.get_name(), inner]));
        missing.extend(lacking.map(|inner| format!("{} {inner}", verb.get_name())));
    }
    assert!(missing.is_empty(), "{missing:?}");
}
