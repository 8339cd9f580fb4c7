//! All checks of a single skill; of the frontmatter's values against what their fields take
//! (`skill/fields.rs`): a value that is not understood has no effect, and nothing else says so. It does
//! not know what a tool list's entries mean.

use super::prelude::*;
use super::{description, files, package, references};
use crate::skill::{
    Fields, Hooks, KnownField, SkillScope, ValueForm, brief, is_text, near_miss_of, parse_flag,
    written,
};

/// Characters of the field `compatibility` (specification).
const COMPATIBILITY: usize = 500;
/// Lines of a body above which `validate` advises to move details to files (specification).
const BODY_LINES: usize = 500;

/// The findings about the skill in `dir`, and the skill if there is one.
pub fn lint(dir: &Path) -> (Vec<LintFinding>, Option<SkillSource>) {
    let skill = match Skill::load(dir) {
        Ok(skill) => skill,
        Err(diagnostic) => {
            let file = dir.join("SKILL.md").display().to_string();
            let found = LintFinding::of_diagnostic(&diagnostic, file, (1, 1));
            return (vec![found], None);
        }
    };
    let source = SkillSource::read(skill);
    let diagnostics = source.skill.diagnostics.iter();
    let finding = |d| {
        let found = LintFinding::of_diagnostic(d, source.file(), place_of(&source, d));
        // Users are warned of it; its author can mend it before there are any.
        let level = if is_guessed(d) {
            Level::Error
        } else {
            found.level
        };
        found.level(level)
    };
    let mut found: Vec<LintFinding> = diagnostics.map(finding).collect();
    found.extend(fields_and_text(&source));
    found.extend(lint_values(&source));
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

fn place_of(source: &SkillSource, diagnostic: &Diagnostic) -> (usize, usize) {
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

fn broken_line(source: &SkillSource) -> (usize, usize) {
    let yaml = &source.text[source.yaml.clone()];
    let within = over_yaml_limits(yaml).is_none();
    let parsed = within.then(|| serde_yaml::from_str::<serde_json::Value>(yaml));
    let failed = parsed.and_then(Result::err);
    let at = failed.and_then(|error| error.location());
    let at = at.map_or(0, |place| place.index());
    source.place(source.yaml.start + at.min(yaml.len()))
}

/// Findings about single fields, how the text is encoded, and how long the body is.
fn fields_and_text(source: &SkillSource) -> Vec<LintFinding> {
    let skill = &source.skill;
    let mut found = Vec::new();
    let mut say = |code, place, message: &str| {
        found.push(LintFinding::new(code, source.file(), place, message));
    };
    let description = skill.description.as_deref();
    if description.is_some_and(|text| !description::says_when(text)) {
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
pub fn lint_values(source: &SkillSource) -> Vec<LintFinding> {
    let fields = &source.skill.fields;
    let mut found = Vec::new();
    let pairs = fields.0.iter();
    for (key, value) in pairs.filter(|(_, value)| !value.is_null()) {
        let Some(known) = KnownField::of(key) else {
            continue;
        };
        let say = |code, message: &str, remedy: &str| {
            let remedy = remedy.to_owned();
            let found = LintFinding::new(code, source.file(), source.key(key), message);
            LintFinding { remedy, ..found }
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
    found.extend(hooks(source));
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

fn fault(fields: &Fields, key: &str, known: &KnownField, value: &Value) -> Option<ValueProblem> {
    let text = fields.text(key).unwrap_or_default();
    let form = known.form;
    let is_understood = match form {
        // The loader says what is wrong with hooks.
        ValueForm::Any | ValueForm::Hooks => true,
        ValueForm::Text => is_text(value),
        ValueForm::Names => !value.is_number() && !value.is_boolean(),
        ValueForm::Flag => parse_flag(&text).is_some(),
        ValueForm::Number => text.parse::<i64>().is_ok(),
        ValueForm::Mapping => value.is_object(),
        ValueForm::Fork => fields.is_forked(),
        ValueForm::Model => false,
        ValueForm::Skills => match value {
            Value::Array(items) => items.iter().all(Value::is_string),
            value => value.is_string(),
        },
        ValueForm::Scope => return scope(value),
        ValueForm::Execution => return execution(value),
    };
    let bad = |why, remedy| Some(("field-value", why, remedy));
    let ignored = |why, remedy| Some(("field-ignored", why, remedy));
    match form {
        _ if is_understood => None,
        ValueForm::Flag if known.key == "disable-model-invocation" => bad(
            "is neither true nor false, so it hides the skill from the model",
            "write `true` or `false`",
        ),
        ValueForm::Flag => bad(
            "is neither true nor false, so the default applies",
            "write `true` or `false`",
        ),
        ValueForm::Number => bad(
            "is not a whole number, so it counts as 0",
            "write a whole number, such as 10",
        ),
        ValueForm::Mapping => bad(
            "is not a mapping, so nothing in it is read",
            "write `key: value` lines below it",
        ),
        ValueForm::Fork => ignored(
            "has no effect: only `fork` has",
            "write `context: fork` for a sub-agent, or remove it",
        ),
        ValueForm::Model => ignored(
            "is for other clients: the host's own model is used here",
            "leave it for them, or remove it",
        ),
        ValueForm::Skills if value.is_object() => ignored(
            "is a mapping, as other clients use it, and requires no skill",
            "write names of skills: `requires: [pdf]`",
        ),
        ValueForm::Skills => bad(
            "is not a list of names, so no skill is required",
            "write names of skills: `requires: [pdf]`",
        ),
        _ => bad(
            "is not a text, so it is not read",
            "write a text, or a list of texts",
        ),
    }
}

fn scope(value: &Value) -> Option<ValueProblem> {
    const REMEDY: &str =
        "write `scope: {agents: [ops*], tenants: [acme], environments: [production]}`";
    match SkillScope::read(value) {
        Ok(Some(_)) => None,
        Ok(None) => {
            let why = "is not a mapping, so the skill is offered everywhere";
            Some(("field-ignored", why, REMEDY))
        }
        Err(why) => Some(("field-value", why, REMEDY)),
    }
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

/// Findings about the skill's own hooks: each is a script that is there.
fn hooks(source: &SkillSource) -> Vec<LintFinding> {
    let (skill, Hooks { pre, post }) = (&source.skill, Hooks::parse(&source.skill.fields));
    let problem = |script: &String| {
        let path = SkillPath::parse(script, &skill.dir);
        let (code, error) = match path.map(|path| path.resolve(&skill.dir)) {
            Ok(Ok(_)) => return None,
            Ok(Err(error)) => ("hook-missing", error),
            Err(error) => ("hook-leaves-skill", error),
        };
        let (place, text) = (source.words("hooks", script), format!("hook: {error}"));
        Some(LintFinding::new(code, source.file(), place, &text))
    };
    pre.iter().chain(&post).filter_map(problem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::Skill;
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

    fn codes(yaml: &str) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("x");
        std::fs::create_dir(&dir).unwrap();
        std::fs::write(dir.join("a.sh"), "").unwrap();
        std::os::unix::fs::symlink("/bin/sh", dir.join("out.sh")).unwrap();
        let text = format!("---\nname: x\ndescription: d\n{yaml}\n---\nb\n");
        std::fs::write(dir.join("SKILL.md"), text).unwrap();
        let found = lint_values(&SkillSource::read(Skill::load(&dir).unwrap()));
        let found = found.into_iter().map(|found| {
            assert_eq!(found.line, 4, "{yaml}: {found:?}");
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
            ("hooks: {pre: nosuch.sh}", "hook-missing"),
            ("hooks: {post: [a.sh, nosuch.sh]}", "hook-missing"),
            ("hooks: {pre: out.sh}", "hook-missing"),
            ("hooks: {pre: ../x.sh}", "hook-leaves-skill"),
            ("hooks: {post: /bin/sh}", "hook-leaves-skill"),
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
            "hooks: {pre: a.sh, post: [./a.sh]}",
            "priority:",
            "colour: red",
        ] {
            assert_eq!(codes(yaml), [""; 0], "{yaml}");
        }
    }
}
