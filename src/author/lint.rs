//! All checks of a single skill.

use std::path::Path;

use super::finding::Finding;
use super::source::Source;
use super::{description, files, package, references, values};
use crate::skill::{Diagnostic, Known, Level, Skill, near_miss_of, over_yaml_limits};

/// Characters of the field `compatibility` (specification).
const COMPATIBILITY: usize = 500;
/// Lines of a body above which `validate` advises to move details to files (specification).
const BODY_LINES: usize = 500;

/// The findings about the skill in `dir`, and the skill if there is one.
pub fn lint(dir: &Path) -> (Vec<Finding>, Option<Source>) {
    let skill = match Skill::load(dir) {
        Ok(skill) => skill,
        Err(diagnostic) => {
            let file = dir.join("SKILL.md").display().to_string();
            let found = Finding::of_diagnostic(&diagnostic, file, (1, 1));
            return (vec![found], None);
        }
    };
    let source = Source::read(skill);
    let diagnostics = source.skill.diagnostics.iter();
    let finding = |d| {
        let found = Finding::of_diagnostic(d, source.file(), place_of(&source, d));
        // Users are warned of it; its author can mend it before there are any.
        let level = if is_guessed(d) {
            Level::Error
        } else {
            found.level
        };
        found.level(level)
    };
    let mut found: Vec<Finding> = diagnostics.map(finding).collect();
    found.extend(fields_and_text(&source));
    found.extend(values::lint(&source));
    found.extend(references::lint(&source));
    found.extend(files::lint(dir));
    found.extend(package::lint_manifest(&source.skill));
    (found, Some(source))
}

/// Whether the frontmatter is broken and was read by what its lines seem to say. Another client may
/// read something else, or nothing.
fn is_guessed(diagnostic: &Diagnostic) -> bool {
    use Diagnostic as D;
    matches!(
        diagnostic,
        D::YamlRepaired | D::FrontmatterTooLarge(_) | D::UnclosedFrontmatter | D::KeyNotRead(_)
    )
}

fn place_of(source: &Source, diagnostic: &Diagnostic) -> (usize, usize) {
    use Diagnostic as D;
    match diagnostic {
        D::YamlRepaired => broken_line(source),
        D::GluedFence => source.place(source.yaml.end),
        D::ManyTokens(_) | D::CommandsNotRun => source.place(source.body),
        D::NameMissing(_) | D::NameTooLong | D::NameAltered(..) | D::NameMismatch(..) => {
            source.key("name")
        }
        D::DescriptionTooLong(_) => source.key("description"),
        D::KeyNotRead(key) => source.key(key),
        D::NearMiss(written, _) => source.key(written.split('.').next().unwrap_or_default()),
        D::AllowedToolsSpelling(_) | D::NullAllowedTools | D::AllowedToolsTwice => {
            source.key("allowed-tools")
        }
        _ => (1, 1),
    }
}

fn broken_line(source: &Source) -> (usize, usize) {
    let yaml = &source.text[source.yaml.clone()];
    let within = over_yaml_limits(yaml).is_none();
    let parsed = within.then(|| serde_yaml::from_str::<serde_json::Value>(yaml));
    let failed = parsed.and_then(Result::err);
    let at = failed.and_then(|error| error.location());
    let at = at.map_or(0, |place| place.index());
    source.place(source.yaml.start + at.min(yaml.len()))
}

/// Findings about single fields, how the text is encoded, and how long the body is.
fn fields_and_text(source: &Source) -> Vec<Finding> {
    let skill = &source.skill;
    let mut found = Vec::new();
    let mut say = |code, place, message: &str| {
        found.push(Finding::new(code, source.file(), place, message));
    };
    let description = skill.description.as_deref();
    if description.is_some_and(|text| !description::says_when(text)) {
        let message =
            "the description does not say when to use the skill, and the model chooses by it";
        say("description-no-when", source.key("description"), message);
    }
    let (key, most) = ("compatibility", COMPATIBILITY);
    let length = skill.fields.text(key).unwrap_or_default().chars().count();
    if length > most {
        let message = format!("`{key}` has {length} characters, over the specification's {most}");
        say("compatibility-too-long", source.key(key), &message);
    }
    let is_unknown = |key: &&str| Known::of(key).is_none() && near_miss_of(key).is_none();
    let unknown: Vec<&str> = skill.fields.keys().filter(is_unknown).collect();
    if let Some(first) = unknown.first() {
        let names = unknown.join("`, `");
        let message = format!("neither the specification nor a client in wide use knows `{names}`");
        say("unknown-field", source.key(first), &message);
    }
    if source.text.starts_with('\u{feff}') {
        let message = "the file begins with a byte order mark, which other clients stumble over";
        say("byte-order-mark", (1, 1), message);
    }
    if let Some(at) = source.text.find("\r\n") {
        let message = "the file has Windows line ends, which other clients stumble over";
        say("line-ends", source.place(at), message);
    }
    let (lines, most) = (source.body_text().trim().lines().count(), BODY_LINES);
    if lines == 0 {
        let place = source.place(source.body);
        say("body-empty", place, "there are no instructions");
    } else if lines > most {
        let message = format!("the body has {lines} lines, over {most}");
        say("body-lines", source.place(source.body), &message);
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
            for found in lint(&dir).0 {
                prop_assert!((1..=lines).contains(&found.line) && found.column >= 1, "{:?}", found);
                prop_assert!(!found.message.is_empty() && !found.message.contains('\n'));
            }
        }
    }
}
