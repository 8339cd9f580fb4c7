//! What changes in one event's list of hooks, whatever the file's format.

use std::path::Path;

use serde_json::Value;

use super::entry::Invocation;
use crate::host::agent::Agent;

/// A file with lists of hooks by event, in one format or another.
pub trait Hooks {
    /// The events that have a list.
    fn events(&self) -> Vec<String>;
    /// The items of an event's list.
    fn items(&self, event: &str) -> Vec<Value>;
    /// Puts an item in place of the one at a position of an event's list, or at its end.
    fn put(&mut self, event: &str, at: Option<usize>, item: &Value);
    /// Takes away the item at a position, or the entry at the second one in the group there, and what
    /// that leaves empty.
    fn remove(&mut self, event: &str, at: usize, inner: Option<usize>);
    /// Adds what the file needs besides entries that run `program`: its version where the agent wants
    /// one, or the directory of programs.
    fn complete(&mut self, is_versioned: bool, program: &Path);
    /// Whether nothing is left that anybody would miss.
    fn is_empty(&self) -> bool;
    /// The file's text.
    fn text(&self) -> String;
}

/// The entries of an item: those of a group, or itself.
fn entries(item: &Value) -> &[Value] {
    let group = item.get("hooks").and_then(Value::as_array);
    group.map_or(std::slice::from_ref(item), Vec::as_slice)
}

/// Our entries of an item, by their positions in it, with what each runs.
fn ours(agent: Agent, item: &Value) -> Vec<(usize, Invocation)> {
    let entries = entries(item).iter().enumerate();
    let found = entries.filter_map(|(at, entry)| Some((at, Invocation::of_entry(agent, entry)?)));
    found.collect()
}

/// Makes `wanted` the only item of ours in an event's list, or leaves none of ours if nothing is wanted;
/// whether that changed anything.
pub fn put(file: &mut dyn Hooks, agent: Agent, event: &str, wanted: Option<&Value>) -> bool {
    let items = file.items(event);
    let all: Vec<_> = items.iter().map(|item| ours(agent, item)).collect();
    let is_whole = |at: usize| !all[at].is_empty() && all[at].len() == entries(&items[at]).len();
    let kept = (0..items.len()).find(|at| wanted.is_some() && is_whole(*at));
    let mut is_changed = false;
    // From the end, so that positions stay what they were.
    for (at, ours) in all.iter().enumerate().rev() {
        match wanted {
            _ if ours.is_empty() => continue,
            Some(wanted) if kept == Some(at) => {
                if items[at] == *wanted {
                    continue;
                }
                file.put(event, kept, wanted);
            }
            _ if is_whole(at) => file.remove(event, at, None),
            // Others in the group are somebody else's.
            _ => {
                let last_first = ours.iter().rev();
                last_first.for_each(|(inner, _)| file.remove(event, at, Some(*inner)));
            }
        }
        is_changed = true;
    }
    if let Some(wanted) = wanted.filter(|_| kept.is_none()) {
        file.put(event, None, wanted);
        is_changed = true;
    }
    is_changed
}

/// Our entries among these items, with what each runs.
pub fn ours_of(agent: Agent, items: &[Value]) -> Vec<(Value, Invocation)> {
    let each = items.iter().flat_map(|item| {
        let found = ours(agent, item).into_iter();
        found.map(|(at, ours)| (entries(item)[at].clone(), ours))
    });
    each.collect()
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

    /// A list of hooks, without a format.
    struct List(Vec<Value>);

    impl Hooks for List {
        fn events(&self) -> Vec<String> {
            vec!["Stop".to_owned()]
        }

        fn items(&self, _: &str) -> Vec<Value> {
            self.0.clone()
        }

        fn put(&mut self, _: &str, at: Option<usize>, item: &Value) {
            match at {
                Some(at) => self.0[at] = item.clone(),
                None => self.0.push(item.clone()),
            }
        }

        fn remove(&mut self, _: &str, at: usize, inner: Option<usize>) {
            match inner {
                Some(inner) => drop(self.0[at]["hooks"].as_array_mut().unwrap().remove(inner)),
                None => drop(self.0.remove(at)),
            }
        }

        fn complete(&mut self, _: bool, _: &Path) {}

        fn is_empty(&self) -> bool {
            self.0.is_empty()
        }

        fn text(&self) -> String {
            String::new()
        }
    }

    fn with(items: &[Value], wanted: Option<&Value>) -> (Vec<Value>, bool) {
        let mut list = List(items.to_vec());
        let is_changed = put(&mut list, Agent::Codex, "Stop", wanted);
        (list.0, is_changed)
    }

    #[test]
    fn one_entry_of_ours_remains_and_others_stay() {
        let (old, new, other) = (entry("/old"), entry("/new"), json!({"command": "other"}));
        let (wanted, others) = (group(&[&new]), group(&[&other]));
        for (items, expected) in [
            (vec![], vec![&wanted]),
            (vec![wanted.clone()], vec![&wanted]),
            (vec![others.clone()], vec![&others, &wanted]),
            (vec![others.clone(), group(&[&old])], vec![&others, &wanted]),
            (vec![group(&[&old, &other, &new])], vec![&others, &wanted]),
            (vec![wanted.clone(), group(&[&old, &old])], vec![&wanted]),
            (
                vec![json!("text"), json!({"hooks": 1})],
                vec![&json!("text"), &json!({"hooks": 1}), &wanted],
            ),
        ] {
            let (after, is_changed) = with(&items, Some(&wanted));
            assert_eq!(after.iter().collect::<Vec<_>>(), expected);
            assert_eq!(is_changed, after != items);
        }
        let items = [group(&[&old]), group(&[&other, &old])];
        assert_eq!(with(&items, None), (vec![others], true));
        assert_eq!(ours_of(Agent::Codex, &items).len(), 2);
    }
}
