//! The few supported expansions (docs/spec/restriction.md#expansions). Anything else after a `$`
//! may run code in some shell: `${x@P}`, `${!x}`, `${a[$(id)]}`, `$((x))`.

use super::variables::is_name_char;
use super::word::is_digits;
use super::{Rejection, zsh};

/// The width of `$((…))` at the start of `text`, if it contains only numbers.
///
/// # Errors
/// For names, expansions and anything else: a variable's *text* would be evaluated.
pub fn arithmetic(text: &str) -> Result<usize, Rejection> {
    let inside = &text[3..];
    let mut depth = 0_usize;
    for (at, c) in inside.char_indices().take(LONGEST_SUM) {
        match c {
            '(' => depth += 1,
            ')' if depth > 0 => depth -= 1,
            ')' if inside[at..].starts_with("))") => return Ok(3 + at + 2),
            c if c.is_ascii_digit() || " +-*/%<>=!&|^~?:,".contains(c) => {}
            _ => break,
        }
    }
    arithmetic_width(inside)
        .map(|width| 3 + width)
        .ok_or_else(evaluates_names)
}

/// Arithmetic on a name evaluates the text of its value.
pub fn evaluates_names() -> Rejection {
    Rejection::new(
        "$((",
        "arithmetic with anything but numbers may run commands",
    )
}

/// The width of names and numbers joined by single operators, including `))`. Whether the names
/// hold numbers is checked after parsing.
fn arithmetic_width(inside: &str) -> Option<usize> {
    let (expression, _) = inside.split_once("))")?;
    let is_term = |term: &str| {
        let term = term.trim_matches(' ');
        term.chars().all(is_name_char) && is_parameter(term)
    };
    let is_short = expression.len() <= LONGEST_SUM;
    let is_sum = is_short && expression.split(['+', '-', '*', '/', '%']).all(is_term);
    is_sum.then_some(expression.len() + 2)
}

/// The maximum length of arithmetic in bytes: the parser recurses on operators and parentheses.
pub const LONGEST_SUM: usize = 200;

/// The width of `${…}` at the start of `text`, if it has a plain form: `${x}`, `${#x}`, `${x:0:7}`,
/// or an operator with literal text after the name, or of variables too in place of a value.
///
/// # Errors
/// For every other form.
pub fn parameter(text: &str) -> Result<usize, Rejection> {
    const PATTERNS: [&str; 6] = ["##", "%%", "//", "#", "%", "/"];
    const DEFAULTS: [&str; 5] = [":-", ":+", ":?", "-", "+"];
    let refused = || Rejection::new("${", "this form of `${…}` is not read");
    let inside = &text[2..];
    let end = inside.find('}').ok_or_else(refused)?;
    let inside = &inside[..end];
    let (length_of, named) = match inside.strip_prefix('#') {
        Some(name) => (true, name),
        None => (false, inside),
    };
    let name = named.len() - named.trim_start_matches(is_name_char).len();
    let (name, after) = named.split_at(name);
    let pattern = |c: char| c.is_alphanumeric() || " _./:@%+,=*?^~-#[]!".contains(c);
    let is_default = |text: &str| {
        let literal = |c: char| c.is_ascii_alphanumeric() || "_./:@%+, -".contains(c);
        let begins_name =
            |text: &str| text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let (before, variables) = text.split_once('$').unwrap_or((text, "_"));
        before.chars().all(literal)
            && variables
                .split('$')
                .all(|text| begins_name(text) && text.chars().all(literal))
    };
    let after_one_of =
        |operators: &[&str]| operators.iter().find_map(|one| after.strip_prefix(*one));
    let plain = after.is_empty()
        || !length_of
            && (after_one_of(&PATTERNS).is_some_and(|text| text.chars().all(pattern))
                || after_one_of(&DEFAULTS).is_some_and(is_default)
                || is_slice(after));
    if is_parameter(name) && plain {
        return Ok(2 + end + 1);
    }
    Err(refused())
}

/// Checks that text which the shell expands like a here-document contains at most `$x` and `${x}`.
///
/// # Errors
/// For anything that would run or compute.
pub fn plain_variables_only(text: &str, zsh: bool) -> Result<(), Rejection> {
    if zsh {
        zsh::expansions(text)?;
    }
    let refused = || Rejection::new("$", "only plain variables may be expanded here");
    if text.contains('`') {
        return Err(refused());
    }
    for (at, _) in text.match_indices('$') {
        let rest = &text[at..];
        if rest.starts_with("${") {
            parameter(rest)?;
        } else if rest.starts_with("$(") || rest.starts_with("$[") {
            return Err(refused());
        }
    }
    Ok(())
}

/// `:N:N`; non-digits would be evaluated.
fn is_slice(text: &str) -> bool {
    let numbers = text.strip_prefix(':').and_then(|text| text.split_once(':'));
    numbers.is_some_and(|(offset, length)| is_digits(offset) && is_digits(length))
}

fn is_parameter(name: &str) -> bool {
    let digits = name.chars().all(|c| c.is_ascii_digit());
    !name.is_empty() && (digits || !name.starts_with(|c: char| c.is_ascii_digit()))
}
