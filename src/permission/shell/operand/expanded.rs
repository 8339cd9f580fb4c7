//! What shells make of a variable's value: `${x…}`.

use crate::permission::protected::{ANY, ONE, UNKNOWN};

/// What `${x…}` makes of a variable's values, as far as that is known, and the text that it may have
/// instead.
pub fn expanded(values: &[String], operator: &str) -> Vec<String> {
    let default = [":-", ":=", ":+", "-", "=", "+"];
    if let Some(text) = default.iter().find_map(|sign| operator.strip_prefix(sign)) {
        let is_plain = !text.contains(['$', '`', '\\']);
        let text = is_plain.then(|| text.replace(['"', '\''], ""));
        return values.iter().cloned().chain(text).collect();
    }
    if operator.is_empty() || operator.trim_start_matches(':').starts_with('?') {
        return values.to_vec();
    }
    let known = values.iter().filter_map(|value| stripped(value, operator));
    known.collect()
}

/// `${x%.md}`, `${x##*/}` and the like. A shell takes at most two signs; a pattern that it may not
/// take as it is written is not known.
fn stripped(value: &str, operator: &str) -> Option<String> {
    let (sign, at_end) = match operator.strip_prefix('%') {
        Some(_) => ('%', true),
        None => ('#', false),
    };
    let pattern = operator.strip_prefix(sign)?;
    let pattern = pattern.strip_prefix(sign).unwrap_or(pattern);
    let is_plain = |c: char| c.is_alphanumeric() || "_./:@+,-".contains(c);
    let is_literal = pattern.chars().all(is_plain);
    let is_wild = |text: &str| text.contains([ANY, ONE, UNKNOWN]);
    let rest = match operator {
        "##*/" => Some(value.rsplit('/').next().unwrap_or(value)),
        "%/*" => Some(value.rsplit_once('/').map_or(value, |(before, _)| before)),
        "%.*" => Some(value.rsplit_once('.').map_or(value, |(before, _)| before)),
        "%%.*" => value.split('.').next(),
        _ if !is_literal => None,
        _ if at_end => value.strip_suffix(pattern),
        _ => value.strip_prefix(pattern),
    };
    let rest = rest.or((is_literal && !is_wild(value)).then_some(value))?;
    Some(rest.to_owned())
}
