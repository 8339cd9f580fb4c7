//! YAML as strictyaml reads it: block style only, every scalar a string, no duplicate keys. A value
//! is a string, an array or an object.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess};
use serde_json::{Map, Value, json};

use super::style;
use crate::skill::over_yaml_limits;

/// Why a text is not strict YAML, and the offset in bytes if known.
pub type Invalid = (String, Option<usize>);

/// Parses a document. A document other than a mapping is returned as it is.
///
/// # Errors
/// When it is not YAML, or uses what strictyaml forbids.
pub fn parse(yaml: &str) -> Result<Value, Invalid> {
    if let Some(reason) = over_yaml_limits(yaml) {
        return Err((format!("it {reason}"), None));
    }
    let is_empty = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
    if yaml.lines().all(is_empty) {
        return Ok(yaml.into());
    }
    // Before the parser's errors: an alias may have caused one, and our message is better then.
    let forbidden = |(what, at)| (format!("strict YAML has no {what}"), Some(at));
    style::check(yaml).map_err(forbidden)?;
    let invalid = |error: serde_yaml::Error| {
        let at = error.location().map(|place| place.index());
        (error.to_string(), at)
    };
    let shape: Value = serde_yaml::from_str(yaml).map_err(invalid)?;
    let shaped = Shaped(&shape).deserialize(serde_yaml::Deserializer::from_str(yaml));
    shaped.map_err(invalid)
}

/// Reads scalars as text at every position where a first pass found a scalar: when asked for text,
/// the parser returns a scalar as written.
struct Shaped<'a>(&'a Value);

impl<'de> DeserializeSeed<'de> for Shaped<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        match self.0 {
            Value::Object(_) => deserializer.deserialize_map(self),
            Value::Array(_) => deserializer.deserialize_seq(self),
            _ => String::deserialize(deserializer).map(Value::String),
        }
    }
}

impl<'de> serde::de::Visitor<'de> for Shaped<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what the first reading found")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut entries = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            // If a mapping has a key twice, the first pass knows only the shape of the last value.
            let shape = self.0.get(&key).unwrap_or(&Value::Null);
            if entries.contains_key(&key) || key == "<<" && !shape.is_object() {
                return Err(A::Error::custom(format!("the key `{key}` appears twice")));
            }
            let value = access.next_value_seed(Shaped(shape))?;
            entries.insert(key, value);
        }
        Ok(entries.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        let shapes = self.0.as_array().into_iter().flatten();
        for shape in shapes {
            items.extend(access.next_element_seed(Shaped(shape))?);
        }
        Ok(Value::Array(items))
    }
}

/// Whether a document is a mapping in which `key` has this text.
pub fn reads_as(yaml: &str, key: &str, text: &str) -> bool {
    parse(yaml) == Ok(json!({key: text}))
}
