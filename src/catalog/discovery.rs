//! Discovers skills: every directory in the skills directories, loaded or with the reason why not.
//! They are read through an index. Whether a skill may be shown is decided again in each call, or
//! everything that decides it is part of the key of an answer that the index keeps.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::os::unix::fs::MetadataExt;

use sha2::{Digest, Sha256};

use super::eligibility::EligibilityRules;
use super::entry::{Entry, OfferedSkill, tool_name};
use super::index::{CatalogText, Index};
use super::precedence;
use super::roots::{Layer, Root, roots};
use crate::facts::Facts;
use crate::host::ours;
use crate::policy::{MissingSkill, SkillUse, Trust};
use crate::run_context::RunContext;
use crate::skill::Skill;
use crate::sys::hash;

/// Key of the prompt block: the output of [`told`] for the hook that knows the context.
pub const PROMPT: &str = "prompt";

/// What a catalog is read from.
struct CatalogSource<'a> {
    facts: &'a Facts,
    rules: EligibilityRules<'a>,
    roots: Vec<Root>,
    index: Index,
}

/// Every skill, by root; within a root sorted by directory.
#[derive(Debug, Default)]
pub struct Catalog {
    pub(super) entries: Vec<Entry>,
    /// The skills that a policy requires and that are not there to be offered; not known if only a
    /// part was read.
    pub missing: Vec<MissingSkill>,
}

impl Catalog {
    /// Every skill.
    pub fn of(facts: &Facts) -> Self {
        CatalogSource::new(facts, SkillUse::Any).read()
    }

    /// Every skill, for a call that only shows which there are: nothing of them is used before
    /// another call looks at all their files.
    pub fn disclosed(facts: &Facts) -> Self {
        CatalogSource::new(facts, SkillUse::Disclose).read()
    }

    /// The part of the catalog that decides what `written` means: a skill's name, its tool's or its
    /// directory's.
    pub fn about(facts: &Facts, written: &str) -> Self {
        let mut source = CatalogSource::new(facts, SkillUse::Any);
        // Only a host calls `--schema` first, which checks every file.
        let host = facts.run.protocol;
        host.and_then(|_| Self::part(written, &source.roots, &source.rules, &source.index))
            .unwrap_or_else(|| source.read())
    }

    /// As [`Catalog::about`], if `tool` may be a skill's tool; otherwise `None`, without disk access.
    pub fn about_tool(facts: &Facts, tool: &str) -> Option<Self> {
        let may_be = tool.starts_with("skill_") && !ours::FIXED.contains(&tool);
        may_be.then(|| Self::about(facts, tool))
    }

    /// The skills of `roots`, from the index where possible. A missing or unreadable root has no
    /// skills.
    pub fn read(roots: &[Root], rules: &EligibilityRules, index: &mut Index) -> Self {
        Self::settled(index.load(roots, rules), rules)
    }

    /// The part of the catalog that decides what `written` means, read afresh, if it is an offered
    /// skill in the index. See [`Index::load_about`] for what is skipped.
    pub fn part(
        written: &str,
        roots: &[Root],
        rules: &EligibilityRules,
        index: &Index,
    ) -> Option<Self> {
        if rules.policies.may_block() {
            return None;
        }
        let mut catalog = Self::settled(index.load_about(roots, written, rules)?, rules);
        // Which are missing cannot be seen in a part.
        catalog.missing.clear();
        let meant = catalog.by_tool(written).is_some()
            || catalog.by_name(written).and_then(Entry::offered).is_some();
        meant.then_some(catalog)
    }

    fn settled(mut entries: Vec<Entry>, rules: &EligibilityRules) -> Self {
        precedence::settle(&mut entries, rules);
        let missing = precedence::settle_required(&mut entries, rules);
        Self { entries, missing }
    }

    /// Every directory, including those not offered.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The offered skills with their tools, sorted by name.
    pub fn offered(&self) -> Vec<OfferedSkill<'_>> {
        let mut offered: Vec<_> = self.entries.iter().filter_map(Entry::offered).collect();
        offered.sort_by(|a, b| a.skill.name.cmp(&b.skill.name));
        offered
    }

    /// The tools of skills that are not offered. The host may list them anyway, because it asks for
    /// tools before its context is known.
    pub fn withheld_tools(&self) -> BTreeSet<String> {
        let skills = self.entries.iter().filter(|entry| entry.tool.is_none());
        let skills = skills.filter_map(|entry| entry.skill.as_ref().ok());
        let mut tools: BTreeSet<String> = skills.map(|skill| tool_name(&skill.name)).collect();
        tools.retain(|tool| self.by_tool(tool).is_none());
        tools
    }

    /// The skill that a tool activates.
    pub fn by_tool(&self, tool: &str) -> Option<&Skill> {
        let mut all = self.entries.iter();
        let found = all.find(|entry| entry.tool.as_deref() == Some(tool));
        found?.skill.as_ref().ok()
    }
}

/// The output of `make` for the catalog, from the index if no input has changed. `what` identifies it.
pub fn told(facts: &Facts, what: &str, make: impl FnOnce(&Catalog) -> CatalogText) -> CatalogText {
    let mut source = CatalogSource::new(facts, SkillUse::Disclose);
    let name = source.answer_name(what);
    let known = name.as_ref();
    let cached = known.and_then(|name| source.index.answer(&source.roots, name));
    if let Some(answer) = cached {
        return answer;
    }
    let catalog = source.read();
    let rendered = make(&catalog);
    if let Some(name) = name.filter(|_| !rendered.is_never_stored) {
        source.index.store((name, rendered.clone()));
    }
    rendered
}

impl<'a> CatalogSource<'a> {
    /// The source for this run. Every set of roots has its own index; another build's is invalid.
    fn new(facts: &'a Facts, skill_use: SkillUse) -> Self {
        let rules = EligibilityRules::new(facts, skill_use);
        let roots = roots(facts);
        let shown = format!("{roots:?}");
        // On a hash collision the indexes overwrite each other; the key contains the roots.
        let file = format!("{:016x}", hash(shown.as_bytes()));
        let exe = facts.run.env.exe.as_ref();
        let build = exe.and_then(|exe| exe.metadata().ok());
        let build = build.map(|exe| (exe.size(), exe.mtime(), exe.mtime_nsec()));
        let key = format!("{} {build:?} {shown}", env!("CARGO_PKG_VERSION"));
        let dir = facts.state().join("index");
        Self {
            facts,
            rules,
            roots,
            index: Index::open(dir.join(file), key),
        }
    }

    fn read(&mut self) -> Catalog {
        Catalog::read(&self.roots, &self.rules, &mut self.index)
    }

    /// The key of an answer: all that it depends on besides the skills. `None` if it also depends
    /// on each skill's files and origin.
    fn answer_name(&self, what: &str) -> Option<String> {
        let mut name = format!("{what} {} ", self.rules.grounds()?);
        if self.facts.run.protocol.is_some() {
            let _ = write!(name, "{:?} ", self.facts.context());
        }
        let trusts = &self.rules.trusts;
        let mut say = |trust| match trust {
            Trust::Given => name.push_str("given "),
            other => {
                let _ = write!(name, "{other:?} ");
            }
        };
        let each = self.roots.iter().enumerate();
        for (at, root) in each.filter(|(_, root)| root.layer == Layer::Project) {
            let holder = RunContext::holder_of(&root.dir);
            say(trusts.of_part(holder, &root.dir));
            for dir in self.index.directories(at, &self.roots) {
                say(trusts.of_skill(&dir));
            }
        }
        Some(format!("{:x}", Sha256::digest(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::testing::{PDF, catalog, context};
    use crate::policy::SkillUse;
    use std::fs;

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
    fn nothing_in_an_untrusted_project_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("clone/.chibi/skills");
        fs::create_dir_all(place.join("x")).unwrap();
        fs::write(place.join("x/SKILL.md"), PDF).unwrap();
        let facts = context(dir.path());
        let rules = EligibilityRules::new(&facts, SkillUse::Any);
        let name_in = |layer| {
            let dir = place.clone();
            let mut index = Index::open(dir.join("none"), String::new());
            let catalog = Catalog::read(&[Root { layer, dir }], &rules, &mut index);
            catalog.entries()[0].name()
        };
        // Its file would give it another name.
        assert_eq!(name_in(Layer::Project), "x");
        assert_eq!(name_in(Layer::Plugin), "pdf");
    }

    #[test]
    fn the_skill_in_the_directory_of_its_name_wins() {
        let (root, catalog) = catalog(&[("acme", PDF), ("pdf", PDF), ("zeta", PDF)]);
        assert_eq!(
            catalog.by_tool("skill_pdf").unwrap().dir,
            root.path().join("skills/pdf")
        );
        let shadowed = |at: usize| catalog.entries()[at].diagnostics().pop().map(|d| d.code());
        assert_eq!(shadowed(0).as_deref(), Some("duplicate-name"));
        assert_eq!(shadowed(2).as_deref(), Some("duplicate-name"));
    }

    #[test]
    fn a_tool_is_named_by_the_directory_of_a_shadowed_skill() {
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
                assert_eq!(
                    catalog.by_tool(tool).unwrap().dir,
                    root.path().join("skills").join(dir)
                );
            }
        }
    }

    #[test]
    fn hidden_directories_and_plain_files_are_no_skills() {
        let (root, _) = catalog(&[(".git", PDF), ("pdf", PDF)]);
        fs::write(root.path().join("skills/README.md"), "x").unwrap();
        assert_eq!(Catalog::of(&context(root.path())).entries().len(), 1);
        let missing = root.path().join("missing");
        assert_eq!(Catalog::of(&context(&missing)).entries().len(), 0);
    }
}
