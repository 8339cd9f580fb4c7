//! Recognises the type of a file by its first bytes, whatever its name. Pure.

use super::Severity::{High, Note, Warn};
use super::finding::Kind;

/// Magic bytes of programs.
const PROGRAMS: [&[u8]; 7] = [
    b"\x7fELF",
    b"MZ",
    b"\xcf\xfa\xed\xfe",
    b"\xce\xfa\xed\xfe",
    b"\xfe\xed\xfa\xcf",
    b"\xca\xfe\xba\xbe",
    b"\0asm",
];
/// Magic bytes of archives.
const ARCHIVES: [&[u8]; 6] = [
    b"PK\x03\x04",
    b"\x1f\x8b",
    b"7z\xbc\xaf",
    b"Rar!",
    b"BZh",
    b"\xfd7zXZ",
];
/// Endings of file names that programs may have.
const PROGRAM_NAMES: [&str; 9] = [
    "", "exe", "dll", "so", "dylib", "bin", "wasm", "class", "node",
];
/// Endings of file names that archives may have, including documents that are archives.
const ARCHIVE_NAMES: [&str; 22] = [
    "zip", "gz", "tgz", "7z", "rar", "bz2", "xz", "jar", "whl", "docx", "xlsx", "pptx", "odt",
    "ods", "odp", "epub", "apk", "vsix", "skill", "potx", "dotx", "xltx",
];

const PROGRAM: Kind = (
    Warn,
    "executable",
    "is a compiled program, which nobody can read",
);
const DISGUISED_PROGRAM: Kind = (
    High,
    "disguised-executable",
    "is a compiled program under another name",
);
const ARCHIVE: Kind = (
    Warn,
    "archive",
    "is an archive, whose content was not looked at",
);
const DISGUISED_ARCHIVE: Kind = (
    High,
    "disguised-archive",
    "is an archive under another name",
);

/// The finding, if any, for a file that starts with `head`.
pub fn inspect(path: &str, head: &[u8]) -> Option<Kind> {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let starts = |beginnings: &[&[u8]]| beginnings.iter().any(|start| head.starts_with(start));
    let is_text = std::str::from_utf8(head).is_ok() && !head.contains(&0);
    if starts(&PROGRAMS) && !is_text {
        let is_named_so = PROGRAM_NAMES.contains(&extension);
        return Some(if is_named_so {
            PROGRAM
        } else {
            DISGUISED_PROGRAM
        });
    }
    if starts(&ARCHIVES) {
        return match ARCHIVE_NAMES.iter().position(|name| *name == extension) {
            None => Some(DISGUISED_ARCHIVE),
            Some(..9) => Some(ARCHIVE),
            Some(_) => None,
        };
    }
    match extension {
        "pyc" | "pyo" => Some((Warn, "bytecode", "is compiled code, which nobody can read")),
        "pkl" | "pickle" => Some((Warn, "pickle", "runs code when it is loaded")),
        "pem" | "key" | "p12" | "env" => Some((Note, "secret-file", "is a file for secrets")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_tell_more_than_names() {
        for (path, head, code) in [
            (
                "a/notes.md",
                &b"\x7fELF\x02\x01\0"[..],
                Some("disguised-executable"),
            ),
            ("tool", b"\x7fELF\x02\x01\0", Some("executable")),
            ("x.png", b"PK\x03\x04", Some("disguised-archive")),
            ("x.zip", b"PK\x03\x04", Some("archive")),
            ("x.docx", b"PK\x03\x04", None),
            ("MZ.md", b"MZ is a text", None),
            ("a.pyc", b"", Some("bytecode")),
            (".env", b"A=1", Some("secret-file")),
        ] {
            assert_eq!(inspect(path, head).map(|(_, code, _)| code), code, "{path}");
        }
    }
}
