//! Parses YAML into all pairs of its top-level mapping, because of a key that is given twice some
//! parsers take the first value and some the last, and some follow merge keys.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::Diagnostic;
use super::fields::{ToolList, is_allowed_tools, is_tool_list, is_tools};
use super::restricting::RestrictingKey;

/// Pairs of a mapping, in the order written.
pub type Pairs = Vec<(String, Value)>;

/// The key that brings the pairs of another mapping.
const MERGE: &str = "<<";

/// The pairs of `yaml`; `None` if it is no mapping.
pub fn parse(yaml: &str) -> Option<Pairs> {
    let parser = serde_yaml::Deserializer::from_str(yaml);
    parser.deserialize_any(TopLevel).ok()
}

/// One value for each key: the last. Of the keys that restrict, also of merged ones, all count:
/// every denial, whatever hides the skill, and different lists of allowed tools allow nothing, which
/// the diagnostic says.
pub fn settled(pairs: Pairs) -> (Map<String, Value>, Option<Diagnostic>) {
    let mut values = Map::new();
    let (mut allowed, mut tools) = (Vec::new(), Vec::new());
    let merged = pairs.iter().filter(|(key, _)| key == MERGE);
    let merged: Pairs = merged
        .flat_map(|(_, value)| restrictions_in(value))
        .collect();
    for (key, value) in pairs.into_iter().chain(merged) {
        let earlier = values.get_mut(&key).map(Value::take);
        let value = match (RestrictingKey::of(&key), earlier) {
            (Some(RestrictingKey::DisallowedTools), Some(earlier)) => {
                Value::Array(vec![earlier, value])
            }
            (Some(RestrictingKey::DisableModelInvocation), Some(earlier)) if earlier != value => {
                Value::Bool(true)
            }
            _ => value,
        };
        if is_allowed_tools(&key) {
            allowed.push(ToolList::of(&value));
        } else if is_tools(&key) {
            tools.push(ToolList::of(&value));
        }
        values.insert(key, value);
    }
    let lists = if allowed.is_empty() { tools } else { allowed };
    if lists.windows(2).all(|pair| pair[0] == pair[1]) {
        return (values, None);
    }
    values.retain(|key, _| !is_allowed_tools(key));
    values.insert("allowed-tools".to_owned(), Value::Array(Vec::new()));
    (values, Some(Diagnostic::AllowedToolsTwice))
}

/// The keys that restrict in a merged value. One that is no mapping could not be followed, so it
/// allows nothing, denies all and hides the skill.
fn restrictions_in(merged: &Value) -> Pairs {
    match merged {
        Value::Null => Pairs::new(),
        Value::Array(items) => items.iter().flat_map(restrictions_in).collect(),
        Value::Object(map) => {
            let lists = map.iter().flat_map(|(key, value)| match key.as_str() {
                MERGE => restrictions_in(value),
                key if is_tool_list(key) || RestrictingKey::of(key).is_some() => {
                    vec![(key.to_owned(), value.clone())]
                }
                _ => Pairs::new(),
            });
            lists.collect()
        }
        _ => vec![
            ("allowed-tools".to_owned(), Value::Array(Vec::new())),
            ("disallowed-tools".to_owned(), MERGE.into()),
            ("disable-model-invocation".to_owned(), true.into()),
        ],
    }
}

struct TopLevel;

impl<'de> Visitor<'de> for TopLevel {
    type Value = Pairs;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a mapping")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Pairs, M::Error> {
        let mut pairs = Pairs::new();
        while let Some(key) = map.next_key::<String>()? {
            let value = if is_tool_list(&key) || key == MERGE {
                map.next_value::<Unique>()?.0
            } else {
                map.next_value()?
            };
            pairs.push((key, value));
        }
        Ok(pairs)
    }
}

/// A value in which a mapping that has a key twice is a text that is no tool's name.
struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueVisitor).map(Self)
    }
}

struct UniqueVisitor;

/// Visits a scalar.
macro_rules! scalar {
    ($($visit:ident $type:ty),*) => {
        $(fn $visit<E>(self, value: $type) -> Result<Value, E> {
            Ok(value.into())
        })*
    };
}

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Value;

    scalar!(visit_bool bool, visit_i64 i64, visit_u64 u64, visit_f64 f64, visit_str &str);

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut items: S) -> Result<Value, S::Error> {
        let mut values = Vec::new();
        while let Some(Unique(value)) = items.next_element()? {
            values.push(value);
        }
        Ok(values.into())
    }

    fn visit_map<M: MapAccess<'de>>(self, mut pairs: M) -> Result<Value, M::Error> {
        let (mut map, mut twice) = (Map::new(), false);
        while let Some(key) = pairs.next_key::<String>()? {
            twice |= map.insert(key, pairs.next_value::<Unique>()?.0).is_some();
        }
        Ok(if twice { "{twice}".into() } else { map.into() })
    }
}
