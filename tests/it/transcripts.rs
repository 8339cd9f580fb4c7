//! What each command prints, exactly: the files of `tests/transcripts` are played again and must
//! come out as they are. CONTRIBUTING.md says how they are written anew.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::transcript_world::World;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts")
}

/// The name and the text of every transcript.
pub fn all() -> Vec<(&'static str, String)> {
    let read = |name| fs::read_to_string(directory().join(format!("{name}.md"))).unwrap();
    NAMES.iter().map(|name| (*name, read(name))).collect()
}

/// Every command of the transcripts with its answer.
pub fn answers() -> Vec<(String, String)> {
    let mut answers = Vec::new();
    for (_, text) in all() {
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if ["```console", "```terminal"].contains(&line) {
                for line in lines.by_ref().take_while(|line| *line != "```") {
                    match line.strip_prefix("$ ") {
                        Some(command) => answers.push((command.to_owned(), String::new())),
                        None => answers.last_mut().unwrap().1.extend([line, "\n"]),
                    }
                }
            }
        }
    }
    answers
}

#[track_caller]
fn repeats(name: &str) {
    let path = directory().join(format!("{name}.md"));
    let played = World::new().play(&fs::read_to_string(&path).unwrap());
    let expected = snapbox::Data::read_from(&path, None).raw();
    snapbox::Assert::new()
        .action_env(snapbox::assert::DEFAULT_ACTION_ENV)
        .eq(played, expected);
}

/// A test for each transcript.
macro_rules! transcripts {
    ($($name:ident)*) => {
        const NAMES: [&str; [$(stringify!($name)),*].len()] = [$(stringify!($name)),*];
        $(
            #[test]
            fn $name() {
                repeats(stringify!($name));
            }
        )*
    };
}

transcripts! {
    active audit author check config doctor failures first_minutes help hosts install installed keys
    lockfile options origins policy proposals remove simulate sources suggest trust update
    walk_get walk_look walk_safety walk_set_up walk_write
}

#[test]
fn every_transcript_is_played() {
    let files = fs::read_dir(directory())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names: BTreeSet<String> = NAMES.iter().map(|name| format!("{name}.md")).collect();
    assert_eq!(files.collect::<BTreeSet<_>>(), names);
}

/// Which command of the program a line runs.
fn verb(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    words.find(|word| *word == "agent-skills")?;
    words.next()
}

#[test]
fn every_command_has_help_an_answer_an_error_and_json() {
    let answers = answers();
    let help = answers
        .iter()
        .find(|(line, _)| line == "agent-skills --help");
    let verbs = help
        .unwrap()
        .1
        .lines()
        .filter(|line| line.starts_with("  "));
    let mut lacks = Vec::new();
    for verb in verbs.filter_map(|line| line.split_whitespace().next()) {
        let runs = answers
            .iter()
            .filter(|(line, _)| self::verb(line) == Some(verb));
        let (helps, runs): (Vec<_>, Vec<_>) = runs.partition(|(line, _)| line.ends_with("--help"));
        let has_json = helps.iter().any(|(_, told)| told.contains("--json"));
        for (what, is_there) in [
            ("help", !helps.is_empty()),
            // No transcript has a registry.
            (
                "answer",
                verb == "publish" || runs.iter().any(|(_, told)| !told.starts_with("? ")),
            ),
            ("error", runs.iter().any(|(_, told)| told.starts_with("? "))),
            (
                "JSON",
                !has_json || runs.iter().any(|(line, _)| line.contains("--json")),
            ),
        ] {
            if !is_there {
                lacks.push(format!("{verb}: no {what}"));
            }
        }
    }
    assert!(lacks.is_empty(), "{lacks:?}");
}

#[test]
fn every_failure_says_what_to_do_next() {
    let answers = answers();
    let fails = |told: &str| told.starts_with("? 1\n") && told.contains("! agent-skills: ");
    // As JSON it is in the answer.
    let helps = |told: &str| {
        ["\n! hint: ", "\"hint\": \""]
            .iter()
            .any(|hint| told.contains(hint))
    };
    let lacks: Vec<_> = answers
        .iter()
        .filter(|(_, told)| fails(told) && !helps(told))
        .collect();
    assert!(lacks.is_empty(), "{lacks:#?}");
}
