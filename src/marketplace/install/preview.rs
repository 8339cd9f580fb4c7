//! Shows and scans skills without installing them.

use std::cell::RefCell;

use crate::marketplace::fetch::{FileToRead, read_small, tree};
use crate::marketplace::install::{Plan, StagedSkill, plan};
use crate::marketplace::lock::InstalledName;
use crate::marketplace::prelude::*;
use crate::marketplace::scan::ScanFinding;
use crate::marketplace::{Candidate, InstallOptions, Market, Note};

impl Market<'_> {
    /// What an install of `reference` would add.
    ///
    /// # Errors
    /// As [`Market::install`].
    pub fn show(&self, reference: &str, options: &InstallOptions, note: &mut Note) -> Result<Plan> {
        let understood = Reference::parse(reference, options.reading)?;
        let staging = self.staging()?;
        let mut fetcher = self.fetcher(&staging);
        let picked = self.pick(&mut fetcher, &understood, reference, options, note)?;
        let mut staged: Vec<StagedSkill> = Vec::new();
        let progress = Progress::new("reading skills", picked.chosen.len(), self.progress);
        for (at, found) in picked.chosen.iter().enumerate() {
            progress.at(at);
            let dir = staging.prepare(&InstalledName::parse(&at.to_string())?)?;
            let name = InstalledName::parse(found.skill.name.as_str())?;
            let (snapshot, origin) = (&picked.snapshot, &picked.origin);
            staged.push(plan::stage(snapshot, found, origin, &name, &dir)?);
        }
        self.check_signatures(&staging, &mut staged)?;
        let origin = &picked.origin;
        Ok(Plan::new(&origin.source, origin.commit.as_deref(), &staged))
    }

    /// The skills that `reference` means, and their source as people write it. Nothing is chosen.
    ///
    /// # Errors
    /// As [`Market::install`], but not when several skills match.
    pub fn offered(
        &self,
        reference: &str,
        options: &InstallOptions,
        note: &mut Note,
    ) -> Result<(String, Vec<Candidate>)> {
        let understood = Reference::parse(reference, options.reading)?;
        let staging = self.home_staging()?;
        let seen = RefCell::new(Vec::new());
        let look = |candidates: &[Candidate]| {
            candidates.clone_into(&mut seen.borrow_mut());
            // Of a site, what is meant is fetched.
            Ok(vec![0])
        };
        let options = InstallOptions {
            pick: Some(&look),
            ..options.clone()
        };
        let mut fetcher = self.fetcher(&staging);
        let picked = self.pick(&mut fetcher, &understood, reference, &options, note)?;
        let mut offered = seen.take();
        if offered.is_empty() {
            offered = picked.candidates(&self.installed_ids());
        }
        Ok((picked.origin.shown(), offered))
    }

    /// The content of a file of the one skill that `reference` means.
    ///
    /// # Errors
    /// As [`Market::install`], and when the skill has no such file.
    pub fn cat(
        &self,
        reference: &str,
        path: &str,
        options: &InstallOptions,
        note: &mut Note,
    ) -> Result<Vec<u8>> {
        let path = SubPath::parse(path)?;
        let path = path.as_str();
        let understood = Reference::parse(reference, options.reading)?;
        let staging = self.staging()?;
        let mut fetcher = self.fetcher(&staging);
        let picked = self.pick(&mut fetcher, &understood, reference, options, note)?;
        let [found] = &picked.chosen[..] else {
            return Err(Error::new("several skills are meant").hint("give one of them"));
        };
        let files = &picked.snapshot.tree;
        let whole = tree::join(&found.path, path);
        let shown = path.escape_debug();
        let missing = |why: &str| {
            Error::new(format!("`{}` has no file `{shown}`{why}", found.skill.name))
                .hint(format!("`agent-skills show {reference}` lists its files"))
        };
        let real = files
            .resolve(&whole)
            .map_err(|why| missing(&format!(": {why}")))?;
        let file = files
            .get(&real)
            .and_then(|node| FileToRead::new(&real, node));
        let file = file.ok_or_else(|| missing(""))?;
        let texts = read_small(&*picked.snapshot.content, &[file], limits::RESOURCE_FILE)?;
        let bytes = texts.into_iter().next().flatten();
        bytes.ok_or_else(|| missing(" that is small enough to be shown"))
    }

    /// Scans a directory or what a reference means. Returns each skill's name and findings, the worst
    /// first.
    ///
    /// # Errors
    /// When `target` is neither.
    pub fn scan(&self, target: &str, note: &mut Note) -> Result<Vec<(String, Vec<ScanFinding>)>> {
        let is_path = is_local(target) || self.env.cwd.join(target).exists();
        let options = |all: bool| InstallOptions {
            reading: is_path.then_some(ReferenceForm::Path),
            all,
            ..InstallOptions::default()
        };
        let understood = Reference::parse(target, is_path.then_some(ReferenceForm::Path))?;
        let staging = self.staging()?;
        let mut fetcher = self.fetcher(&staging);
        // A single skill is selected by its name, several by `all`.
        let one = options(false);
        let one = self.pick(&mut fetcher, &understood, target, &one, &mut |_| {});
        let picked = match one {
            Ok(one) => one,
            Err(_) => self.pick(&mut fetcher, &understood, target, &options(true), note)?,
        };
        plan::bring(&picked.snapshot, picked.chosen.iter())?;
        let progress = Progress::new("scanning", picked.chosen.len(), self.progress);
        let each = picked.chosen.iter().enumerate().map(|(at, found)| {
            progress.at(at);
            let dir = staging.prepare(&InstalledName::parse(&at.to_string())?)?;
            let findings = plan::scan(&picked.snapshot, found, &dir)?;
            Ok((found.skill.name.to_string(), findings))
        });
        each.collect()
    }
}
