//! Cursor (docs/hosts.md#cursor), by its documentation of hooks only.

use super::Scope;
use super::settings::{Format, Handler, Home, Literal, Settings, Watched};
use super::table::{Called, Does, Form, Keys, Moment, Serves, Skills, Started, Table, tool};
use crate::host::shell::{BASH_OR_ZSH, Shell};
use crate::sys::name_list::Words;

pub(super) static TABLE: Table = Table {
    keys: Keys {
        session: "conversation_id",
        subagent: "",
        prompt: "generation_id",
        ..Keys::USUAL
    },
    events: &[
        ("preToolUse", Moment::BeforeTool),
        ("beforeSubmitPrompt", Moment::Prompt),
        ("sessionEnd", Moment::End),
    ],
    tools: &[
        tool(
            "Shell",
            Does::Shell,
            &["command", "cwd", "working_directory"],
        ),
        tool("Read", Does::Read, &["file_path", "path"]),
        tool("Write", Does::Write, &["file_path", "path"]),
        tool("Edit", Does::Edit, &["file_path", "path"]),
        tool("Delete", Does::Edit, &["file_path", "path"]),
        tool("Grep", Does::Search, &["path"]),
        tool("Glob", Does::Find, &["path", "target_directory"]),
        tool("LS", Does::List, &["path", "target_directory"]),
        tool("WebFetch", Does::Fetch, &["url"]),
        tool("WebSearch", Does::WebSearch, &[]),
        tool("Task", Does::SubAgent, &["subagent_type"]),
        tool("TodoWrite", Does::Todo, &[]),
    ],
    shell: Shell {
        persists: true,
        ..BASH_OR_ZSH
    },
    users_shell: true,
    form: Form::Permission,
    serves: Serves {
        ask: true,
        ..Serves::RESTRICTING
    },
    started: Started::Told(&["CURSOR_PROJECT_DIR", "CLAUDE_PROJECT_DIR"]),
    skills: Skills {
        personal: &[
            ".cursor/skills",
            ".agents/skills",
            ".claude/skills",
            ".codex/skills",
        ],
        project: &[
            ".cursor/skills",
            ".agents/skills",
            ".claude/skills",
            ".codex/skills",
        ],
        ..Skills::NONE
    },
    reads_activate: true,
    typed: &[Called::First('/')],
    ..Table::USUAL
};

/// Its configuration (cursor.com/docs, hooks; not tried).
pub(super) const SETTINGS: Settings = Settings {
    programs: &["cursor-agent"],
    package: None,
    editor: Some("cursor"),
    home: Home {
        variable: None,
        in_variable: "",
        below_home: ".cursor",
    },
    user: "hooks.json",
    project: ".cursor/hooks.json",
    project_note: "others who share the repository read this file too: where this program is missing, \
                   Cursor blocks every call of theirs",
    managed: Some("/etc/cursor/hooks.json"),
    format: Format::Hooks(Handler {
        grouped: false,
        versioned: &Scope::ALL,
        typed: false,
        with: &[("failClosed", Literal::True)],
        ..Handler::USUAL
    }),
    gate: None,
    after: None,
    unregistered: &[],
    watched: Watched {
        user: Words("hooks.json permissions.json plugins cli-config.json extensions"),
        home: Words(""),
        project: Words(
            ".cursor/hooks.json .cursor/permissions.json .cursor/plugins .cursor/cli.json",
        ),
        machine: Words("/etc/cursor"),
    },
    trust: None,
    switches: &[],
    unseen: &[],
};
