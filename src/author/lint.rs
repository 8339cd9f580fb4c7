//! All checks of a single skill.

use std::path::Path;

use super::finding::Finding;
use super::source::{Source, place};
use super::strict::{self, At};
use super::{body, description, files, references};
use crate::skill::{Diagnostic, Skill, over_yaml_limits};
use crate::sys::text::backticked;

/// Characters of the field `compatibility` (specification).
const COMPATIBILITY: usize = 500;

/// Fields of the specification and those read by widely used clients (docs/spec/skills.md#fields).
/// Other fields get a note.
const KNOWN: [&str; 19] = [
    "name",
    "description",
    "license",
    "compatibility",
    "metadata",
    "allowedtools",
    "disallowedtools",
    "argumenthint",
    "arguments",
    "userinvocable",
    "disablemodelinvocation",
    "model",
    "context",
    "agent",
    "hooks",
    "version",
    "whentouse",
    "effort",
    "paths",
];

/// The findings about the skill in `dir`, and the skill if there is one.
pub fn lint(dir: &Path) -> (Vec<Finding>, Option<Source>) {
    let skill = match Skill::load(dir) {
        Ok(skill) => skill,
        Err(diagnostic) => {
            let file = dir.join("SKILL.md").display().to_string();
            let found = Finding::new(&diagnostic.code, file, (1, 1), &diagnostic.message);
            return (vec![found.level(diagnostic.level)], None);
        }
    };
    let source = Source::of(skill);
    let mut found: Vec<Finding> = source
        .skill
        .diagnostics
        .iter()
        .map(|d| of_diagnostic(&source, d))
        .collect();
    found.extend(fields(&source));
    found.extend(text(&source));
    found.extend(body::lint(&source));
    found.extend(references::lint(&source));
    found.extend(files::lint(dir));
    (found, Some(source))
}

/// The reference validator's findings about the skill in `dir`; all are errors.
pub fn judge_strictly(dir: &Path) -> Vec<Finding> {
    let file = strict::find_skill_md(dir);
    let text = file
        .as_deref()
        .and_then(|file| strict::read_text(file).ok())
        .unwrap_or_default();
    let shown = file.as_deref().unwrap_or(dir).display().to_string();
    let yaml = text
        .strip_prefix("---")
        .and_then(|rest| rest.split_once("---"));
    let key = |key: &str| {
        let found = yaml.and_then(|(yaml, _)| super::source::key_offset(yaml, key));
        found.map_or((1, 1), |at| place(&text, 3 + at))
    };
    let finding = |problem: strict::Problem| {
        let place = match &problem.at {
            At::File => (1, 1),
            At::Key(name) => key(name),
            At::Offset(offset) => place(&text, *offset),
        };
        Finding::new(problem.code, shown.clone(), place, &problem.message)
    };
    strict::validate(dir).into_iter().map(finding).collect()
}

/// A diagnostic of the lenient parser as a finding with its place.
fn of_diagnostic(source: &Source, diagnostic: &Diagnostic) -> Finding {
    let key = match diagnostic.code.as_str() {
        "name-missing" | "name-too-long" | "name-altered" | "name-mismatch" => "name",
        "description-too-long" => "description",
        code if code.contains("allowed-tools") => "allowed-tools",
        _ => "",
    };
    let place = match diagnostic.code.as_str() {
        "yaml-repaired" => broken_line(source),
        "glued-fence" => source.place(source.yaml.end),
        "many-tokens" | "commands-not-run" => source.place(source.body),
        _ if key.is_empty() => (1, 1),
        _ => source.key(key),
    };
    Finding::new(&diagnostic.code, source.file(), place, &diagnostic.message)
        .level(diagnostic.level)
}

fn broken_line(source: &Source) -> (usize, usize) {
    let yaml = &source.text[source.yaml.clone()];
    let within = over_yaml_limits(yaml).is_none();
    let parsed = within.then(|| serde_yaml::from_str::<serde_json::Value>(yaml));
    let failed = parsed.and_then(Result::err);
    let at = failed
        .and_then(|error| error.location())
        .map_or(0, |place| place.index());
    source.place(source.yaml.start + at.min(yaml.len()))
}

fn fields(source: &Source) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut say = |code: &str, key: &str, message: &str| {
        found.push(Finding::new(code, source.file(), source.key(key), message));
    };
    if let Some(description) = &source.skill.description
        && !description::says_when(description)
    {
        let message =
            "the description does not say when to use the skill, and the model chooses by it";
        say("description-no-when", "description", message);
    }
    if let Some(compatibility) = source.skill.fields.text("compatibility") {
        let length = compatibility.chars().count();
        if length > COMPATIBILITY {
            let message = format!(
                "`compatibility` has {length} characters, over the specification's {COMPATIBILITY}"
            );
            say("compatibility-too-long", "compatibility", &message);
        }
    }
    let unknown: Vec<&str> = source
        .skill
        .fields
        .keys()
        .filter(|key| !is_known(key))
        .collect();
    if let Some(first) = unknown.first() {
        let message = format!(
            "neither the specification nor a client in wide use knows {}",
            backticked(&unknown, ", ")
        );
        say("unknown-field", first, &message);
    }
    found
}

fn is_known(key: &str) -> bool {
    let letters: String = key
        .chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect();
    // Another spelling of the tool list's key has its own finding.
    KNOWN.contains(&letters.as_str()) || letters == "tools"
}

fn text(source: &Source) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut say = |code: &str, offset: usize, message: &str| {
        found.push(Finding::new(
            code,
            source.file(),
            source.place(offset),
            message,
        ));
    };
    if source.text.starts_with('\u{feff}') {
        say(
            "byte-order-mark",
            0,
            "the file begins with a byte order mark, which other clients stumble over",
        );
    }
    if let Some(at) = source.text.find("\r\n") {
        say(
            "line-ends",
            at,
            "the file has Windows line ends, which other clients stumble over",
        );
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn any_file_is_judged_at_places_it_has(
            text in "(---|\\n|\\r\\n|name: |x|description: |allowed-tools: |'|\"|\\[a\\]\\(b/c\\.md\\)|`{1,3}|&a|\\|| |\u{feff}|é|: |- ){0,30}"
        ) {
            let root = tempfile::tempdir().unwrap();
            let dir = root.path().join("x");
            std::fs::create_dir(&dir).unwrap();
            std::fs::write(dir.join("SKILL.md"), &text).unwrap();
            let lines = text.split('\n').count().max(text.split('\r').count());
            for found in lint(&dir).0.into_iter().chain(judge_strictly(&dir)) {
                prop_assert!((1..=lines).contains(&found.line) && found.column >= 1, "{:?}", found);
                prop_assert!(!found.message.is_empty() && !found.message.contains('\n'));
            }
        }
    }
}
