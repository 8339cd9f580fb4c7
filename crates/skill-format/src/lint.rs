//! All that `lint` finds in one `SKILL.md` besides its diagnostics: single fields, how the text is
//! encoded, how long the body is, and the frontmatter's values against what their fields take. A value
//! that is not understood has no effect, and nothing else says so.

use serde_json::Value;
use skill_text::{brief, one_line};

use crate::description::says_when;
use crate::fields::{ValueForm, is_text, near_miss_of, parse_flag, written};
use crate::{Diagnostic, Fields, KnownField, Level, Skill, SkillScope, Source, over_limits, rules};

/// Characters of the field `compatibility` (specification).
const COMPATIBILITY: usize = 500;
/// Lines of a body above which to move details to files (specification).
const BODY_LINES: usize = 500;

/// One finding of [`lint`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Its code, see [`RULES`](crate::RULES).
    pub code: String,
    /// Its severity.
    pub level: Level,
    /// Line and column, from 1; the column in characters.
    pub place: (usize, usize),
    /// What is wrong, on one line.
    pub message: String,
    /// What to do, on one line.
    pub remedy: String,
}

impl Finding {
    fn new(code: &str, place: (usize, usize), message: &str) -> Self {
        let (level, remedy) = rules::of(code);
        let (code, remedy) = (code.to_owned(), remedy.to_owned());
        let message = one_line(message);
        Self {
            code,
            level,
            place,
            message,
            remedy,
        }
    }
}

/// The findings about `skill`, which was parsed from the text of `source`: its diagnostics first, of
/// which those are errors for which the frontmatter had to be guessed.
pub fn lint(skill: &Skill, source: &Source) -> Vec<Finding> {
    let finding = |found: &Diagnostic| {
        let place = place_of(source, found);
        let finding = Finding::new(&found.code(), place, &found.to_string());
        // Users are warned of it; its author can mend it before there are any.
        let level = if is_guessed(found) {
            Level::Error
        } else {
            finding.level
        };
        Finding { level, ..finding }
    };
    let mut found: Vec<Finding> = skill.diagnostics.iter().map(finding).collect();
    found.extend(fields_and_text(skill, source));
    found.extend(values(&skill.fields, source));
    found
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
    let within = over_limits(yaml).is_none();
    let parsed = within.then(|| serde_yaml::from_str::<serde_json::Value>(yaml));
    let failed = parsed.and_then(Result::err);
    let at = failed.and_then(|error| error.location());
    let at = at.map_or(0, |place| place.index());
    source.place(source.yaml.start + at.min(yaml.len()))
}

/// Findings about single fields, how the text is encoded, and how long the body is.
fn fields_and_text(skill: &Skill, source: &Source) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut say = |code, place, message: &str| {
        found.push(Finding::new(code, place, message));
    };
    let description = skill.description.as_deref();
    if description.is_some_and(|text| !says_when(text)) {
        let message = "the description does not say when to use the skill, which the model needs to choose it";
        say("description-no-when", source.key("description"), message);
    }
    let (key, most) = ("compatibility", COMPATIBILITY);
    let length = skill.fields.text(key).unwrap_or_default().chars().count();
    if length > most {
        let message = format!("`{key}` has {length} characters, over the specification's {most}");
        say("compatibility-too-long", source.key(key), &message);
    }
    let is_unknown = |key: &&str| KnownField::of(key).is_none() && near_miss_of(key).is_none();
    let keys = skill.fields.0.keys().map(String::as_str);
    let unknown: Vec<&str> = keys.filter(is_unknown).collect();
    if let Some(first) = unknown.first() {
        let names = unknown.join("`, `");
        let message = format!("neither the specification nor a common client knows `{names}`");
        say("unknown-field", source.key(first), &message);
    }
    if source.text.starts_with('\u{feff}') {
        let message = "the file begins with a byte order mark, which other clients may not read";
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

/// Longest part of a value that a message repeats.
const SHOWN: usize = 60;

/// The words for `network` in `execution`.
const NETWORK: [&str; 4] = ["open", "full", "unrestricted", "restricted"];
const EXECUTION: &str =
    "write `execution: {sandbox: true, network: restricted, allowed-paths: [DIR]}`";

/// What is wrong with a value: a code, the message after the value, and what to write instead.
type ValueProblem = (&'static str, &'static str, &'static str);

/// Findings about the values of the skill's fields.
fn values(fields: &Fields, source: &Source) -> Vec<Finding> {
    let mut found = Vec::new();
    let pairs = fields.0.iter();
    for (key, value) in pairs.filter(|(_, value)| !value.is_null()) {
        let Some(known) = KnownField::of(key) else {
            continue;
        };
        let say = |code, message: &str, remedy: &str| {
            let remedy = remedy.to_owned();
            let found = Finding::new(code, source.key(key), message);
            Finding { remedy, ..found }
        };
        if !known.is_read_as(key) {
            let message = format!("`{key}` is not read, only `{}`", known.key);
            let remedy = format!("spell it `{}`", known.key);
            found.push(say("field-spelling", &message, &remedy));
        } else if let Some((code, why, remedy)) = fault(fields, key, known, value) {
            let shown = brief(&written(value), SHOWN);
            found.push(say(code, &format!("`{key}: {shown}` {why}"), remedy));
        }
    }
    found
}

/// Why a value has no effect here, to be read after it; `None` if it has.
pub fn no_effect(fields: &Fields, key: &str) -> Option<&'static str> {
    let (known, value) = (KnownField::of(key)?, fields.value(key)?);
    if !known.is_read_as(key) {
        return Some("is not read in this spelling");
    }
    fault(fields, key, known, value).map(|(_, why, _)| why)
}

#[rustfmt::skip]
fn fault(fields: &Fields, key: &str, known: &KnownField, value: &Value) -> Option<ValueProblem> {
    const BAD: &str = "field-value";
    const IGNORED: &str = "field-ignored";
    const FLAG: &str = "write `true` or `false`";
    const TEXT: (&str, &str) = ("is not a text, so it is not read", "write a text, or a list of texts");
    const SKILLS: &str = "write names of skills: `requires: [pdf]`";
    let text = fields.text(key).unwrap_or_default();
    let is_flag = parse_flag(&text).is_some();
    let (is_understood, code, (why, remedy)) = match known.form {
        // The parser says what is wrong with hooks.
        ValueForm::Any | ValueForm::Hooks => return None,
        ValueForm::Scope => return scope(value),
        ValueForm::Execution => return execution(value),
        ValueForm::Text => (is_text(value), BAD, TEXT),
        ValueForm::Names => (!value.is_number() && !value.is_boolean(), BAD, TEXT),
        ValueForm::Flag if known.key == "disable-model-invocation" =>
            (is_flag, BAD, ("is neither true nor false, so it hides the skill from the model", FLAG)),
        ValueForm::Flag => (is_flag, BAD, ("is neither true nor false, so the default applies", FLAG)),
        ValueForm::Number =>
            (text.parse::<i64>().is_ok(), BAD, ("is not a whole number, so it counts as 0", "write a whole number, such as 10")),
        ValueForm::Mapping =>
            (value.is_object(), BAD, ("is not a mapping, so nothing in it is read", "write `key: value` lines below it")),
        ValueForm::Fork =>
            (fields.is_forked(), IGNORED, ("has no effect: only `fork` has", "write `context: fork` for a sub-agent, or remove it")),
        ValueForm::Model =>
            (false, IGNORED, ("is for other clients: the host's own model is used here", "leave it for them, or remove it")),
        ValueForm::Skills if value.is_object() =>
            (false, IGNORED, ("is a mapping, as other clients use it, and requires no skill", SKILLS)),
        ValueForm::Skills => {
            let is_list = value.as_array().is_some_and(|items| items.iter().all(Value::is_string));
            (is_list || value.is_string(), BAD, ("is not a list of names, so no skill is required", SKILLS))
        }
    };
    (!is_understood).then_some((code, why, remedy))
}

fn scope(value: &Value) -> Option<ValueProblem> {
    let (code, why) = match SkillScope::read(value) {
        Ok(Some(_)) => return None,
        Ok(None) => {
            let why = "is not a mapping, so the skill is offered everywhere";
            ("field-ignored", why)
        }
        Err(why) => ("field-value", why),
    };
    let remedy = "write `scope: {agents: [ops*], tenants: [acme], environments: [production]}`";
    Some((code, why, remedy))
}

fn execution(value: &Value) -> Option<ValueProblem> {
    let Value::Object(map) = value else {
        let why = "is not a mapping, so scripts run as configured";
        return Some(("field-value", why, EXECUTION));
    };
    let is_understood = |(key, value): (&String, &Value)| match key.as_str() {
        "sandbox" => parse_flag(&written(value)).is_some() || value == "auto",
        "network" => value.as_str().is_some_and(|text| NETWORK.contains(&text)),
        "allowed-paths" | "allowed_paths" => value
            .as_array()
            .is_some_and(|paths| paths.iter().all(Value::is_string)),
        _ => false,
    };
    let why = "has something that is not understood";
    (!map.iter().all(is_understood)).then_some(("field-value", why, EXECUTION))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn linted(text: &str) -> Vec<Finding> {
        let skill = Skill::parse("x", text.as_bytes()).unwrap();
        lint(&skill, &Source::new(text.to_owned()))
    }

    proptest! {
        #[test]
        fn any_text_is_judged_at_places_it_has(
            text in "(---|\\n|\\r\\n|name: |x|description: |allowed-tools: |'|\"|\\[a\\]|`{1,3}|&a|\\|| |\u{feff}|é|: |- ){0,30}"
        ) {
            let lines = text.split('\n').count().max(text.split('\r').count());
            for Finding { place: (line, column), message, .. } in linted(&text) {
                prop_assert!((1..=lines).contains(&line) && column >= 1);
                prop_assert!(!message.is_empty() && !message.contains('\n'));
            }
        }
    }

    fn codes(yaml: &str) -> Vec<String> {
        let text = format!("---\nname: x\ndescription: d\n{yaml}\n---\nb\n");
        let skill = Skill::parse("x", text.as_bytes()).unwrap();
        let found = values(&skill.fields, &Source::new(text))
            .into_iter()
            .map(|found| {
                assert_eq!(found.place.0, 4, "{yaml}: {found:?}");
                assert!(
                    !found.remedy.is_empty() && found.message.len() < 150,
                    "{found:?}"
                );
                found.code
            });
        found.collect()
    }

    #[test]
    fn a_value_without_its_fields_effect_is_found() {
        for (yaml, code) in [
            ("priority: high", "field-value"),
            ("priority: 1.5", "field-value"),
            ("context: sideways", "field-ignored"),
            ("context: [a, b]", "field-ignored"),
            ("model: opus", "field-ignored"),
            ("user-invocable: maybe", "field-value"),
            ("user_invokable: 2", "field-value"),
            ("disable-model-invocation: {}", "field-value"),
            ("scope: project", "field-ignored"),
            ("scope: {agent: a, tenannts: b}", "field-value"),
            ("scope: {agents: {a: b}}", "field-value"),
            ("requires: {mcp: [rube]}", "field-ignored"),
            ("arguments: 7", "field-value"),
            ("requires: 3", "field-value"),
            ("requires: [pdf, 3]", "field-value"),
            ("execution: sandbox", "field-value"),
            ("execution: {sandbox: sometimes}", "field-value"),
            ("execution: {network: none}", "field-value"),
            ("execution: {allowed-paths: out}", "field-value"),
            ("execution: {timeout: 3}", "field-value"),
            ("tags: {a: b}", "field-value"),
            ("metadata: text", "field-value"),
            ("license: {name: MIT}", "field-value"),
            ("argument-hint: {a: b}", "field-value"),
            ("version: {a: b}", "field-value"),
            ("when_to_use: {a: b}", "field-value"),
            ("agent: {a: b}", "field-value"),
            ("Priority: 3", "field-spelling"),
            ("Execution: {sandbox: true}", "field-spelling"),
        ] {
            assert_eq!(codes(yaml), [code], "{yaml}");
        }
    }

    #[test]
    fn a_value_that_is_understood_is_not_found() {
        for yaml in [
            "priority: 7",
            "priority: '-2'",
            "context: Fork",
            "user-invocable: no",
            "Disable_Model_Invocation: 'true'",
            "scope: {agents: [ops*], tenant: acme, environments: ~}",
            "requires: pdf, docx",
            "requires: [pdf]",
            "execution: {sandbox: true, network: restricted, allowed_paths: [out]}",
            "tags: [a, b]",
            "metadata: {a: {b: c}}",
            "argument-hint: [url]",
            "arguments: [issue]",
            "version: 1.0",
            "priority:",
            "colour: red",
        ] {
            assert_eq!(codes(yaml), [""; 0], "{yaml}");
        }
    }

    #[test]
    fn what_was_guessed_is_an_error_for_its_author() {
        let found = linted("---\nname: x\ndescription: Use when: y\n---\nb\n");
        let found: Vec<_> = found
            .iter()
            .map(|it| (&*it.code, it.level, it.place))
            .collect();
        assert_eq!(found, [("yaml-repaired", Level::Error, (3, 22))]);
    }
}
