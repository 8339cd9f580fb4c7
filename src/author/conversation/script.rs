//! The file format of a conversation: its steps, the expected answer of each, and how the actual one
//! differs.

use crate::author::prelude::*;
use crate::sys::text::in_plain_words;
use skill_format::{deepest_bracket, limits::FRONTMATTER_BRACKETS};

/// A conversation as its author wrote it.
#[derive(Debug)]
pub struct Conversation {
    /// Its path.
    pub file: PathBuf,
    pub(super) script: ConversationFile,
}

/// The host generations that play it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HostChoice {
    /// All of them, one after the other.
    #[default]
    Both,
    /// chibi 0.7 and later.
    Stdin,
    /// chibi up to 0.6.
    Environment,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping")]
pub struct ConversationFile {
    #[serde(default)]
    pub host: HostChoice,
    /// Directories, relative to the file.
    pub skills: Vec<PathBuf>,
    /// Files of the project, by path.
    #[serde(default)]
    pub files: BTreeMap<PathBuf, String>,
    /// The text of a `config.toml`.
    #[serde(default)]
    pub config: String,
    pub steps: Vec<ConversationStep>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConversationStep {
    /// The user's prompt; it starts a new run of the host.
    pub prompt: Option<String>,
    /// The id of the conversation that a prompt belongs to.
    pub context: Option<String>,
    /// The tool that the model calls.
    pub call: Option<String>,
    /// Its arguments.
    #[serde(default)]
    pub arguments: Option<Value>,
    /// The result of a tool that is not ours.
    pub result: Option<String>,
    #[serde(default)]
    pub expect: Expect,
}

impl Conversation {
    /// Reads a file; `.json` is JSON, everything else YAML.
    ///
    /// # Errors
    /// When it cannot be read or is not a conversation.
    pub fn read(file: &Path) -> Result<Self> {
        let bytes = files::read_capped(file, limits::CONVERSATION).map_err(|error| {
            Error::io("read", file, &error).hint(
                "give a file with a conversation; `agent-skills new NAME` writes one in NAME/tests",
            )
        })?;
        let wrong = |why: &dyn std::fmt::Display| {
            let why = in_plain_words(&why.to_string());
            Error::new(format!("`{}` is not a conversation: {why}", file.display())).hint(
                "it has `skills` and `steps` with `prompt` or `call`; `agent-skills new NAME` writes one in NAME/tests",
            )
        };
        let text = String::from_utf8(bytes).map_err(|error| wrong(&error))?;
        let most = FRONTMATTER_BRACKETS;
        // Both formats are parsed to a plain value first, so that the fields are read in one way.
        let value: Value = if is_json(file) {
            serde_json::from_str(&text).map_err(|error| wrong(&error))?
        } else if deepest_bracket(&text) > most {
            // The YAML parser's time is quadratic in the nesting.
            return Err(wrong(&format!(
                "more than {most} brackets are open at once"
            )));
        } else {
            serde_yaml::from_str(&text).map_err(|error| wrong(&error))?
        };
        let script: ConversationFile =
            serde_json::from_value(value).map_err(|error| wrong(&error))?;
        let is_unclear = |step: &ConversationStep| step.prompt.is_some() == step.call.is_some();
        if let Some(at) = script.steps.iter().position(is_unclear) {
            let step = at + 1;
            let why = format!("step {step} has neither or both of `prompt` and `call`");
            return Err(wrong(&why));
        }
        if script.steps.is_empty() || script.skills.is_empty() {
            return Err(wrong(&"it has no steps, or no skills"));
        }
        Ok(Self {
            file: file.to_owned(),
            script,
        })
    }
}

fn is_json(file: &Path) -> bool {
    file.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}

/// Expectations; fields left out are not checked.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Expect {
    /// Texts that the answer or refusal must contain.
    contains: Option<OneOrSeveral>,
    /// Texts that it must not contain.
    lacks: Option<OneOrSeveral>,
    /// The whole answer, apart from white space at its ends.
    pub(super) equals: Option<String>,
    blocked: Option<bool>,
    /// Whether a tool of ours returns an error.
    error: Option<bool>,
    /// The arguments that the tool finally receives.
    arguments: Option<Value>,
    /// Tools that the model is offered.
    tools: Option<OneOrSeveral>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrSeveral {
    One(String),
    Several(Vec<String>),
}

fn each(parts: Option<&OneOrSeveral>) -> std::slice::Iter<'_, String> {
    match parts {
        None => [].iter(),
        Some(OneOrSeveral::One(text)) => std::slice::from_ref(text).iter(),
        Some(OneOrSeveral::Several(texts)) => texts.iter(),
    }
}

/// The result of a step.
#[derive(Debug, Default)]
pub struct StepOutcome {
    pub answer: String,
    pub blocked: bool,
    pub arguments: Value,
    pub tools: Vec<String>,
}

impl Expect {
    /// Each difference between the outcome and the expectation.
    pub fn failures(&self, outcome: &StepOutcome) -> Vec<String> {
        let answer = &outcome.answer;
        let mut failures = Vec::new();
        let mut unless = |is_met: bool, text| failures.extend((!is_met).then_some(text));
        let is = |expected: Option<bool>, actual| expected.is_none_or(|it| it == actual);
        let refused = "the call was to be allowed, and it was refused";
        let allowed = "the call was to be refused, and it was allowed";
        let was = if outcome.blocked { refused } else { allowed };
        unless(is(self.blocked, outcome.blocked), was.to_owned());
        for part in each(self.contains.as_ref()) {
            let text = format!("the answer lacks `{}`", one_line(part));
            unless(answer.contains(part), text);
        }
        for part in each(self.lacks.as_ref()) {
            let text = format!("the answer has `{}`", one_line(part));
            unless(!answer.contains(part), text);
        }
        let equals = self.equals.as_ref();
        let is_equal = equals.is_none_or(|text| text.trim() == answer.trim());
        unless(is_equal, "the answer is not the expected one".to_owned());
        let is_error = answer.starts_with("Error: ");
        let error = "the tool answered an error";
        let none = "the tool should answer with an error, but it did not";
        let was = if is_error { error } else { none };
        unless(is(self.error, is_error), was.to_owned());
        let arguments = self.arguments.as_ref();
        let is_same = arguments.is_none_or(|given| *given == outcome.arguments);
        let text = format!("the arguments became {}", outcome.arguments);
        unless(is_same, text);
        for tool in each(self.tools.as_ref()) {
            let text = format!("the model is not offered `{}`", one_line(tool));
            unless(outcome.tools.contains(tool), text);
        }
        failures
    }
}
