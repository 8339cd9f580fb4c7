//! Scans files as they are read: the type of each, and its text.

use std::io::{self, Read};
use std::path::Path;

use super::Severity::{High, Warn};
use super::finding::{Finding, Kind};
use super::{bytes, text};
use crate::skill::Runner;
use crate::sys::limits;

/// Text files meant for readers.
const PROSE: [&str; 8] = ["md", "mdx", "txt", "rst", "adoc", "html", "json", "csv"];

const NUL: Kind = (
    High,
    "nul-bytes",
    "has NUL bytes in a text, at which a reader stops and a program does not",
);

/// Other programs than shells do not leave them out.
const NUL_ELSEWHERE: Kind = (Warn, NUL.1, "has NUL bytes in a text");

const LONG: Kind = (
    High,
    "long-text",
    "is longer than what is scanned: read it before you trust it",
);

/// The findings about a file of `size` bytes.
///
/// # Errors
/// When it cannot be read.
pub fn inspect(
    path: &str,
    file: impl Read,
    size: u64,
    is_executable: bool,
) -> io::Result<Vec<Finding>> {
    let (mut bytes, mut found) = (Vec::new(), Vec::new());
    file.take(limits::SCANNED_FILE).read_to_end(&mut bytes)?;
    if let Some(what) = bytes::inspect(path, &bytes[..bytes.len().min(bytes::HEAD)]) {
        found.push(Finding::new(what, path, 0, ""));
    }
    let named = Path::new(path);
    let is_meant = is_meant_as_text(named, &bytes);
    let is_run = is_executable || Runner::of(named, false, &bytes).is_some();
    let utf16 = bytes::utf16(&bytes).filter(|_| !is_run);
    let has_nul = utf16.is_none() && bytes.contains(&0);
    let (text, is_binary) = match utf16 {
        Some(text) => (text.into(), false),
        None => bytes::text(&bytes, is_meant),
    };
    let is_text = is_meant || is_executable && !is_binary;
    let by_shell = match Runner::of(named, is_executable, &bytes) {
        Some(Runner::Shebang(shebang)) => shebang.name().ends_with("sh"),
        Some(Runner::Extension(programs)) => programs.iter().any(|(name, _)| name.ends_with("sh")),
        Some(Runner::Itself | Runner::Shell) => true,
        None => path.eq_ignore_ascii_case("SKILL.md"),
    };
    let nul = if by_shell { NUL } else { NUL_ELSEWHERE };
    for (kind, has) in [(nul, has_nul), (LONG, size > limits::SCANNED_FILE)] {
        if has && is_text {
            found.push(Finding::new(kind, path, 0, ""));
        }
    }
    let mut told = text::inspect(path, &text, !is_prose(named));
    // Other bytes look like words by chance, and programs name what they may do. What seems to be
    // a picture may be run by a shell, though.
    let is_run = |code| code == "pipe-to-shell" && !bytes::is_program(&bytes);
    told.retain(|finding| !is_binary || finding.severity >= High || is_run(finding.code));
    found.extend(told);
    Ok(found)
}

fn is_prose(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default();
    PROSE
        .iter()
        .any(|prose| extension.eq_ignore_ascii_case(prose))
}

fn is_meant_as_text(path: &Path, bytes: &[u8]) -> bool {
    is_prose(path) || Runner::of(path, false, bytes).is_some()
}

/// Whether the file `path` with this content is neither a text nor meant to be one.
pub fn is_binary(path: &Path, bytes: &[u8]) -> bool {
    !is_meant_as_text(path, bytes) && bytes::text(bytes, false).1
}
