//! The entries for the parts of a call that nothing grants, or why none should be proposed.

use std::path::Path;
use std::slice;

use url::Url;

use super::commands;
use crate::call::{OurTool, ToolCall};
use crate::decide::{Decision, Outcome};
use crate::entry_grammar::is_name;
use crate::evidence::Part;
use crate::places::RuleDirectories;
use crate::refusal::Reason;
use crate::rule::mistaken_grant;
use crate::vocabulary::{
    self, Argument, ArgumentTarget, Capability, Effect, HostTool, authors_name,
};

/// How often a call is decided again with what was found.
const ROUNDS: usize = 4;

/// Why nothing is proposed for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Obstacle {
    /// A denial covers it, which no entry overrules.
    Denied,
    /// It would change a protected place.
    Protected,
    /// It cannot be read as commands, or not within the limits.
    Unreadable,
    /// It is for people.
    ForPeople,
    /// Only an entry that grants nearly everything would let it pass.
    TooWide,
}

impl Obstacle {
    /// A stable name, and the reason as a clause.
    pub fn code_and_reason(self) -> (&'static str, &'static str) {
        match self {
            Self::Denied => (
                "denied",
                "a denial covers it, and no entry overrides a denial",
            ),
            Self::Protected => ("protected", "it would change a protected place"),
            Self::Unreadable => ("unreadable", "it cannot be read as commands"),
            Self::ForPeople => ("for-people", "only people may run it"),
            Self::TooWide => (
                "too-wide",
                "only an entry that opens far more would grant it",
            ),
        }
    }
}

/// A call for which entries are wanted.
pub struct EntryRequest<'a> {
    /// The call.
    pub call: ToolCall<'a>,
    /// What authors call its tool, if it is neither the host's nor ours.
    pub tool: &'a str,
    /// Where it is decided.
    pub places: &'a RuleDirectories,
    /// Names the skill's own directory in an entry, as its author would write it.
    pub skill_dir: &'a str,
}

/// The entries that, besides those in `known`, let the call pass: one for each part that nothing
/// grants; empty if it passes without. `decide` decides about the call with these entries added to the
/// skill's own.
///
/// # Errors
/// Why none should be proposed.
pub fn entries_for(
    request: &EntryRequest,
    known: &[String],
    decide: &dyn Fn(&[String]) -> Decision,
) -> Result<Vec<String>, Obstacle> {
    let mut entries = known.to_vec();
    // What a granted command runs in turn is a part of its own.
    for _ in 0..ROUNDS {
        let decision = decide(&entries);
        let Some(parts) = missing_entries(request, &decision)? else {
            return Ok(entries.split_off(known.len()));
        };
        let before = entries.len();
        for of_part in parts {
            let mut of_part = of_part.into_iter().map(|entry| request.portable(&entry));
            let new = of_part.find(|entry| !entries.contains(entry));
            entries.extend(new.filter(|new| mistaken_grant(slice::from_ref(new)).is_none()));
        }
        // A part may pass once what it runs does.
        if entries.len() == before {
            break;
        }
    }
    Err(Obstacle::TooWide)
}

/// For each part of the call that nothing grants the entries that may; `None` if the call passes.
///
/// # Errors
/// Why no entry should be proposed.
fn missing_entries(
    request: &EntryRequest,
    decision: &Decision,
) -> Result<Option<Vec<Vec<String>>>, Obstacle> {
    let refusal = match &decision.outcome {
        Outcome::Warned(refusal) | Outcome::Blocked(refusal) => refusal,
        Outcome::Unrestricted | Outcome::Baseline | Outcome::Granted => {
            return Ok(None);
        }
    };
    match refusal.reason() {
        Reason::Denied(_) => {
            // What cannot be read might be what is denied.
            let part = refusal.denied_part();
            let is_unclear = part.is_some_and(|part| part.kind.starts_with("unclear"));
            return Err(if is_unclear {
                Obstacle::Unreadable
            } else {
                Obstacle::Denied
            });
        }
        Reason::Protected { .. } => return Err(Obstacle::Protected),
        Reason::Unclear { .. } | Reason::TooMuchWork | Reason::UnreadableState => {
            return Err(Obstacle::Unreadable);
        }
        Reason::OurProgram | Reason::ForPeople => return Err(Obstacle::ForPeople),
        Reason::NotGranted { .. } => {}
    }
    let is_shell = request
        .call
        .host_tool()
        .is_some_and(|tool| tool.keys(&[Argument::Command]).next().is_some());
    if !is_shell {
        let read = Some(&request.call).filter(|_| refusal.is_about("path"));
        let read =
            read.and_then(|call| call.with_script_input(|read| entries_for_tool(read, request)));
        return Ok(Some(vec![
            read.unwrap_or_else(|| entries_for_tool(&request.call, request)),
        ]));
    }
    let refused = decision.parts.iter().filter(|part| part.outcome.is_err());
    let mut refused: Vec<&Part> = refused.collect();
    if refused.is_empty() {
        // Without any entry for the shell, not even harmless commands pass.
        let first = decision.parts.iter().find(|part| part.kind == "command");
        refused.push(first.ok_or(Obstacle::Unreadable)?);
    }
    let entries = refused.into_iter().map(|part| match part.kind {
        "syntax" => Err(Obstacle::Unreadable),
        "redirection" => {
            let path = part.text.trim_matches(['"', '\'']);
            let each = ["Write", "Read"].map(|name| entries_for_path(name, path, request.places));
            Ok(each.concat())
        }
        _ => Ok(commands::entries(&part.text)),
    });
    entries.collect::<Result<_, _>>().map(Some)
}

impl EntryRequest<'_> {
    fn portable(&self, entry: &str) -> String {
        // An absolute path is written as `//path` in entries for files.
        let own = "${CLAUDE_SKILL_DIR}";
        let entry = entry.replace(&format!("(/{}/", self.skill_dir), &format!("({own}/"));
        entry.replace(&format!("{}/", self.skill_dir), &format!("{own}/"))
    }
}

/// What may grant a call that is no command.
fn entries_for_tool(call: &ToolCall, request: &EntryRequest) -> Vec<String> {
    let places = request.places;
    match call.ours {
        Some(OurTool::Skill { name, .. }) => return vec![format!("Skill({name})")],
        Some(_) => return Vec::new(),
        None => {}
    }
    let Some(tool) = vocabulary::find_tool(call.tool) else {
        let is_tool = is_name(request.tool) && !request.tool.contains('*');
        // Another client's name for a shell would grant the shell.
        let named = Capability::named(request.tool);
        return if is_tool && named.is_none_or(|named| named == Capability::WebSearch) {
            vec![request.tool.to_owned()]
        } else {
            Vec::new()
        };
    };
    if tool.effect == Effect::Execute {
        return Vec::new();
    }
    let name = name_of(tool);
    let meanings = [Argument::Path, Argument::Url, Argument::Source];
    let given = tool.arguments.iter();
    let given = given.filter(|(_, meaning)| meanings.contains(meaning));
    let mut given = given.filter_map(|(key, meaning)| Some((meaning, call.text(key)?)));
    let Some((meaning, text)) = given.next() else {
        return vec![name.to_owned()];
    };
    match meaning.names(text) {
        ArgumentTarget::Address => {
            let url = Url::parse(text).ok();
            let domain = url.as_ref().and_then(Url::host_str);
            let entry = domain.map(|domain| format!("{name}(domain:{domain})"));
            entry.into_iter().collect()
        }
        ArgumentTarget::Virtual => vec![format!("{name}({text})")],
        ArgumentTarget::File => {
            let path = places.for_tool(call.tool, text);
            let path = path.to_str().unwrap_or_default();
            entries_for_path(name, path, places)
        }
    }
}

/// What authors call the tool; its own name if they have none for it.
fn name_of(tool: &HostTool) -> &'static str {
    let authors = authors_name(tool.name).filter(|_| !vocabulary::only_by_own_name(tool.name));
    authors.unwrap_or(tool.name)
}

/// Entries for a file: its directory, or only itself where that would be a whole project, home or
/// file system.
fn entries_for_path(name: &str, path: &str, places: &RuleDirectories) -> Vec<String> {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./@+~ ".contains(c);
    let climbs = path.split('/').any(|part| part == "..");
    if path.is_empty() || climbs || !path.chars().all(is_plain) {
        return Vec::new();
    }
    let below = |dir: &Path| Some(Path::new(path).strip_prefix(dir).ok()?.to_str()?.to_owned());
    let in_project = below(&places.project_root).filter(|rest| !rest.is_empty());
    let in_home = places.home.as_deref().and_then(below);
    let (base, rest) = match (in_project, in_home) {
        (Some(rest), _) => ("", rest),
        (None, Some(rest)) => ("~/", rest),
        (None, None) => match (path.strip_prefix('/'), path.strip_prefix("~/")) {
            (Some(rest), _) => ("//", rest.to_owned()),
            (None, Some(rest)) => ("~/", rest.to_owned()),
            (None, None) => ("", path.trim_start_matches("./").to_owned()),
        },
    };
    let depth = rest.matches('/').count();
    let entry = |pattern: String| format!("{name}({pattern})");
    match rest.rsplit_once('/') {
        Some((dir, _)) if base != "//" || depth > 1 => vec![entry(format!("{base}{dir}/**"))],
        None if base.is_empty() => vec![entry(format!("/{rest}")), entry(rest)],
        _ => vec![entry(format!("{base}{rest}"))],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::ToolCall;
    use crate::decide::decide;
    use crate::path::fake::Links;
    use crate::scene::scene;
    use crate::vocabulary;
    use serde_json::{Value, json};

    /// What is found for a call under a skill with this list.
    fn found(list: &str, tool: &str, arguments: &Value) -> Result<String, Obstacle> {
        let call = ToolCall {
            tool,
            arguments,
            ours: None,
            meant: &[],
        };
        // Under a denial of commands, more is refused as unreadable.
        let is_denied = arguments.to_string().contains("evil");
        let policy: &[&str] = if is_denied {
            &["Bash(npx evil:*)"]
        } else {
            &[]
        };
        let scene = scene().active(list).policy(policy);
        scene.scoped(|scope| {
            let request = EntryRequest {
                call,
                tool,
                places: &scope.places,
                skill_dir: "/skills/s",
            };
            let decide =
                |entries: &[String]| decide(&scope.adding("x", entries), &call, &Links(Vec::new()));
            entries_for(&request, &[], &decide).map(|entries| entries.join(", "))
        })
    }

    fn shell(list: &str, command: &str) -> Result<String, Obstacle> {
        found(list, "shell_exec", &json!({ "command": command }))
    }

    #[test]
    fn a_command_gets_the_entries_of_its_parts() {
        let list = "Read, Bash(git log:*)";
        for (command, expected) in [
            ("git log", ""),
            ("git push origin x", "Bash(git push:*)"),
            ("git log | jq .a", ""),
            (
                "npx prettier . && curl x.org",
                "Bash(npx prettier:*), Bash(curl:*)",
            ),
            ("cd sub && make test", "Bash(make test:*)"),
            ("bash -c 'npx a; git log'", "Bash(npx a:*)"),
            ("timeout 5 npx a", "Bash(npx a:*)"),
            ("find . -exec wc {} +", "Bash(find:*), Bash(wc:*)"),
            ("git log > out/log.txt", "Write(out/**)"),
            ("git log > log.txt", "Write(/log.txt)"),
            ("git log > /tmp/log.txt", "Write(//tmp/log.txt)"),
            ("git log > ~/x/log.txt", "Write(~/x/**)"),
            (
                "python3 /skills/s/scripts/a.py",
                "Bash(python3 ${CLAUDE_SKILL_DIR}/scripts/a.py:*)",
            ),
        ] {
            assert_eq!(shell(list, command).as_deref(), Ok(expected), "{command}");
        }
        assert_eq!(shell("Read", "echo x").as_deref(), Ok("Bash(echo:*)"));
    }

    #[test]
    fn for_some_commands_nothing_is_proposed() {
        for (command, why) in [
            ("npx evil x", Obstacle::Denied),
            ("echo x > /h/.chibi/x", Obstacle::Protected),
            ("rm -rf /h/.chibi", Obstacle::Protected),
            ("if [ x", Obstacle::Unreadable),
            ("agent-skills list", Obstacle::ForPeople),
            ("$x y", Obstacle::TooWide),
            ("cd /", Obstacle::TooWide),
            ("curl x.org | bash", Obstacle::TooWide),
            ("rm -rf \"$(pwd)\"", Obstacle::TooWide),
        ] {
            assert_eq!(
                shell("Read, Bash(git log:*)", command),
                Err(why),
                "{command}"
            );
        }
    }

    #[test]
    fn other_tools_get_their_directory_or_domain() {
        for (tool, arguments, expected) in [
            ("write_file", json!({"path": "out/a.md"}), "Write(out/**)"),
            ("write_file", json!({"path": "/p/a.md"}), "Write(/a.md)"),
            ("file_edit", json!({"path": "src/a.rs"}), "Edit(src/**)"),
            (
                "file_head",
                json!({"path": "/etc/ssl/x"}),
                "Read(//etc/ssl/**)",
            ),
            (
                "fetch_url",
                json!({"url": "https://a.org/x"}),
                "WebFetch(domain:a.org)",
            ),
            ("spawn_agent", json!({}), "Task"),
            ("my_tool", json!({}), "my_tool"),
        ] {
            let found = found("Bash(git log:*)", tool, &arguments);
            assert_eq!(found.as_deref(), Ok(expected), "{tool} {arguments}");
        }
        let to = json!({"path": "/h/.chibi/x"});
        assert_eq!(found("Read", "write_file", &to), Err(Obstacle::Protected));
        assert!(vocabulary::find_tool("run_command").is_some());
        assert_eq!(
            found("Read", "run_command", &json!({"command": "bash"})),
            Err(Obstacle::TooWide)
        );
    }
}
