//! Checks references from a skill's texts to files: missing files, and paths that leave the skill.
//! Doubtful references are ignored, because a false finding is worse than none.

use super::prelude::*;
use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use super::markdown::Markdown;
use crate::skill::normalized;

/// Maximum number of findings per file; more would add nothing.
const EACH: usize = 50;
/// Directories that by convention hold a skill's own files.
const OWN: [&str; 4] = ["scripts", "references", "assets", "docs"];

/// The rules, each with what the message says of the reference.
const LEAVES: (&str, &str) = ("reference-leaves-skill", "leaves the skill");
const MISSING: (&str, &str) = ("missing-reference", "is not in the skill");

/// Findings about the references in every Markdown file of the skill.
pub fn lint(source: &SkillSource) -> Vec<LintFinding> {
    let dir = &source.skill.dir;
    let own = Text {
        dir,
        within: Path::new(""),
        file: source.file(),
        whole: &source.text,
    };
    let mut found = own.lint(&Markdown::parse(source.body_text()), true);
    for (path, text) in other_texts(dir) {
        let other = Text {
            dir,
            within: path.parent().unwrap_or(Path::new("")),
            file: dir.join(&path).display().to_string(),
            whole: &text,
        };
        found.extend(other.lint(&Markdown::parse(&text), false));
    }
    found
}

struct Text<'a> {
    dir: &'a Path,
    /// The directory of the file in the skill.
    within: &'a Path,
    file: String,
    whole: &'a str,
}

impl Text<'_> {
    /// Findings about the links in the body, and about the files that its code names.
    fn lint(&self, markdown: &Markdown, code: bool) -> Vec<LintFinding> {
        let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
        let mut say = |(rule, why): (&str, &str), written: &str, target: &str| {
            if seen.len() < EACH && seen.insert(target.to_owned()) {
                let place = place(self.whole, offset_in(self.whole, written));
                let message = format!("`{target}` {why}");
                found.push(LintFinding::new(rule, self.file.clone(), place, &message));
            }
        };
        for written in &markdown.links {
            let Some(target) = link_target(written) else {
                continue;
            };
            // The specification's paths are relative to the skill, Markdown's to the file.
            let places = [self.within.join(&target), PathBuf::from(&target)];
            let inside: Vec<PathBuf> = places.iter().filter_map(|path| normalized(path)).collect();
            if inside.is_empty() {
                say(LEAVES, written, written);
            } else if !inside.iter().any(|path| self.dir.join(path).exists()) {
                say(MISSING, written, written);
            }
        }
        let blocks = markdown.blocks.iter().map(|block| block.text);
        let parts = markdown.spans.iter().copied().chain(blocks);
        for text in parts.filter(|_| code) {
            let words = text.split(|c: char| c.is_whitespace() || "'\"`()=,;|".contains(c));
            for word in words {
                let path = self.own_file(word);
                if let Some(path) = path.filter(|path| !self.dir.join(path).exists()) {
                    say(MISSING, word, path);
                }
            }
        }
        found
    }

    /// The file of the skill that a word of code refers to, if that is certain.
    fn own_file<'w>(&self, word: &'w str) -> Option<&'w str> {
        let mut own = OWN_DIRECTORY.iter();
        let after = own.find_map(|own| word.strip_prefix(own)?.strip_prefix('/'));
        let path = after.unwrap_or(word);
        let path = without_line(path)
            .strip_prefix("./")
            .unwrap_or(path)
            .trim_end_matches(['.', ':']);
        let (first, rest) = path.split_once('/')?;
        // If the skill has no such directory, this may be a path in the user's project.
        let is_own = after.is_some() || OWN.contains(&first) && self.dir.join(first).is_dir();
        let name = rest.rsplit('/').next()?;
        let (_, extension) = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty())?;
        let plain = |c: char| c.is_alphanumeric() || "-_./+".contains(c);
        let named = !extension.is_empty() && extension.len() <= 5 && path.chars().all(plain);
        (is_own && named && !path.contains("..") && !is_placeholder(path)).then_some(path)
    }
}

/// The path that a link refers to; `None` for URLs, anchors and placeholders.
fn link_target(written: &str) -> Option<String> {
    let path = without_line(written.split(['#', '?']).next()?);
    let of_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let (scheme, _) = path.split_once(':').unwrap_or_default();
    let is_url = !scheme.is_empty() && scheme.chars().all(of_scheme);
    let (stem, _) = path.rsplit_once('.').unwrap_or_default();
    let is_path = path.contains('/') || !stem.is_empty();
    let odd = path.is_empty() || path.starts_with(['/', '~', '@']) || path.contains(['\\', '\n']);
    if is_url || odd || !is_path || is_placeholder(path) {
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
    let words = "path/to|example|your-|my-|foo|xxx|...";
    path.contains(marks) || has_any(&path.to_lowercase(), words)
}
