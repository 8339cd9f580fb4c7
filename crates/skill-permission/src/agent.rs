//! Decisions on an agent's calls, in its own words.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::evidence::CALL;
use crate::path::normalise;
use crate::vocabulary::{TranslatedCall, Vocabulary};
use crate::{
    Decision, Outcome, Part, PathResolver, Reason, Refusal, Restriction, RestrictionInputs,
    ToolCall, decide,
};

impl RestrictionInputs {
    /// What one skill's `allowed-tools` restricts in a project, with default settings. The list is
    /// written as in the frontmatter: entries separated by blanks or commas.
    pub fn of_list(skill: &str, allowed_tools: &str, project: &Path) -> Self {
        let entries = [allowed_tools.to_owned()];
        let mut inputs = Self {
            restrictions: vec![Restriction::parse(
                skill,
                Some(&entries),
                &[],
                project,
                project,
            )],
            ..Self::default()
        };
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
        let calls = vocabulary.calls(tool, arguments, &self.places.working_dir);
        let mut all = Decision {
            outcome: Outcome::Unrestricted,
            parts: Vec::new(),
        };
        let calls = match calls {
            Ok(calls) => calls,
            Err(why) => {
                let skill = self.restrictions.last();
                let skill = skill.map(|one| one.source.clone()).unwrap_or_default();
                all.parts.push(Part::new(CALL, tool, Err(why.clone())));
                let refusal = Refusal::new(tool, Reason::Unclear { skill, why });
                all.outcome = Outcome::Blocked(refusal);
                return all;
            }
        };
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
        decide(
            &inputs,
            &ToolCall::new(&call.tool, &call.arguments),
            resolver,
        )
    }
}

impl<'a> ToolCall<'a> {
    /// A call of a tool of the host.
    pub fn new(tool: &'a str, arguments: &'a Value) -> Self {
        Self {
            tool,
            arguments,
            ours: None,
            meant: &[],
        }
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
