//! What changes in one event's list of hooks, whatever the file's format.

use std::path::Path;

use serde_json::Value;

use super::entry::Invocation;
use crate::host::agent::Agent;

/// A change to a list. Positions are those before any change.
#[derive(Debug, Clone, PartialEq)]
pub enum Edit {
    /// The item at this position becomes another.
    Replace(usize, Value),
    /// The item at this position goes.
    Remove(usize),
    /// In the group at this position, the entry at the second position goes.
    RemoveInner(usize, usize),
    /// A new last item.
    Append(Value),
}

/// A file with lists of hooks by event, in one format or another.
pub trait Hooks {
    /// The events that have a list.
    fn events(&self) -> Vec<String>;
    /// The items of an event's list.
    fn items(&self, event: &str) -> Vec<Value>;
    /// Changes an event's list, and takes away what that leaves empty.
    fn edit(&mut self, event: &str, edits: &[Edit]);
    /// Adds what the file needs besides entries that run `program`: its version where the agent wants
    /// one, or the directory of programs.
    fn complete(&mut self, is_versioned: bool, program: &Path);
    /// Whether nothing is left that anybody would miss.
    fn is_empty(&self) -> bool;
    /// The file's text.
    fn text(&self) -> String;
}

/// Which part of an item is ours.
enum Ours {
    Nothing,
    All,
    /// The entries of a group at these positions; others are somebody else's.
    Some(Vec<usize>),
}

fn ours(agent: Agent, item: &Value) -> Ours {
    let is_ours = |entry: &Value| Invocation::of_entry(agent, entry).is_some();
    let Some(group) = item.get("hooks").and_then(Value::as_array) else {
        return if is_ours(item) {
            Ours::All
        } else {
            Ours::Nothing
        };
    };
    let entries = group.iter().enumerate();
    let found: Vec<usize> = entries
        .filter(|(_, entry)| is_ours(entry))
        .map(|(at, _)| at)
        .collect();
    match found.len() {
        0 => Ours::Nothing,
        all if all == group.len() => Ours::All,
        _ => Ours::Some(found),
    }
}

/// What makes `wanted` the only item of ours in a list, or leaves none of ours if nothing is wanted.
pub fn edits(agent: Agent, items: &[Value], wanted: Option<&Value>) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut missing = wanted;
    for (at, item) in items.iter().enumerate() {
        match ours(agent, item) {
            Ours::Nothing => {}
            Ours::All => match missing.take() {
                Some(wanted) if wanted == item => {}
                Some(wanted) => edits.push(Edit::Replace(at, wanted.clone())),
                None => edits.push(Edit::Remove(at)),
            },
            Ours::Some(inner) => {
                edits.extend(inner.into_iter().map(|entry| Edit::RemoveInner(at, entry)));
            }
        }
    }
    edits.extend(missing.cloned().map(Edit::Append));
    edits
}

/// Our entries among these items, with what each runs.
pub fn ours_of(agent: Agent, items: &[Value]) -> Vec<(Value, Invocation)> {
    let mut found = Vec::new();
    for item in items {
        let group = item.get("hooks").and_then(Value::as_array);
        let entries = group.map_or(std::slice::from_ref(item), Vec::as_slice);
        for entry in entries {
            let ours = Invocation::of_entry(agent, entry);
            found.extend(ours.map(|ours| (entry.clone(), ours)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn entry(program: &str) -> Value {
        json!({"type": "command", "command": format!("{program}/agent-skills hook codex")})
    }

    fn group(entries: &[&Value]) -> Value {
        json!({"matcher": "*", "hooks": entries})
    }

    #[test]
    fn one_entry_of_ours_remains_and_others_stay() {
        let (old, new, other) = (entry("/old"), entry("/new"), json!({"command": "other"}));
        let wanted = group(&[&new]);
        let append = Edit::Append(wanted.clone());
        for (items, expected) in [
            (vec![], vec![append.clone()]),
            (vec![wanted.clone()], vec![]),
            (vec![group(&[&other])], vec![append.clone()]),
            (
                vec![group(&[&other]), group(&[&old])],
                vec![Edit::Replace(1, wanted.clone())],
            ),
            (
                vec![group(&[&old, &other, &new])],
                vec![
                    Edit::RemoveInner(0, 0),
                    Edit::RemoveInner(0, 2),
                    append.clone(),
                ],
            ),
            (
                vec![wanted.clone(), group(&[&old, &old])],
                vec![Edit::Remove(1)],
            ),
            (
                vec![json!("text"), json!({"hooks": 1})],
                vec![append.clone()],
            ),
        ] {
            assert_eq!(edits(Agent::Codex, &items, Some(&wanted)), expected);
        }
        let items = [group(&[&old]), group(&[&other, &old])];
        assert_eq!(
            edits(Agent::Codex, &items, None),
            [Edit::Remove(0), Edit::RemoveInner(1, 1)]
        );
        assert_eq!(ours_of(Agent::Codex, &items).len(), 2);
    }
}
