//! Hooks in a JSON file, with comments or without. Order, comments and formatting of the rest stay.

use std::path::Path;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use serde_json::Value;

use super::entry::HookFile;
use crate::error::{Error, Result};

/// A byte order mark, which the parser does not know.
const MARK: &str = "\u{feff}";

/// The file, parsed.
pub struct JsonHooks {
    root: CstRootNode,
    top: CstObject,
    marked: bool,
}

impl JsonHooks {
    /// Parses the text of a file; an empty one is an empty object.
    ///
    /// # Errors
    /// When it is no JSON object, or `hooks` is there twice or is no object.
    pub fn parse(text: &str) -> Result<Self> {
        let (marked, text) = match text.strip_prefix(MARK) {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let text = if text.trim().is_empty() { "{}\n" } else { text };
        let root = CstRootNode::parse(text, &ParseOptions::default())
            .map_err(|error| Error::new(format!("it is not JSON: {error}")))?;
        let top = root.object_value();
        let top = top.ok_or_else(|| Error::new("it is not a JSON object"))?;
        let parsed = Self { root, top, marked };
        single(&parsed.top, "hooks")?;
        let Some(hooks) = parsed.top.get("hooks") else {
            return Ok(parsed);
        };
        let hooks = hooks.object_value();
        let hooks = hooks.ok_or_else(|| Error::new("its `hooks` is not an object"))?;
        for event in parsed.events() {
            single(&hooks, &event)?;
            if hooks.array_value(&event).is_none() {
                return Err(Error::new(format!("its `hooks.{event}` is not a list")));
            }
        }
        Ok(parsed)
    }

    /// Its content; `None` if a number in it is none.
    pub fn value(&self) -> Option<Value> {
        self.root.value()?.to_serde_value()
    }

    fn has_comments(&self) -> bool {
        let mut all = self.root.children().into_iter().chain(self.top.children());
        all.any(|node| node.is_comment())
    }

    fn list(&self, event: &str) -> Option<CstArray> {
        self.top.object_value("hooks")?.array_value(event)
    }
}

impl HookFile for JsonHooks {
    fn events(&self) -> Vec<String> {
        let hooks = self.top.object_value("hooks");
        let properties = hooks.map(|hooks| hooks.properties()).unwrap_or_default();
        let names = properties.iter().filter_map(CstObjectProp::decoded_name);
        names.collect()
    }

    fn items(&self, event: &str) -> Vec<Value> {
        let list = self.list(event);
        let elements = list.map(|list| list.elements()).unwrap_or_default();
        let value = |node: &CstNode| node.to_serde_value().unwrap_or(Value::Null);
        elements.iter().map(value).collect()
    }

    /// Says `"version": 1` first, unless a version is given.
    fn complete(&mut self, is_versioned: bool, _: &Path) {
        if is_versioned && self.top.get("version").is_none() {
            let version = CstInputValue::Number("1".to_owned());
            self.top.insert(0, "version", version);
        }
    }

    fn is_empty(&self) -> bool {
        let properties = self.top.properties();
        let mut names = properties.iter().map(CstObjectProp::decoded_name);
        names.all(|name| name.as_deref() == Some("version")) && !self.has_comments()
    }

    fn text(&self) -> String {
        let mark = if self.marked { MARK } else { "" };
        format!("{mark}{}", self.root)
    }

    fn put(&mut self, event: &str, at: Option<usize>, item: &Value) {
        let hooks = self.top.object_value_or_set("hooks");
        let list = hooks.array_value_or_set(event);
        let Some(at) = at else {
            list.ensure_multiline();
            list.append(input(item));
            return;
        };
        // Inserted anew: in place of the old one it would keep that one's indentation.
        list.insert(at, input(item));
        if let Some(old) = list.elements().get(at + 1) {
            old.clone().remove();
        }
    }

    fn remove(&mut self, event: &str, at: usize, inner: Option<usize>) {
        let hooks = self.top.get("hooks");
        let events = hooks.as_ref().and_then(CstObjectProp::object_value);
        let list = events.as_ref().and_then(|events| events.array_value(event));
        let (Some(hooks), Some(events), Some(list)) = (hooks, events, list) else {
            return;
        };
        let item = list.elements().get(at).cloned();
        let removed = item.and_then(|item| match inner {
            None => Some(item),
            Some(inner) => {
                let group = item.as_object()?.array_value("hooks")?;
                group.elements().get(inner).cloned()
            }
        });
        if let Some(removed) = removed {
            removed.remove();
        }
        let is_bare = |nodes: Vec<CstNode>| !nodes.iter().any(CstNode::is_comment);
        if list.elements().is_empty() && is_bare(list.children()) {
            let _ = events.get(event).map(CstObjectProp::remove);
        }
        if events.properties().is_empty() && is_bare(events.children()) {
            hooks.remove();
        }
    }
}

/// Refuses an object with two properties of this name: readers differ in which of them counts.
fn single(object: &CstObject, name: &str) -> Result<()> {
    let properties = object.properties();
    let same = |property: &&CstObjectProp| property.decoded_name().as_deref() == Some(name);
    if properties.iter().filter(same).count() > 1 {
        return Err(Error::new(format!("it has `{name}` twice")));
    }
    Ok(())
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(map) => {
            let properties = map.iter().map(|(key, value)| (key.clone(), input(value)));
            CstInputValue::Object(properties.collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::entry::set_entry;
    use crate::host::agent::Agent;
    use serde_json::json;

    fn wanted() -> Value {
        json!({"matcher": "*", "hooks": [{"command": "/a/agent-skills hook codex", "timeout": 10}]})
    }

    fn with(text: &str) -> String {
        let mut parsed = JsonHooks::parse(text).unwrap();
        let wanted = wanted();
        set_entry(&mut parsed, Agent::Codex, "PreToolUse", Some(&wanted));
        parsed.text()
    }

    fn without(text: &str) -> (String, bool) {
        let mut parsed = JsonHooks::parse(text).unwrap();
        for event in parsed.events() {
            set_entry(&mut parsed, Agent::Codex, &event, None);
        }
        (parsed.text(), parsed.is_empty())
    }

    #[test]
    fn an_entry_is_added_once_and_everything_else_stays() {
        let other = r#"{ "matcher": "Bash", "hooks": [ {"command": "other"} ] }"#;
        for text in [
            "",
            "{}",
            "{}\n",
            "{\"a\":1}",
            "\u{feff}{\"a\": 1}\r\n",
            "{\r\n\t\"b\": [1, 2],\r\n\t\"a\": 1\r\n}\r\n",
            "// first\n{\n  // in it\n  \"a\": 1, /* last */\n}\n// end\n",
            "{\"hooks\": {}}",
            "{\"hooks\": {\"Stop\": [{\"command\": \"x\"}]}, \"z\": null}",
            &format!("{{\"hooks\": {{\n \"PreToolUse\": [\n  {other} // mine\n ]\n}}}}"),
            &format!("{{\"hooks\": {{\"PreToolUse\": [{other},],}},}}"),
        ] {
            let after = with(text);
            let parsed = JsonHooks::parse(&after).unwrap();
            let items = parsed.items("PreToolUse");
            assert_eq!(
                items.iter().filter(|item| **item == wanted()).count(),
                1,
                "{after}"
            );
            assert_eq!(with(&after), after, "{text}");
            for kept in [
                "// first",
                "// in it",
                "/* last */",
                "// end",
                "// mine",
                other,
                "\r\n",
            ] {
                assert_eq!(after.contains(kept), text.contains(kept), "{kept}: {after}");
            }
            assert_eq!(after.starts_with(MARK), text.starts_with(MARK));
            let (rest, is_empty) = without(&after);
            let values = [&*rest, text].map(|text| {
                let value = JsonHooks::parse(text).unwrap().root.to_serde_value();
                let mut value = value.unwrap();
                if value["hooks"] == json!({}) {
                    value.as_object_mut().unwrap().remove("hooks");
                }
                value
            });
            assert_eq!(values[0], values[1], "{rest}");
            assert_eq!(is_empty, values[1] == json!({}), "{rest}");
        }
    }

    #[test]
    fn an_outdated_entry_is_replaced_in_its_place() {
        let before = "{\"hooks\": {\"PreToolUse\": [\n  {\"hooks\": [{\"command\": \
                      \"/old/agent-skills hook codex --mode ask\"}]},\n  {\"command\": \"x\"}\n]}}";
        let after = with(before);
        let items = JsonHooks::parse(&after).unwrap().items("PreToolUse");
        assert_eq!(items, [wanted(), json!({"command": "x"})], "{after}");
    }

    #[test]
    fn of_a_shared_group_only_our_entry_goes() {
        let text = "{\"hooks\": {\"PreToolUse\": [{\"hooks\": [\n  {\"command\": \"x\"}, // mine\n  \
                    {\"command\": \"/a/agent-skills hook codex\"}\n]}]}}";
        let (rest, is_empty) = without(text);
        assert!(!is_empty && rest.contains("// mine"), "{rest}");
        let items = JsonHooks::parse(&rest).unwrap().items("PreToolUse");
        assert_eq!(items, [json!({"hooks": [{"command": "x"}]})]);
    }

    #[test]
    fn what_cannot_be_read_for_sure_is_refused() {
        let deep = "[".repeat(100_000);
        for text in [
            "[]",
            "nonsense",
            "{\"a\": }",
            "{\"hooks\": []}",
            "{\"hooks\": {\"PreToolUse\": {}}}",
            "{\"hooks\": {}, \"hooks\": {}}",
            "{\"hooks\": {\"Stop\": [], \"Stop\": []}}",
            "{} {}",
            &deep,
        ] {
            let shown: String = text.chars().take(40).collect();
            assert!(JsonHooks::parse(text).is_err(), "{shown}");
        }
    }
}
