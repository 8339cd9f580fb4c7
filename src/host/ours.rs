//! The tools this program adds to the host's, by name.

/// Finding and installing skills; it carries the hooks.
pub const MARKETPLACE: &str = "skill_marketplace";
/// Reading a skill's bundled files.
pub const READ_FILE: &str = "read_skill_file";
/// Running a skill's bundled scripts.
pub const RUN_SCRIPT: &str = "run_skill_script";
/// Activating any skill by name, where there are too many for a tool each.
pub const SKILL: &str = "skill";
/// What is active: loading several skills at once, and unloading.
pub const SESSION: &str = "skill_session";
/// Proposing a change to a skill, which its user decides about.
pub const PROPOSE: &str = "propose_skill_update";
/// Proposing a new skill, which its user decides about.
pub const CREATE: &str = "create_skill";
/// The command line, for people: `chibi -p agent-skills …` looks up a tool of that name.
pub const DIRECT: &str = "agent-skills";

/// Every tool that is there whatever is installed, in the order of the schema.
pub const FIXED: [&str; 7] = [
    MARKETPLACE,
    READ_FILE,
    RUN_SCRIPT,
    SESSION,
    DIRECT,
    PROPOSE,
    CREATE,
];

/// Whether a tool is ours, or could be: every other of ours has a name that begins like that.
pub fn is_ours(tool: &str) -> bool {
    FIXED.contains(&tool) || tool.starts_with(SKILL)
}
