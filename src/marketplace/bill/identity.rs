//! Identifiers that follow from what they identify, so that the same installation has the same bill.

use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// What made a bill.
pub const PROGRAM: &str = "agent-skills";
/// Its version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A UUID of version 8 (RFC 9562, section 5.8) for a document that has none so far.
pub fn uuid(document: &Value) -> String {
    let digest = Sha256::digest(document.to_string());
    let mut bytes = digest.into_iter().take(16).collect::<Vec<u8>>();
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let digits = hex(&bytes);
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &digits[part]);
    parts.join("-")
}

/// Bytes in hexadecimal.
fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_same_document_has_the_same_uuid_and_another_another() {
        let one = uuid(&json!({"a": 1}));
        assert_eq!(one, uuid(&json!({"a": 1})));
        assert_ne!(one, uuid(&json!({"a": 2})));
        assert_eq!((one.len(), &one[14..15]), (36, "8"), "{one}");
        assert!("89ab".contains(&one[19..20]), "{one}");
    }
}
