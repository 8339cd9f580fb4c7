//! Decides which of the possible places a reference means, and which skills there are meant.

use std::cell::Cell;
use std::collections::HashSet;
use std::fmt::Write;
use std::rc::Rc;

use crate::marketplace::fetch::{FailureKind, FetchFailure, Fetcher, Snapshot, tree};
use crate::marketplace::prelude::*;
use crate::marketplace::source::{Origin, SkillInTree};
use crate::marketplace::{Candidate, InstallOptions, Market, Note};

/// What a reference means.
pub struct PickedSkills<'a> {
    pub snapshot: Rc<Snapshot<'a>>,
    pub chosen: Vec<SkillInTree>,
    /// Whether they were chosen among others that the reference means as well.
    pub is_choice: bool,
    pub origin: Rc<Origin>,
}

impl Market<'_> {
    /// Finds the place that a reference means, and the skills wanted from it: the first reading that
    /// exists. Only if its repository or skill is missing, the next one is tried; any other failure is
    /// returned.
    pub(crate) fn pick<'a>(
        &self,
        fetcher: &mut Fetcher<'a>,
        reference: &Reference,
        requested: &str,
        options: &InstallOptions,
        note: &mut Note,
    ) -> Result<PickedSkills<'a>> {
        let readings = match reference {
            Reference::Named { name, source } => {
                vec![self.find_by_name(fetcher, name, source.as_deref(), note)?]
            }
            Reference::Readings(readings) => readings.clone(),
        };
        let installed = options.pick.map(|_| self.installed_ids());
        let installed = installed.unwrap_or_default();
        let choosing = options.all || !options.skills.is_empty();
        let (mut misses, mut forbidden) = (Vec::<FetchFailure>::new(), None);
        for reading in &readings {
            // A reading as a single skill does not apply if several are wanted.
            if choosing && readings.len() > 1 && matches!(reading.want, RepositoryPart::Named(_)) {
                continue;
            }
            // Whether it exists is not asked, so another reading may be meant.
            if readings.len() > 1
                && let SourceLocation::Repository { url, .. } = &reading.place
                && let Err(failure) = fetcher.remote(url)
            {
                forbidden.get_or_insert(failure);
                continue;
            }
            let told = format!("`{requested}` is the {reading}");
            // What is written as a path is what it says.
            let is_plain = matches!(&reading.place, SourceLocation::Local(path) if path == requested)
                && is_local(requested);
            // With several readings, it is not known before which one applies.
            if readings.len() == 1 && !is_plain {
                note(&told);
            }
            let is_choice = Cell::new(choosing);
            let ask = |candidates: &[Candidate]| {
                is_choice.set(true);
                options.pick.map_or(Ok(Vec::new()), |pick| pick(candidates))
            };
            let mut skills = options.skills.clone();
            // From a site or a collection only the wanted skills are fetched.
            if let (RepositoryPart::Any, Some(_), false) = (&reading.want, options.pick, choosing) {
                let offered = offered(fetcher, &reading.place, &installed)?;
                if offered.len() > 1 {
                    let of_place = |error: Error| error.context(format!("`{requested}`"));
                    let meant = ask(&offered).map_err(of_place)?;
                    let meant = meant.into_iter().filter_map(|at| offered.get(at));
                    skills = meant.map(|one| one.select.clone()).collect();
                }
            }
            let opened = match fetcher.open(reading, requested, &skills, options.all) {
                Ok(opened) => opened,
                Err(failure) if failure.is_absence() || failure.class == FailureKind::NoSuchRef => {
                    misses.push(failure);
                    continue;
                }
                // Nobody typed the name of this repository.
                Err(failure) if readings.len() > 1 => {
                    return Err(failure.context(format!("{told}, if there is one")).into());
                }
                Err(failure) => return Err(failure.into()),
            };
            // From a site, only the chosen skills were fetched.
            let (want, all) = match &reading.place {
                SourceLocation::WellKnown(_) => (RepositoryPart::Any, true),
                _ => (opened.want(reading), options.all),
            };
            let found = &opened.snapshot.found;
            let ask = |several: &[&SkillInTree]| {
                ask(&candidates(found, several, &opened.origin, &installed))
            };
            let choosing = SkillChoice {
                names: &skills,
                all,
                ask: options.pick.is_some().then_some(&ask),
            };
            let mut chosen: Vec<SkillInTree> = match choose(found, &want, choosing) {
                Ok(chosen) => chosen.into_iter().cloned().collect(),
                Err(failure) => {
                    let failure = failure.context(format!("`{}`", opened.origin.shown()));
                    if failure.class == FailureKind::NoSuchSkill {
                        misses.push(failure);
                        continue;
                    }
                    return Err(failure.into());
                }
            };
            if readings.len() > 1 {
                note(&told);
            }
            add_required(found, &mut chosen, options, note);
            warn_of_ref(fetcher, reading, note);
            let unusable = opened.snapshot.tree.unusable;
            if unusable > 0 {
                let (deep, long) = (limits::TREE_DEPTH, limits::TREE_PATH);
                note(&format!(
                    "{unusable} paths of the source were left out: they are unsafe, deeper than \
                     {deep} directories, or longer than {long} bytes"
                ));
            }
            return Ok(PickedSkills {
                snapshot: opened.snapshot,
                chosen,
                is_choice: is_choice.get(),
                origin: Rc::new(opened.origin),
            });
        }
        Err(forbidden.map_or_else(|| nothing_fits(requested, misses), Error::from))
    }

    /// What identifies each installed skill ([`Origin::id`]). Of a lockfile that cannot be read
    /// nothing is known; an install reports it.
    pub(crate) fn installed_ids(&self) -> HashSet<String> {
        let entries = self.entries().unwrap_or_default();
        entries.into_iter().map(|entry| entry.id).collect()
    }
}

impl PickedSkills<'_> {
    /// The chosen skills as they are offered.
    pub(crate) fn candidates(&self, installed: &HashSet<String>) -> Vec<Candidate> {
        let chosen: Vec<&SkillInTree> = self.chosen.iter().collect();
        candidates(&self.snapshot.found, &chosen, &self.origin, installed)
    }
}

/// Some of the skills that are found in a source, for somebody who chooses among them.
fn candidates(
    found: &[SkillInTree],
    some: &[&SkillInTree],
    origin: &Origin,
    installed: &HashSet<String>,
) -> Vec<Candidate> {
    let candidate = |one: &&SkillInTree| Candidate {
        name: one.skill.name.to_string(),
        path: one.path.clone(),
        description: one.skill.description.clone(),
        plugin: one.plugin.clone(),
        installed: installed.contains(&origin.id(&one.path)),
        select: selects(found, one),
    };
    some.iter().map(candidate).collect()
}

/// Adds the missing skills of the same source that the chosen ones require, directly or indirectly.
fn add_required(
    found: &[SkillInTree],
    chosen: &mut Vec<SkillInTree>,
    options: &InstallOptions,
    note: &mut Note,
) {
    // A name of its own is one skill's.
    let is_missing = options.is_missing.filter(|_| options.name.is_none());
    let Some(is_missing) = is_missing else {
        return;
    };
    let mut at = 0;
    while let Some(skill) = chosen.get(at).map(|one| one.skill.clone()) {
        at += 1;
        for written in skill.fields.requires() {
            let name = SkillName::from_written(&written);
            let has_name = |one: &&SkillInTree| Some(&one.skill.name) == name.as_ref();
            let mut named = found.iter().filter(has_name);
            let (Some(required), None) = (named.next(), named.next()) else {
                continue;
            };
            if chosen.iter().any(|one| has_name(&one)) {
                continue;
            }
            let (name, by) = (&required.skill.name, &skill.name);
            match is_missing(&required.skill) {
                Ok(true) => {
                    note(&format!("`{name}` is included, because `{by}` requires it"));
                    chosen.push(required.clone());
                }
                Ok(false) => {}
                Err(why) => note(&format!(
                    "`{name}`, which `{by}` requires, is left out: {why}"
                )),
            }
        }
    }
}

/// The skills that a site or a collection lists; none for any other place.
fn offered(
    fetcher: &Fetcher,
    place: &SourceLocation,
    installed: &HashSet<String>,
) -> Result<Vec<Candidate>> {
    let (_, source, _) = place.record();
    let offers = fetcher.offers(place)?.unwrap_or_default().into_iter();
    let candidates = offers.map(|(name, description)| Candidate {
        path: name.clone(),
        description: Some(description).filter(|text| !text.is_empty()),
        plugin: None,
        installed: installed.contains(&format!("{source}#{name}")),
        select: name.clone(),
        name,
    });
    Ok(candidates.collect())
}

/// Warns that `REPO@NAME` means a skill here, while other tools read `NAME` as a ref.
fn warn_of_ref(fetcher: &mut Fetcher, reading: &Reading, note: &mut Note) {
    if let (SourceLocation::Repository { url, .. }, RepositoryPart::Named(name)) =
        (&reading.place, &reading.want)
        && fetcher.refs.get(url).is_some_and(|refs| refs.has(name))
    {
        note(&format!(
            "`{name}` is also a branch or tag; `#{name}` instead of `@{name}` selects that"
        ));
    }
}

/// Combines the errors of all readings into one.
fn nothing_fits(requested: &str, misses: Vec<FetchFailure>) -> Error {
    let requested = requested.escape_debug();
    // A repository that exists but has other skills gives the most helpful error.
    let lists = misses
        .iter()
        .position(|miss| miss.class == FailureKind::NoSuchSkill);
    let mut misses: Vec<Error> = misses.into_iter().map(Error::from).collect();
    match misses.len() {
        0 => Error::new(format!("`{requested}` names one skill already"))
            .hint("leave out `--skill` and `--all`"),
        1 => misses.remove(0),
        _ => {
            let reasons = misses.iter().map(|miss| format!("\n  {miss}"));
            let text = format!(
                "nothing matches `{requested}`:{}",
                reasons.collect::<String>()
            );
            let hint = lists.and_then(|at| misses[at].next_step());
            Error::new(text).hint(hint.unwrap_or(
                "check the spelling; a private repository needs credentials that git has without \
                 asking",
            ))
        }
    }
}

/// The maximum number of skills that an error lists.
const LISTED: usize = 60;
/// The maximum number of skills of which a hint lists all.
const FEW: usize = 5;

/// Receives several skills among all that are found, and returns the positions of those that are
/// meant.
pub type Ask<'a> = &'a dyn Fn(&[&SkillInTree]) -> Result<Vec<usize>>;

/// How one chooses if several skills are meant.
#[derive(Clone, Copy, Default)]
pub struct SkillChoice<'c> {
    /// Only those of these names.
    pub names: &'c [String],
    /// All of them.
    pub all: bool,
    /// Somebody is asked.
    pub ask: Option<Ask<'c>>,
}

/// The skills that `want` means, of which some may have to be chosen.
pub fn choose<'f>(
    found: &'f [SkillInTree],
    want: &RepositoryPart,
    choosing: SkillChoice,
) -> Result<Vec<&'f SkillInTree>, FetchFailure> {
    let everything: Vec<&SkillInTree> = found.iter().collect();
    match want {
        RepositoryPart::Any => several(&everything, choosing),
        RepositoryPart::Root => match found.iter().find(|found| found.path.is_empty()) {
            Some(root) => Ok(vec![root]),
            None => Err(missing(&everything, "there is no skill at its root", None)),
        },
        RepositoryPart::Named(name) => match named(&everything, name) {
            Err(miss) if miss.class == FailureKind::NoSuchSkill => {
                let group = filtered(&everything, |found| found.plugin.as_deref() == Some(name));
                if group.is_empty() {
                    return Err(miss);
                }
                several(&group, choosing)
            }
            Ok(_) if choosing.all || !choosing.names.is_empty() => {
                let text = format!("`{}` names one skill already", name.escape_debug());
                Err(Error::new(text)
                    .hint("leave out `--skill` and `--all`")
                    .into())
            }
            found => Ok(vec![found?]),
        },
        RepositoryPart::Path(path) => {
            let text = format!("there is no skill at `{}`", path.as_str());
            let inside = at_path(&everything, path.as_str());
            let inside = inside.ok_or_else(|| missing(&everything, &text, None))?;
            several(&inside, choosing)
        }
        RepositoryPart::PathOrName(path) => {
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
fn at_path<'f>(found: &[&'f SkillInTree], path: &str) -> Option<Vec<&'f SkillInTree>> {
    let dir = tree::skill_dir(path);
    if let Some(exact) = found.iter().find(|f| f.path == dir) {
        return Some(vec![*exact]);
    }
    let below = filtered(found, |f| tree::is_within(&f.path, dir));
    (!below.is_empty()).then_some(below)
}

fn several<'f>(
    found: &[&'f SkillInTree],
    choosing: SkillChoice,
) -> Result<Vec<&'f SkillInTree>, FetchFailure> {
    let SkillChoice { names, all, ask } = choosing;
    if !names.is_empty() {
        return names.iter().map(|name| named(found, name)).collect();
    }
    if let [only] = found {
        return Ok(vec![only]);
    }
    let shown = filtered(found, SkillInTree::is_shown);
    let mut seen = HashSet::new();
    // They are sorted by rank, so the first of each name is the main copy.
    let distinct = filtered(&shown, |f| seen.insert(f.skill.name.clone()));
    match distinct.as_slice() {
        [] => Err(missing(found, "there is no skill", None)),
        _ if all => Ok(distinct),
        // All that are shown are copies of it.
        [only] => Ok(vec![one_of(&shown, only.skill.name.as_str())?]),
        _ => {
            let Some(ask) = ask else {
                let text = format!("there are {} skills:{}", distinct.len(), list(&distinct));
                let hint = "choose some with `--skill a,b`, of a repository one as `OWNER/REPO@SKILL`, or all \
                            with `--all`";
                return Err(Error::new(text).hint(hint).into());
            };
            let meant = ask(&distinct)?;
            let meant = meant.into_iter().filter_map(|at| distinct.get(at));
            Ok(meant.copied().collect())
        }
    }
}

/// What `--skill` takes to mean exactly this skill: its name, if no other has it, else its path.
pub fn selects(found: &[SkillInTree], skill: &SkillInTree) -> String {
    let everything: Vec<&SkillInTree> = found.iter().collect();
    let name = skill.skill.name.as_str();
    let is_unique = named(&everything, name).is_ok_and(|named| named.path == skill.path);
    let select = if is_unique || skill.path.is_empty() {
        name
    } else {
        &skill.path
    };
    select.to_owned()
}

fn filtered<'f>(
    found: &[&'f SkillInTree],
    mut test: impl FnMut(&SkillInTree) -> bool,
) -> Vec<&'f SkillInTree> {
    found.iter().copied().filter(|found| test(found)).collect()
}

/// Whether a name means a skill.
type Rule<'r> = &'r dyn Fn(&SkillInTree) -> bool;

fn named<'f>(found: &[&'f SkillInTree], name: &str) -> Result<&'f SkillInTree, FetchFailure> {
    let path = name.trim_matches('/');
    if let Some(exact) = found.iter().find(|f| !f.path.is_empty() && f.path == path) {
        return Ok(exact);
    }
    let folded = SkillName::from_written(name);
    let by_directory = |f: &SkillInTree| f.dir_name() == name;
    let by_field = |f: &SkillInTree| f.skill.fields.text("name").as_deref() == Some(name);
    let by_key = |f: &SkillInTree| {
        Some(&f.skill.name) == folded.as_ref() || SkillName::from_written(f.dir_name()) == folded
    };
    let by_suffix = |f: &SkillInTree| {
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
fn one_of<'f>(matching: &[&'f SkillInTree], name: &str) -> Result<&'f SkillInTree, FetchFailure> {
    let first = matching[0];
    if matching.iter().all(|f| f.fingerprint == first.fingerprint) {
        return Ok(first);
    }
    let name = name.escape_debug();
    let text = format!("`{name}` could be any of{}", list(matching));
    let hint = "choose one by its path, as `OWNER/REPO/PATH`";
    Err(Error::new(text).hint(hint).into())
}

/// What is not there, and what is: the skill of a similar name if `written` is one.
fn missing(found: &[&SkillInTree], text: &str, written: Option<&str>) -> FetchFailure {
    let shown = filtered(found, SkillInTree::is_shown);
    let names = shown.iter().map(|found| found.skill.name.as_str());
    let near = written.and_then(|written| did_you_mean(written, names));
    let there = || match &shown[..] {
        [] => "a skill is a directory with a SKILL.md".to_owned(),
        few if few.len() <= FEW => format!("its skills:{}", list(few)),
        many => {
            let names: Vec<&str> = many.iter().map(|found| found.skill.name.as_str()).collect();
            let names = listed(&names, 3);
            format!("it has {names}: `agent-skills install REPOSITORY --list` lists them")
        }
    };
    let hint = near.unwrap_or_else(there);
    FetchFailure::new(FailureKind::NoSuchSkill, text).hint(hint)
}

/// One line per skill: name, path, and the start of the description.
fn list(found: &[&SkillInTree]) -> String {
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
        want: &RepositoryPart,
        names: &[&str],
        all: bool,
    ) -> Result<Vec<String>, FetchFailure> {
        let found = found(entries);
        let names: Vec<String> = names.iter().map(|n| (*n).to_owned()).collect();
        let choosing = SkillChoice {
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
            paths(&[("x/SKILL.md", A)], &RepositoryPart::Any, &[], false).unwrap(),
            ["x"]
        );
        let two = [("skills/x/SKILL.md", A), ("skills/y/SKILL.md", B)];
        let miss = paths(&two, &RepositoryPart::Any, &[], false).unwrap_err();
        let (class, text) = (miss.class, Error::from(miss).to_string());
        assert!(
            class == FailureKind::Other
                && text.contains("a (skills/x) — does a")
                && text.contains("ce-work"),
            "{text}"
        );
        assert_eq!(
            paths(&two, &RepositoryPart::Any, &[], true).unwrap(),
            ["skills/x", "skills/y"]
        );
        assert_eq!(
            paths(&two, &RepositoryPart::Any, &["y", "a"], false).unwrap(),
            ["skills/y", "skills/x"]
        );
        let miss = paths(&[], &RepositoryPart::Any, &[], false).unwrap_err();
        assert_eq!(miss.class, FailureKind::NoSuchSkill);
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
                paths(&two, &RepositoryPart::Named(name.to_owned()), &[], false).unwrap(),
                [path],
                "{name}"
            );
        }
        let miss = paths(&two, &RepositoryPart::Named("z".to_owned()), &[], false).unwrap_err();
        assert_eq!(miss.class, FailureKind::NoSuchSkill);
        assert!(Error::from(miss).next_step().unwrap().contains("skills/x"));
    }

    #[test]
    fn equal_copies_are_one_skill_and_differing_ones_are_listed() {
        let named = RepositoryPart::Named("a".to_owned());
        let equal = [(".claude/skills/a/SKILL.md", A), ("skills/a/SKILL.md", A)];
        assert_eq!(paths(&equal, &named, &[], false).unwrap(), ["skills/a"]);
        assert_eq!(
            paths(&equal, &RepositoryPart::Any, &[], false).unwrap(),
            ["skills/a"]
        );
        let differing = [equal[0], equal[1], ("skills/a/more.md", "x")];
        for want in [&named, &RepositoryPart::Any] {
            let miss = paths(&differing, want, &[], false).unwrap_err();
            assert_eq!(miss.class, FailureKind::Other);
            assert!(Error::from(miss).to_string().contains(".claude/skills/a"));
        }
        let by_path = RepositoryPart::PathOrName(at(".claude/skills/a"));
        assert_eq!(
            paths(&differing, &by_path, &[], false).unwrap(),
            [".claude/skills/a"]
        );
        assert_eq!(
            paths(&differing, &RepositoryPart::Any, &[], true).unwrap(),
            ["skills/a"]
        );
    }

    #[test]
    fn a_path_is_tried_before_a_name() {
        let two = [("skills/a/SKILL.md", B), ("other/SKILL.md", A)];
        let want = |path: &str| RepositoryPart::PathOrName(at(path));
        assert_eq!(paths(&two, &want("a"), &[], false).unwrap(), ["skills/a"]);
        assert_eq!(
            paths(&two, &want("skills/a/SKILL.md"), &[], false).unwrap(),
            ["skills/a"]
        );
        assert_eq!(
            paths(&two, &want("skills"), &[], false).unwrap(),
            ["skills/a"]
        );
        let miss = paths(&two, &RepositoryPart::Path(at("nope")), &[], false).unwrap_err();
        assert_eq!(miss.class, FailureKind::NoSuchSkill);
    }

    #[test]
    fn nested_and_test_skills_are_had_by_name_but_not_counted() {
        let tree = [
            ("a/SKILL.md", A),
            ("a/sub/SKILL.md", B),
            ("tests/t/SKILL.md", B),
        ];
        assert_eq!(
            paths(&tree, &RepositoryPart::Any, &[], false).unwrap(),
            ["a"]
        );
        assert_eq!(
            paths(&tree, &RepositoryPart::Named("sub".to_owned()), &[], false).unwrap(),
            ["a/sub"]
        );
    }
}
