//! What shells make of a variable's value: words, names of files, and `${x…}`.

use crate::permission::protected::{ANY, ANYTHING};

/// A word of a value as the shell expands it outside quotes.
pub fn globs(word: &str) -> String {
    let names = word.split('/').map(|name| match name.find('[') {
        Some(at) => format!("{}{ANYTHING}", &name[..at]),
        None => name.to_owned(),
    });
    let path = names.collect::<Vec<_>>().join("/");
    path.replace(['*', '?'], &ANY.to_string())
}

/// What `${x…}` makes of a variable's values, as far as that is known, and the text that it may have
/// instead.
pub fn expanded(values: Vec<String>, operator: &str) -> (Vec<String>, Option<String>) {
    let default = [":-", ":+", "-", "+"];
    if let Some(text) = default.iter().find_map(|sign| operator.strip_prefix(sign)) {
        let is_plain = !text.contains(['$', '`', '\\']);
        let text = is_plain.then(|| text.replace(['"', '\''], ""));
        return (values, text);
    }
    match operator {
        "" => (values, None),
        _ if operator.trim_start_matches(':').starts_with('?') => (values, None),
        _ => {
            let all: Option<_> = values
                .iter()
                .map(|value| stripped(value, operator))
                .collect();
            (all.unwrap_or_default(), None)
        }
    }
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
    let is_wild = |text: &str| text.contains([ANY, ANYTHING]);
    let rest = match operator {
        "##*/" => Some(value.rsplit('/').next().unwrap_or(value)),
        "%/*" => Some(value.rsplit_once('/').map_or(value, |(before, _)| before)),
        "%.*" => match value.rsplit_once('.') {
            // The last dot may be one that the wildcard matches.
            Some((before, after)) => (!is_wild(after)).then_some(before),
            None => (!is_wild(value)).then_some(value),
        },
        "%%.*" => value.split('.').next(),
        _ if !is_literal => None,
        _ if at_end => value.strip_suffix(pattern),
        _ => value.strip_prefix(pattern),
    };
    let rest = rest.or((is_literal && !is_wild(value)).then_some(value))?;
    Some(rest.to_owned())
}
