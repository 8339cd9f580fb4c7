//! What `--json` answers: one object whose `schema` says which form it has (docs/json.md). A key is
//! added within a form; one that goes or changes its meaning makes the next.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::{Error, Result};

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
    Ok(format!("{:#}\n", encode(values)?))
}

fn encode(value: &impl Serialize) -> Result<Value> {
    serde_json::to_value(value).map_err(|error| Error::new(error.to_string()))
}

fn written(keys: Map<String, Value>) -> String {
    let mut all = Map::from_iter([("schema".to_owned(), SCHEMA.into())]);
    all.extend(keys);
    format!("{:#}\n", Value::Object(all))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
