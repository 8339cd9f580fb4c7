//! Cursor (docs/hosts.md#cursor), by its documentation of hooks only.

use super::Scope;
use super::table::{
    Called, Does, Form, Format, Handler, Home, Keys, Literal, Moment, Skills, Started, Table, Tool,
    tools,
};
use crate::host::shell::{BASH_OR_ZSH, Shell};
use crate::sys::name_list::Words;

#[rustfmt::skip]
const TOOLS: &[Tool] = &[
    tools(Does::Shell, &["command", "cwd", "working_directory"], &["Shell"]),
    tools(Does::Read, &["file_path", "path"], &["Read"]),
    tools(Does::Write, &["file_path", "path"], &["Write"]),
    tools(Does::Edit, &["file_path", "path"], &["Edit", "Delete"]),
    tools(Does::Search, &["path"], &["Grep"]),
    tools(Does::Find, &["path", "target_directory"], &["Glob"]),
    tools(Does::List, &["path", "target_directory"], &["LS"]),
    tools(Does::Fetch, &["url"], &["WebFetch"]),
    tools(Does::WebSearch, &[], &["WebSearch"]),
    tools(Does::SubAgent, &["subagent_type"], &["Task"]),
    tools(Does::Todo, &[], &["TodoWrite"]),
];

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
    tools: TOOLS,
    shell: Shell {
        persists: true,
        ..BASH_OR_ZSH
    },
    users_shell: true,
    form: Form::Permission,
    asks: true,
    started: Started::Told(&["CURSOR_PROJECT_DIR", "CLAUDE_PROJECT_DIR"]),
    skills: Skills {
        personal: Words(".cursor/skills .agents/skills .claude/skills .codex/skills"),
        project: Words(".cursor/skills .agents/skills .claude/skills .codex/skills"),
        ..Skills::NONE
    },
    reads_activate: true,
    typed: &[Called::First('/')],
    // Its configuration (cursor.com/docs, hooks; not tried).
    programs: &["cursor-agent"],
    editor: Some("cursor"),
    home: Home::new(None, "", ".cursor"),
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
    watched: Words("hooks.json permissions.json plugins cli-config.json extensions"),
    watched_project: Words(
        ".cursor/hooks.json .cursor/permissions.json .cursor/plugins .cursor/cli.json",
    ),
    watched_machine: "/etc/cursor",
    ..Table::USUAL
};
