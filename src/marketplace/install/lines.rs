//! The difference between two versions of a skill, line by line.

use std::collections::BTreeSet;
use std::path::Path;

use crate::error::{Error, Result};
use crate::marketplace::lock::Files;
use crate::marketplace::scan;
use crate::skill::{skill_digest, unified_diff};
use crate::sys::{files, limits};

/// Compares the files of two directories. Of a binary file, size and digest are compared.
///
/// # Errors
/// When one cannot be read.
pub fn line_by_line(old: (&Path, &Files), new: (&Path, &Files)) -> Result<String> {
    let paths: BTreeSet<&str> = old.1.paths().chain(new.1.paths()).collect();
    let mut text = String::new();
    for path in paths {
        let (before, after) = (old.1.get(path), new.1.get(path));
        if before == after {
            continue;
        }
        let [a, b] = [(old.0, before, "a"), (new.0, after, "b")];
        let name = |(_, there, dir): (&Path, Option<&str>, &str)| match there {
            Some(_) => format!("{dir}/{path}"),
            None => "/dev/null".to_owned(),
        };
        let (old, new) = (readable(a.0, path, before)?, readable(b.0, path, after)?);
        text += &unified_diff((&name(a), &name(b)), &old, &new);
    }
    Ok(text)
}

/// A file as text, with what makes it another file than one of the same text.
fn readable(dir: &Path, path: &str, digest: Option<&str>) -> Result<String> {
    let Some(digest) = digest else {
        return Ok(String::new());
    };
    let (name, file) = (Path::new(path), dir.join(path));
    if let Ok(to) = file.read_link() {
        return Ok(format!("a link to {}\n", to.display()));
    }
    let bytes = files::read_capped(&file, limits::INSTALL_BYTES);
    let bytes = bytes.map_err(|error| Error::io("read", &file, &error))?;
    let mark = if digest.ends_with("+x") {
        "executable\n"
    } else {
        ""
    };
    if scan::is_binary(name, &bytes) {
        let digest = skill_digest(&bytes);
        return Ok(format!("{mark}binary, {} bytes, {digest}\n", bytes.len()));
    }
    Ok(format!("{mark}{}", String::from_utf8_lossy(&bytes)))
}
