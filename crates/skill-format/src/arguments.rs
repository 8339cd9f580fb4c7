//! Substitutes arguments into a skill's instructions, but only where its author meant that: one
//! real skill in twenty contains text like `$12.50` that must stay.

use std::ops::Range;

use serde_json::Value;

use crate::{Fields, limits};

/// The values of a body's placeholders.
#[derive(Debug)]
pub struct PlaceholderValues {
    whole: String,
    words: Vec<String>,
    /// Whether the skill declares arguments, so that `$1` and its own names are placeholders.
    declared: bool,
    names: Vec<String>,
}

impl PlaceholderValues {
    /// The arguments of one activation of the skill with these `fields`.
    pub fn new(given: &str, fields: &Fields) -> Self {
        let mut keys = ["arguments", "argumenthint"].iter();
        let declares = |key: &&str| {
            let field = fields.spelled(key);
            field.is_some_and(|(_, value)| !value.is_null())
        };
        Self {
            whole: given.trim().to_owned(),
            words: split_words(given),
            declared: keys.any(declares),
            names: argument_names(fields.value("arguments")),
        }
    }

    /// `body` with every placeholder replaced: `$ARGUMENTS` and `$ARGUMENTS[n]` (counted from 0)
    /// always; `$1` to `$9` and `$name` only if the skill declares arguments. Values are not
    /// searched for placeholders. The body stays unchanged if there are no arguments, since a gap
    /// would tell the model less than the placeholder, and if the result would be too long.
    pub fn fill(&self, body: &str) -> String {
        if self.whole.is_empty() {
            return body.to_owned();
        }
        let awk = awk_programs(body);
        let most = body.len() + limits::FILLED_IN;
        let mut filled = String::with_capacity(body.len());
        let mut done = 0;
        while let Some(at) = body[done..].find('$').map(|at| done + at) {
            filled.push_str(&body[done..at]);
            let program = awk.get(awk.partition_point(|program| program.end <= at));
            let in_awk = program.is_some_and(|program| program.contains(&at));
            let found = self.placeholder(&body[..at], &body[at + 1..], in_awk);
            let (value, length) = found.unwrap_or(("$", 0));
            filled.push_str(value);
            if filled.len() > most {
                return body.to_owned();
            }
            done = at + 1 + length;
        }
        filled + &body[done..]
    }

    /// The value and the length of the placeholder with which `text`, what follows a `$`, begins.
    fn placeholder(&self, before: &str, text: &str, in_awk: bool) -> Option<(&str, usize)> {
        let of_name = |c: char| c.is_alphanumeric() || c == '_';
        let behind = text.trim_start_matches(of_name);
        let name = &text[..text.len() - behind.len()];
        let word = name.len();
        if name == "ARGUMENTS" {
            let index = behind
                .strip_prefix('[')
                .and_then(|rest| rest.split_once(']'));
            let is_number = |n: &str| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit());
            let Some((n, _)) = index.filter(|(n, _)| is_number(n)) else {
                return Some((&self.whole, word));
            };
            // No word has a number that overflows.
            let value = self.word(n.parse().unwrap_or(usize::MAX));
            return Some((value, word + 2 + n.len()));
        }
        if !self.declared || before.ends_with('\\') || in_awk {
            return None;
        }
        if let Some(n) = self.names.iter().position(|known| known == name) {
            return Some((self.word(n), word));
        }
        let digit = name.parse::<usize>().ok();
        let digit = digit.filter(|n| name.len() == 1 && *n > 0)?;
        // `$1.50` and `$1,000` are prices.
        let fraction = behind.strip_prefix(['.', ',']);
        let price = fraction.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        (!price).then(|| (self.word(digit - 1), word))
    }

    fn word(&self, n: usize) -> &str {
        self.words.get(n).map(String::as_str).unwrap_or_default()
    }
}

/// The ranges of awk programs in a body, in which `$1` is an awk field: text between single quotes
/// on a line after `awk`. A quote at the start of a word may be closed on a later line of the same
/// block; any other is an apostrophe, whose range ends with the line.
fn awk_programs(body: &str) -> Vec<Range<usize>> {
    let mut programs: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while let Some(found) = body[at..].find("awk") {
        at += found + "awk".len();
        while let Some(quote) = body[at..].find(['\'', '\n']) {
            at += quote;
            if body[at..].starts_with('\n') {
                break;
            }
            let opens_a_word = body[..at].ends_with([' ', '\t', '=']);
            at += 1;
            let rest = &body[at..];
            let beyond: &[&str] = if opens_a_word {
                &["\n```", "\n~~~"]
            } else {
                &["\n"]
            };
            let closes = |end: &usize| !beyond.iter().any(|end_of| rest[..*end].contains(end_of));
            let end = rest.find('\'').filter(closes);
            let length = end.unwrap_or_else(|| rest.find('\n').unwrap_or(rest.len()));
            programs.push(at..at + length);
            at += length + usize::from(end.is_some());
        }
    }
    programs
}

/// Splits text into words like a shell that knows only quotes. An unclosed quote is text.
fn split_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut open = None;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match (c, open) {
            (c, Some(quote)) if c == quote => open = None,
            ('"' | '\'', None) if rest.as_str().contains(c) => open = Some(c),
            (c, None) if c.is_whitespace() => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            (c, _) => word.push(c),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// The names that a skill declares for its arguments, in order.
fn argument_names(declared: Option<&Value>) -> Vec<String> {
    let name = |value: &Value| match value {
        Value::String(name) => Some(name.clone()),
        Value::Object(map) => Some(map.get("name")?.as_str()?.to_owned()),
        _ => None,
    };
    match declared {
        Some(Value::Array(items)) => items.iter().filter_map(name).collect(),
        Some(Value::Object(map)) => map.keys().cloned().collect(),
        Some(Value::String(text)) => {
            let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            let words = words.filter(|word| !word.is_empty());
            words.map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn fill(body: &str, given: &str, declared: &Value) -> String {
        let map = declared.as_object().cloned().unwrap_or_default();
        PlaceholderValues::new(given, &Fields(map)).fill(body)
    }

    #[test]
    fn the_whole_and_single_words_are_replaced_wherever_they_stand() {
        for (body, filled) in [
            ("Do $ARGUMENTS.", "Do a 'b c' d."),
            (
                "`$ARGUMENTS[0]`, $ARGUMENTS[1], $ARGUMENTS[9]!",
                "`a`, b c, !",
            ),
            (
                "$ARGUMENTS[x] $ARGUMENTSX $ARGUMENTS_X",
                "a 'b c' d[x] $ARGUMENTSX $ARGUMENTS_X",
            ),
        ] {
            assert_eq!(fill(body, " a 'b c' d ", &json!({})), filled);
        }
    }

    #[test]
    fn digits_and_names_need_declared_arguments() {
        let body = "$1 $2 $3 $issue \\$1 awk '{print $1}' $1 $12.50 $1.50 $5,000 $100/mo $0 $$ $";
        assert_eq!(fill(body, "a b", &json!({})), body);
        assert_eq!(fill(body, "a b", &json!({"arguments": null})), body);
        let filled = "a b  a \\$1 awk '{print $1}' a $12.50 $1.50 $5,000 $100/mo $0 $$ $";
        assert_eq!(fill(body, "a b", &json!({"arguments": ["issue"]})), filled);
        let hint = json!({"argument-hint": "[x]"});
        assert_eq!(fill("$1 $issue", "a", &hint), "a $issue");
    }

    #[test]
    fn an_awk_program_of_several_lines_keeps_its_fields() {
        let declared = json!({"arguments": ["x"]});
        for (body, filled) in [
            ("awk '\n{print $1}\n' f $1", "awk '\n{print $1}\n' f A"),
            (
                "awk -F, -v y='a' '\n\n{print $1}' $1",
                "awk -F, -v y='a' '\n\n{print $1}' A",
            ),
            ("awk's $1\n$1, it's $1", "awk's $1\nA, it's A"),
            (
                "```\nawk '{\n```\n$1 don't $1",
                "```\nawk '{\n```\nA don't A",
            ),
        ] {
            assert_eq!(fill(body, "A", &declared), filled);
        }
    }

    #[test]
    fn a_number_too_large_is_that_of_no_word() {
        let body = "[$ARGUMENTS[99999999999999999999]] $ARGUMENTS[] $ARGUMENTS[-1]";
        assert_eq!(fill(body, "a", &json!({})), "[] a[] a[-1]");
    }

    #[test]
    fn many_places_do_not_multiply_long_arguments() {
        let given = "x".repeat(200_000);
        assert_eq!(fill("$ARGUMENTS", &given, &json!({})), given);
        let body = "$ARGUMENTS ".repeat(2000);
        assert_eq!(fill(&body, &given, &json!({})), body);
    }

    #[test]
    fn without_arguments_the_body_stays_what_it_is() {
        let body = "Fix $ARGUMENTS, $1.";
        assert_eq!(fill(body, " ", &json!({"arguments": "x"})), body);
    }

    #[test]
    fn a_value_is_never_expanded_again() {
        let declared = json!({"arguments": "one two"});
        assert_eq!(
            fill("$one $ARGUMENTS", "$2 $ARGUMENTS", &declared),
            "$2 $2 $ARGUMENTS"
        );
    }

    #[test]
    fn words_are_split_as_by_a_shell() {
        assert_eq!(
            split_words("a  'b c'd \"e\" it's"),
            ["a", "b cd", "e", "it's"]
        );
    }

    proptest! {
        #[test]
        fn a_body_without_placeholders_stays_what_it_is(body in "[^$]{0,80}", given in ".{0,20}") {
            prop_assert_eq!(fill(&body, &given, &json!({"arguments": ["x"]})), body);
        }

        #[test]
        fn anything_is_filled(body in "(\\$|ARGUMENTS|\\[|\\]|[0-9]|x| |é){0,20}", given in ".{0,20}") {
            fill(&body, &given, &json!({"arguments": ["x"]}));
        }
    }
}
