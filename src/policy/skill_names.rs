//! Names of skills as people write them in configuration and policy, also by the host's context. They
//! are folded when they are parsed, as a skill's own name is, and what can mean no skill is a mistake.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::marker::PhantomData;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::skill::SkillName;

/// The tables of the configuration whose keys are names of skills.
const TABLES: [&str; 2] = ["skills", "visibility"];
const WILDCARDS: &str = "*?";

/// A table with settings by the name of a skill, to be parsed by [`by_skill`].
pub type BySkill<T> = BTreeMap<SkillName, T>;

/// A glob of names of skills.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SkillGlob {
    written: String,
    folded: String,
}

/// The parts of a key of the configuration as a person writes it, a skill's name in it folded. As
/// in TOML, a part with points in it is in quotation marks.
pub fn parts(key: &str) -> Vec<String> {
    let mut is_quoted = false;
    let parts = key.split(|c| {
        is_quoted ^= c == '"';
        c == '.' && !is_quoted
    });
    let parts = parts.map(|part| part.trim_matches('"').to_owned());
    folded(parts.collect())
}

/// The key with these parts, as [`parts`] reads it.
pub fn joined(parts: &[String]) -> String {
    let quoted = |part: &String| {
        if part.contains('.') {
            format!("\"{part}\"")
        } else {
            part.clone()
        }
    };
    let parts: Vec<String> = folded(parts.to_vec()).iter().map(quoted).collect();
    parts.join(".")
}

fn folded(mut parts: Vec<String>) -> Vec<String> {
    if let [table, name, ..] = &mut parts[..]
        && TABLES.contains(&table.as_str())
        && let Ok(folded) = name_of_skill(name)
    {
        *name = folded.to_string();
    }
    parts
}

/// The name that a key means, or why it means none.
pub fn name_of_skill(written: &str) -> Result<SkillName, String> {
    if written.contains(['/', '@']) || written.contains(|c| WILDCARDS.contains(c)) {
        return Err(format!(
            "`{written}` is not a skill's name: write it without layer, owner or wildcard"
        ));
    }
    let name = SkillName::from_written(written);
    name.ok_or_else(|| format!("`{written}` is not a skill's name: it has no letter or digit"))
}

impl TryFrom<String> for SkillGlob {
    type Error = String;

    fn try_from(written: String) -> Result<Self, String> {
        if written.contains(['/', '@']) {
            return Err(format!(
                "`{written}` matches no skill's name: names have neither layer nor owner"
            ));
        }
        match SkillName::glob(&written, WILDCARDS) {
            Ok(folded) => Ok(Self { written, folded }),
            Err(why) => Err(format!("`{written}` matches no skill's name: {why}")),
        }
    }
}

impl SkillGlob {
    /// Whether it matches the name of a skill, or of its directory.
    pub fn matches(&self, name: &str) -> bool {
        let folded = SkillName::from_written(name);
        matches(&self.written, name)
            || folded.is_some_and(|name| matches(&self.folded, name.as_str()))
    }
}

impl fmt::Display for SkillGlob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

impl From<SkillGlob> for String {
    fn from(glob: SkillGlob) -> Self {
        glob.written
    }
}

/// Parses a [`BySkill`].
pub fn by_skill<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<BySkill<T>, D::Error> {
    let mut all = BySkill::new();
    for (written, value) in in_order(deserializer, "a table of skill names")? {
        let name = name_of_skill(&written).map_err(D::Error::custom)?;
        if all.contains_key(&name) {
            let text = format!("`{written}` is the skill `{name}`, which is there already");
            return Err(D::Error::custom(text));
        }
        all.insert(name, value);
    }
    Ok(all)
}

/// The entries of a table in the order in which they are written; `expected` is what it has to be.
pub fn in_order<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
    expected: &'static str,
) -> Result<Vec<(String, T)>, D::Error> {
    deserializer.deserialize_map(InOrder(expected, PhantomData))
}

struct InOrder<T>(&'static str, PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for InOrder<T> {
    type Value = Vec<(String, T)>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<Self::Value, A::Error> {
        std::iter::from_fn(|| table.next_entry().transpose()).collect()
    }
}

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

/// Whether `pattern` matches `text`.
pub fn matches(pattern: &str, text: &str) -> bool {
    matches_exactly(&pattern.to_lowercase(), &text.to_lowercase())
}

/// The same, if upper and lower case are different.
pub fn matches_exactly(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<_>, Vec<_>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    // Where to go on after a mismatch: in the pattern after the last `*`, in the text one character
    // further.
    let mut retry = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                retry = Some((p + 1, t));
                p += 1;
            }
            Some('?') => (p, t) = (p + 1, t + 1),
            Some(c) if *c == text[t] => (p, t) = (p + 1, t + 1),
            _ => match retry {
                Some((after, from)) => {
                    retry = Some((after, from + 1));
                    (p, t) = (after, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    struct File {
        #[serde(default, deserialize_with = "by_skill")]
        table: BySkill<u8>,
        #[serde(default)]
        globs: Vec<SkillGlob>,
    }

    fn read(text: &str) -> Result<File, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_key_in_any_spelling_means_the_skill() {
        for key in [
            "my-skill",
            "My Skill",
            "MY-SKILL",
            "my_skill",
            " my--skill ",
        ] {
            let file = read(&format!("[table]\n\"{key}\" = 1")).unwrap();
            assert_eq!(file.table.get("my-skill"), Some(&1), "{key}");
        }
    }

    #[test]
    fn what_means_no_skill_is_a_mistake() {
        for (text, part) in [
            ("table = {'plugin/pdf' = 1}", "without layer"),
            ("table = {'pdf@acme' = 1}", "without layer"),
            ("table = {'my-*' = 1}", "or wildcard"),
            ("table = {'*' = 1}", "or wildcard"),
            ("table = {'' = 1}", "no letter or digit"),
            ("table = {'My Skill' = 1, my_skill = 2}", "there already"),
            ("globs = ['plugin/pdf']", "neither layer nor owner"),
            ("globs = ['_*']", "begin and end"),
            ("globs = ['']", "no letter or digit"),
            (&format!("globs = ['{}*']", "a".repeat(65)), "at most 64"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn globs_are_folded_as_names_are() {
        for (glob, name, expected) in [
            ("Evil Tool", "evil-tool", true),
            ("EVIL_*", "evil-other", true),
            ("evil_*", "evil", false),
            ("*_tool", "evil-tool", true),
            ("e??l", "evil", true),
            ("*", "evil", true),
            ("my-dir", "my_dir", true),
            ("my_dir", "my_dir", true),
            ("a__*", "a__b", true),
            ("evil-*", "good", false),
            (&"a".repeat(70), &"a".repeat(64), true),
            (&format!("{}*", "a".repeat(64)), &"a".repeat(64), true),
            (&format!("{}*", "a".repeat(64)), &"a".repeat(70), true),
        ] {
            let file = read(&format!("globs = ['{glob}']")).unwrap();
            assert_eq!(file.globs[0].matches(name), expected, "{glob} {name}");
        }
    }

    #[test]
    fn a_setting_is_found_by_the_name_as_written() {
        for (key, folded) in [
            ("skills.My Skill.sandbox", "skills.my-skill.sandbox"),
            ("skills.\"v1.2\".sandbox", "skills.v1-2.sandbox"),
            ("skills.My Skill", "skills.my-skill"),
            ("visibility.a/b", "visibility.a/b"),
            ("catalog.\"a.b\"", "catalog.\"a.b\""),
            ("audit.output_bytes", "audit.output_bytes"),
            ("enforce", "enforce"),
        ] {
            assert_eq!(joined(&parts(key)), folded);
        }
    }

    #[derive(Debug, serde::Deserialize)]
    struct Wrote {
        table: ByContext,
    }

    fn contexts(text: &str) -> Result<ByContext, String> {
        let file: Result<Wrote, _> = toml::from_str(text);
        file.map(|file| file.table)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn the_order_is_the_files_and_each_name_stands_once() {
        let table = contexts("[table]\n\"z*\" = [\"c\", \"b\"]\nzoo = [\"a\", \"c\"]\n").unwrap();
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
            let error = contexts(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn globs_match_whole_texts_in_any_case() {
        for (pattern, text, expected) in [
            ("deploy", "deploy", true),
            ("Deploy*", "deploy-now", true),
            ("*", "", true),
            ("", "x", false),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbY", false),
            ("?", "é", true),
            ("github.com/acme/*", "github.com/acme/skills", true),
            (
                "github.com/acme/*",
                "evil.example/github.com/acme/skills",
                false,
            ),
            ("github.com/acme/*", "github.com/acme-evil/skills", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn many_stars_take_no_long_time() {
        assert!(!matches(
            &"*a".repeat(40),
            &"a".repeat(39).repeat(20).replace('a', "b")
        ));
    }
}
