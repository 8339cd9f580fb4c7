//! One parsed entry of an `allowed-tools` or `disallowed-tools` list: which host tools it covers,
//! and which of their arguments.

use std::fmt;

use super::arg_matcher::ArgMatcher;
use super::entry_grammar::{self, Purpose, ToolEntry, is_name};
use super::evidence::CitedRule;
use super::placeholders::Placeholders;
use super::tool_matcher::{CalledTool, MCP_PREFIX, ToolMatcher, is_known_tool};
use crate::vocabulary::{self, Capability};

/// A remark on an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleNote {
    /// A code for programs, such as `unknown-tool`.
    pub code: &'static str,
    /// The entry as written; empty for a remark on the whole list.
    pub entry: String,
    /// The message for people; it names the entry.
    pub message: String,
}

/// One parsed entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The entry as its author wrote it, and the skill or policy it comes from.
    pub cited: CitedRule,
    /// Whether it grants or denies.
    pub purpose: Purpose,
    subject: ToolMatcher,
    matcher: ArgMatcher,
}

/// The first of these denials in which a part names no tool, or all of it names none.
pub fn unclear_denial(entries: &[String]) -> Option<&String> {
    let directories = Placeholders::default();
    entries.iter().find(|entry| {
        let list: &[String] = std::slice::from_ref(*entry);
        let (rules, _) = read_list("", list, Purpose::Deny, &directories);
        let is_unclear = |rule: &Rule| rule.subject == ToolMatcher::Unclear;
        rules.is_empty() || rules.iter().any(is_unclear)
    })
}

/// What is wrong with the first of these entries in which a part cannot grant anything; the text
/// names it. A name that only another client has is no mistake.
pub fn mistaken_grant(entries: &[String]) -> Option<String> {
    let directories = Placeholders::default();
    entries.iter().find_map(|entry| {
        let list: &[String] = std::slice::from_ref(entry);
        let (rules, notes) = read_list("", list, Purpose::Allow, &directories);
        let is_idle = |rule: &&Rule| rule.matcher == ArgMatcher::Nothing;
        let idle = rules.iter().find(is_idle).map(|rule| &rule.cited.rule);
        if idle.is_none() && !rules.is_empty() {
            return None;
        }
        let mut notes = notes.into_iter().filter(|note| Some(&note.entry) == idle);
        let why = notes.next_back().map(|note| note.message);
        Some(why.unwrap_or_else(|| format!("`{entry}`: it names no tool; it grants nothing")))
    })
}

/// Parses a whole list of `source`; the grammar splits each of its strings again.
pub fn read_list(
    source: &str,
    entries: &[String],
    purpose: Purpose,
    directories: &Placeholders,
) -> (Vec<Rule>, Vec<RuleNote>) {
    let mut notes = Vec::new();
    let rules = entries
        .iter()
        .flat_map(|entry| entry_grammar::split(entry))
        .map(|entry| Rule::new(source, entry, purpose, directories, &mut notes))
        .collect();
    (rules, notes)
}

impl Rule {
    fn new(
        source: &str,
        entry: ToolEntry,
        purpose: Purpose,
        directories: &Placeholders,
        notes: &mut Vec<RuleNote>,
    ) -> Self {
        let ToolEntry {
            written,
            mut name,
            mut body,
        } = entry;
        if name.eq_ignore_ascii_case("mcp")
            && let Ok(Some(tool)) = &mut body
        {
            name = std::mem::take(tool);
            if is_name(&name) && name.contains([':', '/']) {
                name.insert_str(0, MCP_PREFIX);
            }
            body = Ok(None);
        }
        let mut remark = |code, text: &str| {
            notes.push(RuleNote {
                code,
                entry: written.clone(),
                message: format!("`{written}`: {text}"),
            });
        };
        let subject = ToolMatcher::parse(&name);
        let matcher = body.and_then(|body| {
            match &subject {
                ToolMatcher::Capability(Capability::Shell) if purpose == Purpose::Deny => {
                    if let Some(program) = body.as_deref().and_then(before_options) {
                        let text = format!(
                            "it denies only commands with these options in this spelling and order; \
                             `{name}({program}:*)` denies every `{program}`"
                        );
                        remark("narrow-denial", &text);
                    }
                }
                ToolMatcher::Everything => remark("bare-star", "`*` means no restriction at all"),
                ToolMatcher::Capability(Capability::Shell)
                    if body.as_ref().is_some_and(|body| body.contains(',')) =>
                {
                    remark("comma-in-pattern", "read as one pattern with a comma in it");
                }
                ToolMatcher::Named(_) if !is_known_tool(&name) => {
                    let near = vocabulary::nearest_tool(&name);
                    let hint = near.map(|near| format!("; did you mean `{near}`?"));
                    let meaning = "the host has no tool of this name, so it is taken for a plugin's";
                    remark(
                        "unknown-tool",
                        &(meaning.to_owned() + &hint.unwrap_or_default()),
                    );
                }
                _ => {}
            }
            ArgMatcher::parse(&subject, body.as_deref(), directories)
        });
        let matcher = matcher.unwrap_or_else(|(code, why)| {
            let (effect, matcher) = match purpose {
                Purpose::Allow => ("; it grants nothing", ArgMatcher::Nothing),
                Purpose::Deny if subject == ToolMatcher::Unclear => (
                    ", so it denies every tool; write the names alone, separated by commas",
                    ArgMatcher::Any,
                ),
                Purpose::Deny => ("; it denies the tool as a whole", ArgMatcher::Any),
            };
            remark(code, &format!("{why}{effect}"));
            matcher
        });
        Self {
            cited: CitedRule {
                source: source.to_owned(),
                rule: written,
            },
            purpose,
            subject,
            matcher,
        }
    }

    /// Whether this is a `*`, which lifts every restriction.
    pub fn is_everything(&self) -> bool {
        self.subject == ToolMatcher::Everything
    }

    /// Whether the entry can grant anything on this host.
    pub fn grants_something(&self) -> bool {
        self.matcher != ArgMatcher::Nothing
    }

    /// Whether this is a `Skill(name)` entry, which limits what may be activated.
    pub fn narrows_skills(&self) -> bool {
        matches!(self.matcher, ArgMatcher::Skill(_))
    }

    /// The capability that the entry names in another client's vocabulary, if any.
    pub fn capability(&self) -> Option<Capability> {
        match self.subject {
            ToolMatcher::Capability(capability) => Some(capability),
            _ => None,
        }
    }

    /// The arguments of a tool that the rule covers; `None` if it does not cover the tool.
    pub fn matcher_for(&self, tool: &CalledTool<'_>) -> Option<&ArgMatcher> {
        if self.is_named_as(tool) {
            // Its arguments are unknown, so a pattern grants none of its calls and denies all. But
            // `skill` may be our own tool, called for a skill that does not exist.
            match self.purpose {
                _ if self.matcher == ArgMatcher::Any => return Some(&self.matcher),
                Purpose::Deny
                    if !self.narrows_skills() || vocabulary::fold(tool.name) != "skill" =>
                {
                    return Some(&ArgMatcher::Any);
                }
                _ => {}
            }
        }
        self.subject
            .covers(tool, self.purpose)
            .then_some(&self.matcher)
    }

    /// Whether a plugin's tool has exactly the entry's name, which means something else here.
    fn is_named_as(&self, tool: &CalledTool<'_>) -> bool {
        let name = self.cited.rule.split('(').next().unwrap_or_default();
        let means_else = match self.subject {
            ToolMatcher::Capability(_) => true,
            ToolMatcher::Programs(_) => self.purpose == Purpose::Deny,
            _ => false,
        };
        means_else && tool.is_plugins() && vocabulary::fold(tool.name) == vocabulary::fold(name)
    }

    /// The tools this grants, as it is written, where that names any.
    pub fn written_names(&self) -> Vec<String> {
        match self.subject {
            ToolMatcher::Everything | ToolMatcher::Unclear => self.host_names(),
            _ if self.matcher == ArgMatcher::Nothing => Vec::new(),
            _ => vec![self.cited.rule.clone()],
        }
    }

    /// The tools this grants, in the newer host's names.
    pub fn host_names(&self) -> Vec<String> {
        self.host_names_on(false)
    }

    /// The tools this grants, in the newer or the older host's names.
    pub fn host_names_on(&self, older: bool) -> Vec<String> {
        let written = &self.cited.rule;
        let pattern = match written.find('(') {
            _ if self.matcher == ArgMatcher::Any => String::new(),
            Some(open) => written[open..].to_owned(),
            None => match &self.subject {
                ToolMatcher::Programs(programs) => format!("({}:*)", programs[0]),
                _ => "(*.ipynb)".to_owned(),
            },
        };
        let named = |name: &str| vec![format!("{name}{pattern}")];
        match &self.subject {
            _ if self.matcher == ArgMatcher::Nothing => Vec::new(),
            ToolMatcher::Named(name) if vocabulary::is_elsewhere(name) => Vec::new(),
            ToolMatcher::Everything | ToolMatcher::Unclear => named("any tool"),
            ToolMatcher::Capability(Capability::Skill) => named("skill_*"),
            ToolMatcher::Capability(Capability::WebSearch) => named("web_search"),
            ToolMatcher::Capability(_) | ToolMatcher::Programs(_) => {
                let is_here = |name: &&&str| {
                    if older {
                        vocabulary::is_on_older_host(name)
                    } else {
                        !vocabulary::is_plugin_of_older_host(name)
                    }
                };
                let tools = self.subject.host_tools().iter().filter(is_here);
                tools.map(|name| format!("{name}{pattern}")).collect()
            }
            ToolMatcher::Named(_) => vec![written.clone()],
            ToolMatcher::Prefix(prefix) => vec![format!("{prefix}*")],
            ToolMatcher::Mcp { name, open, .. } => {
                vec![format!("{name}{}", if *open { "*" } else { "" })]
            }
        }
    }
}

/// The words before the first option of a pattern that has options.
fn before_options(pattern: &str) -> Option<String> {
    let words: Vec<&str> = pattern.split_whitespace().collect();
    let option = words.iter().position(|word| word.starts_with('-'))?;
    (option > 0).then(|| words[..option].join(" "))
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.host_names();
        if names.is_empty() {
            write!(f, "{} → nothing on this host", self.cited.rule)
        } else {
            write!(f, "{} → {}", self.cited.rule, names.join(", "))
        }
    }
}
