//! `info --history`: a skill's version in use, the available ones, and what changed.

use std::fmt::Write as _;

use super::info::Info;
use crate::catalog::Catalog;
use crate::cli::describe::short;
use crate::cli::market::market;
use crate::cli::named::installed;
use crate::cli::options::Common;
use crate::cli::outcome::look_at;
use crate::cli::{Answer, Caller};
use crate::facts::Facts;
use crate::marketplace::{History, State, Tag};
use crate::skill::{brief, one_line};

/// Maximum number of tags shown.
const SHOWN: usize = 20;

/// The history of the skills of these names, in whichever layer they are.
pub fn history(info: &Info, facts: &Facts, common: Common, caller: Caller) -> Answer {
    let look = |name: &str| {
        let catalog = Catalog::naming(facts, name);
        let entry = installed(facts, &catalog, name)?;
        let name = entry.dir.file_name().unwrap_or_default().to_string_lossy();
        let base = entry.layer.base(facts);
        market(facts, &base, info.offline).history(&name)
    };
    look_at(common, caller, &info.names, "skills", look, told)
}

fn told(history: &History) -> String {
    let source = history.source.as_deref();
    let source = one_line(source.unwrap_or("an unknown source"));
    let mut text = format!("{}, from {source}\n", one_line(&history.name));
    let in_use = version(history.version.as_deref(), history.commit.as_deref());
    let rev = history.rev.as_ref();
    let rev = rev.map(|rev| format!(", asked for as {}", one_line(short_name(rev))));
    let _ = writeln!(text, "in use: {in_use}{}", rev.unwrap_or_default());
    let since = history.since_install.as_ref();
    if let Some(now) = since.filter(|now| now.state == State::Changed) {
        let files = files(&now.changed, &now.extra, &now.missing);
        let _ = writeln!(text, "  changed here after it was installed: {files}");
    }
    if let Some(earlier) = &history.previous {
        let was = version(earlier.version.as_deref(), earlier.commit.as_deref());
        let files = files(&earlier.changed, &earlier.added, &earlier.removed);
        let _ = writeln!(text, "before: {was}; since then {files}");
    }
    if !history.tags.is_empty() {
        let tag = |tag: &Tag| {
            let mark = if tag.in_use { " (in use)" } else { "" };
            one_line(&tag.name) + mark
        };
        // In most repositories the last tags are the newest.
        let tags = history.tags.iter().rev().take(SHOWN).map(tag);
        let _ = writeln!(text, "there are: {}", tags.collect::<Vec<_>>().join(", "));
    }
    for commit in &history.log {
        let mark = if commit.newer { "newer" } else { "     " };
        let (id, date) = (short(&commit.commit), one_line(&commit.date));
        let subject = brief(&commit.subject, 100);
        let _ = writeln!(text, "{mark}  {id}  {date}  {subject}");
    }
    if let Some(why) = &history.unasked {
        let _ = writeln!(text, "its source was not asked: {}", one_line(why));
    }
    text
}

/// A branch's or tag's name without what git puts before it.
fn short_name(full: &str) -> &str {
    let name = full.strip_prefix("refs/heads/");
    name.or_else(|| full.strip_prefix("refs/tags/"))
        .unwrap_or(full)
}

fn version(version: Option<&str>, commit: Option<&str>) -> String {
    let version = version.map(|version| format!("version {}", brief(version, 40)));
    let commit = commit.map(|commit| format!("at {}", short(commit)));
    let parts = version.into_iter().chain(commit);
    joined(parts, " ").unwrap_or_else(|| "no version or commit is known".to_owned())
}

fn files(changed: &[String], added: &[String], removed: &[String]) -> String {
    let all = [("changed", changed), ("new", added), ("gone", removed)];
    let parts = all.into_iter().filter(|(_, paths)| !paths.is_empty());
    let parts = parts.map(|(label, paths)| format!("{label} {}", brief(&paths.join(", "), 200)));
    joined(parts, "; ").unwrap_or_else(|| "nothing changed".to_owned())
}

/// The parts, unless there are none.
fn joined(parts: impl Iterator<Item = String>, between: &str) -> Option<String> {
    parts.reduce(|all, part| all + between + &part)
}
