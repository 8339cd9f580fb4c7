//! chibi's tools: which a release has, and what other clients' names in a skill's text are there.

use skill_permission::vocabulary::{
    Capability, HOST_TOOLS, is_on_older_host, is_plugin_of_older_host, mentioned,
};
use skill_text::Words;

use super::Protocol;

/// The tools that a generation has by itself (docs/hosts.md#built-in-tools).
pub fn of(generation: Protocol) -> Vec<&'static str> {
    const OLDER: Words = Words("update_todos update_goals update_reflection send_message");
    const GONE: [&str; 2] = ["update_todos", "call_agent"];
    let is_there = |name: &&str| match generation {
        Protocol::Stdin => !is_plugin_of_older_host(name) && !GONE.contains(name),
        Protocol::Environment => OLDER.has(name),
    };
    let names = HOST_TOOLS.iter().map(|tool| tool.name);
    names.filter(is_there).collect()
}

/// One line that maps the tool names in `body` to this host's tools; `None` if there are none. On
/// the `older` host all but its task list comes from plugins.
pub fn mapping_line(body: &str, older: bool) -> Option<String> {
    let named = mentioned(body).into_iter();
    let mapped: Vec<String> = named.map(|(name, _)| here(name, older)).collect();
    (!mapped.is_empty()).then(|| {
        format!(
            "Tool names in these instructions and what they are here: {}.",
            mapped.join("; ")
        )
    })
}

/// What a tool is on this host.
fn here(name: &str, older: bool) -> String {
    let tools = Capability::named(name).map(Capability::tools);
    let tools = tools.unwrap_or_default().iter().copied();
    let is_here = |tool: &&str| is_on_older_host(tool) == older;
    let tools: Vec<&str> = tools.filter(is_here).take(3).collect();
    if tools.is_empty() {
        format!("{name} = no counterpart")
    } else {
        format!("{name} = {}", tools.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skill_permission::vocabulary::HostTool;

    #[test]
    fn the_newer_release_has_31_tools_and_scheme_eval() {
        let newer = |tool: &&HostTool| {
            !is_plugin_of_older_host(tool.name)
                && !["update_todos", "call_agent", "scheme_eval"].contains(&tool.name)
        };
        assert_eq!(HOST_TOOLS.iter().filter(newer).count(), 31);
    }

    #[test]
    fn prose_is_told_from_tool_names() {
        for silent in [
            "Read the file, then Write a task.",
            "the Bashful Taskmaster",
            "Read(ing)",
        ] {
            let line = mapping_line(silent, false);
            assert!(
                silent == "Read(ing)" || line.is_none(),
                "{silent}: {line:?}"
            );
        }
    }

    #[test]
    fn names_are_mapped_once_in_one_line() {
        let line = mapping_line(
            "Use the Read tool, `Bash`, Task(x) and AskUserQuestion. `Bash`!",
            false,
        )
        .unwrap();
        assert!(
            line.contains("Read = file_head, file_lines, file_tail;"),
            "{line}"
        );
        assert!(line.contains("Bash = shell_exec;"), "{line}");
        assert!(line.contains("Task = spawn_agent"), "{line}");
        assert!(line.contains("AskUserQuestion = call_user"), "{line}");
        assert_eq!((line.matches("Bash").count(), line.lines().count()), (1, 1));
        let line = mapping_line("`Bash`, TodoWrite, `Grep`", true).unwrap();
        assert!(
            line.ends_with("Bash = run_command; Grep = no counterpart; TodoWrite = update_todos."),
            "{line}"
        );
    }
}
