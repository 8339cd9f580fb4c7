//! Codex CLI (docs/hosts.md#codex): the schemas in release 0.169.0, and its sources.

use super::prelude::*;

#[rustfmt::skip]
const TOOLS: &[AgentTool] = &[
    AgentTool { does: Capability::Shell, keys: &["command"], names: &["Bash"] },
    AgentTool { does: Capability::Patch, keys: &["command"], names: &["apply_patch"] },
    AgentTool { does: Capability::ReadFile, keys: &["path"], names: &["view_image"] },
    AgentTool { does: Capability::SubAgent, keys: &["agent_type"], names: &["spawn_agent", "collaborationspawn_agent"] },
    AgentTool { does: Capability::Todo, keys: &[], names: &["update_plan"] },
    AgentTool { does: Capability::Harmless, keys: &[], names: &["tool_search", "collaborationwait_agent", "collaborationlist_agents", "collaborationinterrupt_agent"] },
];

pub(super) static TABLE: AgentProfile = AgentProfile {
    keys: CallKeys {
        prompt: "turn_id",
        ..CallKeys::USUAL
    },
    events: &[
        ("PreToolUse", EventKind::BeforeTool),
        ("UserPromptSubmit", EventKind::Prompt),
        ("SessionEnd", EventKind::End),
    ],
    vocabulary: Vocabulary::of(TOOLS),
    shell: BASH_OR_ZSH,
    users_shell: true,
    reads_by_shell: true,
    skills: SkillLocations {
        enterprise: Words("/etc/codex/skills"),
        personal: Words(".agents/skills .codex/skills"),
        project: Words(".agents/skills .codex/skills"),
        name_source: NameSource::FrontmatterOrDirectory,
        precedence: PrecedenceOfDuplicates::None,
        plugins: Words(".codex/plugins"),
        levels: 6,
        hidden: false,
        in_skills: true,
        itself: true,
        ..SkillLocations::NONE
    },
    reads_activate: true,
    skill_calls: &[CallSyntax::Anywhere('$')],
    // `write_stdin` has no hook (openai/codex#20204).
    types_unseen: true,
    // Its configuration (developers.openai.com/codex/hooks.md; tried with 0.169.0).
    // Its `hooks.json` takes no other keys than `hooks` and `description`.
    programs: &["codex"],
    package: Some("@openai/codex"),
    home: AgentHome::new(Some("CODEX_HOME"), "", ".codex"),
    user: "hooks.json",
    project: ".codex/hooks.json",
    project_note: "Codex asks others who share the repository to trust this entry, which names a program on your machine; where that is missing, Codex continues without it",
    managed: Some("/etc/codex/requirements.toml"),
    before_tool_pattern: Some("*"),
    unregistered: &["SessionEnd"],
    watched: Words("config.toml hooks.json rules requirements.toml managed_config.toml plugins"),
    watched_project: Words(
        ".codex/config.toml .codex/hooks.json .codex/rules .codex/requirements.toml \
         .codex/managed_config.toml",
    ),
    watched_machine: "/etc/codex",
    trust: Some(
        "start codex, type /hooks, look at the entries that run `agent-skills hook codex` and trust \
         them: until then Codex skips them silently, and again after each change to them",
    ),
    // The second is its name in earlier versions, which still counts.
    off_switches: &[
        ("features.hooks", HooksOffValue::Is(false)),
        ("features.codex_hooks", HooksOffValue::Is(false)),
    ],
    switched_in: Words("config.toml"),
    switched_in_project: Words(".codex/config.toml"),
    unseen: &[
        "what is typed into a running command (`write_stdin`); while a skill has a list, a call that asks for a terminal is refused",
        "searches of the web that its provider makes",
    ],
    ..AgentProfile::USUAL
};
