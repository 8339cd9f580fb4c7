//! What `--json` answers: one object whose `schema` says which form it has (docs/json.md). A key is
//! added within a form; one that goes or changes its meaning makes the next.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::sys::is_invisible;

/// The form.
pub const SCHEMA: u32 = 1;

/// One thing. Its keys stand beside `schema`.
pub fn one(value: &impl Serialize) -> Result<String> {
    match encode(value)? {
        Value::Object(keys) => Ok(written(keys)),
        other => Ok(written(Map::from_iter([("value".to_owned(), other)]))),
    }
}

/// Several things, as the list `key`.
pub fn list(key: &str, values: &impl Serialize) -> Result<String> {
    Ok(written(Map::from_iter([(key.to_owned(), encode(values)?)])))
}

/// A bare list, for what was promised as one.
pub fn bare(values: &impl Serialize) -> Result<String> {
    Ok(escaped(&format!("{:#}\n", encode(values)?)))
}

fn encode(value: &impl Serialize) -> Result<Value> {
    serde_json::to_value(value).map_err(|error| Error::new(error.to_string()))
}

fn written(keys: Map<String, Value>) -> String {
    let mut all = Map::from_iter([("schema".to_owned(), SCHEMA.into())]);
    all.extend(keys);
    escaped(&format!("{:#}\n", Value::Object(all)))
}

/// The same JSON, in which nothing hides: a program reads the escapes as the characters they stand for.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if c != '\n' && (c.is_control() || is_invisible(c) || matches!(c, '\u{2028}' | '\u{2029}'))
        {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(text, "\\u{unit:04x}");
            }
        } else {
            text.push(c);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_hides_is_escaped_and_read_as_it_was() {
        let value = json!({"a": "x\u{202e}\u{e0061}\u{1b}\u{7f}\u{200d}y"});
        let text = one(&value).unwrap();
        assert!(text.is_ascii() && !text.contains('\u{7f}'), "{text}");
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read["a"], value["a"]);
    }

    #[test]
    fn the_form_comes_first() {
        assert_eq!(
            one(&json!({"b": 1})).unwrap(),
            "{\n  \"schema\": 1,\n  \"b\": 1\n}\n"
        );
        assert_eq!(
            list("all", &[1]).unwrap(),
            "{\n  \"schema\": 1,\n  \"all\": [\n    1\n  ]\n}\n"
        );
    }
}
