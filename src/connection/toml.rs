//! Hooks in a TOML file, as Codex's administrators have them. Order, comments and formatting of the
//! rest stay.

use serde_json::{Map, Value};
use toml_edit::{ArrayOfTables, DocumentMut, InlineTable, Item, Table, value};

use super::merge::Edit;
use crate::error::{Error, Result};

/// The directory of programs that managed hooks come from: without one, Codex ignores them.
const DIRECTORY: &str = "managed_dir";

/// The file, parsed.
pub struct Toml {
    document: DocumentMut,
}

impl Toml {
    /// Parses the text of a file.
    ///
    /// # Errors
    /// When it is not TOML, or its hooks are not written as tables.
    pub fn parse(text: &str) -> Result<Self> {
        let document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
            let reason = error.message().lines().collect::<Vec<_>>().join(", ");
            Error::new(format!("it is not TOML: {reason}"))
        })?;
        let parsed = Self { document };
        if let Some(hooks) = parsed.document.get("hooks")
            && !hooks.is_table()
        {
            return Err(Error::new("its `hooks` is not written as a table"));
        }
        for event in parsed.events() {
            let item = parsed.hooks().and_then(|hooks| hooks.get(&event));
            if item.is_some_and(Item::is_array) {
                let text = format!("its `hooks.{event}` is not written as `[[hooks.{event}]]`");
                return Err(Error::new(text));
            }
        }
        Ok(parsed)
    }

    /// The file's text.
    pub fn text(&self) -> String {
        self.document.to_string()
    }

    /// Whether nothing is left, not even a comment.
    pub fn is_empty(&self) -> bool {
        self.text().trim().is_empty()
    }

    fn hooks(&self) -> Option<&Table> {
        self.document.get("hooks")?.as_table()
    }

    /// The names of events under `hooks`.
    pub fn events(&self) -> Vec<String> {
        let hooks = self.hooks().into_iter().flat_map(Table::iter);
        let lists = hooks.filter(|(_, item)| item.is_array_of_tables() || item.is_array());
        lists.map(|(name, _)| name.to_owned()).collect()
    }

    /// The items of an event's list.
    pub fn items(&self, event: &str) -> Vec<Value> {
        let list = self.hooks().and_then(|hooks| hooks.get(event));
        let tables = list.and_then(Item::as_array_of_tables);
        let tables = tables.into_iter().flat_map(ArrayOfTables::iter);
        tables.map(of_table).collect()
    }

    /// Names the directory that managed hooks come from, unless one is named.
    pub fn directory(&mut self, directory: &str) {
        let hooks = self.document.entry("hooks");
        let hooks = hooks.or_insert(Item::Table(Table::new())).as_table_mut();
        if let Some(hooks) = hooks
            && !hooks.contains_key(DIRECTORY)
        {
            hooks.insert(DIRECTORY, value(directory));
        }
    }

    /// Changes an event's list, and takes away what that leaves empty.
    pub fn edit(&mut self, event: &str, edits: &[Edit]) {
        let hooks = self.document.entry("hooks");
        let hooks = hooks.or_insert(Item::Table(Table::new())).as_table_mut();
        let Some(hooks) = hooks else { return };
        let list = hooks
            .entry(event)
            .or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
        let Some(list) = list.as_array_of_tables_mut() else {
            return;
        };
        // From the end, so that positions stay what they were.
        for edit in edits.iter().rev() {
            match edit {
                Edit::Append(_) => {}
                Edit::Replace(at, value) => {
                    list.replace(*at, written(value));
                }
                Edit::Remove(at) => {
                    list.remove(*at);
                }
                Edit::RemoveInner(at, inner) => {
                    let group = list.get_mut(*at).and_then(|group| group.get_mut("hooks"));
                    match group {
                        Some(Item::ArrayOfTables(group)) => {
                            group.remove(*inner);
                        }
                        Some(Item::Value(toml_edit::Value::Array(group))) => {
                            group.remove(*inner);
                        }
                        _ => {}
                    }
                }
            }
        }
        for edit in edits {
            if let Edit::Append(value) = edit {
                list.push(written(value));
            }
        }
        if list.is_empty() {
            hooks.remove(event);
        }
        // The directory means nothing without a hook.
        if hooks.iter().all(|(name, _)| name == DIRECTORY) {
            self.document.remove("hooks");
        }
    }
}

fn of_table(table: &Table) -> Value {
    let pairs = table.iter().map(|(key, item)| {
        let value = match item {
            Item::ArrayOfTables(tables) => Value::Array(tables.iter().map(of_table).collect()),
            Item::Table(table) => of_table(table),
            Item::Value(value) => of_value(value),
            Item::None => Value::Null,
        };
        (key.to_owned(), value)
    });
    Value::Object(pairs.collect())
}

fn of_value(value: &toml_edit::Value) -> Value {
    use toml_edit::Value as Toml;
    let inline = |table: &InlineTable| -> Map<String, Value> {
        let pairs = table.iter();
        pairs
            .map(|(key, value)| (key.to_owned(), of_value(value)))
            .collect()
    };
    match value {
        Toml::String(text) => Value::from(text.value().as_str()),
        Toml::Integer(number) => Value::from(*number.value()),
        Toml::Float(number) => Value::from(*number.value()),
        Toml::Boolean(value) => Value::from(*value.value()),
        Toml::Datetime(time) => Value::from(time.value().to_string()),
        Toml::Array(items) => Value::Array(items.iter().map(of_value).collect()),
        Toml::InlineTable(table) => Value::Object(inline(table)),
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
    use crate::connection::merge::edits;
    use crate::host::agent::Agent;
    use serde_json::json;

    fn with(text: &str) -> String {
        let mut parsed = Toml::parse(text).unwrap();
        let wanted = json!({"matcher": "*", "hooks": [{"type": "command",
            "command": "/a/agent-skills hook codex", "timeout": 10}]});
        parsed.directory("/a");
        let edits = edits(Agent::Codex, &parsed.items("PreToolUse"), Some(&wanted));
        parsed.edit("PreToolUse", &edits);
        parsed.text()
    }

    fn without(text: &str) -> (String, bool) {
        let mut parsed = Toml::parse(text).unwrap();
        for event in parsed.events() {
            let edits = edits(Agent::Codex, &parsed.items(&event), None);
            parsed.edit(&event, &edits);
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
            assert!(Toml::parse(text).is_err(), "{text}");
        }
    }
}
