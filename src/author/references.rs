//! Checks references from a skill's texts to files: missing files, and paths that leave the skill.
//! Doubtful references are ignored, because a false finding is worse than none.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use percent_encoding::percent_decode_str;

use super::finding::Finding;
use super::markdown::Markdown;
use super::source::{Source, place};
use crate::skill::Listing;
use crate::sys::{files, limits};

/// Maximum number of findings per file; more would add nothing.
const EACH: usize = 50;
/// Directories that by convention hold a skill's own files.
const OWN: [&str; 3] = ["scripts", "references", "assets"];
/// Placeholders for the skill's own directory (docs/spec/skills.md#bodies).
const OWN_DIRECTORY: [&str; 4] = [
    "{baseDir}/",
    "${CLAUDE_SKILL_DIR}/",
    "${SKILL_DIR}/",
    "$SKILL_DIR/",
];

/// Findings about the references in every Markdown file of the skill.
pub fn lint(source: &Source) -> Vec<Finding> {
    let dir = &source.skill.dir;
    let mut found = Vec::new();
    let body = source.body_text();
    let own = Text {
        dir,
        within: PathBuf::new(),
        file: source.file(),
        whole: &source.text,
        body_at: source.body,
    };
    own.lint(&Markdown::of(body), true, &mut found);
    let mut left = limits::INSTALL_BYTES;
    for resource in Listing::of(dir, limits::WALKED_FILES).resources {
        let is_markdown = resource
            .path
            .extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("md"));
        if !is_markdown {
            continue;
        }
        let path = dir.join(&resource.path);
        let Ok(bytes) = files::read_capped(&path, limits::SKILL_FILE.min(left)) else {
            continue;
        };
        left -= bytes.len() as u64;
        let text = String::from_utf8_lossy(&bytes);
        let other = Text {
            dir,
            within: resource.path.parent().unwrap_or(Path::new("")).to_owned(),
            file: path.display().to_string(),
            whole: &text,
            body_at: 0,
        };
        other.lint(&Markdown::of(&text), false, &mut found);
    }
    found
}

struct Text<'a> {
    dir: &'a Path,
    within: PathBuf,
    file: String,
    whole: &'a str,
    body_at: usize,
}

impl Text<'_> {
    fn lint(&self, markdown: &Markdown, code: bool, found: &mut Vec<Finding>) {
        let mut seen = BTreeSet::new();
        let mut say = |rule: &str, at: usize, target: &str, why: &str| {
            if seen.len() < EACH && seen.insert(target.to_owned()) {
                let place = place(self.whole, self.body_at + at);
                let message = format!("`{target}` {why}");
                found.push(Finding::new(rule, self.file.clone(), place, &message));
            }
        };
        for (at, written) in &markdown.links {
            let Some(target) = link_target(written) else {
                continue;
            };
            // The specification's paths are relative to the skill, Markdown's to the file.
            let places = [
                normal(&self.within.join(&target)),
                normal(Path::new(&target)),
            ];
            let inside: Vec<&PathBuf> = places.iter().flatten().collect();
            if inside.is_empty() {
                say(
                    "reference-leaves-skill",
                    *at,
                    written,
                    "leads out of the skill",
                );
            } else if !inside.iter().any(|path| self.dir.join(path).exists()) {
                say("missing-reference", *at, written, "is not in the skill");
            }
        }
        if !code {
            return;
        }
        let blocks = markdown.blocks.iter().map(|block| (block.at, block.text));
        for (at, text) in markdown.spans.iter().copied().chain(blocks) {
            for word in text.split(|c: char| c.is_whitespace() || "'\"`()=,;|".contains(c)) {
                let Some(path) = self.own_file(word) else {
                    continue;
                };
                if !self.dir.join(path).exists() {
                    let offset = word.as_ptr() as usize - text.as_ptr() as usize;
                    say(
                        "missing-reference",
                        at + offset,
                        path,
                        "is not in the skill",
                    );
                }
            }
        }
    }

    /// The file of the skill that a word of code refers to, if that is certain.
    fn own_file<'w>(&self, word: &'w str) -> Option<&'w str> {
        let after = OWN_DIRECTORY.iter().find_map(|own| word.strip_prefix(own));
        let path = after.unwrap_or(word);
        let path = without_line(path)
            .strip_prefix("./")
            .unwrap_or(path)
            .trim_end_matches(['.', ':']);
        let (first, rest) = path.split_once('/')?;
        // If the skill has no such directory, this may be a path in the user's project.
        let is_own = after.is_some() || OWN.contains(&first) && self.dir.join(first).is_dir();
        let name = rest.rsplit('/').next()?;
        let extension = name
            .rsplit_once('.')
            .filter(|(stem, _)| !stem.is_empty())?
            .1;
        let plain = |c: char| c.is_alphanumeric() || "-_./+".contains(c);
        let named = !extension.is_empty() && extension.len() <= 5 && path.chars().all(plain);
        (is_own && named && !path.contains("..") && !is_placeholder(path)).then_some(path)
    }
}

/// The path that a link refers to; `None` for URLs, anchors and placeholders.
fn link_target(written: &str) -> Option<String> {
    let path = without_line(written.split(['#', '?']).next()?);
    let scheme = path.split_once(':').is_some_and(|(scheme, _)| {
        !scheme.is_empty()
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    });
    let is_path = path.contains('/')
        || path
            .rsplit_once('.')
            .is_some_and(|(stem, _)| !stem.is_empty());
    let odd = path.is_empty() || path.starts_with(['/', '~', '@']) || path.contains(['\\', '\n']);
    if scheme || odd || !is_path || is_placeholder(path) {
        return None;
    }
    // `%20` and the like, if the result is UTF-8.
    let decoded = percent_decode_str(path).decode_utf8();
    Some(decoded.map_or_else(|_| path.to_owned(), Cow::into_owned))
}

/// Removes a line number: `notes.md:10` means a line of that file.
fn without_line(path: &str) -> &str {
    let is_line = |text: &str| {
        let of_number = |byte: u8| byte.is_ascii_digit() || byte == b'-';
        text.starts_with(|c: char| c.is_ascii_digit()) && text.bytes().all(of_number)
    };
    match path.rsplit_once(':') {
        Some((file, line)) if is_line(line) => file,
        _ => path,
    }
}

fn is_placeholder(path: &str) -> bool {
    let marks = ['<', '>', '{', '}', '$', '*', '[', ']', '…'];
    let words = ["path/to", "example", "your-", "my-", "foo", "xxx", "..."];
    path.contains(marks) || words.iter().any(|word| path.to_lowercase().contains(word))
}

/// The path without `.` and `..`; `None` if it leaves the skill.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut kept = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(part) => kept.push(part),
            Component::CurDir => {}
            _ => kept.pop().then_some(())?,
        }
    }
    Some(kept)
}
