//! Reads a TOML file into a type, and says in which line a mistake is.

use std::ops::Range;
use std::path::Path;

use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error as _};

use crate::error::{Error, Result};
use crate::permission::unclear_denial;
use crate::sys::{files, limits};

/// The file's content; `None` if there is no such file.
///
/// # Errors
/// If the file cannot be read, is not TOML, or has a key or value that `T` does not accept.
pub fn read_toml<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    let read = files::unless_missing(path, |path| files::read_capped(path, limits::CONFIG_FILE));
    let Some(bytes) = read.map_err(|error| {
        Error::io("read", path, &error).hint("make it readable, or remove it to have the defaults")
    })?
    else {
        return Ok(None);
    };
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        let before = bytes[..error.valid_up_to()].split(|byte| *byte == b'\n');
        (
            before.count(),
            "it is not UTF-8, as TOML must be".to_owned(),
        )
    });
    let value = text.and_then(parse_toml).map_err(|(line, reason)| {
        Error::new(format!("`{}`, line {line}: {reason}", path.display()))
            .hint("correct that line, or remove the file to have the defaults")
    });
    value.map(Some)
}

/// Parses the text of a TOML file.
///
/// # Errors
/// The number of the line, from 1, and what is wrong with it.
pub fn parse_toml<T: DeserializeOwned>(text: &str) -> std::result::Result<T, (usize, String)> {
    toml::from_str(text).map_err(|error| {
        let reason = error.message().lines().collect::<Vec<_>>().join(", ");
        (line_of(text, error.span()), reason)
    })
}

/// Denials in the grammar of `allowed-tools`. One in which no tool can be recognised might mean
/// any, so it is a mistake in the file.
pub fn denials<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Vec<String>, D::Error> {
    let written = Vec::deserialize(deserializer)?;
    match unclear_denial(&written) {
        None => Ok(written),
        Some(entry) => Err(D::Error::custom(format!(
            "`deny` contains `{}`, which is not the name of a tool: write `NAME`, `NAME(pattern)` or \
             `mcp__SERVER__TOOL`",
            entry.escape_debug()
        ))),
    }
}

/// The number of the line in which a mistake begins.
pub(super) fn line_of(text: &str, mistake: Option<Range<usize>>) -> usize {
    mistake.map_or(1, |span| 1 + text[..span.start].matches('\n').count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Example {
        size: u32,
    }

    fn read(text: impl AsRef<[u8]>) -> Result<Option<Example>> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("c.toml");
        std::fs::write(&path, text).unwrap();
        read_toml(&path)
    }

    #[test]
    fn a_mistake_is_named_by_line() {
        assert_eq!(read("size = 3").unwrap(), Some(Example { size: 3 }));
        assert_eq!(
            read_toml::<Example>(Path::new("/no/such/file")).unwrap(),
            None
        );
        for (text, line, word) in [
            ("\nsize = \"x\"", "line 2", "invalid type"),
            ("size = 3\n\nsizes = 3", "line 3", "sizes"),
            ("size = ", "line 1", ""),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(line) && error.contains(word), "{error}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_a_mistake() {
        for (bytes, line) in [
            (&b"\xff"[..], "line 1"),
            (b"size = 3\n# \xe9", "line 2"),
            (b"\xff\xfes\0i\0z\0e\0", "line 1"),
        ] {
            let error = read(bytes).unwrap_err().to_string();
            assert!(error.contains(line) && error.contains("UTF-8"), "{error}");
        }
    }
}
