//! Codex CLI (docs/hosts.md#codex): the schemas in release 0.169.0, and its sources.

use super::claude_code;
use super::table::{Does, Form, Injects, Keys, Mcp, Moment, Prompts, Serves, Skills, Table, tool};
use crate::host::shell::{Language, Shell};

pub(super) static TABLE: Table = Table {
    keys: Keys {
        prompt: "turn_id",
        ..claude_code::KEYS
    },
    events: &[
        ("PreToolUse", Moment::BeforeTool),
        ("UserPromptSubmit", Moment::Prompt),
        ("SessionEnd", Moment::End),
    ],
    prompts: Prompts::ByIdentity,
    tools: &[
        tool("Bash", Does::Shell("command", &[])),
        tool("apply_patch", Does::Patch("command")),
        tool("view_image", Does::Read(&["path"])),
        tool("spawn_agent", Does::SubAgent("agent_type")),
        tool("collaborationspawn_agent", Does::SubAgent("agent_type")),
        tool("update_plan", Does::Todo),
    ],
    mcp: Mcp::DoubleUnderscores,
    shell: Shell {
        language: Language::BashOrZsh,
        persists: false,
    },
    form: Form::Claude,
    serves: Serves {
        grant: false,
        ask: false,
        rewrite: false,
    },
    project: &[],
    skills: Skills {
        enterprise: &["/etc/codex/skills"],
        personal: &[".agents/skills", ".codex/skills"],
        project: &[".agents/skills", ".codex/skills"],
        project_first: true,
        plugins: &[".codex/plugins"],
        nested: false,
    },
    injects: Injects::No,
    reads_activate: true,
    // `write_stdin` has no hook (openai/codex#20204).
    types_unseen: true,
};
