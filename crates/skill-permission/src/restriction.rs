//! The restriction of one skill, parsed once from the session's state. Does not know how several
//! restrictions combine.

use std::path::{Path, PathBuf};

use super::entry_grammar::Purpose;
use super::placeholders::Placeholders;
use super::rule::{Rule, RuleNote, read_list};
use skill_text::{distinct, listed, shorten};

/// The allowed-tools and disallowed-tools of one active skill, or the denials of a policy.
#[derive(Debug, Clone)]
pub struct Restriction {
    /// The skill's name, or the policy's owner.
    pub source: String,
    /// Whether it comes from a skill.
    pub(super) of_skill: bool,
    /// Whether it restricts beside all others, whatever the user's settings.
    pub(super) binds: bool,
    /// Whether the skill is active, and none that another has replaced.
    pub(super) is_active: bool,
    /// The skill's directory.
    pub(super) directory: PathBuf,
    allowed: Option<Vec<Rule>>,
    /// The deny rules.
    pub denied: Vec<Rule>,
    /// Remarks on single entries: those that grant nothing and those likely to surprise.
    pub notes: Vec<RuleNote>,
}

impl Restriction {
    /// Parses the entries of `skill` as its author wrote them.
    ///
    /// `allowed` is `None` if the key is absent or null, which restricts nothing. An empty list, or
    /// one with only malformed entries, leaves only the baseline
    /// (docs/spec/restriction.md#absent-null-and-empty).
    pub fn parse(
        skill: &str,
        allowed: Option<&[String]>,
        denied: &[String],
        skill_dir: &Path,
        project_root: &Path,
    ) -> Self {
        let directories = Placeholders {
            skill: skill_dir.to_owned(),
            project: project_root.to_owned(),
        };
        let (denied, deny_notes) = read_list(skill, denied, Purpose::Deny, &directories);
        let mut notes = Vec::new();
        let allowed = allowed.map(|entries| {
            let (rules, found) = read_list(skill, entries, Purpose::Allow, &directories);
            notes.extend(found);
            rules
        });
        let flaw = match &allowed {
            Some(rules) if rules.is_empty() => Some(("empty-allowed-tools", "the list is empty")),
            Some(rules) if !rules.iter().any(Rule::grants_something) => {
                Some(("no-valid-entry", "no entry grants anything"))
            }
            _ => None,
        };
        notes.extend(flaw.map(|(code, why)| RuleNote {
            code,
            entry: String::new(),
            message: format!("{why}, so only what is always allowed can be used"),
        }));
        notes.extend(deny_notes);
        Self {
            source: skill.to_owned(),
            of_skill: true,
            binds: false,
            is_active: true,
            directory: skill_dir.to_owned(),
            allowed: allowed.filter(|rules| !rules.iter().any(Rule::is_everything)),
            denied,
            notes,
        }
    }

    /// Parses denials that come from no skill; `source` names them in messages.
    pub fn policy(source: &str, denied: &[String], project_root: &Path) -> Self {
        Self {
            of_skill: false,
            ..Self::parse(source, None, denied, project_root, project_root)
        }
    }

    /// The same with entries of another source added to its allow rules, if it has any: they grant
    /// what the skill's own entries do not, and nothing where the skill has no list.
    #[must_use]
    pub fn adding(mut self, source: &str, entries: &[String], project_root: &Path) -> Self {
        let Some(allowed) = &mut self.allowed else {
            return self;
        };
        let directories = Placeholders {
            skill: self.directory.clone(),
            project: project_root.to_owned(),
        };
        let (mut rules, notes) = read_list(source, entries, Purpose::Allow, &directories);
        // The first `Skill(name)` of a list forbids all other skills, and what is added forbids
        // nothing.
        if !allowed.iter().any(Rule::narrows_skills) {
            rules.retain(|rule| !rule.narrows_skills());
        }
        let lifts = rules.iter().any(Rule::is_everything);
        allowed.extend(rules);
        self.notes.extend(notes);
        if lifts {
            self.allowed = None;
        }
        self
    }

    /// The same with those of its allow rules that `keep` accepts.
    #[must_use]
    pub fn keeping(mut self, keep: impl Fn(&Rule) -> bool) -> Self {
        if let Some(allowed) = &mut self.allowed {
            allowed.retain(keep);
        }
        self
    }

    /// The same with its denials alone.
    #[must_use]
    pub fn without_list(&self) -> Self {
        Self {
            allowed: None,
            ..self.clone()
        }
    }

    /// The same, for a skill that a policy has in force in every conversation: it restricts beside
    /// all others, and no setting of the user loosens it.
    #[must_use]
    pub fn binding(self) -> Self {
        Self {
            binds: true,
            ..self
        }
    }

    /// The same, for a skill that another one has replaced.
    #[must_use]
    pub fn replaced(self) -> Self {
        Self {
            is_active: false,
            ..self
        }
    }

    /// Whether it restricts anything.
    pub fn is_restricted(&self) -> bool {
        self.allowed.is_some() || !self.denied.is_empty()
    }

    /// Every rule, allow rules first. A rule's `Display` shows how it was understood.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.allowed.iter().flatten().chain(&self.denied)
    }

    /// The allow rules; `None` if everything not denied is allowed.
    pub fn allowed(&self) -> Option<&[Rule]> {
        self.allowed.as_deref()
    }

    /// One line for the model on what it may use while the skill is active, in this host's tool
    /// names; `None` if the skill restricts nothing.
    pub fn permission_summary(&self, older_host: bool) -> Option<String> {
        const NAMED: usize = 16;
        const CHARS: usize = 60;
        let named = |rules: &[Rule]| {
            let names = rules.iter().flat_map(|rule| rule.host_names_on(older_host));
            let brief = |name: String| shorten(&name.replace(char::is_control, ""), CHARS);
            let names = distinct(names.map(brief));
            (!names.is_empty()).then(|| listed(&names, NAMED))
        };
        let denied = named(&self.denied).map(|names| format!("do not use {names}"));
        let allowed = self.allowed.as_deref().map(|rules| {
            let more = named(rules).map_or_else(String::new, |names| format!(" and {names}"));
            format!("use only the skill tools{more}")
        });
        let parts: Vec<String> = allowed.into_iter().chain(denied).collect();
        (!parts.is_empty()).then(|| format!("While it is active, {}.", parts.join("; ")))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::arg_matcher::ArgMatcher;
    use crate::rule::unclear_denial;
    use crate::tool_matcher::CalledTool;

    fn parse(allowed: Option<&[&str]>, denied: &[&str]) -> Restriction {
        let own = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
        let allowed = allowed.map(own);
        let (skill, project) = (Path::new("/s"), Path::new("/p"));
        Restriction::parse("pdf", allowed.as_deref(), &own(denied), skill, project)
    }

    #[test]
    fn absent_null_empty_and_broken_lists() {
        assert!(!parse(None, &[]).is_restricted());
        assert!(parse(None, &["Bash"]).is_restricted());
        let cases: [(&[&str], bool, Option<&str>); 5] = [
            (&[], true, Some("empty-allowed-tools")),
            (&[""], true, Some("empty-allowed-tools")),
            (&["Bash()", "|"], true, Some("no-valid-entry")),
            (&["Read"], true, None),
            (&["Read", "*"], false, Some("bare-star")),
        ];
        for (list, restricted, code) in cases {
            let restriction = parse(Some(list), &[]);
            assert_eq!(restriction.is_restricted(), restricted, "{list:?}");
            let last = restriction.notes.last().map(|note| note.code);
            assert_eq!(last, code, "{list:?}");
        }
    }

    #[test]
    fn a_denial_without_a_tools_name_denies_every_tool() {
        let calls = ["shell_exec", "write_file", "call_user", "my_tool"];
        let denied = |entry: &str| {
            let restriction = parse(None, &[entry]);
            let is_denied = |name: &&str| {
                let tool = CalledTool::new(name, None, &BTreeSet::new());
                let mut rules = restriction.denied.iter();
                rules.any(|rule| rule.matcher_for(&tool) == Some(&ArgMatcher::Any))
            };
            let count = calls.iter().filter(|name| is_denied(name)).count();
            (
                count,
                restriction.notes.last().map(|note| note.message.clone()),
            )
        };
        for entry in [
            "Bash;",
            "Bash|Write",
            "Bash)",
            "`Bash`",
            "Bash\u{200b}",
            "Ｂash",
            "!Bash",
            "-Bash",
            "Bash+",
            "Bash&Write",
            "run_skill_script;",
            "Bash.",
            "Bash:",
            "B*sh",
            "ab*",
            "'Bash'x",
            "(x)",
            "[Bash]",
            "Bash;(rm:*)",
            "Bash;(",
            "<<",
            "{twice}",
            "?",
            "Bash:*",
            "Bash:rm",
            "Bash:git:*",
            "bash*:rm",
            "Bash/rm",
            "x/Bash:rm",
            "WebFetch:evil.com",
            "Write:*",
            "shell_exec:rm",
            "curl:*",
            "FileHead/x",
            "run_skill_script:x.sh",
            "MCP(:x)",
        ] {
            let (count, note) = denied(entry);
            assert_eq!(count, calls.len(), "{entry}");
            assert!(note.unwrap().contains("denies every tool"), "{entry}");
            assert_eq!(
                unclear_denial(&["Read".into(), entry.into()]).unwrap(),
                entry
            );
            let granted = parse(Some(&[entry]), &[]);
            assert!(
                !granted
                    .allowed()
                    .unwrap()
                    .iter()
                    .any(Rule::grants_something),
                "{entry}"
            );
        }
        for (entry, count) in [
            ("Bash", 1),
            ("Bash(rm", 1),
            ("my_tool()", 1),
            ("mcp__a__b", 0),
            ("github:x", 0),
            ("mcp__fetch__fetch", 0),
            ("MCP(fetch:*)", 0),
            ("mcp/fetch:fetch", 0),
            ("search/codebase", 0),
            ("*", 4),
        ] {
            assert_eq!(denied(entry).0, count, "{entry}");
            assert_eq!(unclear_denial(&[entry.to_owned()]), None);
        }
    }

    #[test]
    fn one_line_says_what_is_permitted() {
        let line = |allowed, denied: &[&str]| parse(allowed, denied).permission_summary(false);
        assert_eq!(line(None, &[]), None);
        let only = line(Some(&["Bash(git:*)", "Bash(git:*)"]), &["Bash(rm:*)"]).unwrap();
        assert!(
            only.contains(
                "only the skill tools and shell_exec(git:*); do not use shell_exec(rm:*)"
            ),
            "{only}"
        );
        assert!(
            line(Some(&[]), &[])
                .unwrap()
                .contains("only the skill tools.")
        );
        let names: Vec<String> = (0..17).map(|n| format!("my_tool{n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let all = line(Some(&names[..16]), &[]).unwrap();
        assert!(all.contains("my_tool15") && !all.contains("more"), "{all}");
        let more = line(Some(&names), &[]).unwrap();
        assert!(more.contains("my_tool15 and 1 more"), "{more}");
    }

    #[test]
    fn a_rule_says_how_it_was_understood() {
        let table = [
            (
                "Read",
                "Read → file_head, file_lines, file_tail, file_grep, vfs_info, summarize_content",
            ),
            ("Bash(git:*)", "Bash(git:*) → shell_exec(git:*)"),
            ("Python", "Python → shell_exec(python:*)"),
            ("Bash(*)", "Bash(*) → shell_exec"),
            ("LSP", "LSP → nothing on this host"),
            ("SlashCommand", "SlashCommand → skill_*"),
            ("Bash(cmd:*)", "Bash(cmd:*) → nothing on this host"),
            (
                "mcp__plugin_c7_context7__*",
                "mcp__plugin_c7_context7__* → context7_*",
            ),
            (
                "mcp__plugin_my-plug_my-server__do",
                "mcp__plugin_my-plug_my-server__do → my_server_do",
            ),
            ("MCP(slack:*)", "MCP(slack:*) → slack_*"),
            ("MCP(fetch:get)", "MCP(fetch:get) → fetch_get"),
            ("fetch:get", "fetch:get → nothing on this host"),
            ("vfs_*", "vfs_* → vfs_*"),
        ];
        for (entry, understood) in table {
            let restriction = parse(Some(&[entry]), &[]);
            let shown: Vec<_> = restriction.rules().map(ToString::to_string).collect();
            assert_eq!(shown, [understood]);
        }
    }

    #[test]
    fn notes_name_what_is_likely_to_surprise() {
        let codes = |entry| {
            let restriction = parse(Some(&[entry, "Read"]), &[]);
            restriction
                .notes
                .iter()
                .map(|note| note.code)
                .collect::<Vec<_>>()
        };
        assert_eq!(codes("Bash(a, b)"), ["comma-in-pattern"]);
        assert_eq!(codes("readPaper"), ["unknown-tool"]);
        assert_eq!(codes("Bash(cmd:*)"), ["placeholder"]);
        for known in ["LSP", "TeamCreate", "EnterWorktree", "SlashCommand"] {
            assert_eq!(codes(known), [""; 0], "{known}");
        }
        assert_eq!(codes("file_head"), [""; 0]);
    }
}
