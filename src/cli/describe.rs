//! What an update would change, in enough detail to decide, how commits are named, and what the tool
//! lists of a skill mean, in names that their reader knows.

use crate::cli::prelude::*;
use std::fmt::Display;

use super::agents;
use crate::marketplace::ToolKey;
use crate::skill::visible;

/// Why the commit may not belong to its source.
pub fn origin_doubt(from: &Origin) -> Option<String> {
    let doubt = from.doubt()?;
    let commit = one_line(from.commit.as_deref().unwrap_or("it"));
    Some(format!("{commit} of {} is {doubt}", one_line(&from.source)))
}

/// Both commits of a change, abbreviated; `None` if neither is known, as for a local directory.
pub fn from_to<'a>(from: Option<&'a str>, to: Option<&'a str>) -> Option<String> {
    from.or(to)?;
    let shown = |commit: Option<&'a str>| commit.map_or("an unknown state", short_commit);
    Some(format!("{} to {}", shown(from), shown(to)))
}

/// A commit, abbreviated.
pub fn short_commit(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

/// A branch or tag without what git puts before it; a commit as [`short_commit`].
pub fn short_ref(rev: &str) -> &str {
    let mut kinds = ["refs/tags/", "refs/heads/"].iter();
    let named = kinds.find_map(|kind| rev.strip_prefix(kind));
    named.unwrap_or_else(|| short_commit(rev))
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
    let usable = newly_usable(&difference.powers, names);
    for (label, items) in [
        ("new files", some(&difference.added)),
        ("changed", some(&difference.changed)),
        ("gone", some(&difference.removed)),
        ("new scripts", all_names(&difference.new_scripts)),
        ("may also use", all_names(&usable)),
        ("can do more", all_names(&difference.new_powers)),
    ] {
        if !items.is_empty() {
            row(label, &items);
        }
    }
    let signature = difference.signature.as_ref();
    let is_other = |checked: &&CheckedSignature| {
        checked.signature.signer() != difference.signed_before.as_ref()
    };
    if let Some(checked) = signature.filter(is_other) {
        row("signer", &describe_signature(checked));
    }
    let fork = difference.provenance.as_deref().and_then(origin_doubt);
    let regress = difference.regress().map(ToString::to_string);
    for doubt in regress.into_iter().chain(fork) {
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
pub fn all_names(items: &[String]) -> String {
    let items: Vec<String> = items.iter().map(|item| shown_name(item)).collect();
    items.join(", ")
}

/// Whose names for tools their reader knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolNames {
    /// Those of chibi's tools.
    Chibi,
    /// Those that the skill wrote: each other agent has its own, and takes these.
    Written,
}

impl ToolNames {
    /// Those for whoever uses this machine.
    pub fn of(facts: &Facts) -> Self {
        if facts.run.agent.is_none() && agents::has_chibi(&facts.run) {
            Self::Chibi
        } else {
            Self::Written
        }
    }

    /// The tools that a rule grants.
    fn of_rule(self, rule: &Rule) -> Vec<String> {
        match self {
            Self::Chibi => rule.host_names(),
            Self::Written => rule.written_names(),
        }
    }

    /// All tools that these rules cover.
    fn of_rules(self, rules: &[Rule]) -> String {
        let all = rules.iter().flat_map(|rule| self.of_rule(rule));
        let all = distinct(all.map(|name| shown_name(&name)));
        all.join(", ")
    }

    /// The tools that these entries cover.
    fn of_entries(self, key: ToolKey, entries: &[String]) -> Vec<String> {
        let nowhere = Path::new("");
        let (allowed, denied) = match key {
            ToolKey::Allowed => (Some(entries), &[][..]),
            ToolKey::Denied => (None, entries),
        };
        let read = Restriction::parse("", allowed, denied, nowhere, nowhere);
        if allowed.is_some() && read.allowed().is_none() {
            return vec!["every tool".to_owned()];
        }
        distinct(read.rules().flat_map(|rule| self.of_rule(rule)))
    }
}

/// What a skill may and what it must not use, in these names.
pub fn tool_rows(name: &str, powers: &Powers, names: ToolNames) -> Vec<(&'static str, String)> {
    let nowhere = Path::new("");
    let (allowed, denied) = (powers.allowed_tools.as_deref(), &powers.disallowed_tools);
    let read = Restriction::parse(name, allowed, denied, nowhere, nowhere);
    let mut may_use = match read.allowed().map(|rules| names.of_rules(rules)) {
        None if allowed.is_none() => "every tool, as it has no allowed-tools".to_owned(),
        None => "every tool, as its allowed-tools has `*`".to_owned(),
        Some(tools) if tools.is_empty() => "only what is always allowed".to_owned(),
        Some(tools) => tools,
    };
    if powers.is_unclear {
        may_use += "; or every tool, if its `tools` names none";
    }
    let mut rows = vec![
        ("may use", may_use),
        ("never", names.of_rules(&read.denied)),
    ];
    rows.retain(|(_, tools)| !tools.is_empty());
    rows
}

/// The tools that a new version asks for or no longer denies, in these names. What means nothing new
/// there stays as its author wrote it.
pub fn newly_usable((old, new): &(Powers, Powers), names: ToolNames) -> Vec<String> {
    old.wider(new, |key, entries, others| {
        let known = names.of_entries(key, others);
        let mut more = names.of_entries(key, &entries);
        more.retain(|name| !known.contains(name));
        if more.is_empty() { entries } else { more }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marketplace::Powers;
    use crate::skill::Skill;

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

    #[test]
    fn what_a_new_version_may_use_is_named_as_the_host_does() {
        for (old, new, expected) in [
            (
                "allowed-tools: Read",
                "allowed-tools: Read Bash",
                "shell_exec",
            ),
            (
                "allowed-tools: Bash(git:*)",
                "allowed-tools: Bash(git:*), Bash(rm:*)",
                "shell_exec(rm:*)",
            ),
            ("allowed-tools: Read", "allowed-tools: '*'", "every tool"),
            (
                "allowed-tools: Read",
                "allowed-tools: [Read, 'Task()']",
                "Task()",
            ),
            (
                "disallowed-tools: WebSearch, Bash",
                "disallowed-tools: Bash",
                "web_search, which it denies now",
            ),
        ] {
            let powers = |frontmatter| {
                let text = format!("---\nname: x\n{frontmatter}\n---\nb\n");
                let file = Path::new("/x/SKILL.md").to_owned();
                Powers::of(&Skill::parse(Path::new("/x"), file, text.as_bytes()).unwrap())
            };
            let versions = (powers(old), powers(new));
            let found = newly_usable(&versions, ToolNames::Chibi);
            assert_eq!(found, [expected], "{old} > {new}");
        }
    }
    #[test]
    fn without_chibi_tools_are_named_as_the_skill_wrote_them() {
        for (frontmatter, expected) in [
            ("allowed-tools: Read Bash(git:*)", "Read, Bash(git:*)"),
            ("allowed-tools: [TodoWrite, 'Task()']", "TodoWrite"),
            ("allowed-tools: []", "only what is always allowed"),
        ] {
            let text = format!("---\nname: x\n{frontmatter}\n---\nb\n");
            let file = Path::new("/x/SKILL.md").to_owned();
            let skill = Skill::parse(Path::new("/x"), file, text.as_bytes()).unwrap();
            let rows = tool_rows("x", &Powers::of(&skill), ToolNames::Written);
            assert_eq!(rows, [("may use", expected.to_owned())]);
        }
    }
}
