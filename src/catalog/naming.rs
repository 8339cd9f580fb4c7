//! Finds the entry that a name means, and similar names if there is none.

use std::path::{Component, Path};

use super::tool_name::tool_name;
use super::{Catalog, Entry, Layer};
use crate::skill::{Skill, SkillName};

/// The longest name, in bytes, for which similar names are searched.
const SUGGESTED_FOR: usize = 200;

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
        let own = || {
            self.entries
                .iter()
                .filter(|one| one.layer != Layer::Project)
        };
        let found = qualified(own(), written).or_else(|| best(own(), written));
        found.or_else(|| self.by_name(written))
    }

    /// The entry that `layer/name`, `owner/name` or `name@owner` means; `None` for any other form.
    pub fn by_qualified_name(&self, written: &str) -> Option<&Entry> {
        qualified(self.entries.iter(), written)
    }

    /// The active skill in `dir`, if it may stay in use.
    pub fn by_dir(&self, dir: &Path) -> Option<&Skill> {
        let mut entries = self.entries.iter();
        entries.find(|entry| entry.dir == dir)?.usable()
    }

    /// Whether the skill in `dir` is what the user means by its name: not a project's if another
    /// layer has one of that name, and not one that is gone.
    pub fn is_users_own(&self, dir: &Path) -> bool {
        let mut entries = self.entries.iter();
        let entry = entries.find(|entry| entry.dir == dir);
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

    /// The names of offered skills most similar to `written`: at most three, best first.
    pub fn nearest(&self, written: &str) -> Vec<String> {
        // No typo is this long, and the comparison is quadratic.
        if written.len() > SUGGESTED_FOR {
            return Vec::new();
        }
        let wanted = written
            .strip_prefix("skill_")
            .unwrap_or(written)
            .to_lowercase();
        let likeness = |name: &str| {
            let whole = strsim::normalized_damerau_levenshtein(&wanted, name);
            if !wanted.is_empty() && name.contains(&wanted) {
                whole.max(0.7)
            } else {
                whole
            }
        };
        let mut scored: Vec<_> = self
            .offered()
            .into_iter()
            .map(|offered| offered.skill.name.as_str())
            .map(|name| (likeness(name), name.to_owned()))
            .filter(|(score, _)| *score >= 0.5)
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        scored.into_iter().take(3).map(|(_, name)| name).collect()
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

#[cfg(test)]
mod tests {
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
        assert_eq!(catalog.nearest("skill_pfd"), ["pdf"]);
        assert_eq!(catalog.nearest("forms"), ["pdf-forms"]);
        assert!(catalog.nearest("entirely-different").is_empty());
    }
}
