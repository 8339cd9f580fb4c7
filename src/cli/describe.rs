//! What an install or an update would do, in enough detail to decide.

use std::fmt::{Display, Write as _};

use crate::marketplace::{Difference, Finding, Kind, Origin, Plan, Planned};
use crate::skill::{brief, one_line, visible};
use crate::sys::text::count;

/// Maximum number of findings shown per skill.
pub const SHOWN: usize = 20;
/// The length of a line with scripts or tools, after which the next begins.
const WIDTH: usize = 100;

/// Describes the plan.
pub fn describe(plan: &Plan) -> String {
    let at = at_commit(plan.commit.as_deref());
    let mut text = format!("From {}{at}:\n", one_line(&plan.source));
    let mut described: Vec<&Origin> = Vec::new();
    for from in origins(plan) {
        if !described.contains(&from) {
            described.push(from);
            describe_origin(&mut text, plan, from);
        }
    }
    for skill in &plan.skills {
        describe_skill(&mut text, skill);
    }
    text
}

/// Where the skills of a plan come from.
pub fn origins(plan: &Plan) -> impl Iterator<Item = &Origin> {
    let skills = plan.skills.iter();
    skills.filter_map(|skill| skill.provenance.as_deref())
}

/// The scan's findings about the skills of a plan.
pub fn findings(plan: &Plan) -> impl Iterator<Item = &Finding> {
    plan.skills.iter().flat_map(|skill| &skill.findings)
}

fn at_commit(commit: Option<&str>) -> String {
    commit.map_or_else(String::new, |commit| format!(" at {}", one_line(commit)))
}

/// Adds what the first line does not say about a skill's origin.
fn describe_origin(text: &mut String, plan: &Plan, from: &Origin) {
    let source = one_line(&from.source);
    if from.source != plan.source {
        let _ = writeln!(text, "  {source}{}", at_commit(from.commit.as_deref()));
    }
    if let Some(address) = &from.address {
        let address = one_line(address);
        let _ = match from.kind {
            Kind::Git => writeln!(text, "  ATTENTION: git went to {address} for {source}"),
            _ => writeln!(text, "  ATTENTION: {source} led to {address}"),
        };
    }
    if let Some(doubt) = doubt(from) {
        let _ = writeln!(text, "  ATTENTION: {doubt}");
    }
}

/// Why the commit may not belong to its source.
pub fn doubt(from: &Origin) -> Option<String> {
    let doubt = from.doubt()?;
    let commit = one_line(from.commit.as_deref().unwrap_or("it"));
    Some(format!("{commit} of {} is {doubt}", one_line(&from.source)))
}

fn describe_skill(text: &mut String, skill: &Planned) {
    let description = skill.description.as_deref().unwrap_or("no description");
    let _ = writeln!(text, "  {}: {}", skill.name, brief(description, 200));
    let (files, paths) = (count(skill.files, "file"), some(&skill.paths));
    let _ = writeln!(text, "    {files}, {} bytes: {paths}", skill.bytes);
    if !skill.scripts.is_empty() {
        let _ = writeln!(text, "    scripts: {}", list(&skill.scripts));
    }
    let tools = skill.powers.allowed_tools.as_deref().map(list);
    let tools = tools.unwrap_or_else(|| "every tool, as it has no allowed-tools".to_owned());
    let _ = writeln!(text, "    may use: {tools}");
    let remarks = skill.powers.remarks();
    if !remarks.is_empty() {
        let _ = writeln!(text, "    says of itself: {}", list(&remarks));
    }
    for remark in skill.dropped.iter().chain(&skill.warnings) {
        let _ = writeln!(text, "    note: {}", one_line(remark));
    }
    describe_findings(text, &skill.findings);
}

fn describe_findings(text: &mut String, findings: &[Finding]) {
    for finding in findings.iter().take(SHOWN) {
        let _ = writeln!(text, "    {}", finding.summary());
    }
    let more = findings.len().saturating_sub(SHOWN);
    if more > 0 {
        let all = "`agent-skills scan` shows all";
        let _ = writeln!(text, "    and {}: {all}", count(more, "more finding"));
    }
}

/// Both commits of a change, abbreviated; `None` if neither is known, as for a local directory.
pub fn from_to<'a>(from: Option<&'a str>, to: Option<&'a str>) -> Option<String> {
    from.or(to)?;
    let shown = |commit: Option<&'a str>| commit.map_or("an unknown state", short);
    Some(format!("{} to {}", shown(from), shown(to)))
}

/// A commit, abbreviated.
pub fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

/// A branch or tag without what git puts before it; a commit as [`short`].
pub fn short_ref(rev: &str) -> &str {
    let named = ["refs/tags/", "refs/heads/"]
        .iter()
        .find_map(|kind| rev.strip_prefix(kind));
    named.unwrap_or_else(|| short(rev))
}

/// An error with its hint, on one line.
pub fn with_hint(error: impl Display, hint: Option<&str>) -> String {
    let hint = hint.map_or_else(String::new, |hint| format!("; {hint}"));
    one_line(&format!("{error}{hint}"))
}

/// What an update would change.
pub fn describe_difference(difference: &Difference) -> String {
    let commits = from_to(difference.from.as_deref(), difference.to.as_deref());
    let commits = commits.map_or_else(String::new, |commits| format!(" {commits}"));
    let mut text = format!("{}:{commits}\n", difference.name);
    for (label, items) in [
        ("new files", some(&difference.added)),
        ("changed", some(&difference.changed)),
        ("gone", some(&difference.removed)),
        ("new scripts", list(&difference.new_scripts)),
        ("newly asks for", list(&difference.new_tools)),
        ("can do more", list(&difference.new_powers)),
    ] {
        if !items.is_empty() {
            let _ = writeln!(text, "    {label}: {items}");
        }
    }
    if let Some(doubt) = difference.regress() {
        let _ = writeln!(text, "    warning: {doubt}");
    }
    if difference.edited {
        text.push_str("    it was changed after it was installed\n");
    }
    describe_findings(&mut text, &difference.new_findings);
    if let Some(diff) = &difference.text {
        text.push_str(&printable(diff));
    }
    text
}

/// Untrusted text with its line breaks; control and invisible characters are shown as their
/// numbers.
pub fn printable(text: &str) -> String {
    text.lines().map(|line| visible(line) + "\n").collect()
}

/// The first of some files.
fn some(files: &[String]) -> String {
    brief(&visible(&files.join(", ")), 300)
}

/// All scripts or tools, since who agrees to them must have seen them, on as many lines as it takes.
pub fn list(items: &[String]) -> String {
    let items: Vec<String> = items.iter().map(|item| one_line(&visible(item))).collect();
    let (mut text, mut width) = (String::new(), 0);
    for word in items.join(", ").split(' ') {
        let wide = word.chars().count();
        width += 1 + wide;
        if width > WIDTH && !text.is_empty() {
            text.push_str("\n     ");
            width = wide;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        text += word;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_agreed_to_is_shown_whole() {
        let chapters = (0..99).map(|at| format!("Read(docs/reference/chapter-{at}/**)"));
        let tools: Vec<String> = chapters.chain(["Bash".to_owned()]).collect();
        let scripts = ["a.sh".to_owned(), "b\u{202e}hs.\nc.sh".to_owned()];
        for new_tools in [tools.clone(), vec![tools.join(" ")]] {
            let difference = Difference {
                new_tools,
                new_scripts: scripts.to_vec(),
                ..Difference::default()
            };
            let shown = describe_difference(&difference);
            let words: Vec<&str> = shown.split([',', '\n', ' ']).collect();
            assert!(tools.iter().all(|tool| words.contains(&&**tool)), "{shown}");
            assert!(
                shown.contains("    new scripts: a.sh, b<U+202E>hs.<U+000A>c.sh\n"),
                "{shown}"
            );
            assert!(
                shown.lines().all(|line| line.chars().count() < 130),
                "{shown}"
            );
        }
    }
}
