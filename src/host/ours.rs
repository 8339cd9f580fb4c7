//! What this program adds to the host: its tools, by name, and a variable.

/// Finds and installs skills; it carries the hooks.
pub const MARKETPLACE: &str = "skill_marketplace";
/// Reads a skill's bundled files.
pub const READ_FILE: &str = "read_skill_file";
/// Runs a skill's bundled scripts.
pub const RUN_SCRIPT: &str = "run_skill_script";
/// Activates any skill by name, if there are too many for one tool each.
pub const SKILL: &str = "skill";
/// Shows what is active, loads several skills at once, and unloads skills.
pub const SESSION: &str = "skill_session";
/// Proposes a change to a skill; the user decides about it.
pub const PROPOSE: &str = "propose_skill_update";
/// Proposes a new skill; the user decides about it.
pub const CREATE: &str = "create_skill";
/// The command line, for people: `chibi -p agent-skills …` looks up a tool of this name.
pub const DIRECT: &str = "agent-skills";

/// Tells a process that it runs on behalf of a host's call.
pub const BY_HOST: &str = "AGENT_SKILLS_BY_HOST";

/// The tools that exist regardless of what is installed, in schema order.
pub const FIXED: [&str; 7] = [
    MARKETPLACE,
    READ_FILE,
    RUN_SCRIPT,
    SESSION,
    DIRECT,
    PROPOSE,
    CREATE,
];

/// Whether a tool is or could be ours: the names of our remaining tools all begin with [`SKILL`].
pub fn is_ours(tool: &str) -> bool {
    FIXED.contains(&tool) || tool.starts_with(SKILL)
}
