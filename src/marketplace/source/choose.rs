//! Chooses among the skills of a source (docs/spec/references.md#choosing). It never guesses: if
//! several match, it asks, or the error lists them.

use std::collections::HashSet;
use std::fmt::Write;

use crate::error::Error;
use crate::marketplace::fetch::tree;
use crate::marketplace::reference::Want;
use crate::marketplace::source::Found;
use crate::skill::{SkillName, brief, one_line};
use crate::sys::text::{did_you_mean, listed};

/// The maximum number of skills that an error lists.
const LISTED: usize = 60;
/// The maximum number of skills of which a hint lists all.
const FEW: usize = 5;

/// Why nothing was chosen.
#[derive(Debug)]
pub struct Miss {
    /// Whether nothing here matches, so that another reading of the reference may.
    pub absent: bool,
    /// Whether the error's hint lists the skills that are there.
    pub lists: bool,
    /// The error to report.
    pub error: Error,
}

impl Miss {
    /// The reference cannot be meant so.
    fn refused(error: Error) -> Self {
        Self {
            absent: false,
            lists: false,
            error,
        }
    }
}

/// Receives several skills among all that are found, and returns the positions of those that are
/// meant.
pub type Ask<'a> = &'a dyn Fn(&[&Found]) -> Result<Vec<usize>, Error>;

/// How one chooses if several skills are meant.
#[derive(Clone, Copy, Default)]
pub struct Choosing<'c> {
    /// Only those of these names.
    pub names: &'c [String],
    /// All of them.
    pub all: bool,
    /// Somebody is asked.
    pub ask: Option<Ask<'c>>,
}

/// The skills that `want` means, of which some may have to be chosen.
pub fn choose<'f>(
    found: &'f [Found],
    want: &Want,
    choosing: Choosing,
) -> Result<Vec<&'f Found>, Miss> {
    let everything: Vec<&Found> = found.iter().collect();
    match want {
        Want::Any => several(&everything, choosing),
        Want::Root => match found.iter().find(|found| found.path.is_empty()) {
            Some(root) => Ok(vec![root]),
            None => Err(absent(&everything, "there is no skill at its root")),
        },
        Want::Named(name) => match named(&everything, name) {
            Err(miss) if miss.absent => {
                let group = filtered(&everything, |found| found.plugin.as_deref() == Some(name));
                if group.is_empty() {
                    return Err(miss);
                }
                several(&group, choosing)
            }
            Ok(_) if choosing.all || !choosing.names.is_empty() => {
                let text = format!("`{}` names one skill already", name.escape_debug());
                let error = Error::new(text).hint("leave out `--skill` and `--all`");
                Err(Miss::refused(error))
            }
            found => Ok(vec![found?]),
        },
        Want::Path(path) => {
            let text = format!("there is no skill at `{}`", path.as_str());
            let inside = at_path(&everything, path.as_str());
            let inside = inside.ok_or_else(|| absent(&everything, &text))?;
            several(&inside, choosing)
        }
        Want::PathOrName(path) => {
            let path = path.as_str();
            let below_skills = || at_path(&everything, &format!("skills/{path}"));
            match at_path(&everything, path).or_else(below_skills) {
                Some(inside) => several(&inside, choosing),
                None => Ok(vec![named(&everything, path)?]),
            }
        }
    }
}

/// The skill whose directory or `SKILL.md` is at `path`, or else the skills below it.
fn at_path<'f>(found: &[&'f Found], path: &str) -> Option<Vec<&'f Found>> {
    let dir = tree::skill_dir(path);
    if let Some(exact) = found.iter().find(|f| f.path == dir) {
        return Some(vec![*exact]);
    }
    let below = filtered(found, |f| tree::is_within(&f.path, dir));
    (!below.is_empty()).then_some(below)
}

fn several<'f>(found: &[&'f Found], choosing: Choosing) -> Result<Vec<&'f Found>, Miss> {
    let Choosing { names, all, ask } = choosing;
    if !names.is_empty() {
        return names.iter().map(|name| named(found, name)).collect();
    }
    if let [only] = found {
        return Ok(vec![only]);
    }
    let shown = filtered(found, Found::is_shown);
    let mut seen = HashSet::new();
    // They are sorted by rank, so the first of each name is the main copy.
    let distinct = filtered(&shown, |f| seen.insert(f.skill.name.clone()));
    match distinct.as_slice() {
        [] => Err(absent(found, "there is no skill")),
        _ if all => Ok(distinct),
        // All that are shown are copies of it.
        [only] => Ok(vec![one_of(&shown, only.skill.name.as_str())?]),
        _ => {
            let Some(ask) = ask else {
                let text = format!("there are {} skills:{}", distinct.len(), list(&distinct));
                let hint = "choose some with `--skill a,b`, of a repository one as `OWNER/REPO@SKILL`, or all \
                            with `--all`";
                return Err(Miss::refused(Error::new(text).hint(hint)));
            };
            let meant = ask(&distinct).map_err(Miss::refused)?;
            let meant = meant.into_iter().filter_map(|at| distinct.get(at));
            Ok(meant.copied().collect())
        }
    }
}

/// What `--skill` takes to mean exactly this skill: its name, if no other has it, else its path.
pub fn selects(found: &[Found], skill: &Found) -> String {
    let everything: Vec<&Found> = found.iter().collect();
    let name = skill.skill.name.as_str();
    let is_it = named(&everything, name).is_ok_and(|named| named.path == skill.path);
    let select = if is_it || skill.path.is_empty() {
        name
    } else {
        &skill.path
    };
    select.to_owned()
}

fn filtered<'f>(found: &[&'f Found], mut test: impl FnMut(&Found) -> bool) -> Vec<&'f Found> {
    found.iter().copied().filter(|found| test(found)).collect()
}

/// Whether a name means a skill.
type Rule<'r> = &'r dyn Fn(&Found) -> bool;

fn named<'f>(found: &[&'f Found], name: &str) -> Result<&'f Found, Miss> {
    let path = name.trim_matches('/');
    if let Some(exact) = found.iter().find(|f| !f.path.is_empty() && f.path == path) {
        return Ok(exact);
    }
    let folded = SkillName::from_written(name);
    let by_directory = |f: &Found| f.dir_name() == name;
    let by_field = |f: &Found| f.skill.fields.text("name").as_deref() == Some(name);
    let by_key = |f: &Found| {
        Some(&f.skill.name) == folded.as_ref() || SkillName::from_written(f.dir_name()) == folded
    };
    let by_suffix = |f: &Found| {
        let written = f.skill.fields.text("name").unwrap_or_default();
        let last = written.rsplit([':', '/']).next();
        last.is_some_and(|last| SkillName::from_written(last) == folded)
    };
    let rules: [Rule; 4] = [&by_directory, &by_field, &by_key, &by_suffix];
    // A skill inside another one or among tests is chosen only if no other matches.
    for shown in [true, false] {
        for rule in rules {
            let matching = filtered(found, |f| f.is_shown() == shown && rule(f));
            if !matching.is_empty() {
                return one_of(&matching, name);
            }
        }
    }
    let text = format!("there is no skill `{}`", name.escape_debug());
    Err(missing(found, &text, Some(name)))
}

/// The main copy, if all matches are copies of the same skill.
fn one_of<'f>(matching: &[&'f Found], name: &str) -> Result<&'f Found, Miss> {
    let first = matching[0];
    if matching.iter().all(|f| f.fingerprint == first.fingerprint) {
        return Ok(first);
    }
    let name = name.escape_debug();
    let text = format!("`{name}` could be any of{}", list(matching));
    let hint = "choose one by its path, as `OWNER/REPO/PATH`";
    Err(Miss::refused(Error::new(text).hint(hint)))
}

fn absent(found: &[&Found], text: &str) -> Miss {
    missing(found, text, None)
}

/// What is not there, and what is: the skill of a similar name if `written` is one.
fn missing(found: &[&Found], text: &str, written: Option<&str>) -> Miss {
    let shown = filtered(found, Found::is_shown);
    let names = shown.iter().map(|found| found.skill.name.as_str());
    let near = written.and_then(|written| did_you_mean(written, names));
    let there = || match &shown[..] {
        [] => "a skill is a directory with a SKILL.md".to_owned(),
        few if few.len() <= FEW => format!("there are{}", list(few)),
        many => {
            let names: Vec<&str> = many.iter().map(|found| found.skill.name.as_str()).collect();
            let names = listed(&names, 3);
            format!("there are {names}: `agent-skills install REPOSITORY --list` lists them")
        }
    };
    let hint = near.unwrap_or_else(there);
    Miss {
        absent: true,
        lists: !shown.is_empty(),
        error: Error::new(text).hint(hint),
    }
}

/// One line per skill: name, path, and the start of the description.
fn list(found: &[&Found]) -> String {
    let mut text = String::new();
    for skill in found.iter().take(LISTED) {
        let name = &skill.skill.name;
        let description = skill.skill.description.as_deref();
        let clean = brief(description.unwrap_or("(no description)"), 80);
        let path = Some(skill.path.as_str()).filter(|path| !path.is_empty());
        let path = path.unwrap_or(".").escape_debug();
        let group = skill.plugin.as_deref().map(one_line);
        let group = group.map_or(String::new(), |name| format!(", of {name}"));
        let _ = write!(text, "\n  {name} ({path}{group}) — {clean}");
    }
    if found.len() > LISTED {
        let _ = write!(text, "\n  … and {} more", found.len() - LISTED);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marketplace::reference::SubPath;
    use crate::marketplace::source::discover::tests::found;

    const A: &str = "---\nname: a\ndescription: does a\n---\n";
    const B: &str = "---\nname: ce:work\ndescription: does b\n---\n";

    fn paths(
        entries: &[(&str, &str)],
        want: &Want,
        names: &[&str],
        all: bool,
    ) -> Result<Vec<String>, Miss> {
        let found = found(entries);
        let names: Vec<String> = names.iter().map(|n| (*n).to_owned()).collect();
        let choosing = Choosing {
            names: &names,
            all,
            ask: None,
        };
        let chosen = choose(&found, want, choosing)?;
        Ok(chosen.iter().map(|f| f.path.clone()).collect())
    }

    fn at(path: &str) -> SubPath {
        SubPath::parse(path).unwrap()
    }

    #[test]
    fn one_skill_is_taken_and_several_are_listed() {
        assert_eq!(
            paths(&[("x/SKILL.md", A)], &Want::Any, &[], false).unwrap(),
            ["x"]
        );
        let two = [("skills/x/SKILL.md", A), ("skills/y/SKILL.md", B)];
        let miss = paths(&two, &Want::Any, &[], false).unwrap_err();
        let text = miss.error.to_string();
        assert!(
            !miss.absent && text.contains("a (skills/x) — does a") && text.contains("ce-work"),
            "{text}"
        );
        assert_eq!(
            paths(&two, &Want::Any, &[], true).unwrap(),
            ["skills/x", "skills/y"]
        );
        assert_eq!(
            paths(&two, &Want::Any, &["y", "a"], false).unwrap(),
            ["skills/y", "skills/x"]
        );
        assert!(paths(&[], &Want::Any, &[], false).unwrap_err().absent);
    }

    #[test]
    fn a_name_matches_a_path_directory_field_folded_name_or_suffix() {
        let two = [("skills/x/SKILL.md", A), ("skills/y/SKILL.md", B)];
        for (name, path) in [
            ("skills/x", "skills/x"),
            ("x", "skills/x"),
            ("a", "skills/x"),
            ("ce:work", "skills/y"),
            ("CE Work", "skills/y"),
            ("work", "skills/y"),
            ("Y", "skills/y"),
        ] {
            assert_eq!(
                paths(&two, &Want::Named(name.to_owned()), &[], false).unwrap(),
                [path],
                "{name}"
            );
        }
        let miss = paths(&two, &Want::Named("z".to_owned()), &[], false).unwrap_err();
        assert!(miss.absent && miss.error.next_step().unwrap().contains("skills/x"));
    }

    #[test]
    fn equal_copies_are_one_skill_and_differing_ones_are_listed() {
        let named = Want::Named("a".to_owned());
        let equal = [(".claude/skills/a/SKILL.md", A), ("skills/a/SKILL.md", A)];
        assert_eq!(paths(&equal, &named, &[], false).unwrap(), ["skills/a"]);
        assert_eq!(paths(&equal, &Want::Any, &[], false).unwrap(), ["skills/a"]);
        let differing = [equal[0], equal[1], ("skills/a/more.md", "x")];
        for want in [&named, &Want::Any] {
            let miss = paths(&differing, want, &[], false).unwrap_err();
            assert!(!miss.absent && miss.error.to_string().contains(".claude/skills/a"));
        }
        let by_path = Want::PathOrName(at(".claude/skills/a"));
        assert_eq!(
            paths(&differing, &by_path, &[], false).unwrap(),
            [".claude/skills/a"]
        );
        assert_eq!(
            paths(&differing, &Want::Any, &[], true).unwrap(),
            ["skills/a"]
        );
    }

    #[test]
    fn a_path_is_tried_before_a_name() {
        let two = [("skills/a/SKILL.md", B), ("other/SKILL.md", A)];
        let want = |path: &str| Want::PathOrName(at(path));
        assert_eq!(paths(&two, &want("a"), &[], false).unwrap(), ["skills/a"]);
        assert_eq!(
            paths(&two, &want("skills/a/SKILL.md"), &[], false).unwrap(),
            ["skills/a"]
        );
        assert_eq!(
            paths(&two, &want("skills"), &[], false).unwrap(),
            ["skills/a"]
        );
        assert!(
            paths(&two, &Want::Path(at("nope")), &[], false)
                .unwrap_err()
                .absent
        );
    }

    #[test]
    fn nested_and_test_skills_are_had_by_name_but_not_counted() {
        let tree = [
            ("a/SKILL.md", A),
            ("a/sub/SKILL.md", B),
            ("tests/t/SKILL.md", B),
        ];
        assert_eq!(paths(&tree, &Want::Any, &[], false).unwrap(), ["a"]);
        assert_eq!(
            paths(&tree, &Want::Named("sub".to_owned()), &[], false).unwrap(),
            ["a/sub"]
        );
    }
}
