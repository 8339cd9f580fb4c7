//! Finding skills: every directory in a skills directory, each with its outcome.

use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::tool_name::tool_name;
use crate::skill::{Diagnostic, Level, Skill, SkillName};
use crate::sys::limits;

/// One directory that is, or should be, a skill.
#[derive(Debug)]
pub struct Entry {
    /// The directory.
    pub dir: PathBuf,
    /// The skill, or why it could not be loaded.
    pub skill: Result<Skill, Diagnostic>,
    /// The tool that activates it; `None` when it is not offered.
    pub tool: Option<String>,
    /// The directory whose skill of the same name is offered instead.
    shadowed_by: Option<PathBuf>,
}

/// Every skill there is, sorted by directory.
#[derive(Debug, Default)]
pub struct Catalog {
    entries: Vec<Entry>,
}

impl Entry {
    /// The skill's name, or its directory's when the skill could not be loaded.
    pub fn name(&self) -> String {
        match &self.skill {
            Ok(skill) => skill.name.to_string(),
            Err(_) => self
                .dir
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
        }
    }

    /// The skill, if the model is told of it.
    pub fn offered(&self) -> Option<(&Skill, &str)> {
        Some((self.skill.as_ref().ok()?, self.tool.as_deref()?))
    }

    /// Everything there is to remark about it.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut found = match &self.skill {
            Ok(skill) => skill.diagnostics.clone(),
            Err(diagnostic) => vec![diagnostic.clone()],
        };
        if let Some(winner) = &self.shadowed_by {
            let text = format!(
                "`{}` has a skill of the same name and is offered instead: rename or remove one",
                winner.display()
            );
            found.push(Diagnostic::error("duplicate-name", text));
        }
        found
    }

    /// Why it is not offered, as one fragment.
    pub fn reason_not_offered(&self) -> Option<String> {
        let mut diagnostics = self.diagnostics();
        diagnostics.retain(|diagnostic| diagnostic.level == Level::Error);
        (self.tool.is_none()).then(|| diagnostics.pop().map(|d| d.message).unwrap_or_default())
    }
}

impl Catalog {
    /// Reads the skills directory `root`. One that is missing or unreadable has no skills.
    pub fn scan(root: &Path) -> Self {
        let mut dirs: Vec<PathBuf> = fs::read_dir(root)
            .into_iter()
            .flatten()
            .flatten()
            .take(limits::CATALOG_ENTRIES)
            .filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."))
            .map(|entry| entry.path())
            .filter(|path| path.is_dir())
            .collect();
        dirs.sort();
        let load = |dir: PathBuf| {
            let mut skill = Skill::load(&dir);
            if let (Ok(skill), Some(name)) = (&mut skill, own_name(&dir)) {
                skill.name = name;
            }
            Entry {
                dir,
                skill,
                tool: None,
                shadowed_by: None,
            }
        };
        let mut catalog = Self {
            entries: dirs.into_iter().map(load).collect(),
        };
        catalog.assign_tools();
        catalog
    }

    /// Gives each offered skill its tool. Of several skills with one name the one whose directory
    /// bears the name is offered, else the first.
    fn assign_tools(&mut self) {
        let mut winners: HashMap<SkillName, usize> = HashMap::new();
        for (at, entry) in self.entries.iter().enumerate() {
            let Some(skill) = entry.skill.as_ref().ok().filter(|skill| skill.is_offered()) else {
                continue;
            };
            let named_so = entry
                .dir
                .file_name()
                .is_some_and(|name| name == skill.name.as_str());
            if named_so || !winners.contains_key(&skill.name) {
                winners.insert(skill.name.clone(), at);
            }
        }
        let dirs: HashMap<SkillName, (usize, PathBuf)> = winners
            .into_iter()
            .map(|(name, at)| (name, (at, self.entries[at].dir.clone())))
            .collect();
        for (at, entry) in self.entries.iter_mut().enumerate() {
            let Some(skill) = entry.skill.as_ref().ok().filter(|skill| skill.is_offered()) else {
                continue;
            };
            match dirs.get(&skill.name) {
                Some((winner, dir)) if *winner != at => entry.shadowed_by = Some(dir.clone()),
                _ => entry.tool = Some(tool_name(&skill.name)),
            }
        }
    }

    /// Every directory, also those that are not offered.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The offered skills with their tools, sorted by name.
    pub fn offered(&self) -> Vec<(&Skill, &str)> {
        let mut offered: Vec<_> = self.entries.iter().filter_map(Entry::offered).collect();
        offered.sort_by(|a, b| a.0.name.cmp(&b.0.name));
        offered
    }

    /// The skill that a tool activates.
    pub fn by_tool(&self, tool: &str) -> Option<&Skill> {
        let found = self
            .entries
            .iter()
            .find(|entry| entry.tool.as_deref() == Some(tool));
        found?.skill.as_ref().ok()
    }

    /// The entry somebody means by a name: a skill's name in any spelling, its tool's name, or a
    /// directory's. One that is offered is preferred. A path that leads elsewhere names nothing,
    /// though letters and digits of it may be a skill's name: `remove x/..` must not remove `x`.
    pub fn by_name(&self, written: &str) -> Option<&Entry> {
        let leads_elsewhere = |part: Component| !matches!(part, Component::Normal(_));
        if Path::new(written).components().any(leads_elsewhere) {
            return None;
        }
        let name = SkillName::from_written(written);
        let named = |entry: &&Entry| match &entry.skill {
            Ok(skill) => {
                Some(&skill.name) == name.as_ref() || entry.tool.as_deref() == Some(written)
            }
            Err(_) => false,
        };
        let in_directory = |entry: &&Entry| entry.dir.file_name().is_some_and(|dir| dir == written);
        let entries = || self.entries.iter();
        entries()
            .find(|entry| entry.tool.is_some() && named(entry))
            .or_else(|| entries().find(in_directory))
            .or_else(|| entries().find(named))
    }

    /// The names of offered skills most like `written`, best first, at most three.
    pub fn nearest(&self, written: &str) -> Vec<String> {
        // Nobody misspells at such length, and comparing is quadratic.
        if written.len() > limits::SUGGESTED_FOR {
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
            .map(|(skill, _)| (likeness(skill.name.as_str()), skill.name.to_string()))
            .filter(|(score, _)| *score >= 0.5)
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        scored.into_iter().take(3).map(|(_, name)| name).collect()
    }
}

/// The name of a skill that was installed under another than its author's: beside one of its name
/// as `<owner>--<name>`, or as `<chosen>--`, exactly as the marketplace writes them. It has it
/// whether or not the other is there, so its tool never changes.
fn own_name(dir: &Path) -> Option<SkillName> {
    let name = dir.file_name()?.to_str()?;
    let (first, second) = name.split_once("--")?;
    let is_key = |part: &str| SkillName::from_written(part).is_some_and(|key| key.as_str() == part);
    let is_ours = is_key(first) && (second.is_empty() || is_key(second));
    is_ours.then(|| SkillName::from_written(name)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalog(skills: &[(&str, &str)]) -> (tempfile::TempDir, Catalog) {
        let root = tempfile::tempdir().unwrap();
        for (dir, text) in skills {
            fs::create_dir(root.path().join(dir)).unwrap();
            fs::write(root.path().join(dir).join("SKILL.md"), text).unwrap();
        }
        let catalog = Catalog::scan(root.path());
        (root, catalog)
    }

    const PDF: &str = "---\nname: pdf\ndescription: d\n---\n";

    #[test]
    fn one_bad_skill_hides_no_other_and_is_not_dropped() {
        let (_root, catalog) = catalog(&[
            ("a", "no frontmatter"),
            ("pdf", PDF),
            ("z", "---\nname: z\n---\n"),
        ]);
        let names: Vec<String> = catalog.entries().iter().map(Entry::name).collect();
        assert_eq!(names, ["a", "pdf", "z"]);
        assert_eq!(catalog.offered().len(), 1);
        let reasons: Vec<_> = catalog
            .entries()
            .iter()
            .map(Entry::reason_not_offered)
            .collect();
        assert!(reasons[0].is_some() && reasons[1].is_none() && reasons[2].is_some());
    }

    #[test]
    fn of_two_with_one_name_the_one_in_the_directory_of_that_name_is_offered() {
        let (root, catalog) = catalog(&[("acme", PDF), ("pdf", PDF), ("zeta", PDF)]);
        assert_eq!(
            catalog.by_tool("skill_pdf").unwrap().dir,
            root.path().join("pdf")
        );
        let shadowed = |at: usize| catalog.entries()[at].diagnostics().pop().map(|d| d.code);
        assert_eq!(shadowed(0).as_deref(), Some("duplicate-name"));
        assert_eq!(shadowed(2).as_deref(), Some("duplicate-name"));
    }

    #[test]
    fn a_skill_beside_another_is_named_by_its_directory_with_or_without_it() {
        for dirs in [
            &[("acme--pdf", PDF), ("papers--", PDF)][..],
            &[
                ("acme--pdf", PDF),
                ("papers--", PDF),
                ("pdf", PDF),
                ("By--hand", PDF),
            ],
        ] {
            let (root, catalog) = catalog(dirs);
            for (tool, dir) in [
                ("skill_acme-pdf", "acme--pdf"),
                ("skill_papers", "papers--"),
            ] {
                assert_eq!(catalog.by_tool(tool).unwrap().dir, root.path().join(dir));
            }
        }
    }

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

    #[test]
    fn hidden_directories_and_plain_files_are_no_skills() {
        let (root, _) = catalog(&[(".git", PDF), ("pdf", PDF)]);
        fs::write(root.path().join("README.md"), "x").unwrap();
        assert_eq!(Catalog::scan(root.path()).entries().len(), 1);
        assert_eq!(
            Catalog::scan(&root.path().join("missing")).entries().len(),
            0
        );
    }
}
