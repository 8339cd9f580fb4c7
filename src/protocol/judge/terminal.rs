//! Whether a call gives its command a terminal, into which an agent may let its model type without
//! another call of a hook (docs/hosts.md#codex).

use std::io::{Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::sys::files;

/// The end of a transcript in which a call is looked for: it is the last, or among the last.
const TRANSCRIPT: u64 = 1024 * 1024;

/// By what such a call is refused, in the audit log.
pub const BY_TYPING: &str = "typed commands";

/// Whether the record of a session says that a call asks for a terminal. It is written before the hook
/// is called (tried with Codex 0.169.0); the calls of a script in code mode are not in it.
pub fn is_asked_for((transcript, call): &(Option<PathBuf>, Option<String>)) -> bool {
    let record = transcript.as_ref().zip(call.as_ref());
    record.is_some_and(|(transcript, call)| in_transcript(transcript, call).unwrap_or(false))
}

fn in_transcript(transcript: &Path, call: &str) -> Option<bool> {
    let mut file = files::open_regular(transcript).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TRANSCRIPT)))
        .ok()?;
    let bytes = files::read_all_capped(file, 2 * TRANSCRIPT).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let asks = |line: &str| {
        let line: Value = serde_json::from_str(line).ok()?;
        let made = &line["payload"];
        if made["type"] != "function_call" || made["call_id"] != call {
            return None;
        }
        let arguments: Value = serde_json::from_str(made["arguments"].as_str()?).ok()?;
        Some(!matches!(
            arguments["tty"],
            Value::Null | Value::Bool(false)
        ))
    };
    // Of several calls of one identity, each might be this one.
    let mut lines = text.lines().filter(|line| line.contains(call));
    Some(lines.any(|line| asks(line) == Some(true)))
}
