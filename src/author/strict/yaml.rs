//! YAML as strictyaml reads it: block style only, every scalar a string, no duplicate keys.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess};
use serde_json::Value;

use super::style;
use crate::skill::over_yaml_limits;

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// Any scalar, as written.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A mapping in the order written.
    Map(Vec<(String, Node)>),
}

/// Why a text is not strict YAML, and the offset in bytes if known.
pub type Invalid = (String, Option<usize>);

/// Parses a document. A document other than a mapping is returned as it is.
///
/// # Errors
/// When it is not YAML, or uses what strictyaml forbids.
pub fn parse(yaml: &str) -> Result<Node, Invalid> {
    if let Some(reason) = over_yaml_limits(yaml) {
        return Err((format!("it {reason}"), None));
    }
    let is_empty = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
    if yaml.lines().all(is_empty) {
        return Ok(Node::Text(yaml.to_owned()));
    }
    let shape: Value = match serde_yaml::from_str(yaml) {
        Ok(shape) => shape,
        Err(error) => {
            // An alias may have caused the parser's error; our message is better then.
            let at = error.location().map(|place| place.index());
            return Err(match style::check(yaml) {
                Err((what, at)) => forbidden(what, at),
                Ok(()) => (error.to_string(), at),
            });
        }
    };
    if let Err((what, at)) = style::check(yaml) {
        return Err(forbidden(what, at));
    }
    let shaped = Shaped(&shape).deserialize(serde_yaml::Deserializer::from_str(yaml));
    shaped.map_err(|error| {
        (
            error.to_string(),
            error.location().map(|place| place.index()),
        )
    })
}

fn forbidden(what: &str, at: usize) -> Invalid {
    (
        format!(
            "strict YAML has no {}",
            what.strip_prefix("a ")
                .or(what.strip_prefix("an "))
                .unwrap_or(what)
        ),
        Some(at),
    )
}

/// Reads scalars as text at every position where a first pass found a scalar: when asked for text,
/// the parser returns a scalar as written.
struct Shaped<'a>(&'a Value);

impl<'de> DeserializeSeed<'de> for Shaped<'_> {
    type Value = Node;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        match self.0 {
            Value::Object(_) => deserializer.deserialize_map(self),
            Value::Array(_) => deserializer.deserialize_seq(self),
            _ => String::deserialize(deserializer).map(Node::Text),
        }
    }
}

impl<'de> serde::de::Visitor<'de> for Shaped<'_> {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what the first reading found")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        let mut entries: Vec<(String, Node)> = Vec::new();
        while let Some(key) = access.next_key::<String>()? {
            // If a mapping has a key twice, the first pass knows only the shape of the last value.
            let twice = entries.iter().any(|(other, _)| *other == key);
            let shape = self.0.get(&key).unwrap_or(&Value::Null);
            if twice || key == "<<" && !shape.is_object() {
                return Err(A::Error::custom(format!("the key `{key}` appears twice")));
            }
            entries.push((key, access.next_value_seed(Shaped(shape))?));
        }
        Ok(Node::Map(entries))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        let shapes = self.0.as_array().into_iter().flatten();
        for shape in shapes {
            items.extend(access.next_element_seed(Shaped(shape))?);
        }
        Ok(Node::List(items))
    }
}

/// Whether a document is a mapping in which `key` has this text.
pub fn reads_as(yaml: &str, key: &str, text: &str) -> bool {
    let node = (key.to_owned(), Node::Text(text.to_owned()));
    parse(yaml) == Ok(Node::Map(vec![node]))
}
