//! Finds the file of a skill that a diff's two header lines name.

use std::path::Path;

use crate::error::{Error, Result};
use crate::skill::SkillPath;
use crate::sys::text::quoted;

const NOWHERE: &str = "/dev/null";

/// The file that `--- OLD` and `+++ NEW` name, with or without `a/` and `b/`.
///
/// # Errors
/// When the file would be created, deleted or renamed, or does not belong to the skill.
pub fn named(old: &str, new: &str, dir: &Path) -> Result<SkillPath> {
    let (old, new) = (written(old)?, written(new)?);
    if old == NOWHERE {
        return Err(refused(&format!("it makes a new file, `{}`", quoted(new))));
    }
    if new == NOWHERE {
        return Err(refused(&format!("it removes the file `{}`", quoted(old))));
    }
    let bare = (old.strip_prefix("a/"), new.strip_prefix("b/"));
    let path = match bare {
        (Some(old), Some(new)) if old == new => new,
        _ if old == new => new,
        (Some(bare), _) if bare == new => new,
        (_, Some(bare)) if bare == old => bare,
        _ => {
            let text = format!("it makes `{}` out of `{}`", quoted(new), quoted(old));
            return Err(refused(&text));
        }
    };
    let path = SkillPath::parse(path, dir)?;
    let mut parts = path.as_path().components();
    if parts.any(|part| part.as_os_str().eq_ignore_ascii_case(".git")) {
        return Err(refused("it changes what is in `.git`"));
    }
    Ok(path)
}

/// The name without quotes and without the time that some programs append.
fn written(header: &str) -> Result<&str> {
    let name = header.split('\t').next().unwrap_or_default().trim();
    match name
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
    {
        Some(inside) if inside.contains('\\') => Err(refused(&format!(
            "the name {} is quoted in a way that is not understood",
            quoted(name)
        ))),
        Some(inside) => Ok(inside),
        None => Ok(name),
    }
}

/// The error for a change that no proposal may make.
pub fn refused(what: &str) -> Error {
    Error::new(format!("the diff cannot be taken: {what}")).hint(
        "a proposal changes the text of files that the skill has: it makes, removes and renames none",
    )
}
