//! Tools for skill authors: rules with stable codes, safe fixes, a new skill's first files, packages,
//! and conversations that test a skill. This room knows skills and the host's terms; other rooms pass
//! in their results as [`LintFinding`]s.

mod conversation;
mod files;
mod finding;
mod fix;
mod lint;
mod markdown;
mod package;
mod prelude;
mod references;
mod scaffold;
mod source;
mod tool_list;

pub use conversation::{Conversation, PlayedConversation, PlayedStep};

pub use files::programs;
pub use finding::{LintFinding, ReportFormat, render};
pub use fix::fix;
pub use lint::lint;
pub use markdown::{commands, documented, is_negated};
pub use package::{Package, manifest, package};
pub use scaffold::{NewFile, NewSkill, ScriptLanguage, files as scaffold};

pub use source::{SkillSource, is_skill_file, skills_at};
pub use tool_list::with_entries;
