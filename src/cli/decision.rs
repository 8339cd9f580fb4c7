//! Who may run a command: the answers that the table of `decisions` gives.

use super::options::Findings;

/// Who may run a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// Anybody: it only reads, or writes what any editor could.
    Anyone,
    /// It installs or changes skills: anybody outside a host; below a host, only what the model's
    /// tool allows.
    Installer,
    /// It removes a skill: a person, or the model's tool unless the skill restricts something or is
    /// always on.
    Remover,
    /// It disconnects an agent: a person, or a script while no agent is at work.
    Disconnector,
    /// A person.
    Person,
}

/// The decision about a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Who may run it.
    pub who: Who,
    /// Whether the model's tool offers it, but without flags that give consent or choose a place.
    pub for_models: bool,
}

impl Decision {
    pub(super) fn new(who: Who) -> Self {
        Self {
            who,
            for_models: false,
        }
    }

    pub(super) fn anyone() -> Self {
        Self::new(Who::Anyone)
    }

    /// An installer decides; accepting the scan's findings needs a person. Models may if it
    /// `is_plain`.
    pub(super) fn accepting(findings: Findings, is_plain: bool) -> Self {
        if findings.accept_findings {
            return Self::new(Who::Person);
        }
        Self::new(Who::Installer).for_models(is_plain)
    }

    pub(super) fn for_models(mut self, is: bool) -> Self {
        self.for_models = is;
        self
    }
}
