//! Adds entries to a skill's `allowed-tools` and leaves everything else as its author wrote it. The
//! change counts only if the skill, read again, has exactly these entries more.

use super::prelude::*;
use super::scaffold::scalar;
use skill_format::{is_allowed_tools, is_tools};

/// The text of `SKILL.md` with these entries at the end of its tool list; `None` if that is not
/// certain to mean just that. `dir` is the skill's directory.
pub fn with_entries(dir: &Path, text: &str, entries: &[String]) -> Option<String> {
    let (mut allowed, rest) = read(dir, text)?;
    allowed.extend_from_slice(entries);
    let wanted = (allowed, rest);
    let yaml = split_frontmatter(text).yaml?;
    let start = offset_in(text, yaml);
    let key = key_offset(yaml, "allowed-tools").or_else(|| key_offset(yaml, "tools"))?;
    let value = value_range(yaml, key);
    let list = &yaml[value.clone()];
    let mut forms = [block_list, flow_list, quoted, plain].into_iter();
    forms.find_map(|form| {
        let list = form(list, entries)?;
        let (head, tail) = (&text[..start + value.start], &text[start + value.end..]);
        let changed = format!("{head}{list}{tail}");
        (read(dir, &changed)? == wanted).then_some(changed)
    })
}

/// The skill's list, split as far as the grammar of lists needs, and all the rest of it.
fn read(dir: &Path, text: &str) -> Option<(Vec<String>, String)> {
    let directory = dir.file_name()?.to_str()?;
    let skill = skill_format::Skill::parse(directory, text.as_bytes()).ok()?;
    let allowed = skill.fields.allowed_tools()?;
    let mut others: Map<String, Value> = skill.fields.0;
    others.retain(|key, _| !is_allowed_tools(key) && !is_tools(key));
    let (name, description) = (skill.name, skill.description);
    let body = split_frontmatter(text).body;
    let allowed = allowed.iter().flat_map(|list| split(list)).collect();
    Some((allowed, format!("{name} {description:?} {others:?} {body}")))
}

/// Splits a list at blanks and commas outside parentheses.
fn split(list: &str) -> Vec<String> {
    let parts = split_outside(list, |c| c == ',' || c.is_whitespace());
    let parts = parts.filter(|part| !part.is_empty());
    parts.map(str::to_owned).collect()
}

/// The value of the key at `key`: from behind its colon to the next line that is not part of it,
/// without the line end.
fn value_range(yaml: &str, key: usize) -> std::ops::Range<usize> {
    let colon = yaml[key..].find(':').map_or(yaml.len(), |at| key + at + 1);
    let mut end = colon;
    for (number, line) in yaml[colon..].split_inclusive('\n').enumerate() {
        let is_inside = number == 0 || line.starts_with([' ', '\t', '-']) || line.trim().is_empty();
        if !is_inside {
            break;
        }
        end += line.len();
    }
    let value = yaml[colon..end].trim_end();
    colon..colon + value.len()
}

/// `- Read` lines.
fn block_list(list: &str, entries: &[String]) -> Option<String> {
    let is_item = |line: &&str| line.trim_start().starts_with("- ");
    let item = list.lines().rfind(is_item)?;
    let indent = &item[..item.len() - item.trim_start().len()];
    let end = if list.contains("\r\n") { "\r\n" } else { "\n" };
    let lines = entries.iter();
    let lines = lines.map(|entry| format!("{end}{indent}- {}", scalar(entry)));
    Some(list.to_owned() + &lines.collect::<String>())
}

/// `[Read, Grep]`.
fn flow_list(list: &str, entries: &[String]) -> Option<String> {
    let close = list
        .rfind(']')
        .filter(|_| list.trim_start().starts_with('['))?;
    let (inside, tail) = list.split_at(close);
    let quoted: Vec<String> = entries.iter().map(|entry| in_quotes(entry)).collect();
    let is_empty = inside.trim() == "[";
    let separator = match inside.trim_end().ends_with(',') {
        _ if is_empty => "",
        true => " ",
        false => ", ",
    };
    let inside = inside.trim_end();
    Some(format!("{inside}{separator}{}{tail}", quoted.join(", ")))
}

/// `"Read, Grep"`, with what follows the quote.
fn quoted(list: &str, entries: &[String]) -> Option<String> {
    let quote = list.trim_start().chars().next();
    let quote = quote.filter(|quote| matches!(quote, '"' | '\''))?;
    let close = list.rfind(quote)?;
    let (inside, tail) = list.split_at(close);
    let is_empty = inside.trim().len() <= 1;
    Some(format!(
        "{inside}{}{tail}",
        continued(inside, is_empty, entries)
    ))
}

/// A text without quotes on one line or several, with the comment behind it.
fn plain(list: &str, entries: &[String]) -> Option<String> {
    if list.trim_start().starts_with(['[', '{', '"', '\'']) {
        return None;
    }
    let line = list.rfind('\n').map_or(0, |at| at + 1);
    let comment = list[line..].find(" #").map_or(list.len(), |at| line + at);
    let (inside, tail) = list.split_at(comment);
    let inside = inside.trim_end();
    let continued = continued(inside, inside.trim().is_empty(), entries);
    let space = if inside.is_empty() { " " } else { "" };
    Some(format!("{inside}{space}{continued}{tail}"))
}

/// What to write behind a list in one text: separated as its own entries are.
fn continued(inside: &str, is_empty: bool, entries: &[String]) -> String {
    let has_commas = split_outside(inside, |c| c == ',').count() > 1;
    let is_single =
        split(inside.trim_start_matches([' ', '"', '\'', '>', '|', '-', '\n'])).len() < 2;
    let separator = if has_commas || is_single { ", " } else { " " };
    let begin = match inside.trim_end().ends_with(',') {
        _ if is_empty => "",
        true => " ",
        false => separator,
    };
    format!("{begin}{}", entries.join(separator))
}

fn in_quotes(entry: &str) -> String {
    format!("\"{}\"", entry.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_grows_in_the_form_in_which_it_is_written() {
        for (list, expected) in [
            (" Read", " Read, Bash(npx a:*), Write(out/**)"),
            (" Read Grep", " Read Grep Bash(npx a:*) Write(out/**)"),
            (
                " Read, Bash(x, y)",
                " Read, Bash(x, y), Bash(npx a:*), Write(out/**)",
            ),
            (
                " Read Grep # why",
                " Read Grep Bash(npx a:*) Write(out/**) # why",
            ),
            (
                " \"Read, Grep\"",
                " \"Read, Grep, Bash(npx a:*), Write(out/**)\"",
            ),
            (
                " 'Read Grep' # x",
                " 'Read Grep Bash(npx a:*) Write(out/**)' # x",
            ),
            (" \"\"", " \"Bash(npx a:*), Write(out/**)\""),
            (" []", " [\"Bash(npx a:*)\", \"Write(out/**)\"]"),
            (
                " [Read, \"Grep\"]",
                " [Read, \"Grep\", \"Bash(npx a:*)\", \"Write(out/**)\"]",
            ),
            (
                "\n  - Read\n  - Grep # x",
                "\n  - Read\n  - Grep # x\n  - Bash(npx a:*)\n  - Write(out/**)",
            ),
            ("\n- Read", "\n- Read\n- Bash(npx a:*)\n- Write(out/**)"),
            (
                " Read,\n  Grep",
                " Read,\n  Grep, Bash(npx a:*), Write(out/**)",
            ),
            (
                " >-\n  Read\n  Grep",
                " >-\n  Read\n  Grep Bash(npx a:*) Write(out/**)",
            ),
        ] {
            let text = |list: &str| {
                format!("---\nname: pdf\nallowed-tools:{list}\ndescription: d # c\n---\nBody\n")
            };
            let entries = ["Bash(npx a:*)".to_owned(), "Write(out/**)".to_owned()];
            let changed = with_entries(Path::new("/skills/pdf"), &text(list), &entries);
            assert_eq!(changed, Some(text(expected)), "{list}");
        }
    }

    #[test]
    fn what_is_not_certain_is_left_to_a_person() {
        let entries = ["Read".to_owned()];
        for text in [
            "---\nname: pdf\ndescription: d\n---\nBody\n",
            "---\nname: pdf\ndescription: d\nallowed-tools:\n---\nBody\n",
            "---\nname: pdf\ndescription: d\nallowed-tools: {Bash: [git]}\n---\nBody\n",
            "no frontmatter",
        ] {
            let changed = with_entries(Path::new("/skills/pdf"), text, &entries);
            assert_eq!(changed, None, "{text}");
        }
    }
}
