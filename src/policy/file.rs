//! Reads a TOML file into a type, says in which line a mistake is, and changes one key of a file while
//! it keeps everything else, including comments.

use std::ops::Range;
use std::path::Path;

use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error as _};
use toml_edit::{DocumentMut, Item, Table, TableLike, Value};

use crate::error::{Error, Result, past};
use crate::sys::text::{Mistake, in_plain_words};
use crate::sys::{Base, Durable, EntryName, FileLock, files, limits};
use skill_permission::explain::unclear_denial;

/// The file's content; `None` if there is no such file.
///
/// # Errors
/// If the file cannot be read, is not TOML, or has a key or value that `T` does not accept.
pub fn read_toml<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    let read = files::unless_missing(path, |path| files::read_capped(path, limits::CONFIG_FILE));
    let Some(bytes) = read.map_err(|error| {
        Error::io("read", path, &error).hint(past(path, "then the defaults count"))
    })?
    else {
        return Ok(None);
    };
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        let before = bytes[..error.valid_up_to()].split(|byte| *byte == b'\n');
        let wrong = "it is not UTF-8, as TOML must be".to_owned();
        (before.count(), Mistake::from(wrong))
    });
    let value = text.and_then(parse_toml).map_err(|(line, reason)| {
        Error::new(format!("`{}`, line {line}: {reason}", path.display()))
            .hint("correct that line; without the file the defaults apply")
    });
    value.map(Some)
}

/// Parses the text of a TOML file.
///
/// # Errors
/// The number of the line, from 1, and what is wrong with it.
pub fn parse_toml<T: DeserializeOwned>(text: &str) -> std::result::Result<T, (usize, Mistake)> {
    toml::from_str(text).map_err(|error| {
        let reason = error.message().lines().collect::<Vec<_>>().join(", ");
        (line_of(text, error.span()), in_plain_words(&reason))
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
pub fn line_of(text: &str, mistake: Option<Range<usize>>) -> usize {
    mistake.map_or(1, |span| 1 + text[..span.start].matches('\n').count())
}

/// Sets a key to its value, read as TOML if possible, else as text, if `check` accepts the result;
/// without a value it takes the key away, and the tables that it leaves empty. A dry run only finds out
/// whether it would.
///
/// # Errors
/// If the file is not TOML or has no such key to take away, it is refused, or it cannot be written.
/// Nothing has changed then.
pub fn edit_key(
    path: &Path,
    key: &[String],
    value: Option<&str>,
    dry_run: bool,
    check: &dyn Fn(&str) -> Result<()>,
) -> Result<()> {
    change(path, dry_run, &|before| {
        let Some(value) = value else {
            return edited(path, before, check, &|all| {
                let was_there = take_away(all.as_table_mut(), key);
                let missing = || Error::new(format!("`{}` does not set it", path.display()));
                was_there.then_some(()).ok_or_else(missing)
            });
        };
        let text = Value::from(value);
        let parsed = value.parse().unwrap_or_else(|_| text.clone());
        let set =
            |value: &Value| edited(path, before, check, &|all| insert(all, key, value.clone()));
        set(&parsed).or_else(|error| {
            if parsed.is_str() {
                return Err(error);
            }
            // `tenant = 7` is invalid because text is required, but `7` may be meant as text.
            set(&text).map_err(|_| error)
        })
    })
}

/// Removes the key; whether it was there.
fn take_away(table: &mut dyn TableLike, key: &[String]) -> bool {
    match key {
        [] => false,
        [last] => table.remove(last).is_some(),
        [first, rest @ ..] => {
            let inner = table.get_mut(first).and_then(Item::as_table_like_mut);
            let Some(inner) = inner else { return false };
            let was_there = take_away(inner, rest);
            if was_there && inner.is_empty() {
                table.remove(first);
            }
            was_there
        }
    }
}

fn insert(document: &mut DocumentMut, key: &[String], value: Value) -> Result<()> {
    let [tables @ .., last] = key else {
        return Ok(());
    };
    let mut table = document.as_table_mut();
    for name in tables {
        let item = table.entry(name).or_insert(Item::Table(Table::new()));
        table = item.as_table_mut().ok_or_else(|| {
            Error::new(format!("`{name}` is not written as a table there"))
                .hint("edit the file: `agent-skills config path` says which it is")
        })?;
    }
    match table.get_mut(last).and_then(Item::as_value_mut) {
        // Keep a comment after the value.
        Some(old) => {
            let decor = old.decor().clone();
            *old = value;
            *old.decor_mut() = decor;
        }
        None => {
            table.insert(last, Item::Value(value));
        }
    }
    Ok(())
}

/// The text of the file after `edit`.
fn edited(
    path: &Path,
    before: &str,
    check: &dyn Fn(&str) -> Result<()>,
    edit: &dyn Fn(&mut DocumentMut) -> Result<()>,
) -> Result<String> {
    let mut document: DocumentMut = before.parse().map_err(|error: toml_edit::TomlError| {
        let line = line_of(before, error.span());
        let text = format!("`{}`, line {line}: {}", path.display(), error.message());
        Error::new(text).hint("correct that line first")
    })?;
    edit(&mut document)?;
    let after = document.to_string();
    check(&after).map(|()| after)
}

fn change(path: &Path, dry_run: bool, edit: &dyn Fn(&str) -> Result<String>) -> Result<()> {
    let name = path.file_name().and_then(EntryName::parse);
    let (dir, name) = path.parent().zip(name).ok_or_else(|| {
        Error::new(format!("`{}` is not a file", path.display())).hint("check the path")
    })?;
    // If the file is a link, as dotfile managers create it, it stays one.
    let file = Base::own(dir.to_owned()).file(&name)?;
    let _lock = FileLock::exclusive(&path.with_extension("lock"), limits::INSTALL_LOCK)?;
    let read = files::if_there(file.dir.read(&file.name, limits::CONFIG_FILE));
    let way_out = || past(path, "then the defaults count");
    let before = read.map_err(|error| Error::io("read", path, &error).or_hint(way_out()))?;
    let before = String::from_utf8(before.unwrap_or_default())
        .map_err(|_| Error::new(format!("`{}` is not UTF-8", path.display())).hint(way_out()))?;
    let after = edit(&before)?;
    if after == before || dry_run {
        return Ok(());
    }
    let (dir, name) = (&file.dir, &file.name);
    let written = dir.replace(name, after.as_bytes(), 0o600, Durable::Yes);
    written.map_err(|error| dir.error("write", name, &error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn owned(key: &[&str]) -> Vec<String> {
        key.iter().map(|part| (*part).to_owned()).collect()
    }

    fn set(
        path: &Path,
        key: &[&str],
        value: &str,
        check: &dyn Fn(&str) -> Result<()>,
    ) -> Result<()> {
        edit_key(path, &owned(key), Some(value), false, check)
    }

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
            (
                "\nsize = \"x\"",
                "line 2",
                "the text \"x\" is not valid: it takes a number",
            ),
            (
                "size = 3\n\nsizes = 3",
                "line 3",
                "key `sizes`: did you mean `size`?",
            ),
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

    fn edited(before: &str, key: &[&str], value: &str) -> String {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        fs::write(&path, before).unwrap();
        set(&path, key, value, &|_| Ok(())).unwrap();
        fs::read_to_string(&path).unwrap()
    }

    #[test]
    fn a_key_goes_with_the_tables_it_leaves_empty() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        fs::write(&path, "# mine\na = 1\n\n[t.u]\nb = 2\n").unwrap();
        let unset = |key: &[&str]| edit_key(&path, &owned(key), None, false, &|_| Ok(()));
        assert!(unset(&["t", "x"]).is_err());
        unset(&["t", "u", "b"]).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "# mine\na = 1\n");
        assert!(unset(&["t", "u", "b"]).is_err());
    }

    #[test]
    fn one_key_changes_and_comments_stay() {
        let before = "# mine\nenforce = \"warn\" # for now\n\n[skills]\npdf = \"off\" # noisy\n";
        assert_eq!(
            edited(before, &["enforce"], "off"),
            before.replace("warn", "off")
        );
        assert_eq!(
            edited(before, &["skills", "csv"], "user"),
            format!("{before}csv = \"user\"\n")
        );
        assert_eq!(edited("", &["proposals"], "false"), "proposals = false\n");
        assert_eq!(
            edited("", &["deny"], "[\"Bash(rm:*)\"]"),
            "deny = [\"Bash(rm:*)\"]\n"
        );
    }

    #[test]
    fn what_is_refused_is_not_written_and_a_number_may_be_a_text() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        let refuse = |_: &str| Err(Error::new("no"));
        assert!(set(&path, &["a"], "1", &refuse).is_err() && !path.exists());
        let wants_text = |text: &str| {
            let text_or_not = text.contains('"').then_some(());
            text_or_not.ok_or_else(|| Error::new("a text is wanted"))
        };
        set(&path, &["tenant"], "7", &wants_text).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "tenant = \"7\"\n");
    }
}
