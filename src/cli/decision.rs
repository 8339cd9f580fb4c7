//! What a command does: the answers that the table of `decisions` gives.

use super::options::Findings;

/// What a command does, which says who may run it (docs/policy.md#what-only-a-person-decides).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// It reads, or writes what any editor could: anybody.
    Reads,
    /// It changes what is installed or connected: anybody who is below no agent, by a yes; below one,
    /// only what the model's tool allows.
    Changes,
    /// It loosens, trusts or vouches: a person at a terminal that is below no agent.
    Decides,
}

/// The decision about a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// What it does.
    pub class: Class,
    /// Whether the model's tool offers it, but without flags that give consent or choose a place.
    pub for_models: bool,
}

impl Decision {
    pub(super) fn new(class: Class) -> Self {
        Self {
            class,
            for_models: false,
        }
    }

    pub(super) fn reads() -> Self {
        Self::new(Class::Reads)
    }

    /// A change, but accepting the scan's findings decides. Models may if it `is_plain`.
    pub(super) fn accepting(findings: Findings, is_plain: bool) -> Self {
        if findings.accept_findings {
            return Self::new(Class::Decides);
        }
        Self::new(Class::Changes).for_models(is_plain)
    }

    pub(super) fn for_models(mut self, is: bool) -> Self {
        self.for_models = is;
        self
    }
}
