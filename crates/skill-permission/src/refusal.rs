//! Why a call is refused, and the paragraph that tells the model
//! (docs/spec/restriction.md#block-message).

use std::fmt::Write;

use super::evidence::{CitedRule, Part};
use crate::vocabulary::Capability;
use skill_text::shorten;

/// A block message (docs/spec/restriction.md#block-message).
const BLOCK_MESSAGE_CHARS: usize = 600;

/// The number of allowed tools listed by name; the rest is counted.
const NAMED: usize = 8;

/// A refused call. Boxed, because almost every result that can hold one is a grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal(Box<Details>);

/// What may usually be done instead.
const DEFAULT_ADVICE: &str =
    " Use an allowed tool, or tell the user that the skill does not permit this.";

#[derive(Debug, Clone, PartialEq, Eq)]
struct Details {
    tool: String,
    part: Option<(&'static str, String)>,
    reason: Reason,
    allowed: Vec<String>,
    /// Whether the host is chibi, which has tools of ours.
    host_is_chibi: bool,
    /// What to do instead, where more is known of the call.
    instead: Option<String>,
}

/// The reason for a refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// No rule of the skill grants it.
    NotGranted {
        /// The skill.
        skill: String,
        /// More detail; may be empty.
        why: String,
    },
    /// This rule denies it.
    Denied(CitedRule),
    /// It would write where skills and restrictions are stored.
    Protected {
        /// The restricting skill.
        skill: String,
        /// What is stored there, or what is unknown.
        why: String,
    },
    /// It runs our own executable, which is reserved for people.
    OurProgram,
    /// It cannot be evaluated.
    Unclear {
        /// The restricting skill.
        skill: String,
        /// What is wrong with it.
        why: String,
    },
    /// Evaluating it would exceed a hook's time limit.
    TooMuchWork,
    /// The tool is not for the model.
    ForPeople,
    /// The restrictions are unknown.
    UnreadableState,
}

impl Refusal {
    /// A refusal of a call of `tool`.
    pub fn new(tool: &str, reason: Reason) -> Self {
        Self(Box::new(Details {
            tool: tool.to_owned(),
            part: None,
            reason,
            allowed: Vec::new(),
            host_is_chibi: true,
            instead: None,
        }))
    }

    /// The same for another agent, which calls the tool `name`; `allowed` are the entries of the
    /// skill as their author wrote them, in a vocabulary that every agent knows.
    #[must_use]
    pub fn in_agent(mut self, name: &str, allowed: Vec<String>) -> Self {
        if !self.0.allowed.is_empty() {
            self.0.allowed = allowed;
            let tool = self.0.tool.as_str();
            self.0.allowed.sort_by_cached_key(|entry| {
                let named = Capability::named(entry.split('(').next().unwrap_or_default());
                !named.is_some_and(|named| named.tools().contains(&tool))
            });
        }
        name.clone_into(&mut self.0.tool);
        self.0.host_is_chibi = false;
        self
    }

    /// The same for a call of `tool` that reads the file `path`.
    #[must_use]
    pub fn of_script_input(mut self, tool: &str, path: &str) -> Self {
        tool.clone_into(&mut self.0.tool);
        self.part("path", path)
    }

    /// Says what to do instead of a call that no rule grants.
    #[must_use]
    pub fn instead(mut self, advice: String) -> Self {
        self.0.instead = Some(advice);
        self
    }

    /// Names the part of the call that was refused, such as ``path `/etc/passwd` ``.
    #[must_use]
    pub fn part(mut self, kind: &'static str, text: &str) -> Self {
        self.0.part = Some((kind, text.to_owned()));
        self
    }

    /// Whether it is such a part of the call that was refused.
    pub fn is_about(&self, kind: &str) -> bool {
        self.0.part.as_ref().is_some_and(|(of, _)| *of == kind)
    }

    /// The part of a call that was denied.
    pub fn denied_part(&self) -> Option<Part> {
        let (Some((kind, text)), Reason::Denied(by)) = (&self.0.part, &self.0.reason) else {
            return None;
        };
        Some(Part::new(kind, text, Err(by.denies())))
    }

    /// Names what may be used instead; entries of the refused tool come first.
    #[must_use]
    pub fn allowed(mut self, mut names: Vec<String>) -> Self {
        names.sort_by_key(|name| name.split('(').next() != Some(&self.0.tool));
        self.0.allowed = names;
        self
    }

    /// Whether a tool of this name is among what may be used instead.
    pub fn offers(&self, tool: &str) -> bool {
        let mut allowed = self.0.allowed.iter();
        allowed.any(|name| name.split('(').next() == Some(tool))
    }

    /// The reason for the refusal.
    pub fn reason(&self) -> &Reason {
        &self.0.reason
    }

    /// The text the model reads instead of a result: at most 600 characters.
    pub fn message(&self) -> String {
        let (because, advice) = self.reason_and_advice();
        let text = self.explain(&because, Some(&advice));
        shorten(&(text + &advice), BLOCK_MESSAGE_CHARS)
    }

    /// The same without advice, for a person who asks whether the skill allows the call.
    pub fn for_people(&self) -> String {
        self.explain(&self.reason_and_advice().0, None)
    }

    /// What is not allowed and why, and as much of what is allowed as `advice` leaves room for.
    fn explain(&self, because: &str, advice: Option<&str>) -> String {
        let mut text = format!("`{}` is not allowed", brief(&self.0.tool, 64));
        if let Some((kind, part)) = &self.0.part {
            let _ = write!(text, " for {kind} `{}`", brief(part, 120));
        }
        text.push_str(because);
        if !self.0.allowed.is_empty() {
            let taken = advice.map_or(0, |advice| text.chars().count() + advice.chars().count());
            let room = BLOCK_MESSAGE_CHARS.saturating_sub(taken);
            text.push_str(&list(&self.0.allowed, room));
        }
        text
    }

    /// Why it is refused, and what to do instead.
    fn reason_and_advice(&self) -> (String, String) {
        const SIMPLER: &str = " Write it more simply, or tell the user that it cannot be checked.";
        let instead = match &self.0.instead {
            Some(instead) => format!(" {instead}"),
            None => DEFAULT_ADVICE.to_owned(),
        };
        let to_people = if self.0.host_is_chibi {
            " Use skill_marketplace, or tell the user which command to run."
        } else {
            " Tell the user the command."
        };
        let while_active = |skill: &str, why: &str| {
            let (skill, why) = (brief(skill, 64), brief(why, 200));
            format!(" while the skill `{skill}` is active: {why}.")
        };
        match &self.0.reason {
            Reason::NotGranted { skill, why } => {
                let why = match why.as_str() {
                    "" => String::new(),
                    why => format!(" ({})", brief(why, 120)),
                };
                let active = brief(skill, 64);
                let because = format!(": the skill `{active}` does not permit it{why}.");
                // An agent shows the person this same text; in chibi they get one of their own.
                let next = if self.0.host_is_chibi || self.0.instead.is_some() {
                    instead
                } else {
                    let instead = instead.trim_end_matches('.');
                    format!("{instead}: `agent-skills suggest {active}` shows the missing entries.")
                };
                (because, next)
            }
            Reason::Denied(CitedRule { source, rule }) => {
                let (source, rule) = (brief(source, 64), brief(rule, 80));
                let advice = " Do it another way, or tell the user that a rule denies it.";
                let because = format!(": `{source}` denies it with the rule `{rule}`.");
                (because, advice.into())
            }
            Reason::Protected { skill, why } => (while_active(skill, why), instead),
            Reason::Unclear { skill, why } => (while_active(skill, why), SIMPLER.into()),
            Reason::OurProgram => (
                ": while a skill or policy restricts tools, only a person at a terminal may run agent-skills."
                    .into(),
                to_people.into(),
            ),
            Reason::TooMuchWork => (": checking it would take too long.".into(), SIMPLER.into()),
            Reason::ForPeople => (
                ": this tool is for people at a terminal.".into(),
                to_people.into(),
            ),
            Reason::UnreadableState => (
                ": the record of active skills cannot be read, so only reading is permitted."
                    .into(),
                " The user's next prompt resets it; so does `agent-skills deactivate`.".into(),
            ),
        }
    }
}

/// As many names as fit, and the number of those left out.
fn list(names: &[String], room: usize) -> String {
    let mut text = " Allowed: ".to_owned();
    let mut shown = 0;
    for name in names.iter().take(NAMED) {
        let name = brief(name, 60);
        if text.chars().count() + name.chars().count() + 20 > room {
            break;
        }
        if shown > 0 {
            text.push_str(", ");
        }
        text.push_str(&name);
        shown += 1;
    }
    if shown < names.len() {
        let _ = write!(text, " and {} more", names.len() - shown);
    }
    text.push('.');
    text
}

/// One line of at most `max` characters that is safe between backticks.
fn brief(text: &str, max: usize) -> String {
    let is_plain = |byte: u8| byte != b'`' && (byte == b' ' || byte.is_ascii_graphic());
    if text.len() <= max && text.bytes().all(is_plain) {
        return text.trim().to_owned();
    }
    let plain = |c: char| match c {
        '`' => '\'',
        c if c.is_control() => ' ',
        c => c,
    };
    let line: String = text.trim().chars().map(plain).collect();
    shorten(&line, max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn not_granted(skill: &str) -> Refusal {
        let reason = Reason::NotGranted {
            skill: skill.to_owned(),
            why: String::new(),
        };
        Refusal::new("shell_exec", reason)
    }

    #[test]
    fn it_says_what_failed_what_is_allowed_and_what_to_do() {
        // What the refused tool may do comes first.
        let names = ["file_head", "shell_exec(git:*)"]
            .map(str::to_owned)
            .to_vec();
        let refusal = not_granted("pdf")
            .part("subcommand", "rm -rf x")
            .allowed(names);
        assert_eq!(
            refusal.message(),
            "`shell_exec` is not allowed for subcommand `rm -rf x`: the skill `pdf` does \
             not permit it. Allowed: shell_exec(git:*), file_head. Use an allowed tool, or tell \
             the user that the skill does not permit this."
        );
        let message = refusal.clone().instead("Do y.".into()).message();
        assert!(message.ends_with("file_head. Do y."), "{message}");
        // An agent's person reads the same text as its model.
        let message = refusal.in_agent("Bash", vec!["Read".into()]).message();
        let next = ": `agent-skills suggest pdf` shows the missing entries.";
        assert!(message.ends_with(next), "{message}");
    }

    #[test]
    fn eight_names_are_shown_and_the_rest_is_counted() {
        let names = (0..20).map(|i| format!("tool_{i}")).collect();
        let message = not_granted("pdf").allowed(names).message();
        assert!(message.contains("tool_7 and 12 more."), "{message}");
        let names = vec!["x".repeat(60); 8];
        let message = not_granted("pdf").allowed(names).message();
        assert!(message.contains(" more. Use"), "{message}");
    }

    #[test]
    fn a_message_is_one_paragraph_of_at_most_600_characters() {
        let long = "x`y\n".repeat(500);
        let refusal = not_granted(&long)
            .part("subcommand", &long)
            .allowed(vec![long.clone(); 30]);
        let message = refusal.message();
        assert!(message.chars().count() <= BLOCK_MESSAGE_CHARS, "{message}");
        assert!(!message.contains('\n'));
        assert!(message.contains("not allowed"), "{message}");
        assert!(message.ends_with(" does not permit this."), "{message}");
    }
}
