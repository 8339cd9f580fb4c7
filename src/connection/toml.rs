//! Hooks in a TOML file, as Codex's administrators have them. Order, comments and formatting of the
//! rest stay.

use std::path::Path;

use serde_json::Value;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

use super::entry::HookFile;
use crate::error::{Error, Result};

/// The directory of programs that managed hooks come from: without one, Codex ignores them.
const DIRECTORY: &str = "managed_dir";

/// The file, parsed.
pub struct TomlHooks {
    document: DocumentMut,
    /// What stood in it.
    value: Value,
}

impl TomlHooks {
    /// Parses the text of a file.
    ///
    /// # Errors
    /// When it is not TOML, or its hooks are not written as tables.
    pub fn parse(text: &str) -> Result<Self> {
        let document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
            let reason = error.message().lines().collect::<Vec<_>>().join(", ");
            Error::new(format!("it is not TOML: {reason}"))
        })?;
        let value = toml::from_str(text)
            .map_err(|error| Error::new(format!("it is not TOML: {}", error.message())))?;
        let parsed = Self { document, value };
        let Some(hooks) = parsed.document.get("hooks") else {
            return Ok(parsed);
        };
        if !hooks.is_table() {
            return Err(Error::new("its `hooks` is not written as a table"));
        }
        for event in parsed.events() {
            if hooks.get(&event).is_some_and(Item::is_array) {
                let text = format!("its `hooks.{event}` is not written as `[[hooks.{event}]]`");
                return Err(Error::new(text));
            }
        }
        Ok(parsed)
    }

    /// The table of hooks, made if it is missing.
    fn hooks(&mut self) -> Option<&mut Table> {
        let hooks = self.document.entry("hooks");
        hooks.or_insert(Item::Table(Table::new())).as_table_mut()
    }
}

impl HookFile for TomlHooks {
    fn events(&self) -> Vec<String> {
        let hooks = self.value["hooks"].as_object().into_iter().flatten();
        let lists = hooks.filter(|(_, list)| list.is_array());
        lists.map(|(name, _)| name.clone()).collect()
    }

    fn items(&self, event: &str) -> Vec<Value> {
        let list = self.value["hooks"][event].as_array();
        list.cloned().unwrap_or_default()
    }

    /// Names the directory that managed hooks come from, unless one is named.
    fn complete(&mut self, _: bool, program: &Path) {
        let directory = program.parent().and_then(Path::to_str).unwrap_or("/");
        if let Some(hooks) = self.hooks()
            && !hooks.contains_key(DIRECTORY)
        {
            hooks.insert(DIRECTORY, value(directory));
        }
    }

    fn is_empty(&self) -> bool {
        self.text().trim().is_empty()
    }

    fn text(&self) -> String {
        self.document.to_string()
    }

    fn put(&mut self, event: &str, at: Option<usize>, item: &Value) {
        let list = self.hooks().and_then(|hooks| {
            let list = hooks.entry(event);
            let list = list.or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
            list.as_array_of_tables_mut()
        });
        match (list, at) {
            (Some(list), Some(at)) => drop(list.replace(at, written(item))),
            (Some(list), None) => list.push(written(item)),
            (None, _) => {}
        }
    }

    fn remove(&mut self, event: &str, at: usize, inner: Option<usize>) {
        let hooks = self.document.get_mut("hooks").and_then(Item::as_table_mut);
        let Some(hooks) = hooks else { return };
        if let Some(list) = hooks.get_mut(event).and_then(Item::as_array_of_tables_mut) {
            let group = list.get_mut(at).and_then(|group| group.get_mut("hooks"));
            match (inner, group) {
                (None, _) => drop(list.remove(at)),
                (Some(inner), Some(Item::ArrayOfTables(group))) => drop(group.remove(inner)),
                (Some(inner), Some(Item::Value(toml_edit::Value::Array(group)))) => {
                    group.remove(inner);
                }
                (Some(_), _) => {}
            }
            if list.is_empty() {
                hooks.remove(event);
            }
        }
        // The directory means nothing without a hook.
        if hooks.iter().all(|(name, _)| name == DIRECTORY) {
            self.document.remove("hooks");
        }
    }
}

fn written(item: &Value) -> Table {
    let mut table = Table::new();
    for (key, field) in item.as_object().into_iter().flatten() {
        let item = match field {
            Value::Array(items) if items.iter().all(Value::is_object) => {
                let mut tables = ArrayOfTables::new();
                for item in items {
                    tables.push(written(item));
                }
                Item::ArrayOfTables(tables)
            }
            Value::Number(number) => value(number.as_i64().unwrap_or_default()),
            Value::Bool(flag) => value(*flag),
            other => value(other.as_str().unwrap_or_default()),
        };
        table.insert(key, item);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::entry::set_entry;
    use crate::host::agent::Agent;
    use serde_json::json;

    fn with(text: &str) -> String {
        let mut parsed = TomlHooks::parse(text).unwrap();
        let wanted = json!({"matcher": "*", "hooks": [{"type": "command",
            "command": "/a/agent-skills hook codex", "timeout": 10}]});
        parsed.complete(false, Path::new("/a/agent-skills"));
        set_entry(&mut parsed, Agent::Codex, "PreToolUse", Some(&wanted));
        parsed.text()
    }

    fn without(text: &str) -> (String, bool) {
        let mut parsed = TomlHooks::parse(text).unwrap();
        for event in parsed.events() {
            set_entry(&mut parsed, Agent::Codex, &event, None);
        }
        (parsed.text(), parsed.is_empty())
    }

    #[test]
    fn an_entry_is_added_once_and_goes_again() {
        let other = "\n[[hooks.PreToolUse]]\nmatcher = \"Bash\"\n\n[[hooks.PreToolUse.hooks]]\ntype = \
                     \"command\"\ncommand = \"other\" # mine\n";
        for text in [
            "",
            "# mine\nallowed_approval_policies = [\"on-request\"] # too\n",
            &format!("[hooks]\nmanaged_dir = \"/b\"\n{other}"),
            &format!("a = 1\n\n[hooks]\nmanaged_dir = \"/b\"\n{other}\n[features]\nhooks = true\n"),
        ] {
            let after = with(text);
            assert_eq!(with(&after), after);
            assert!(after.contains("managed_dir"), "{after}");
            assert_eq!(
                after.matches("agent-skills hook codex").count(),
                1,
                "{after}"
            );
            let (rest, is_empty) = without(&after);
            assert_eq!(rest, text, "{after}");
            assert_eq!(is_empty, text.is_empty());
        }
    }

    #[test]
    fn what_is_not_written_as_tables_is_refused() {
        for text in [
            "a = ",
            "hooks = 1",
            "hooks = {}",
            "[hooks]\nPreToolUse = []\n",
        ] {
            assert!(TomlHooks::parse(text).is_err(), "{text}");
        }
    }
}
