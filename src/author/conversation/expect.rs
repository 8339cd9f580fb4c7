//! The expected answer of a step, and how the actual one differs.

use serde::Deserialize;
use serde_json::Value;

use crate::skill::one_line;

/// Expectations; fields left out are not checked.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Expect {
    /// Texts that the answer or refusal must contain.
    contains: Parts,
    /// Texts that it must not contain.
    lacks: Parts,
    /// The whole answer, apart from white space at its ends.
    equals: Option<String>,
    blocked: Option<bool>,
    /// Whether a tool of ours returns an error.
    error: Option<bool>,
    /// The arguments that the tool finally receives.
    arguments: Option<Value>,
    /// Tools that the model is offered.
    tools: Parts,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Parts {
    One(String),
    Several(Vec<String>),
}

impl Default for Parts {
    fn default() -> Self {
        Self::Several(Vec::new())
    }
}

impl Parts {
    fn each(&self) -> &[String] {
        match self {
            Self::One(text) => std::slice::from_ref(text),
            Self::Several(texts) => texts,
        }
    }
}

/// The result of a step.
#[derive(Debug, Default)]
pub struct Outcome {
    pub answer: String,
    pub blocked: bool,
    pub arguments: Value,
    pub tools: Vec<String>,
}

impl Expect {
    /// Each difference between the outcome and the expectation.
    pub fn failures(&self, outcome: &Outcome) -> Vec<String> {
        let mut failures = Vec::new();
        let answer = &outcome.answer;
        if let Some(blocked) = self.blocked
            && blocked != outcome.blocked
        {
            failures.push(if blocked {
                "the call was to be refused, and it was allowed".to_owned()
            } else {
                "the call was to be allowed, and it was refused".to_owned()
            });
        }
        for part in self
            .contains
            .each()
            .iter()
            .filter(|part| !answer.contains(part.as_str()))
        {
            failures.push(format!("the answer lacks `{}`", one_line(part)));
        }
        for part in self
            .lacks
            .each()
            .iter()
            .filter(|part| answer.contains(part.as_str()))
        {
            failures.push(format!("the answer has `{}`", one_line(part)));
        }
        if let Some(text) = &self.equals
            && text.trim() != answer.trim()
        {
            failures.push(format!("the answer is not `{}`", one_line(text)));
        }
        let is_error = answer.starts_with("Error: ");
        if let Some(error) = self.error
            && error != is_error
        {
            failures.push(if error {
                "the tool was to answer an error, and it did not".to_owned()
            } else {
                "the tool answered an error".to_owned()
            });
        }
        if let Some(arguments) = &self.arguments
            && *arguments != outcome.arguments
        {
            failures.push(format!("the arguments became {}", outcome.arguments));
        }
        for tool in self
            .tools
            .each()
            .iter()
            .filter(|tool| !outcome.tools.contains(tool))
        {
            failures.push(format!("the model is not offered `{}`", one_line(tool)));
        }
        failures
    }
}
