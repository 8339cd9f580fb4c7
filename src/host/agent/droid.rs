//! Factory droid (docs/hosts.md#droid), by its documentation only: Claude Code's hooks, with names of
//! its own for some tools.

use super::claude_code;
use super::settings::{Command, Format, Handler, Home, Off, Settings, Switch, Watched};
use super::table::{
    Around, Called, Deep, Does, First, Form, Injects, Keys, Mcp, Named, Prompts, Serves, Skills,
    Started, Table, tool,
};
use crate::host::shell::{Language, Shell};

pub(super) static TABLE: Table = Table {
    keys: Keys {
        prompt: "",
        ..claude_code::KEYS
    },
    events: claude_code::EVENTS,
    prompts: Prompts::ByEvent,
    own_prompts: claude_code::OWN_PROMPTS,
    tools: &[
        tool("Execute", Does::Shell("command", &[])),
        tool("Read", Does::Read(&["file_path"])),
        tool("Create", Does::Write(&["file_path"])),
        tool("Write", Does::Write(&["file_path"])),
        tool("Edit", Does::Edit(&["file_path"])),
        tool("MultiEdit", Does::Edit(&["file_path"])),
        tool("ApplyPatch", Does::Patch("input")),
        tool("LS", Does::List(&["directory_path", "path"])),
        tool("Glob", Does::Find(&["folder", "path"])),
        tool("Grep", Does::Search(&["path"])),
        tool("FetchUrl", Does::Fetch("url")),
        tool("WebSearch", Does::WebSearch),
        tool("Task", Does::SubAgent("subagent_type")),
        tool("Skill", Does::Skill("skill")),
        tool("TodoWrite", Does::Todo),
    ],
    mcp: Mcp::DoubleUnderscores,
    shell: Shell {
        language: Language::BashOrZsh,
        persists: false,
    },
    users_shell: true,
    reads_by_shell: false,
    form: Form::Claude { tells: false },
    serves: Serves {
        grant: false,
        ask: false,
        rewrite: None,
    },
    started: Started::Told(&["FACTORY_PROJECT_DIR"]),
    skills: Skills {
        enterprise: &[],
        personal: &[".factory/skills", ".agents/skills"],
        project: &[".factory/skills", ".agents/skills"],
        named: Named::Unknown,
        folds_case: false,
        first: First::Unknown,
        commands: &[],
        plugins: &[],
        plugin_mark: "",
        deep: Deep {
            levels: 1,
            hidden: true,
            in_skills: false,
            itself: false,
        },
        around: Around {
            below: false,
            above: false,
        },
        shipped: &[],
    },
    injects: Injects::No,
    runs_hooks: false,
    reads_activate: false,
    // A typed name comes as the prompt itself.
    typed: &[Called::First('/')],
    types_unseen: false,
};

/// Its configuration: Claude Code's format in a file of its own (not tried). Of several hooks the first
/// decision wins there.
pub(super) const SETTINGS: Settings = Settings {
    programs: &["droid"],
    package: None,
    editor: None,
    home: Home {
        variable: None,
        in_variable: "",
        below_home: ".factory",
    },
    user: "settings.json",
    project: ".factory/settings.json",
    project_note: "others who share the repository read this file too: where this program is missing, \
                   droid goes on without it",
    managed: None,
    format: Format::Hooks(Handler {
        grouped: true,
        versioned: &[],
        typed: true,
        command: Command::Shell,
        timeout: ("timeout", 10),
        with: &[],
    }),
    gate: Some("*"),
    after: Some("Skill"),
    unregistered: &["UserPromptExpansion"],
    watched: Watched {
        user: &[
            "settings.json",
            "settings.local.json",
            "hooks.json",
            "hooks",
            "plugins",
            "droids",
            "commands",
        ],
        home: &[],
        project: &[
            ".factory/settings.json",
            ".factory/settings.local.json",
            ".factory/hooks.json",
            ".factory/hooks",
            ".factory/plugins",
            ".factory/droids",
            ".factory/commands",
        ],
        machine: &[],
    },
    trust: None,
    switches: &[Switch {
        user: &["settings.json"],
        project: &[".factory/settings.json"],
        key: &["disableAllHooks"],
        off: Off::Is(true),
    }],
    unseen: &[],
};
