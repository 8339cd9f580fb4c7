//! What each key of the configuration takes and does, in a line for people
//! (docs/configuration.md says more). What a value means is for the rooms that use it.

use crate::host::agent::Agent;

/// The part of a key's name that stands for an agent.
const AGENT: &str = "AGENT";

/// A key, with `NAME`, `AGENT` or `GLOB` for what the user chooses.
#[derive(Debug)]
pub struct Key {
    /// `key` or `table.key`.
    pub name: &'static str,
    /// The possible values, as a sentence goes on after "takes".
    pub values: &'static str,
    /// What it is for.
    pub about: &'static str,
}

impl Key {
    /// The key that the parts of a written one mean.
    pub fn find(written: &[String]) -> Option<&'static Self> {
        let is_same = |(part, written): (&str, &String)| match part {
            AGENT => written.parse::<Agent>().is_ok(),
            part => part == written || is_free(part),
        };
        KEYS.iter().find(|key| {
            let parts = key.name.split('.');
            parts.clone().count() == written.len() && parts.zip(written).all(is_same)
        })
    }

    /// Its name, with the user's own names from `written` if it has such, or with that of each agent;
    /// none if they do not fit.
    pub fn with_names_of(&self, written: &[String]) -> Vec<String> {
        let parts = self.name.split('.');
        if self.is_table() && parts.clone().count() != written.len() {
            return Vec::new();
        }
        let with = |agent: &str| {
            let mut own = written.iter();
            let filled = parts.clone().map(|part| match (part, own.next()) {
                (AGENT, _) => agent,
                (part, Some(own)) if is_free(part) => own,
                (part, _) => part,
            });
            filled.collect::<Vec<_>>().join(".")
        };
        if self.name.contains(AGENT) {
            return Agent::ALL.map(|agent| with(agent.as_str())).to_vec();
        }
        vec![with("")]
    }

    /// Whether it takes several values.
    pub fn is_list(&self) -> bool {
        self.values.contains("a list")
    }

    /// Whether the user chooses a part of its name.
    pub fn is_table(&self) -> bool {
        self.name.split('.').any(is_free)
    }
}

fn is_free(part: &str) -> bool {
    matches!(part, "NAME" | "GLOB" | AGENT)
}

const fn key(name: &'static str, values: &'static str, about: &'static str) -> Key {
    Key {
        name,
        values,
        about,
    }
}

const FLAG: &str = "`true` or `false`";
const NUMBER: &str = "a number";
const POSITIVE: &str = "a number above 0";
const SECONDS: &str = "a number of seconds";
const TOOLS: &str = "a list of tools, such as `Read,Bash(git:*)`";

/// All keys, sorted; those with names chosen by the user last.
#[rustfmt::skip]
pub static KEYS: &[Key] = &[
    key("always_allowed", TOOLS, "tools that no restriction forbids"),
    key("audit.output_bytes", NUMBER, "how many bytes of each script's output are logged"),
    key("create_skill", FLAG, "whether a model may propose new skills"),
    key("deactivate", "`user` or `model`", "who may unload a skill that restricts"),
    key("deny", TOOLS, "tools that are denied while any skill is active"),
    key("enforce", "`restrict`, `warn` or `off`", "what happens to a call that the active skill does not allow"),
    key("environment", "a text", "what this machine is for: for skills with a `scope`, and the audit log"),
    key("max_active", POSITIVE, "how many skills may be active at a time"),
    key("model_installs", "`sources`, `any` or `off`", "what a model may install without asking you"),
    key("network", "`open` or `restricted`", "the network access of a confined script"),
    key("pass_env", "`all` or a list of names", "the environment variables that scripts get"),
    key("proposals", FLAG, "whether a model may propose changes to skills"),
    key("sandbox", "`off`, `auto` or `require`", "whether scripts are confined (Linux)"),
    key("scope", "`prompt` or `context`", "how long a skill stays active: for the prompt, or the conversation"),
    key("script_reads", "`note` or `block`", "what happens when a script of the active skill is read, not run"),
    key("script_seconds", SECONDS, "how long a script may run"),
    key("scripts", "`own`, `listed` or `any`", "whose scripts a skill that restricts may run"),
    key("stacking", "`replace` or `intersect`", "how the restrictions of two active skills combine"),
    key("tenant", "a text", "who owns this machine: for skills with a `scope`, and the audit log"),
    key("unattended", FLAG, "whether commands without a terminal may decide for you"),
    key("catalog.GLOB", "a list of names or globs", "which skills a context sees"),
    key("signing.require", "`none`, `known` or `listed`", "how every skill has to be signed"),
    key("signing.sources.GLOB.require", "`none`, `known` or `listed`", "how skills of a source have to be signed"),
    key("signing.sources.GLOB.principals", "a list of names", "who may sign skills of a source"),
    key("hosts.AGENT.mode", "`restrict`, `grant`, `both` or `ask`", "what a skill's list means in another agent, such as `claude-code`"),
    key("skills.NAME.allow", TOOLS, "what is granted besides what one skill's own list grants"),
    key("skills.NAME.allowed_paths", "a list of directories", "where else the confined scripts of one skill may write"),
    key("skills.NAME.network", "`open` or `restricted`", "`network` for the scripts of one skill"),
    key("skills.NAME.pass_env", "`all` or a list of names", "`pass_env` for the scripts of one skill"),
    key("skills.NAME.sandbox", "`off`, `auto` or `require`", "`sandbox` for the scripts of one skill"),
    key("uses_skills.GLOB", "a list of skills", "which skills are always on in a context"),
    key("visibility.NAME", "`on`, `name-only`, `user` or `off`", "who sees a skill"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Config, parse_toml, parts};

    /// Whether the configuration accepts the key with this value.
    fn accepts(key: &Key, value: &str) -> bool {
        let name = key
            .name
            .replace("GLOB", "\"ops*\"")
            .replace("NAME", "pdf")
            .replace("AGENT", "claude-code");
        parse_toml::<Config>(&format!("{name} = {value}")).is_ok()
    }

    #[test]
    fn each_key_takes_the_values_it_names_and_no_other() {
        for key in KEYS {
            let words: Vec<&str> = key.values.split('`').skip(1).step_by(2).collect();
            match key.values {
                FLAG => assert!(accepts(key, "true") && accepts(key, "false"), "{key:?}"),
                NUMBER | POSITIVE | SECONDS => assert!(accepts(key, "7"), "{key:?}"),
                "a text" => assert!(accepts(key, "\"x\""), "{key:?}"),
                _ if key.is_list() => assert!(accepts(key, "[\"Read\"]"), "{key:?}"),
                _ => {
                    let mut words = words.iter();
                    assert!(
                        words.all(|word| accepts(key, &format!("{word:?}"))),
                        "{key:?}"
                    );
                }
            }
            assert!(!accepts(key, "{ a = {} }"), "{key:?}");
        }
    }

    #[test]
    fn the_documentation_has_the_same_keys() {
        let text = include_str!("../../../docs/configuration.md");
        let table = text.lines().filter(|line| line.starts_with("| `"));
        let table: Vec<&str> = table.map_while(|line| line.split(" | ").next()).collect();
        let documented = |name: &str| table.iter().any(|cell| cell.contains(&format!("`{name}`")));
        for key in KEYS {
            let name = key.name.trim_end_matches(".GLOB");
            assert!(documented(name), "{name}");
        }
    }

    #[test]
    fn every_accepted_key_is_here() {
        for table in ["", "audit.", "skills.x.", "signing."] {
            let refused = toml::from_str::<Config>(&format!("{table}nonsense = 1")).unwrap_err();
            let (_, accepted) = refused.message().split_once("expected").unwrap();
            for key in accepted.split('`').skip(1).step_by(2) {
                let table = table.replace(".x", ".NAME");
                let key = format!("{table}{key}");
                let is_it =
                    |known: &Key| known.name == key || known.name.starts_with(&format!("{key}."));
                assert!(KEYS.iter().any(is_it), "{key}");
            }
        }
    }

    #[test]
    fn a_key_is_found_with_the_users_own_names_in_it() {
        let name = |written: &str| Key::find(&parts(written)).map(|key| key.name);
        assert_eq!(name("scope"), Some("scope"));
        assert_eq!(name("skills.pdf.sandbox"), Some("skills.NAME.sandbox"));
        assert_eq!(name("skills.pdf"), None);
        assert_eq!(name("hosts.codex.mode"), Some("hosts.AGENT.mode"));
        assert_eq!(name("hosts.codx.mode"), None);
        assert_eq!(name("scpe"), None);
        let of_source = "signing.sources.\"github.com/acme/*\".require";
        assert_eq!(name(of_source), Some("signing.sources.GLOB.require"));
        assert_eq!(name("signing.sources.require"), None);
    }
}
