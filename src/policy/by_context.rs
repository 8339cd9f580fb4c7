//! A table in the configuration that depends on the host's context: globs of context names, in the
//! order written, each with a list of names.

use std::fmt::Display;

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::{Serialize, Serializer};

use super::skill_names::in_order;
use crate::policy::matches;

/// Lists by glob of context names; the file's order is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ByContext<T = String>(Vec<(String, Vec<T>)>);

impl<T> Default for ByContext<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl ByContext {
    /// All names in the table.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let names = self.0.iter().flat_map(|(_, names)| names);
        names.map(String::as_str)
    }

    /// Puts these before all others, in every context.
    pub fn everywhere_first(&mut self, names: Vec<String>) {
        if !names.is_empty() {
            self.0.insert(0, ("*".to_owned(), names));
        }
    }
}

impl<T> ByContext<T> {
    /// Each glob of contexts with its list, in the file's order.
    pub fn lists(&self) -> impl Iterator<Item = (&str, &[T])> {
        self.0.iter().map(|(glob, list)| (glob.as_str(), &**list))
    }
}

impl<T: Ord> ByContext<T> {
    /// Whether the table is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The names for `context`, from all globs that match it, without duplicates; `None` if none
    /// matches.
    pub fn names_for(&self, context: &str) -> Option<Vec<&T>> {
        let all = self.0.iter();
        let mut matching = all.filter(|(glob, _)| matches(glob, context)).peekable();
        matching.peek()?;
        let names = matching.flat_map(|(_, names)| names);
        let mut seen = std::collections::BTreeSet::new();
        Some(names.filter(|name| seen.insert(*name)).collect())
    }
}

impl<T: Serialize> Serialize for ByContext<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(glob, names)| (glob, names)))
    }
}

impl<'de, T: TryFrom<String, Error: Display>> Deserialize<'de> for ByContext<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const FORM: &str =
            "a table of context globs with lists of skill names, as {\"*\" = [\"pdf\"]}";
        let mut all = Vec::new();
        for (glob, names) in in_order::<_, Vec<String>>(deserializer, FORM)? {
            if glob.trim().is_empty() {
                let text = "a context glob is empty: write `*` for every context";
                return Err(D::Error::custom(text));
            }
            if names.iter().any(|name| name.trim().is_empty()) {
                let text = format!("the list for the contexts `{glob}` has an empty name");
                return Err(D::Error::custom(text));
            }
            let names = names.into_iter().map(T::try_from).collect::<Result<_, _>>();
            all.push((glob, names.map_err(D::Error::custom)?));
        }
        Ok(Self(all))
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
        let names_for = |context| Some(table.names_for(context)?.into_iter().cloned().collect());
        assert_eq!(
            names_for("zoo"),
            Some("c b a".split(' ').map(str::to_owned).collect::<Vec<_>>())
        );
        assert_eq!(names_for("ZEBRA").map(|names| names.len()), Some(2));
        assert_eq!(names_for("other"), None);
        assert_eq!(<ByContext>::default().names_for("x"), None);
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
