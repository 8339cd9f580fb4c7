//! One event of the audit log as a line, with secrets masked and of bounded length.

use std::hash::{BuildHasher, Hasher, RandomState};

use serde_json::{Map, Value};

use super::masking::{mask, mask_value};
use crate::sys::Moment;

/// One text in an audit event.
const AUDIT_TEXT: usize = 500;
/// One audit event, so that it is always written in one write.
pub(super) const AUDIT_EVENT: usize = 64 * 1024;
/// Items of a list in an event that is too long otherwise.
const AUDIT_ITEMS: usize = 50;
/// An event to be recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    fields: Map<String, Value>,
    /// Texts with a limit of their own, already masked and cut.
    long: Map<String, Value>,
}

impl Event {
    /// An event of this kind, at this time.
    pub fn new(kind: &str) -> Self {
        let time = Value::from(Moment::now().to_string());
        let fields = [("time".to_owned(), time), ("event".to_owned(), kind.into())];
        Self {
            fields: fields.into_iter().collect(),
            long: Map::new(),
        }
    }

    /// Adds a field; `null` adds nothing. Texts are cut, and secrets in them masked, on writing.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        let value = value.into();
        if !value.is_null() {
            self.fields.insert(key.to_owned(), value);
        }
        self
    }

    /// A text field; empty if there is none.
    pub fn text(&self, key: &str) -> &str {
        let field = self.fields.get(key).and_then(Value::as_str);
        field.unwrap_or_default()
    }

    /// Adds a text of up to `bytes`; nothing for 0. Secrets are masked before the cut, which might
    /// otherwise leave half of one unrecognised.
    #[must_use]
    pub fn with_text(mut self, key: &str, text: &str, bytes: usize) -> Self {
        if bytes > 0 && !text.is_empty() {
            let masked = mask(text);
            let cut = &masked[..masked.floor_char_boundary(bytes)];
            self.long.insert(key.to_owned(), cut.into());
        }
        self
    }

    /// The event as a line of at most [`AUDIT_EVENT`]; long texts are cut first, then lists.
    pub(super) fn line(&self) -> Vec<u8> {
        let mut fields = self.fields.clone();
        // The top-level names are ours, so none marks a secret.
        let cut = |fields: &mut Map<String, Value>, max| {
            let texts = fields.values_mut();
            texts.for_each(|field| mask_value(field, max));
        };
        cut(&mut fields, AUDIT_TEXT);
        // In JSON one byte may take six.
        for times in 0..4 {
            let line = self.joined(&fields, AUDIT_EVENT >> times);
            if line.len() <= AUDIT_EVENT {
                return line;
            }
        }
        cut(&mut fields, AUDIT_TEXT / 10);
        fields.values_mut().for_each(cut_items);
        self.joined(&fields, AUDIT_TEXT)
    }

    /// The line with long texts cut to `max_long` bytes.
    fn joined(&self, fields: &Map<String, Value>, max_long: usize) -> Vec<u8> {
        let mut fields = fields.clone();
        for (key, text) in &self.long {
            let text = text.as_str().unwrap_or_default();
            let cut = &text[..text.floor_char_boundary(max_long)];
            fields.insert(key.clone(), cut.into());
        }
        let mut line = Value::Object(fields).to_string();
        line.push('\n');
        line.into_bytes()
    }
}

/// Leaves the first texts of a list. In an object, whose keys are not ours, everything is left out.
fn cut_items(field: &mut Value) {
    match field {
        Value::Array(items) => {
            items.truncate(AUDIT_ITEMS);
            items.retain(Value::is_string);
            items.push("…".into());
        }
        Value::Object(_) => *field = "…".into(),
        _ => {}
    }
}

/// A name that no other event has, on any machine, by which one that is delivered twice is known: 128
/// random bits.
pub(super) fn unique() -> String {
    // Each has keys of its own, from the system.
    let random = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", random(), random())
}
