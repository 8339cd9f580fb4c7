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

/// `${x%.md}`, `${x##*/}` and the like.
fn stripped(value: &str, operator: &str) -> Option<String> {
    let (pattern, at_end) = match operator.strip_prefix('%') {
        Some(pattern) => (pattern.trim_start_matches('%'), true),
        None => (operator.strip_prefix('#')?.trim_start_matches('#'), false),
    };
    let is_wild = |text: &str| text.contains([ANY, ANYTHING]);
    let rest = match operator {
        "##*/" => Some(value.rsplit('/').next().unwrap_or(value)),
        "%/*" => Some(value.rsplit_once('/').map_or(value, |(before, _)| before)),
        "%.*" => Some(match value.rsplit_once('.') {
            // The dot may be one that the wildcard matches.
            Some((before, after)) if !is_wild(after) => before,
            _ => value,
        }),
        "%%.*" => value.split('.').next(),
        _ if pattern.contains(['*', '?', '[', '\\', '"', '\'']) => None,
        _ if at_end => value.strip_suffix(pattern),
        _ => value.strip_prefix(pattern),
    };
    let is_literal = !pattern.contains(['*', '?', '[', '\\', '"', '\'']) && !is_wild(value);
    let rest = rest.or(is_literal.then_some(value))?;
    Some(rest.to_owned())
}
