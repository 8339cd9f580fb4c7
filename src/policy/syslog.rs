//! Events as messages of syslog, and the system's own socket for them.

use std::fmt::Write as _;
use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

/// The system's socket.
pub(super) const SOCKET: &str = "/dev/log";
/// The name of the structured data. The number is that for documentation (RFC 5612): there is none of
/// our own.
const DATA: &str = "agent-skills@32473";
/// What is repeated as structured data, for rules that do not read JSON.
const PARAMETERS: [&str; 16] = [
    "event_id",
    "skill",
    "digest",
    "signer",
    "decision",
    "by",
    "tool",
    "session",
    "user",
    "uid",
    "host",
    "model",
    "tenant",
    "environment",
    "again",
    "events",
];
/// The facility "user-level".
const FACILITY: u8 = 1;

/// Whether, and how, events go to the system log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Syslog {
    /// Not at all.
    #[default]
    Off,
    /// As programs have always written to the local socket: what journald and rsyslog expect there.
    On,
    /// As messages of RFC 5424, for a daemon that is set up to parse them there.
    Rfc5424,
}

impl<'de> Deserialize<'de> for Syslog {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Value::deserialize(from)?.to_string().trim_matches('"') {
            "true" => Ok(Self::On),
            "false" => Ok(Self::Off),
            "rfc5424" => Ok(Self::Rfc5424),
            _ => Err(de::Error::custom("`syslog` is true, false or \"rfc5424\"")),
        }
    }
}

impl Serialize for Syslog {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Rfc5424 => to.serialize_str("rfc5424"),
            own => to.serialize_bool(*own == Self::On),
        }
    }
}

/// Whether an event is a warning: something was refused or lost.
pub fn is_warning(event: &Value) -> bool {
    event["decision"] == "blocked" || event["event"] == "lost"
}

/// An event as a message of RFC 5424, whose text is `line`, its JSON.
pub fn rfc5424(event: &Value, line: &str) -> Vec<u8> {
    let text = |key: &str| match &event[key] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    let word = |key: &str, max: usize| {
        let is_printed = |c: &char| c.is_ascii_graphic();
        let word: String = text(key).chars().filter(is_printed).take(max).collect();
        if word.is_empty() {
            "-".to_owned()
        } else {
            word
        }
    };
    let severity = if is_warning(event) { 4 } else { 5 };
    let mut message = format!(
        "<{}>1 {} {} agent-skills {} {} [{DATA}",
        FACILITY * 8 + severity,
        word("time", 32),
        word("machine", 255),
        word("host_pid", 128),
        word("event", 32),
    );
    for key in PARAMETERS {
        let value = text(key);
        if value.is_empty() {
            continue;
        }
        let _ = write!(message, " {key}=\"");
        for c in value.chars() {
            if matches!(c, '"' | '\\' | ']') {
                message.push('\\');
            }
            message.push(if c.is_control() { ' ' } else { c });
        }
        message.push('"');
    }
    message.push_str("] ");
    message.push_str(line.trim_end());
    message.into_bytes()
}

/// Sends the line of an event to a local socket. A full socket loses it, as the host is not kept waiting.
pub(super) fn to_local(socket: &Path, form: Syslog, line: &[u8]) -> io::Result<()> {
    let text = String::from_utf8_lossy(line.trim_ascii_end());
    let message = match form {
        Syslog::Off => return Ok(()),
        // The priority `<13>`: facility user, severity notice.
        Syslog::On => format!("<13>agent-skills: {text}").into_bytes(),
        Syslog::Rfc5424 => rfc5424(&serde_json::from_str(&text).unwrap_or_default(), &text),
    };
    let to = UnixDatagram::unbound()?;
    to.set_nonblocking(true)?;
    to.send_to(&message, socket).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_message_has_the_form_of_the_rfc() {
        let event = json!({
            "time": "2026-11-26T09:00:00.123Z", "event": "tool", "machine": "a b\u{e9}", "host_pid": 7,
            "event_id": "0f", "skill": "pdf", "decision": "blocked", "by": "a \"b\" \\ ] \n c",
        });
        let line = event.to_string() + "\n";
        let message = String::from_utf8(rfc5424(&event, &line)).unwrap();
        let head = "<12>1 2026-11-26T09:00:00.123Z ab agent-skills 7 tool \
                    [agent-skills@32473 event_id=\"0f\" skill=\"pdf\" decision=\"blocked\" \
                    by=\"a \\\"b\\\" \\\\ \\]   c\"] {\"time\"";
        assert!(message.starts_with(head), "{message}");
        assert!(message.ends_with('}') && !message.contains('\n'));
        let empty = String::from_utf8(rfc5424(&json!({}), "{}")).unwrap();
        assert_eq!(empty, "<13>1 - - agent-skills - - [agent-skills@32473] {}");
    }

    #[test]
    fn the_local_socket_takes_either_form() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let socket = UnixDatagram::bind(&path).unwrap();
        let mut buffer = [0; 1000];
        let mut sent = |form| {
            to_local(&path, form, b"{\"event\":\"end\"}\n").unwrap();
            let length = socket.recv(&mut buffer).unwrap();
            String::from_utf8_lossy(&buffer[..length]).into_owned()
        };
        assert_eq!(sent(Syslog::On), "<13>agent-skills: {\"event\":\"end\"}");
        assert_eq!(
            sent(Syslog::Rfc5424),
            "<13>1 - - agent-skills - end [agent-skills@32473] {\"event\":\"end\"}"
        );
    }
}
