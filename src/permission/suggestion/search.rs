//! Finds the entries that let a call pass, by deciding about it again with each that might.

use super::needs::{self, Need, Obstacle, Wanted, lacks_entry, refused_at};
use crate::permission::decide::Decision;
use crate::permission::rule::mistaken_grant;

/// Parts of one call that entries are looked for: a command with more is left to a person.
const PARTS: usize = 24;

/// The entries that, besides those in `known`, let the call pass; empty if it passes without.
/// `decide` decides about it with these entries added to the skill's own.
///
/// # Errors
/// Why none should be proposed.
pub fn entries_for(
    wanted: &Wanted,
    known: &[String],
    decide: &dyn Fn(&[String]) -> Decision,
) -> Result<Vec<String>, Obstacle> {
    let mut entries = known.to_vec();
    let mut decision = decide(&entries);
    for _ in 0..PARTS {
        let sets = match needs::of(wanted, &decision)? {
            Need::Nothing => return Ok(entries.split_off(known.len())),
            Need::Entries(sets) => sets,
        };
        let at = refused_at(&decision);
        let leads_on = |set: Vec<String>| {
            let set: Vec<String> = set.iter().map(|entry| wanted.portable(entry)).collect();
            if mistaken_grant(&set).is_some() {
                return None;
            }
            let with = [&entries[..], &set].concat();
            let next = decide(&with);
            let is_further = !lacks_entry(&next) || refused_at(&next) > at;
            is_further.then_some((with, next))
        };
        let found = sets.into_iter().find_map(leads_on);
        (entries, decision) = found.ok_or(Obstacle::TooWide)?;
    }
    Err(Obstacle::TooWide)
}

impl Wanted<'_> {
    fn portable(&self, entry: &str) -> String {
        // An absolute path is written as `//path` in entries for files.
        let own = "${CLAUDE_SKILL_DIR}";
        let entry = entry.replace(&format!("(/{}/", self.skill_dir), &format!("({own}/"));
        entry.replace(&format!("{}/", self.skill_dir), &format!("{own}/"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::tools;
    use crate::permission::Restriction;
    use crate::permission::call::Call;
    use crate::permission::decide::decide;
    use crate::permission::path::fake::Links;
    use crate::permission::scene::scene;
    use crate::permission::scope::Scope;
    use serde_json::{Value, json};
    use std::path::Path;

    /// What is found for a call under a skill with this list.
    fn found(list: &str, tool: &str, arguments: &Value) -> Result<String, Obstacle> {
        let call = Call {
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
            let wanted = Wanted {
                call,
                tool,
                places: scope.places,
                skill_dir: "/skills/s",
            };
            let decide = |entries: &[String]| {
                let own = scope.restrictions[0].clone();
                let added: [Restriction; 1] = [own.adding("x", entries, Path::new("/p"))];
                let with = Scope {
                    restrictions: &added,
                    ..*scope
                };
                decide(&with, &call, &Links(Vec::new()))
            };
            entries_for(&wanted, &[], &decide).map(|entries| entries.join(", "))
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
        assert!(tools::find("run_command").is_some());
        assert_eq!(
            found("Read", "run_command", &json!({"command": "bash"})),
            Err(Obstacle::TooWide)
        );
    }
}
