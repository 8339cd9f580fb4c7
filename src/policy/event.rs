//! One event of the audit log as a line, with secrets masked and of bounded length.

use std::hash::{BuildHasher, Hasher, RandomState};

use serde::Serializer;
use serde_json::Value;

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
    fields: Vec<(&'static str, Value)>,
    /// Texts with a limit of their own, already masked and cut, and the event's own name: masking
    /// would take a random one for the beginning of a secret now and then, at a price.
    long: Vec<(&'static str, Value)>,
}

impl Event {
    /// An event of this kind, at this time.
    pub fn new(kind: &str) -> Self {
        let time = Moment::now().to_string();
        Self {
            fields: vec![("time", time.into()), ("event", kind.into())],
            long: vec![("event_id", unique().into())],
        }
    }

    /// Adds a field; `null` adds nothing. Texts are cut, and secrets in them masked, on writing.
    #[must_use]
    pub fn with(mut self, key: &'static str, value: impl Into<Value>) -> Self {
        let value = value.into();
        if !value.is_null() {
            self.fields.retain(|(earlier, _)| *earlier != key);
            self.fields.push((key, value));
        }
        self
    }

    /// A text field; empty if there is none.
    pub fn text(&self, key: &str) -> &str {
        let field = self.fields.iter().find(|(name, _)| *name == key);
        field
            .and_then(|(_, value)| value.as_str())
            .unwrap_or_default()
    }

    /// Adds a text of up to `bytes`; nothing for 0. Secrets are masked before the cut, which might
    /// otherwise leave half of one unrecognised.
    #[must_use]
    pub fn with_text(mut self, key: &'static str, text: &str, bytes: usize) -> Self {
        if bytes > 0 && !text.is_empty() {
            let mut masked = mask(text);
            masked.truncate(masked.floor_char_boundary(bytes));
            self.long.push((key, masked.into()));
        }
        self
    }

    /// The event as a line of at most [`AUDIT_EVENT`]; long texts are cut first, then lists.
    pub(super) fn line(mut self) -> Vec<u8> {
        // The top-level names are ours, so none marks a secret; neither are time and kind one.
        let fields = self.fields.iter_mut().skip(2);
        fields.for_each(|(_, field)| mask_value(field, AUDIT_TEXT));
        // In JSON one byte may take six.
        for times in 0..4 {
            let line = self.joined(AUDIT_EVENT >> times);
            if line.len() <= AUDIT_EVENT {
                return line;
            }
        }
        for (_, field) in &mut self.fields {
            mask_value(field, AUDIT_TEXT / 10);
            cut_items(field);
        }
        self.joined(AUDIT_TEXT)
    }

    /// The line, after long texts have been cut to `max_long` bytes.
    fn joined(&mut self, max_long: usize) -> Vec<u8> {
        for (_, text) in &mut self.long {
            if let Value::String(text) = text {
                text.truncate(text.floor_char_boundary(max_long));
            }
        }
        let fields = self.fields.iter().chain(&self.long);
        let mut line = Vec::with_capacity(1024);
        let mut written = serde_json::Serializer::new(&mut line);
        // Neither these values nor memory refuse to be written.
        let _ = written.collect_map(fields.map(|(key, value)| (key, value)));
        line.push(b'\n');
        line
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
fn unique() -> String {
    // Each has keys of its own, from the system.
    let random = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", random(), random())
}
