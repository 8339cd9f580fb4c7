//! The few expansions that are read (RESTRICTION.md §4.10). Everything else that follows a `$` may
//! run code in one shell or another: `${x@P}`, `${!x}`, `${a[$(id)]}`, `$((x))`.

use super::Fault;

/// The width of `$((…))` at the start of `text`, if it holds nothing but numbers.
///
/// # Errors
/// For names, expansions and anything else: a variable's *text* would be evaluated.
pub fn arithmetic(text: &str) -> Result<usize, Fault> {
    /// The parser recurses on operators and parentheses.
    const LONGEST: usize = 200;
    let inside = &text[3..];
    let mut depth = 0_usize;
    for (at, c) in inside.char_indices().take(LONGEST) {
        match c {
            '(' => depth += 1,
            ')' if depth > 0 => depth -= 1,
            ')' if inside[at..].starts_with("))") => return Ok(3 + at + 2),
            c if c.is_ascii_digit() || " +-*/%<>=!&|^~?:,".contains(c) => {}
            _ => break,
        }
    }
    Err(Fault::new(
        "$((",
        "arithmetic with anything but numbers may run commands",
    ))
}

/// The width of `${…}` at the start of `text`, if it is a plain form: `${x}`, `${#x}`, or an
/// operator with literal text after the name.
///
/// # Errors
/// For every other form.
pub fn parameter(text: &str) -> Result<usize, Fault> {
    const OPERATORS: [&str; 11] = ["##", "%%", "//", ":-", ":+", "#", "%", "/", "-", "+", ""];
    let refused = || Fault::new("${", "this form of `${…}` is not read");
    let inside = &text[2..];
    let end = inside.find('}').ok_or_else(refused)?;
    let inside = &inside[..end];
    let (length_of, named) = match inside.strip_prefix('#') {
        Some(name) => (true, name),
        None => (false, inside),
    };
    let name = named.len() - named.trim_start_matches(is_name_char).len();
    let (name, after) = named.split_at(name);
    let operator = OPERATORS
        .iter()
        .find(|operator| after.starts_with(**operator));
    let argument = operator.map_or(after, |operator| &after[operator.len()..]);
    let literal = |c: char| c.is_alphanumeric() || " _./:@%+,=*?^~-#[]!".contains(c);
    let plain = if operator == Some(&"") {
        after.is_empty()
    } else {
        !length_of && argument.chars().all(literal)
    };
    if is_parameter(name) && plain {
        return Ok(2 + end + 1);
    }
    Err(refused())
}

/// Whether text that the shell expands like a here-document's holds at most `$x` and `${x}`.
///
/// # Errors
/// For anything that would run or compute.
pub fn plain_variables_only(text: &str) -> Result<(), Fault> {
    let refused = || Fault::new("$", "only plain variables may be expanded here");
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

/// A variable's name or number.
fn is_parameter(name: &str) -> bool {
    let digits = name.chars().all(|c| c.is_ascii_digit());
    !name.is_empty() && (digits || !name.starts_with(|c: char| c.is_ascii_digit()))
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
