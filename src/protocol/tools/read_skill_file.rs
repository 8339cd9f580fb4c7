//! `read_skill_file`: a bundled file as text, or as base64 when it is not text.

use std::fmt::Write;
use std::os::unix::fs::PermissionsExt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use regex_lite::Regex;

use crate::protocol::prelude::*;
use crate::skill::{brief, has_bit};
use crate::sys::text::shorten;
use skill_format::tokens;

/// What `read_skill_file` returns in one call at most.
const READ_ANSWER: usize = 256 * 1024;
/// The same unless `limit` asks for more: the host sends an answer again with each request.
const UNASKED: usize = 16 * 1024;
/// The longest pattern, and what is shown of a line that matches.
const PATTERN: usize = 1000;
const MATCH: usize = 500;

/// The file's text first, notices after it.
///
/// # Errors
/// If there is no such skill or file, or the file is too large to be shown.
pub fn read_skill_file(facts: &Facts, call: &ReadSkillFile) -> Result<String> {
    let skill = meant_skill(facts, call.skill.as_deref())?;
    let event = Event::new("read")
        .with("skill", skill.name.as_str())
        .with("path", call.path.as_str());
    let outside = |error| {
        let event = event.clone().with("decision", "blocked");
        let event = event.with("by", "outside the skill");
        facts.record(event.with("refused", "path"));
        error
    };
    let path = SkillPath::parse(&call.path, &skill.dir).map_err(outside)?;
    let (file, open, metadata) = path.open(&skill.dir).map_err(|error| {
        let dir = real(&skill.dir);
        let is_inside = real(&dir.join(path.as_path())).starts_with(&dir);
        if is_inside { error } else { outside(error) }
    })?;
    let bytes = files::read_file_capped(&open, metadata.len(), limits::RESOURCE_FILE);
    let bytes = bytes.map_err(|source| {
        Error::io("read", &file, &source).hint("read a part of it with the host's own tools")
    })?;
    let whole = std::str::from_utf8(&bytes).ok();
    let Some(whole) = whole.filter(|text| !text.contains('\0')) else {
        facts.record(event);
        return binary(&file, &bytes);
    };
    let mut text = match &call.pattern {
        Some(pattern) => matching(whole, pattern, call)?,
        None => text(whole, call),
    };
    let is_script = Runner::is_meant(&file, has_bit(metadata.permissions().mode()), &bytes);
    let event = event.with("script_read", is_script.then_some(true));
    facts.record(event.with("tokens", tokens(&text)));
    if is_script {
        let dir = skill.dir.canonicalize().unwrap_or_default();
        let inside = file.strip_prefix(dir).unwrap_or(&file);
        text = with_notices(text, &[advice(skill.name.as_str(), inside)]);
    }
    Ok(text)
}

/// How many lines come before those that are wanted, and how many these are at most.
fn range(call: &ReadSkillFile) -> (usize, usize) {
    let as_count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let before = call.offset.map_or(0, |n| as_count(n).saturating_sub(1));
    // An empty answer would only make the model ask again.
    (before, call.limit.map_or(usize::MAX, as_count).max(1))
}

/// The lines that a pattern matches, whatever the case, each with its number.
fn matching(whole: &str, pattern: &str, call: &ReadSkillFile) -> Result<String> {
    let compiled = (pattern.len() <= PATTERN).then(|| Regex::new(&format!("(?i:{pattern})")));
    let Some(Ok(regex)) = compiled else {
        let text = format!("`{}` is no regular expression", brief(pattern, 60));
        return Err(Error::new(text).hint("give a word, or escape its special characters"));
    };
    let (before, wanted) = range(call);
    let found = (1..).zip(whole.lines()).skip(before);
    let mut found = found.filter(|(_, line)| regex.is_match(line)).peekable();
    let (mut shown, mut count) = (String::new(), 0);
    while let Some((number, line)) = found.next_if(|_| count < wanted && shown.len() < UNASKED) {
        let _ = writeln!(shown, "{number}: {}", shorten(line, MATCH));
        count += 1;
    }
    let notice = match found.peek() {
        Some((next, _)) => format!("more lines match; continue with offset {next}"),
        None if count == 0 => "no line matches".to_owned(),
        None => return Ok(shown),
    };
    Ok(with_notices(shown, &[notice]))
}

/// Lines `offset` to `offset + limit` of a text, cut at the cap.
fn text(whole: &str, call: &ReadSkillFile) -> String {
    let total = whole.lines().count();
    let (first, wanted) = range(call);
    let cap = call.limit.map_or(UNASKED, |_| READ_ANSWER);
    let (mut shown, mut lines, mut notices) = (String::new(), 0, Vec::new());
    for line in whole.split_inclusive('\n').skip(first).take(wanted) {
        if shown.len() + line.len() > cap {
            // If the first line alone exceeds the cap, show a part of it rather than nothing.
            if lines == 0 {
                shown.push_str(&line[..line.floor_char_boundary(cap)]);
                lines = 1;
                notices.push(format!(
                    "line {} is longer than {cap} bytes and was cut; a `limit` shows more of it",
                    first + 1
                ));
            }
            break;
        }
        shown.push_str(line);
        lines += 1;
    }
    if first >= total && total > 0 {
        notices.push(format!("the file ends at line {total}"));
    } else if lines < total {
        let last = first + lines;
        let next = (last < total).then(|| format!("; continue with offset {}", last + 1));
        let go_on = next.unwrap_or_default();
        notices.push(format!("lines {}-{last} of {total}{go_on}", first + 1));
    }
    if total == 0 {
        notices.push("the file is empty".to_owned());
    }
    with_notices(shown, &notices)
}

fn binary(file: &Path, bytes: &[u8]) -> Result<String> {
    let size = bytes.len();
    if size > READ_ANSWER {
        let text =
            format!("the file has {size} bytes that are no text, too many to show as base64");
        return Err(Error::new(text).hint(format!("use it where it is: {}", file.display())));
    }
    let notice = format!("a file of {size} bytes that is not UTF-8 text, as base64");
    Ok(with_notices(BASE64.encode(bytes), &[notice]))
}

fn with_notices(mut text: String, notices: &[String]) -> String {
    for notice in notices {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let _ = write!(text, "[{notice}]");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(whole: &str, offset: Option<u64>, limit: Option<u64>) -> String {
        super::text(whole, &call(None, offset, limit))
    }

    fn call(pattern: Option<&str>, offset: Option<u64>, limit: Option<u64>) -> ReadSkillFile {
        ReadSkillFile {
            skill: None,
            path: "x".to_owned(),
            offset,
            limit,
            pattern: pattern.map(str::to_owned),
        }
    }

    #[test]
    fn a_small_text_comes_as_it_is() {
        assert_eq!(text("a\r\nb", None, None), "a\r\nb");
        assert_eq!(text("", None, None), "[the file is empty]");
    }

    #[test]
    fn lines_are_counted_from_one_and_the_notice_says_how_to_go_on() {
        let five = "1\n2\n3\n4\n5\n";
        assert_eq!(
            text(five, Some(2), Some(2)),
            "2\n3\n[lines 2-3 of 5; continue with offset 4]"
        );
        assert_eq!(text(five, Some(4), None), "4\n5\n[lines 4-5 of 5]");
        assert_eq!(
            text(five, Some(0), Some(1)),
            "1\n[lines 1-1 of 5; continue with offset 2]"
        );
        assert_eq!(text(five, Some(9), None), "[the file ends at line 5]");
        assert_eq!(
            text(five, Some(u64::MAX), Some(u64::MAX)),
            "[the file ends at line 5]"
        );
    }

    #[test]
    fn a_large_text_is_cut_between_lines_and_a_long_line_within() {
        let lines = "x".repeat(99) + "\n";
        let shown = text(&lines.repeat(4000), None, None);
        assert!(shown.ends_with("[lines 1-163 of 4000; continue with offset 164]"));
        let shown = text(&lines.repeat(4000), None, Some(4000));
        assert!(shown.ends_with("[lines 1-2621 of 4000; continue with offset 2622]"));
        let shown = text(&"é".repeat(READ_ANSWER), None, None);
        assert!(shown.contains("was cut; a `limit` shows more of it"));
        assert!(shown.len() < UNASKED + 200);
        let shown = text(&"é".repeat(READ_ANSWER), None, Some(1));
        assert!(shown.contains("was cut") && shown.len() > READ_ANSWER);
    }

    #[test]
    fn a_pattern_returns_the_lines_that_it_matches() {
        let whole = "One two\nthree\ntwo\n".repeat(2);
        let found = |pattern: &str, offset, limit| {
            matching(&whole, pattern, &call(Some(pattern), offset, limit))
        };
        assert_eq!(
            found("TWO", None, None).unwrap(),
            "1: One two\n3: two\n4: One two\n6: two\n"
        );
        assert_eq!(
            found("^two$", None, Some(1)).unwrap(),
            "3: two\n[more lines match; continue with offset 6]"
        );
        assert_eq!(found("t.o$", Some(5), None).unwrap(), "6: two\n");
        assert_eq!(found("four", None, None).unwrap(), "[no line matches]");
        assert!(found("(", None, None).is_err());
        assert!(found(&"a".repeat(PATTERN + 1), None, None).is_err());
        let long = "x".repeat(100_000) + "\n";
        let shown = matching(&long.repeat(100), "x", &call(None, None, None)).unwrap();
        assert!(shown.len() < UNASKED + 2 * MATCH, "{}", shown.len());
    }

    #[test]
    fn what_is_no_text_is_base64() {
        let bytes = b"\x89PNG\r\n\0";
        let shown = binary(Path::new("x"), bytes).unwrap();
        assert!(shown.starts_with("iVBORw0KAA==\n["), "{shown}");
        assert!(binary(Path::new("x.bin"), &vec![0; READ_ANSWER + 1]).is_err());
    }
}
