//! Plugins that we write: the script that opencode loads, and a directory in Claude Code's format.

use serde_json::{Map, json};

use super::entry::Invocation;
use crate::host::agent::Agent;
use crate::host::agent::table::Format;

/// The script, with an empty command.
const SCRIPT: &str = include_str!("opencode.js");
/// The beginning of its line that names the command.
const COMMAND: &str = "const COMMAND = ";

/// The script that runs this.
pub fn script(wanted: &Invocation) -> String {
    let words = json!(wanted.words(Agent::OpenCode));
    SCRIPT.replacen(&format!("{COMMAND}[]"), &format!("{COMMAND}{words}"), 1)
}

/// What a script of ours runs; `None` for anybody else's.
pub fn invocation(script: &str) -> Option<Invocation> {
    let line = script
        .lines()
        .find_map(|line| line.strip_prefix(COMMAND)?.strip_suffix(';'))?;
    let words: Vec<String> = serde_json::from_str(line).ok()?;
    Invocation::of_words(Agent::OpenCode, &words)
}

/// The files of a plugin directory for Claude Code, by their paths in it. It is also a marketplace
/// with this plugin alone, by which it can be installed.
pub fn directory(wanted: &Invocation) -> Vec<(&'static str, String)> {
    let about =
        "Holds a skill to the tools that it declares, and asks agent-skills before each call";
    let plugin = json!({
        "name": "agent-skills",
        "version": env!("CARGO_PKG_VERSION"),
        "description": about,
        "author": {"name": "agent-skills"},
    });
    let marketplace = json!({
        "name": "agent-skills",
        "owner": {"name": "agent-skills"},
        "plugins": [{"name": "agent-skills", "source": "./", "description": about}],
    });
    let agent = Agent::ClaudeCode;
    let mut events = Map::new();
    if let Format::Hooks(form) = &agent.table().format {
        for (event, matcher) in agent.registered() {
            events.insert(event.to_owned(), json!([wanted.item(agent, form, matcher)]));
        }
    }
    let hooks = json!({"description": about, "hooks": events});
    vec![
        (".claude-plugin/plugin.json", format!("{plugin:#}\n")),
        (
            ".claude-plugin/marketplace.json",
            format!("{marketplace:#}\n"),
        ),
        ("hooks/hooks.json", format!("{hooks:#}\n")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::agent::Mode;

    #[test]
    fn a_script_names_its_command_and_is_recognised_by_it() {
        let program = "/it's \"here\"/agent-skills".to_owned();
        let mode = Some(Mode::Restrict);
        let wanted = Invocation { program, mode };
        assert_eq!(invocation(&script(&wanted)), Some(wanted));
        assert_eq!(invocation(SCRIPT), None);
        assert_eq!(invocation("export const Mine = async () => ({});\n"), None);
    }
}
