//! Shows and scans skills without installing them.

use crate::error::{Error, Result};
use crate::marketplace::fetch::content::{self, Wanted};
use crate::marketplace::install::plan::{self, Plan, Staged};
use crate::marketplace::lock::installed_name::InstalledName;
use crate::marketplace::market::Market;
use crate::marketplace::options::{InstallOptions, Note};
use crate::marketplace::reference::address::SubPath;
use crate::marketplace::reference::parse::{self, Reference};
use crate::marketplace::scan::{self, Finding};
use crate::sys::limits;

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
        let mut staged: Vec<Staged> = Vec::new();
        for (at, found) in picked.chosen.iter().enumerate() {
            let place = staging.place_for(&InstalledName::parse(&at.to_string())?)?;
            let name = InstalledName::try_from(&found.skill.name)?;
            let (snapshot, origin) = (&picked.snapshot, &picked.origin);
            staged.push(plan::stage(snapshot, found, origin, &name, place)?);
        }
        Ok(Plan::of(&picked.origin, &staged))
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
        let tree = &picked.snapshot.tree;
        let whole = if found.path.is_empty() {
            path.to_owned()
        } else {
            format!("{}/{path}", found.path)
        };
        let shown = path.escape_debug();
        let missing = |why: &str| {
            Error::new(format!("`{}` has no file `{shown}`{why}", found.skill.name))
                .hint(format!("`agent-skills show {reference}` lists its files"))
        };
        let real = tree
            .resolve(&whole)
            .map_err(|why| missing(&format!(": {why}")))?;
        let file = tree.get(&real).and_then(|node| Wanted::new(&real, node));
        let file = file.ok_or_else(|| missing(""))?;
        let texts = content::read_small(&*picked.snapshot.content, &[file], limits::RESOURCE_FILE)?;
        let bytes = texts.into_iter().next().flatten();
        bytes.ok_or_else(|| missing(" that is small enough to be shown"))
    }

    /// Scans a directory, what a reference means, or an installed skill. Returns each skill's name
    /// and findings, the worst first.
    ///
    /// # Errors
    /// When `target` is none of them.
    pub fn scan(&self, target: &str, note: &mut Note) -> Result<Vec<(String, Vec<Finding>)>> {
        let is_path = parse::is_local(target) || self.env.cwd.join(target).exists();
        if !is_path && let Ok(name) = self.installed(target) {
            let findings = scan::scan(&self.dir(&name));
            return Ok(vec![(name.to_string(), findings)]);
        }
        let reading = is_path.then_some(parse::As::Path);
        let options = InstallOptions {
            reading,
            all: true,
            ..InstallOptions::default()
        };
        let one = InstallOptions {
            all: false,
            ..options.clone()
        };
        // A single skill is selected by its name, several by `all`.
        let plan = self
            .show(target, &one, &mut |_| {})
            .or_else(|_| self.show(target, &options, note))?;
        Ok(plan
            .skills
            .into_iter()
            .map(|skill| (skill.name, skill.findings))
            .collect())
    }
}
