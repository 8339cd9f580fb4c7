//! A table in the configuration that depends on the host's context: globs of context names, in the
//! order written, each with a list of names.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde::{Serialize, Serializer};

use crate::policy::matches;

/// Lists by glob of context names; the file's order is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ByContext(Vec<(String, Vec<String>)>);

impl ByContext {
    /// Whether the table is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All names in the table.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let names = self.0.iter().flat_map(|(_, names)| names);
        names.map(String::as_str)
    }

    /// The names for `context`, from all globs that match it, without duplicates; `None` if none
    /// matches.
    pub fn names_for(&self, context: &str) -> Option<Vec<&str>> {
        let mut matching = self
            .0
            .iter()
            .filter(|(glob, _)| matches(glob, context))
            .peekable();
        matching.peek()?;
        let names = matching.flat_map(|(_, names)| names).map(String::as_str);
        let mut seen = std::collections::BTreeSet::new();
        Some(names.filter(|name| seen.insert(*name)).collect())
    }
}

impl Serialize for ByContext {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(glob, names)| (glob, names)))
    }
}

impl<'de> Deserialize<'de> for ByContext {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Tables)
    }
}

struct Tables;

impl<'de> Visitor<'de> for Tables {
    type Value = ByContext;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a table of context globs with lists of skill names, as {\"*\" = [\"pdf\"]}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<ByContext, A::Error> {
        let mut all = Vec::new();
        while let Some((glob, names)) = table.next_entry::<String, Vec<String>>()? {
            if glob.trim().is_empty() {
                return Err(A::Error::custom(
                    "a context glob is empty: write `*` for every context",
                ));
            }
            if names.iter().any(|name| name.trim().is_empty()) {
                let text = format!("the list for the contexts `{glob}` has an empty name");
                return Err(A::Error::custom(text));
            }
            all.push((glob, names));
        }
        Ok(ByContext(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    struct File {
        table: ByContext,
    }

    fn read(text: &str) -> Result<ByContext, String> {
        let file: Result<File, _> = toml::from_str(text);
        file.map(|file| file.table)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn the_order_is_the_files_and_each_name_stands_once() {
        let table = read("[table]\n\"z*\" = [\"c\", \"b\"]\nzoo = [\"a\", \"c\"]\n").unwrap();
        assert_eq!(table.names_for("zoo"), Some(vec!["c", "b", "a"]));
        assert_eq!(table.names_for("ZEBRA"), Some(vec!["c", "b"]));
        assert_eq!(table.names_for("other"), None);
        assert_eq!(ByContext::default().names_for("x"), None);
        let json = serde_json::to_string(&table).unwrap();
        assert_eq!(json, r#"{"z*":["c","b"],"zoo":["a","c"]}"#);
    }

    #[test]
    fn a_mistake_says_what_is_wanted() {
        for (text, part) in [
            ("table = [\"pdf\"]", "a table of context globs"),
            ("table = {\"*\" = \"pdf\"}", "a sequence"),
            ("table = {\"*\" = [1]}", "a string"),
            ("table = {\"\" = [\"pdf\"]}", "write `*`"),
            ("table = {\"ops\" = [\" \"]}", "the contexts `ops`"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
