//! Finds other clients' tool names in a skill's prose and translates them for the model: most
//! skills are written for another client (docs/spec/skills.md#allowed-tools).

use super::alias::Capability;
use super::tools;
use crate::sys::name_list::Words;

/// Names that are not everyday words: any mention counts.
const DISTINCT: Words = Words(
    "AskUserQuestion TodoWrite TodoRead WebFetch WebSearch MultiEdit \
     NotebookEdit NotebookRead TaskCreate TaskUpdate",
);

/// Names that are also everyday words: they count in backticks, before `tool`, or as a call.
const COMMON: Words = Words("Read Write Edit Bash Grep Glob LS Task Agent");

/// One line that maps the tool names in `body` to this host's tools; `None` if there are none. On
/// the `older` host all but its task list comes from plugins.
pub fn mapping_line(body: &str, older: bool) -> Option<String> {
    let named = named(body).into_iter();
    let mapped: Vec<String> = named.map(|(name, _)| here(name, older)).collect();
    (!mapped.is_empty()).then(|| {
        format!(
            "Tool names in these instructions and what they are here: {}.",
            mapped.join("; ")
        )
    })
}

/// The tool names mentioned in `body`, each with the offset of its first mention.
pub fn named(body: &str) -> Vec<(&'static str, usize)> {
    let first = |name| (name, mentions(body, name).next());
    let distinct = DISTINCT.iter().map(first);
    let common = COMMON.iter().map(|name| {
        let meant = mentions(body, name).find(|(before, after)| {
            (before.ends_with('`') && after.starts_with(['`', '(']))
                || after.starts_with(" tool")
                || after.starts_with("` tool")
                || (after.starts_with('(') && after[1..].starts_with(char::is_alphanumeric))
        });
        (name, meant)
    });
    let all = common.chain(distinct);
    let meant = all.filter_map(|(name, meant)| meant.map(|(before, _)| (name, before.len())));
    meant.collect()
}

/// Whole-word occurrences of `name`: the text before and after each.
fn mentions<'a>(body: &'a str, name: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    body.match_indices(name).filter_map(move |(at, _)| {
        let (before, after) = (&body[..at], &body[at + name.len()..]);
        let word = |c: char| c.is_alphanumeric() || c == '_';
        (!before.ends_with(word) && !after.starts_with(word)).then_some((before, after))
    })
}

fn here(name: &str, older: bool) -> String {
    let tools = Capability::named(name).map(Capability::tools);
    let tools = tools.unwrap_or_default().iter().copied();
    let is_here = |tool: &&str| tools::is_on_older_host(tool) == older;
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
