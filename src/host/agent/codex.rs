//! Codex CLI (docs/hosts.md#codex): the schemas in release 0.169.0, and its sources.

use super::settings::{Format, Handler, Home, Off, Settings, Switch, Watched};
use super::table::{Called, Deep, Does, First, Keys, Moment, Named, Skills, Table, tool};
use crate::host::shell::BASH_OR_ZSH;
use crate::sys::name_list::Words;

pub(super) static TABLE: Table = Table {
    keys: Keys {
        prompt: "turn_id",
        ..Keys::USUAL
    },
    events: &[
        ("PreToolUse", Moment::BeforeTool),
        ("UserPromptSubmit", Moment::Prompt),
        ("SessionEnd", Moment::End),
    ],
    tools: &[
        tool("Bash", Does::Shell, &["command"]),
        tool("apply_patch", Does::Patch, &["command"]),
        tool("view_image", Does::Read, &["path"]),
        tool("spawn_agent", Does::SubAgent, &["agent_type"]),
        tool("collaborationspawn_agent", Does::SubAgent, &["agent_type"]),
        tool("update_plan", Does::Todo, &[]),
        tool("tool_search", Does::Harmless, &[]),
        tool("collaborationwait_agent", Does::Harmless, &[]),
        tool("collaborationlist_agents", Does::Harmless, &[]),
        tool("collaborationinterrupt_agent", Does::Harmless, &[]),
    ],
    shell: BASH_OR_ZSH,
    users_shell: true,
    reads_by_shell: true,
    skills: Skills {
        enterprise: &["/etc/codex/skills"],
        personal: &[".agents/skills", ".codex/skills"],
        project: &[".agents/skills", ".codex/skills"],
        named: Named::FrontmatterOrDirectory,
        first: First::None,
        plugins: &[".codex/plugins"],
        deep: Deep {
            levels: 6,
            hidden: false,
            in_skills: true,
            itself: true,
        },
        ..Skills::NONE
    },
    reads_activate: true,
    typed: &[Called::Anywhere('$')],
    // `write_stdin` has no hook (openai/codex#20204).
    types_unseen: true,
    ..Table::USUAL
};

/// Its configuration (developers.openai.com/codex/hooks.md; tried with 0.169.0). Its `hooks.json`
/// takes no other keys than `hooks` and `description`.
pub(super) const SETTINGS: Settings = Settings {
    programs: &["codex"],
    package: Some("@openai/codex"),
    editor: None,
    home: Home {
        variable: Some("CODEX_HOME"),
        in_variable: "",
        below_home: ".codex",
    },
    user: "hooks.json",
    project: ".codex/hooks.json",
    project_note: "others who share the repository are asked by Codex to trust this entry, which \
                   names a program on your machine; where that is missing, Codex goes on without it",
    managed: Some("/etc/codex/requirements.toml"),
    format: Format::Hooks(Handler::USUAL),
    gate: Some("*"),
    after: None,
    unregistered: &["SessionEnd"],
    watched: Watched {
        user: Words("config.toml hooks.json rules requirements.toml managed_config.toml plugins"),
        home: Words(""),
        project: Words(
            ".codex/config.toml .codex/hooks.json .codex/rules .codex/requirements.toml \
             .codex/managed_config.toml",
        ),
        machine: Words("/etc/codex"),
    },
    trust: Some(
        "start codex, type /hooks, look at the entries that run `agent-skills hook codex` and trust \
         them: until then Codex skips them silently, and again after each change to them",
    ),
    // The second is its name in earlier versions, which still counts.
    switches: &[
        SWITCH,
        Switch {
            key: &["features", "codex_hooks"],
            ..SWITCH
        },
    ],
    unseen: &[
        "what is typed into a running command (`write_stdin`); while a skill has a list, a call that asks for a terminal is refused",
        "searches of the web that its provider makes",
    ],
};

const SWITCH: Switch = Switch {
    user: &["config.toml"],
    project: &[".codex/config.toml"],
    key: &["features", "hooks"],
    off: Off::Is(false),
};
