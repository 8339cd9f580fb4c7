//! What an update would change, in enough detail to decide, and how commits are named.

use std::fmt::{Display, Write as _};

use super::signed::signed;
use super::tool_names::{ToolNames, newly_usable};
use crate::marketplace::{Checked, Difference, Origin};
use crate::skill::{brief, one_line, shown_name, visible};

/// Why the commit may not belong to its source.
pub fn doubt(from: &Origin) -> Option<String> {
    let doubt = from.doubt()?;
    let commit = one_line(from.commit.as_deref().unwrap_or("it"));
    Some(format!("{commit} of {} is {doubt}", one_line(&from.source)))
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

/// What an update would change, in rows like those of an install.
pub fn describe_difference(difference: &Difference, names: ToolNames) -> String {
    let commits = from_to(difference.from.as_deref(), difference.to.as_deref());
    let commits = commits.map_or_else(String::new, |commits| format!(" {commits}"));
    let mut text = format!("{}:{commits}\n", difference.name);
    let mut row = |label: &str, said: &str| {
        let _ = writeln!(text, "    {label:12}  {said}");
    };
    for (label, items) in [
        ("new files", some(&difference.added)),
        ("changed", some(&difference.changed)),
        ("gone", some(&difference.removed)),
        ("new scripts", list(&difference.new_scripts)),
        (
            "may also use",
            list(&newly_usable(&difference.powers, names)),
        ),
        ("can do more", list(&difference.new_powers)),
    ] {
        if !items.is_empty() {
            row(label, &items);
        }
    }
    let signature = difference.signature.as_ref();
    let is_other =
        |checked: &&Checked| checked.signature.signer() != difference.signed_before.as_ref();
    if let Some(checked) = signature.filter(is_other) {
        row("signer", &signed(checked));
    }
    let fork = difference.provenance.as_deref().and_then(doubt);
    for doubt in difference
        .regress()
        .map(ToString::to_string)
        .into_iter()
        .chain(fork)
    {
        row("warning", &doubt);
    }
    if difference.edited {
        row("note", "it was changed after it was installed");
    }
    for finding in &difference.new_findings {
        row(finding.severity.as_str(), &finding.remark());
    }
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

/// All scripts or tools, since who agrees to them must have seen them.
pub fn list(items: &[String]) -> String {
    let items: Vec<String> = items.iter().map(|item| shown_name(item)).collect();
    items.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marketplace::Powers;

    #[test]
    fn what_is_agreed_to_is_shown_whole() {
        let chapters = (0..99).map(|at| format!("Read(docs/reference/chapter-{at}/**)"));
        let tools: Vec<String> = chapters.chain(["Bash".to_owned()]).collect();
        let scripts = ["a.sh".to_owned(), "b\u{202e}hs.\nc.sh".to_owned()];
        for entries in [tools.clone(), vec![tools.join(" ")]] {
            let new = Powers {
                allowed_tools: Some(entries),
                ..Powers::none()
            };
            let difference = Difference {
                powers: (Powers::none(), new),
                new_scripts: scripts.to_vec(),
                ..Difference::default()
            };
            let shown = describe_difference(&difference, ToolNames::Chibi);
            for at in 0..99 {
                let granted = format!("file_head(docs/reference/chapter-{at}/**),");
                assert!(shown.contains(&granted), "{granted}: {shown}");
            }
            assert!(shown.contains(", shell_exec\n"), "{shown}");
            assert!(
                shown.contains("    new scripts   a.sh, b<U+202E>hs.<U+000A>c.sh\n"),
                "{shown}"
            );
        }
    }
}
