//! The record of trust in its written form. Does not know how anything is compared with it.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, MapAccess, Visitor, value};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

const ALWAYS: &str = "always";

/// The record of a directory with skills.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Trusted {
    /// It stays trusted whatever changes in it.
    #[serde(serialize_with = "always")]
    Always,
    /// The trusted parts, by path below the directory.
    Parts(BTreeMap<String, Part>),
}

/// One skill, the configuration, or the shared files of one skills directory.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// The digest of its whole content.
    pub(super) digest: String,
    /// Digests of its files, to report which changed; missing if there are too many. Each call reads
    /// the record, but only a report these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    files: Option<Box<RawValue>>,
}

impl Trusted {
    /// Whether it is trusted whatever changes.
    pub fn is_always(&self) -> bool {
        matches!(self, Self::Always)
    }
}

impl Part {
    /// The part with this digest and these files.
    pub(super) fn new(digest: String, files: &BTreeMap<String, String>) -> Self {
        let listed = Some(files).filter(|files| !files.is_empty());
        let files = listed.and_then(|files| to_raw_value(files).ok());
        Self { digest, files }
    }

    /// The digests of its files; empty if they were not recorded.
    pub(super) fn files(&self) -> BTreeMap<String, String> {
        let files = self.files.as_deref().map(RawValue::get);
        let read = files.and_then(|files| serde_json::from_str(files).ok());
        read.unwrap_or_default()
    }
}

fn always<S: Serializer>(to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(ALWAYS)
}

/// As serde reads any untagged enum, but without a copy of everything: raw values need the text.
impl<'de> Deserialize<'de> for Trusted {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Trusted;

            fn expecting(&self, to: &mut fmt::Formatter) -> fmt::Result {
                to.write_str("`always`, or digests by path")
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<Trusted, E> {
                let other = || E::invalid_value(de::Unexpected::Str(word), &self);
                (word == ALWAYS)
                    .then_some(Trusted::Always)
                    .ok_or_else(other)
            }

            fn visit_map<A: MapAccess<'de>>(self, parts: A) -> Result<Trusted, A::Error> {
                let parts = value::MapAccessDeserializer::new(parts);
                BTreeMap::deserialize(parts).map(Trusted::Parts)
            }
        }
        from.deserialize_any(Either)
    }
}
