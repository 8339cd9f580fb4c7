//! The expected answer of a step, and how the actual one differs.

use serde::Deserialize;
use serde_json::Value;

use crate::skill::one_line;

/// Expectations; fields left out are not checked.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Expect {
    /// Texts that the answer or refusal must contain.
    contains: Option<Parts>,
    /// Texts that it must not contain.
    lacks: Option<Parts>,
    /// The whole answer, apart from white space at its ends.
    equals: Option<String>,
    blocked: Option<bool>,
    /// Whether a tool of ours returns an error.
    error: Option<bool>,
    /// The arguments that the tool finally receives.
    arguments: Option<Value>,
    /// Tools that the model is offered.
    tools: Option<Parts>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Parts {
    One(String),
    Several(Vec<String>),
}

fn each(parts: Option<&Parts>) -> std::slice::Iter<'_, String> {
    match parts {
        None => [].iter(),
        Some(Parts::One(text)) => std::slice::from_ref(text).iter(),
        Some(Parts::Several(texts)) => texts.iter(),
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
        let answer = &outcome.answer;
        let is_said = |part: &&String| answer.contains(part.as_str());
        let is_offered = |tool: &&String| outcome.tools.contains(tool);
        let differs = |expected: Option<bool>, actual: bool, [no, yes]: [&'static str; 2]| {
            let differs = expected.is_some_and(|expected| expected != actual);
            differs.then_some(if actual { yes } else { no })
        };
        let blocked = [
            "the call was to be refused, and it was allowed",
            "the call was to be allowed, and it was refused",
        ];
        let error = [
            "the tool was to answer an error, and it did not",
            "the tool answered an error",
        ];
        let blocked = differs(self.blocked, outcome.blocked, blocked).map(str::to_owned);
        let missing = each(self.contains.as_ref()).filter(|part| !is_said(part));
        let missing = missing.map(|part| format!("the answer lacks `{}`", one_line(part)));
        let unwanted = each(self.lacks.as_ref()).filter(is_said);
        let unwanted = unwanted.map(|part| format!("the answer has `{}`", one_line(part)));
        let other = self.equals.iter();
        let other = other.filter(|text| text.trim() != answer.trim());
        let other = other.map(|text| format!("the answer is not `{}`", one_line(text)));
        let error = differs(self.error, answer.starts_with("Error: "), error).map(str::to_owned);
        let arguments = self.arguments.iter();
        let arguments = arguments.filter(|given| **given != outcome.arguments);
        let arguments = arguments.map(|_| format!("the arguments became {}", outcome.arguments));
        let tools = each(self.tools.as_ref()).filter(|tool| !is_offered(tool));
        let tools = tools.map(|tool| format!("the model is not offered `{}`", one_line(tool)));
        let answers = blocked
            .into_iter()
            .chain(missing)
            .chain(unwanted)
            .chain(other);
        answers.chain(error).chain(arguments).chain(tools).collect()
    }
}
