//! Fixes a `SKILL.md` where the intention is certain: quotes, line ends, fences, names. Each fix is
//! tried alone and kept only if the skill's meaning stays the same.

use super::prelude::*;
use skill_format::over_limits;
use std::fmt::{Debug, Write as _};

/// A fix: returns the fixed text, or `None` if there is nothing to fix. The name is the one implied
/// by the skill's directory.
type Fix = fn(&str, &SkillName) -> Option<String>;

/// In this order: the first ones make the text readable for the rest.
const FIXES: [Fix; 7] = [
    byte_order_mark,
    line_ends,
    wrapping,
    blank_start,
    fences,
    quotes,
    with_name,
];

/// Maximum number of passes over all fixes, since one can enable another. A text that still
/// changes after them is left alone.
const PASSES: usize = 8;

/// The text with all safe fixes applied; `None` if there are none. `dir` is the skill's directory.
/// Fixing the result again changes nothing.
pub fn fix(dir: &Path, text: &str) -> Option<String> {
    let directory = dir.file_name()?.to_str()?;
    let name = SkillName::from_written(directory).filter(|name| name.as_str() == directory)?;
    let mut fixed = text.to_owned();
    for _ in 0..PASSES {
        let before = fixed.clone();
        for fix in FIXES {
            if let Some(next) = fix(&fixed, &name)
                && meaning(directory, &fixed) == meaning(directory, &next)
            {
                fixed = next;
            }
        }
        if fixed == before {
            return (fixed != text).then_some(fixed);
        }
    }
    None
}

/// Everything a client reads from a skill. Alternative spellings of the tool list's key and of the
/// name compare as equal.
fn meaning(directory: &str, text: &str) -> Option<impl Debug + PartialEq + use<>> {
    let skill = skill_format::Skill::parse(directory, text.as_bytes()).ok()?;
    let fields = &skill.fields;
    let lists = (fields.allowed_tools(), fields.disallowed_tools());
    // All other fields, by value. A value that the lenient parser had to guess must remain a guess.
    let mut others: Map<String, Value> = skill.fields.0;
    others.retain(|key, _| key != "name" && !is_tool_list(key));
    let others: Vec<(String, Value)> = others.into_iter().collect();
    let body = split_frontmatter(text).body.trim().replace("\r\n", "\n");
    Some((skill.name, skill.description, lists, others, body))
}

fn is_tool_list(key: &str) -> bool {
    ["allowed_tools", "allowedTools", "allowed-tools"].contains(&key)
}

fn byte_order_mark(text: &str, _: &SkillName) -> Option<String> {
    text.strip_prefix('\u{feff}').map(str::to_owned)
}

fn line_ends(text: &str, _: &SkillName) -> Option<String> {
    text.contains("\r\n").then(|| text.replace("\r\n", "\n"))
}

/// Removes a code fence around the whole file.
fn wrapping(text: &str, _: &SkillName) -> Option<String> {
    let split = split_frontmatter(text);
    let wrapped = split
        .diagnostics
        .contains(&skill_format::Diagnostic::WrappedInFence);
    let (_, inner) = text.trim_start().split_once('\n')?;
    let inner = inner.trim_end().trim_end_matches('`');
    wrapped.then(|| format!("{}\n", inner.trim_end()))
}

fn blank_start(text: &str, _: &SkillName) -> Option<String> {
    let rest = text.trim_start();
    (rest.len() < text.len() && rest.starts_with("---")).then(|| rest.to_owned())
}

/// Fixes frontmatter fences: a missing first one, one joined to other text, blanks after them.
fn fences(text: &str, _: &SkillName) -> Option<String> {
    let split = split_frontmatter(text);
    let yaml = split.yaml?;
    let start = offset_in(text, yaml);
    let before = &text[..start];
    let opens = before.is_empty() || before.trim_end() == "---";
    // A comment before the frontmatter, or a guessed end, is left alone.
    let closes = text[start + yaml.len()..].starts_with("---");
    let (yaml, body) = (yaml.trim_end_matches('\n'), split.body);
    let fixed = format!("---\n{yaml}\n---\n{}", body.trim_start_matches([' ', '\t']));
    (opens && closes && fixed != text).then_some(fixed)
}

/// Quotes single-line values that are not valid YAML.
fn quotes(text: &str, _: &SkillName) -> Option<String> {
    let split = split_frontmatter(text);
    let repaired = |yaml: &str| serde_yaml::from_str::<Value>(yaml).is_err();
    // Text that the parser must not see is not fixed either.
    let yaml = split.yaml.filter(|yaml| over_limits(yaml).is_none());
    let yaml = yaml.filter(|yaml| repaired(yaml))?;
    let start = offset_in(text, yaml);
    let mut fixed = String::new();
    for line in yaml.split_inclusive('\n') {
        let (content, end) = line.split_at(line.trim_end_matches('\n').len());
        match content.split_once(": ") {
            Some((key, value)) if !key.starts_with([' ', '#', '-']) && repaired(content) => {
                let quoted = value.trim().replace('\'', "''");
                let _ = write!(fixed, "{key}: '{quoted}'{end}");
            }
            _ => fixed += line,
        }
    }
    let fixed = format!("{}{fixed}{}", &text[..start], &text[start + yaml.len()..]);
    let now = split_frontmatter(&fixed).yaml.map(repaired);
    (now == Some(false)).then_some(fixed)
}

/// Corrects the spelling of the name and of the tool list's key.
fn with_name(text: &str, name: &SkillName) -> Option<String> {
    let split = split_frontmatter(text);
    let yaml = split.yaml?;
    let start = offset_in(text, yaml);
    let keys = yaml.lines().filter_map(|line| line.split_once(':'));
    let lists = keys.filter(|(key, _)| is_tool_list(key)).count();
    let mut fixed = String::new();
    let mut has_name = false;
    for line in yaml.split_inclusive('\n') {
        let (key, value) = line.split_once(':').unwrap_or((line, ""));
        if key == "name" && !has_name {
            has_name = true;
            let written = value.trim().trim_matches(['"', '\'']);
            if written != name.as_str() && !value.contains(" #") {
                let _ = writeln!(fixed, "name: {name}");
                continue;
            }
        } else if lists == 1 && is_tool_list(key) {
            let _ = write!(fixed, "allowed-tools:{value}");
            continue;
        }
        fixed += line;
    }
    if !has_name {
        fixed = format!("name: {name}\n{fixed}");
    }
    let fixed = format!("{}{fixed}{}", &text[..start], &text[start + yaml.len()..]);
    (fixed != text).then_some(fixed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fixed(text: &str) -> Option<String> {
        let dir = Path::new("/skills/pdf-ocr");
        let once = fix(dir, text);
        if let Some(once) = &once {
            assert_eq!(fix(dir, once), None, "{text:?}: {once:?}");
            assert_eq!(
                meaning("pdf-ocr", text),
                meaning("pdf-ocr", once),
                "{text:?}"
            );
        }
        once
    }

    #[test]
    fn what_is_certain_is_mended() {
        let good = "---\nname: pdf-ocr\ndescription: d\n---\n# T\n";
        for bad in [
            "\u{feff}---\nname: pdf-ocr\ndescription: d\n---\n# T\n",
            "---\r\nname: pdf-ocr\r\ndescription: d\r\n---\r\n# T\r\n",
            "```markdown\n---\nname: pdf-ocr\ndescription: d\n---\n# T\n```\n",
            "\n\n---\nname: pdf-ocr\ndescription: d\n---\n# T\n",
            "--- \nname: pdf-ocr\ndescription: d\n---\u{a0}\n# T\n",
            "---\nname: pdf-ocr\ndescription: d\n---# T\n",
            "name: pdf-ocr\ndescription: d\n---\n# T\n",
            "---\nname: PDF OCR\ndescription: d\n---\n# T\n",
            "---\nname: \"pdf_ocr\"\ndescription: d\n---\n# T\n",
            "---\ndescription: d\n---\n# T\n",
        ] {
            assert_eq!(fixed(bad).as_deref(), Some(good), "{bad:?}");
        }
    }

    #[test]
    fn values_are_quoted_and_mean_the_same() {
        let fixed = fixed(
            "---\nname: pdf-ocr\ndescription: Use when: it's *this*\nargument-hint: [a] [b]\nallowed_tools: Read\n---\nb\n",
        );
        assert_eq!(
            fixed.as_deref(),
            Some(
                "---\nname: pdf-ocr\ndescription: 'Use when: it''s *this*'\nargument-hint: '[a] [b]'\nallowed-tools: Read\n---\nb\n"
            )
        );
    }

    #[test]
    fn what_is_doubtful_is_left_alone() {
        for text in [
            "---\nname: pdf-ocr\ndescription: d\n---\n# T\n",
            "---\nname: other\ndescription: d\n---\n# T\n",
            "---\nname: pdf-ocr\ndescription: d\n\n# T\n",
            "# T\n---\nname: pdf-ocr\n---\n",
            "---\nname: pdf-ocr\ndescription: d\n  more: than\n one: line\n---\n",
            "---\nname: pdf-ocr\nallowed-tools: Read\nallowed_tools: Bash\n---\n",
            "no frontmatter",
        ] {
            assert_eq!(fixed(text), None, "{text:?}");
        }
        let text = "---\nname: X\ndescription: d\n---\n";
        assert_eq!(fix(Path::new("/skills/Not A Name"), text), None);
    }

    proptest! {
        #[test]
        fn mending_never_changes_the_meaning_and_ends(
            text in "(---|\\n|\\r\\n|name: |pdf-ocr|PDF OCR|description: |allowed_tools: |Read|x: y|'|\\*|`{3}| |\u{feff}|# T){0,25}"
        ) {
            fixed(&text);
        }
    }
}
