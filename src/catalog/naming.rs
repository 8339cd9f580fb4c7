//! Finds the skill that a name means, similar names if there is none, skills by words, and those that a
//! skill requires (`requires` in its frontmatter), directly or indirectly.

use std::path::{Component, Path};

use super::discovery::Catalog;
use super::entry::{Entry, OfferedSkill, tool_name};
use super::installed::InstalledEntries;
use super::roots::Layer;
use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::host::ours;
use crate::marketplace::LockEntry;
use crate::session::Session;
use crate::skill::{Searchable, Skill, SkillName, one_line, rank};
use crate::sys::limits;
use crate::sys::text::{nearest, quoted};
use skill_format::limits::REQUIRED_SKILLS;

impl Catalog {
    /// The entry that a name means: a skill's name in any spelling, its tool's name, or its
    /// directory's; a layer or owner in front selects a shadowed one. Offered entries are
    /// preferred. A path that leads elsewhere matches nothing, even if it contains a skill's name:
    /// `remove x/..` must not remove `x`.
    pub fn by_name(&self, written: &str) -> Option<&Entry> {
        let qualified = self.by_qualified_name(written);
        qualified.or_else(|| best(&self.entries, written))
    }

    /// The entry that a name in the user's configuration means: as [`Catalog::by_name`], but a
    /// project's only if no other has the name.
    pub fn by_users_name(&self, written: &str) -> Option<&Entry> {
        let is_own = |one: &&Entry| one.layer != Layer::Project;
        let own = || self.entries.iter().filter(is_own);
        let found = qualified(own(), written).or_else(|| best(own(), written));
        found.or_else(|| self.by_name(written))
    }

    /// The entry that `layer/name`, `owner/name` or `name@owner` means; `None` for any other form.
    pub fn by_qualified_name(&self, written: &str) -> Option<&Entry> {
        qualified(self.entries.iter(), written)
    }

    /// The skill in `dir`, in use or not.
    pub fn in_dir(&self, dir: &Path) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.dir == dir)
    }

    /// Whether the skill in `dir` is what the user means by its name: not a project's if another
    /// layer has one of that name, and not one that is gone.
    pub fn is_users_own(&self, dir: &Path) -> bool {
        let entry = self.in_dir(dir);
        let of_project = |entry: &Entry| entry.layer == Layer::Project;
        entry.is_some_and(|entry| !of_project(entry) || self.rivals(entry).all(of_project))
    }

    /// The names shared by several skills; the catalog offers one skill for each.
    pub fn contested(&self) -> Vec<&SkillName> {
        let shadowed = self.entries.iter().filter_map(Entry::shadowed);
        let mut names: Vec<&SkillName> = shadowed.map(|skill| &skill.name).collect();
        names.sort();
        names.dedup();
        names
    }

    /// The other entries with this one's name.
    pub fn rivals<'a>(&'a self, entry: &'a Entry) -> impl Iterator<Item = &'a Entry> {
        let name = entry.name();
        let others = self.entries.iter();
        others.filter(move |other| other.dir != entry.dir && other.name() == name)
    }

    /// The name of the offered skill most similar to `written`.
    pub fn nearest(&self, written: &str) -> Option<&str> {
        let wanted = written.strip_prefix("skill_").unwrap_or(written);
        let offered = self.offered().into_iter();
        nearest(wanted, offered.map(|offered| offered.skill.name.as_str()))
    }

    /// The offered skills that match these words by name, tags or description, best first; if there
    /// are none, the one with a similar name.
    pub fn search(&self, words: &[String]) -> Vec<OfferedSkill<'_>> {
        let offered = self.offered().into_iter();
        let offered: Vec<_> = offered.map(|one| (one, one.told())).collect();
        let found = rank(offered, words, |(offered, told)| Searchable {
            name: offered.skill.name.as_str(),
            tags: offered.tags(),
            description: told,
        });
        if !found.is_empty() {
            return found.into_iter().map(|(offered, _)| offered).collect();
        }
        let alike = self.nearest(&words.join("-"));
        let alike = alike.and_then(|name| self.by_name(name)?.offered());
        alike.into_iter().collect()
    }

    /// The catalog for looking up `written`. It has the skills' owners only if the name is
    /// qualified, since they have to be read from the lockfiles.
    pub fn naming(facts: &Facts, written: &str) -> Self {
        if is_qualified(written) {
            return Self::load_with_owners(facts);
        }
        Self::about(facts, written)
    }

    /// As [`Catalog::naming`], for several names.
    pub fn naming_each(facts: &Facts, written: &[String]) -> Self {
        if written.iter().any(|name| is_qualified(name)) {
            return Self::load_with_owners(facts);
        }
        Self::of(facts)
    }

    /// The catalog with every skill's owner.
    pub fn load_with_owners(facts: &Facts) -> Self {
        let mut catalog = Self::of(facts);
        let mut installed = InstalledEntries::default();
        for entry in &mut catalog.entries {
            entry.owner = installed.known(facts, entry).and_then(LockEntry::owner);
        }
        catalog
    }

    /// Everything that `skill` requires.
    pub fn required(&self, skill: &Skill) -> RequiredSkills {
        let mut required = RequiredSkills::default();
        self.follow(skill, &mut vec![skill.name.clone()], &mut required);
        required
    }

    fn follow(&self, skill: &Skill, path: &mut Vec<SkillName>, required: &mut RequiredSkills) {
        for written in skill.fields.requires() {
            let offered = self.by_name(&written).and_then(Entry::offered);
            let Some(offered) = offered else {
                let shown = one_line(&written);
                let is_known = required.missing.contains(&shown);
                if !is_known && required.missing.len() < REQUIRED_SKILLS {
                    required.missing.push(shown);
                }
                continue;
            };
            let name = &offered.skill.name;
            if let Some(at) = path.iter().position(|earlier| earlier == name) {
                let circle = path[at..].iter().chain([name]).cloned();
                required.cycle.get_or_insert_with(|| circle.collect());
                continue;
            }
            let is_too_much =
                path.len() > limits::REQUIRES_DEPTH || required.names.len() >= REQUIRED_SKILLS;
            if is_too_much || required.names.contains(name) {
                continue;
            }
            path.push(name.clone());
            self.follow(offered.skill, path, required);
            path.pop();
            required.names.push(name.clone());
        }
    }
}

/// The skill that a name means, if [`usable`] accepts it or it is active already: a person may
/// have activated a skill that the model may not.
///
/// # Errors
/// As [`usable`].
pub fn usable_or_active<'a>(
    catalog: &'a Catalog,
    written: &str,
    session: &Session,
) -> Result<&'a Skill> {
    usable(catalog, written).or_else(|refused| {
        let is_active = |entry: &&Entry| {
            let mut active = session.active();
            active.any(|active| Path::new(&active.dir) == entry.dir)
        };
        let entry = catalog.by_name(written).filter(is_active);
        entry.and_then(Entry::usable).ok_or(refused)
    })
}

/// The usable skill that a name means: an offered one, or a shadowed one by its qualified name.
///
/// # Errors
/// If there is none; the hint has the nearest names, or the reason why it is not offered.
pub fn usable<'a>(catalog: &'a Catalog, written: &str) -> Result<&'a Skill> {
    let shown = quoted(written);
    if let Some(skill) = catalog.by_qualified_name(written).and_then(Entry::shadowed) {
        return Ok(skill);
    }
    let Some(entry) = catalog.by_name(written) else {
        return Err(
            Error::new(format!("there is no skill `{shown}`")).hint(suggestion(catalog, written))
        );
    };
    let offered = entry.offered().map(|offered| offered.skill);
    offered.ok_or_else(|| {
        let reason = entry.reason_not_offered().unwrap_or_default();
        Error::new(format!("the skill `{shown}` cannot be used: {reason}"))
            .hint("the user can see more with `agent-skills list`")
    })
}

/// Whether a name is qualified by owner or layer: `acme/deploy`, `deploy@acme`, `project/deploy`.
pub fn is_qualified(written: &str) -> bool {
    written.contains(['/', '@'])
}

/// Advice for a name that matches no skill.
pub fn suggestion(catalog: &Catalog, written: &str) -> String {
    match catalog.nearest(written) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!(
            "`{}` with action list_installed shows all skills",
            ours::MARKETPLACE
        ),
    }
}

/// The entry that `layer/name`, `owner/name` or `name@owner` means.
fn qualified<'a>(
    entries: impl Iterator<Item = &'a Entry> + Clone,
    written: &str,
) -> Option<&'a Entry> {
    let (owner, name) = match written.split_once('/') {
        Some((qualifier, name)) => match qualifier.parse::<Layer>() {
            Ok(layer) => return best(entries.filter(|entry| entry.layer == layer), name),
            Err(_) => (qualifier, name),
        },
        None => written
            .rsplit_once('@')
            .map(|(name, owner)| (owner, name))?,
    };
    let theirs = entries.filter(|entry| {
        let known = entry.owner.as_deref();
        known.is_some_and(|known| known.eq_ignore_ascii_case(owner))
    });
    // A second skill of one name may have been installed as `OWNER-NAME`.
    let beside = || {
        let beside = SkillName::from_written(&format!("{owner}-{name}"))?;
        best(theirs.clone(), beside.as_str())
    };
    best(theirs.clone(), name).or_else(beside)
}

/// The most likely match for `written` among the entries; `None` for a path that leads elsewhere.
fn best<'a>(entries: impl IntoIterator<Item = &'a Entry>, written: &str) -> Option<&'a Entry> {
    let mut parts = Path::new(written).components();
    if parts.any(|part| !matches!(part, Component::Normal(_))) {
        return None;
    }
    let name = SkillName::from_written(written);
    let fit = |entry: &Entry| {
        let named = entry.skill.as_ref().is_ok_and(|skill| {
            Some(&skill.name) == name.as_ref() || tool_name(&skill.name) == written
        });
        let in_directory = entry.dir.file_name().is_some_and(|dir| dir == written);
        match (named, in_directory) {
            (true, _) if entry.tool.is_some() => Some(0),
            (_, true) => Some(1),
            (true, _) => Some(2),
            (false, false) => None,
        }
    };
    let fitting = entries
        .into_iter()
        .filter_map(|entry| Some((fit(entry)?, entry)));
    fitting.min_by_key(|(fit, _)| *fit).map(|(_, entry)| entry)
}

/// What must be loaded before a skill.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RequiredSkills {
    /// The names of offered skills, each after those it requires itself.
    pub names: Vec<SkillName>,
    /// Names that match no offered skill, on one line each.
    pub missing: Vec<String>,
    /// A cycle: skills that each require the next, with the first repeated at the end.
    pub cycle: Option<Vec<SkillName>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::testing::catalog;

    #[test]
    fn a_skill_is_found_by_every_way_of_writing_it() {
        let (_root, catalog) =
            catalog(&[("my-pdf", "---\nname: PDF Tools\ndescription: d\n---\n")]);
        for written in [
            "pdf-tools",
            "PDF Tools",
            "pdf_tools",
            "skill_pdf-tools",
            "my-pdf",
        ] {
            assert!(catalog.by_name(written).is_some(), "{written}");
        }
        for elsewhere in [
            "",
            ".",
            "..",
            "../my-pdf",
            "../pdf-tools",
            "pdf-tools/..",
            "/pdf-tools",
        ] {
            assert!(catalog.by_name(elsewhere).is_none(), "{elsewhere}");
        }
    }

    #[test]
    fn names_that_are_nearly_right_are_suggested() {
        let text = |name: &str| format!("---\nname: {name}\ndescription: d\n---\n");
        let (_root, catalog) = catalog(&[
            ("pdf", &text("pdf")),
            ("pdf-forms", &text("pdf-forms")),
            ("x", &text("x")),
        ]);
        assert_eq!(catalog.nearest("skill_pfd"), Some("pdf"));
        assert_eq!(catalog.nearest("forms"), Some("pdf-forms"));
        assert_eq!(catalog.nearest("entirely-different"), None);
    }

    #[test]
    fn a_search_covers_names_tags_descriptions_and_misspellings() {
        let (_root, catalog) = catalog(&[
            (
                "pdf-forms",
                "---\ndescription: Fills them.\ntags: [paper]\n---\n",
            ),
            (
                "docx",
                "---\ndescription: Office documents, not forms.\n---\n",
            ),
            ("hidden", "no description of forms"),
        ]);
        let search = |words: &str| -> Vec<String> {
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            let found = catalog.search(&words);
            found
                .iter()
                .map(|found| found.skill.name.to_string())
                .collect()
        };
        assert_eq!(search("forms"), ["pdf-forms", "docx"]);
        assert_eq!(search("PAPER"), ["pdf-forms"]);
        assert_eq!(search("office"), ["docx"]);
        assert_eq!(search("pfd forms"), ["pdf-forms", "docx"]);
        assert_eq!(search("dcox"), ["docx"]);
        assert!(search("whales").is_empty());
    }

    fn required(skills: &[(&str, &str)]) -> RequiredSkills {
        let texts: Vec<(String, String)> = skills
            .iter()
            .map(|(name, requires)| {
                let text =
                    format!("---\nname: {name}\ndescription: d\nrequires: {requires}\n---\n");
                ((*name).to_owned(), text)
            })
            .collect();
        let texts: Vec<(&str, &str)> = texts
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str()))
            .collect();
        let (_root, catalog) = catalog(&texts);
        catalog.required(catalog.by_tool("skill_a").unwrap())
    }

    fn names(names: &[SkillName]) -> Vec<&str> {
        names.iter().map(SkillName::as_str).collect()
    }

    #[test]
    fn each_comes_behind_what_it_requires_itself() {
        let found = required(&[("a", "[b, c]"), ("b", "[d]"), ("c", "d, nosuch"), ("d", "")]);
        assert_eq!(names(&found.names), ["d", "b", "c"]);
        assert_eq!(found.missing, ["nosuch"]);
        assert_eq!(found.cycle, None);
    }

    #[test]
    fn a_circle_is_reported_as_it_runs() {
        let found = required(&[("a", "[b]"), ("b", "[c]"), ("c", "[a]")]);
        assert_eq!(names(&found.cycle.unwrap()), ["a", "b", "c", "a"]);
        let found = required(&[("a", "[b]"), ("b", "[b]")]);
        assert_eq!(names(&found.cycle.unwrap()), ["b", "b"]);
    }

    #[test]
    fn it_is_followed_five_deep_and_no_deeper() {
        let found = required(&[
            ("a", "[b]"),
            ("b", "[c]"),
            ("c", "[d]"),
            ("d", "[e]"),
            ("e", "[f]"),
            ("f", "[g]"),
            ("g", ""),
        ]);
        assert_eq!(names(&found.names), ["f", "e", "d", "c", "b"]);
    }

    #[test]
    fn a_table_of_programs_requires_no_skill() {
        assert_eq!(
            required(&[("a", "{bins: [b]}"), ("b", "")]),
            RequiredSkills::default()
        );
    }
}
