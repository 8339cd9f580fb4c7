//! Which environment variables a skill itself names. A caller may set only these and a few that
//! change nothing but output: no list of the variables that steer programs can be complete.

use std::path::Path;

use crate::skill::Resource;
use crate::sys::variables::matches_any;
use crate::sys::{Dir, EntryPath};

/// Names that any script may be given.
const OF_OUTPUT: &str =
    "CI COLUMNS DEBUG FORCE_COLOR LANG LANGUAGE LC_* LINES LOG_LEVEL NO_COLOR TERM TZ VERBOSE";
/// The longest file that is looked at, and the most that is read of a skill, in bytes.
const LONGEST_FILE: u64 = 1 << 20;
const MOST: u64 = 8 << 20;

/// The first of `names` that no file of the skill in `dir` names.
pub fn first_unnamed<'n>(dir: &Path, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let mut unnamed: Vec<&str> = names.filter(|name| !matches_any(OF_OUTPUT, name)).collect();
    if unnamed.is_empty() {
        return None;
    }
    let Ok(root) = dir.canonicalize().and_then(|dir| Dir::anchor(&dir)) else {
        return unnamed.first().copied();
    };
    let files = Resource::all(dir)
        .into_iter()
        .filter(|file| file.size <= LONGEST_FILE);
    let paths = files.map(|file| (file.path, file.size));
    let mut read = 0;
    for (path, size) in [("SKILL.md".into(), LONGEST_FILE)].into_iter().chain(paths) {
        read += size;
        if read > MOST || unnamed.is_empty() {
            break;
        }
        if let Some(path) = EntryPath::parse(&path)
            && let Ok(bytes) = root.read_below(&path, LONGEST_FILE)
        {
            unnamed.retain(|name| !names_it(&bytes, name));
        }
    }
    unnamed.first().copied()
}

/// Whether a text has this name as a whole word.
fn names_it(text: &[u8], name: &str) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let mut words = text.split(|byte| !is_word(byte));
    words.any(|word| word == name.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_caller_sets_only_what_the_skill_names() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &[u8]| fs::write(dir.path().join(name), text).unwrap();
        let unnamed = |names: &[&'static str]| first_unnamed(dir.path(), names.iter().copied());
        assert_eq!(unnamed(&["NO_COLOR", "LC_ALL", "A"]), Some("A"));
        put("SKILL.md", b"Set `REPORT_ID`.");
        fs::create_dir(dir.path().join("scripts")).unwrap();
        put("scripts/run.sh", b"\xff\n: \"${OUT_DIR:?}\"");
        assert_eq!(unnamed(&["REPORT_ID", "OUT_DIR", "TERM"]), None);
        assert_eq!(unnamed(&["REPORT_ID", "OUT", "DIR"]), Some("OUT"));
        put("big.txt", &b"BIG ".repeat(300_000));
        assert_eq!(unnamed(&["BIG"]), Some("BIG"));
    }
}
