//! Decisions on an agent's calls, in its own words.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::explain::Reason;
use crate::path::normalise;
use crate::vocabulary::{TranslatedCall, Vocabulary};
use crate::{Decision, Outcome, PathResolver, Refusal, Restriction, RestrictionInputs};
use crate::{ToolCall, decide};

impl RestrictionInputs {
    /// What one skill's `allowed-tools` restricts in a project, with default settings. The list is
    /// written as in the frontmatter: entries separated by blanks or commas. What is not known of the
    /// host's shell ([`RuleDirectories`](crate::RuleDirectories), such as its environment) makes
    /// decisions stricter.
    pub fn of_list(skill: &str, allowed_tools: &str, project: &Path) -> Self {
        let list = Restriction::parse(skill, Some(&[allowed_tools.into()]), &[], project, project);
        let mut inputs = Self::default();
        inputs.restrictions.push(list);
        project.clone_into(&mut inputs.places.project_root);
        project.clone_into(&mut inputs.places.working_dir);
        inputs
    }

    /// Decides about a call in the words of an agent that runs in the working directory: everything
    /// that the call amounts to has to be allowed. A call that cannot be understood is refused.
    ///
    /// ```
    /// use serde_json::json;
    /// use skill_permission::vocabulary::Vocabulary;
    /// use skill_permission::{AsWritten, RestrictionInputs};
    ///
    /// let list = RestrictionInputs::of_list("notes", "Read Edit(text/**)", "/work/project".as_ref());
    /// let edit = json!({"file_path": "text/a.md"});
    /// assert!(list.decide(&Vocabulary::CLAUDE_CODE, "Edit", &edit, &AsWritten).allows());
    /// ```
    pub fn decide(
        &self,
        vocabulary: &Vocabulary,
        tool: &str,
        arguments: &Value,
        resolver: &dyn PathResolver,
    ) -> Decision {
        let mut all = Decision {
            outcome: Outcome::Unrestricted,
            parts: Vec::new(),
        };
        let calls = vocabulary.calls(tool, arguments, &self.places.working_dir);
        let calls = calls.unwrap_or_else(|why| {
            let skill = self.restrictions.last().map(|one| one.source.clone());
            let skill = skill.unwrap_or_default();
            all.outcome = Outcome::Blocked(Refusal::new(tool, Reason::Unclear { skill, why }));
            Vec::new()
        });
        for call in calls {
            let decision = self.decide_translated(&call, resolver);
            all.parts.extend(decision.parts);
            all.outcome = match decision.outcome {
                Outcome::Warned(it) => Outcome::Warned(it.in_agent(tool, self.entries())),
                Outcome::Blocked(it) => Outcome::Blocked(it.in_agent(tool, self.entries())),
                granted => granted,
            };
            if !all.allows() {
                break;
            }
        }
        all
    }

    fn decide_translated(&self, call: &TranslatedCall, resolver: &dyn PathResolver) -> Decision {
        let mut inputs = self.clone();
        inputs.places.working_dir.clone_from(&call.directory);
        inputs.places.shell.persists |= call.persists;
        if call.is_mcp {
            inputs.mcp_tools.insert(call.tool.clone());
        }
        let call = ToolCall::new(&call.tool, &call.arguments);
        decide(&inputs, &call, resolver)
    }
}

/// Paths without symbolic links, such as a caller has resolved before: each is what it says. A
/// caller whose paths may be links implements [`PathResolver`] itself.
#[derive(Debug, Clone, Copy)]
pub struct AsWritten;

impl PathResolver for AsWritten {
    fn canonical(&self, path: &Path) -> Option<PathBuf> {
        path.is_absolute().then(|| normalise(path))
    }

    fn links_in(&self, _: &Path) -> Vec<PathBuf> {
        Vec::new()
    }
}
