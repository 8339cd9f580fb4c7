//! Installs skills: parses the reference, fetches, chooses, stages, asks and moves into place.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde::Serialize;

use crate::marketplace::install::change;
use crate::marketplace::install::names::{self, OfferedNames};
use crate::marketplace::install::plan::{self, Plan, StagedSkill};
use crate::marketplace::install::signer_checks::permit;
use crate::marketplace::install::{SkillChange, Staging, Transaction, VersionSwitch};
use crate::marketplace::lock::{
    Digest, InstalledName, LockEntry, Lockfile, listed_name, offered_name,
};
use crate::marketplace::prelude::*;
use crate::marketplace::source::{Origin, SkillInTree};
use crate::marketplace::{Confirm, InstallOptions, Market, Note};

/// The result for one skill.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum InstallStatus {
    /// It was installed.
    #[default]
    New,
    /// A skill of that name existed and was left unchanged.
    Already,
    /// The person declined.
    Declined,
}

/// One skill of an install.
#[derive(Debug, Clone, Default, Serialize)]
pub struct InstalledSkill {
    /// Its directory's name.
    pub name: String,
    /// Its directory.
    pub dir: PathBuf,
    /// Its source; for a skill that already existed, that skill's, or `None` if it was put there by
    /// hand.
    pub source: Option<String>,
    /// The commit.
    pub commit: Option<String>,
    /// See [`InstallStatus`].
    pub status: InstallStatus,
    /// What was left out, and why, one sentence each.
    pub dropped: Vec<String>,
    /// What is unusual about it, one sentence each.
    pub warnings: Vec<String>,
    /// The state that was asked for, if it is installed at another.
    #[serde(skip)]
    pub switch: Option<VersionSwitch>,
}

impl InstalledSkill {
    /// One sentence for a person or the model, with the next step.
    pub fn summary(&self) -> String {
        let name = listed_name(&self.name);
        let from = self.source.as_deref().unwrap_or("an unknown source");
        match self.status {
            InstallStatus::New => {
                let commit = self.commit.as_deref();
                let commit = commit.map(|c| format!(" at {}", &c[..c.len().min(12)]));
                let commit = commit.unwrap_or_default();
                format!("installed `{name}` from {from}{commit}")
            }
            InstallStatus::Already if self.source.is_none() => format!(
                "`{name}` is already installed and not managed by agent-skills; to replace it, \
                 first `agent-skills remove {name}`"
            ),
            InstallStatus::Already => format!(
                "`{name}` is already installed from {from}; `agent-skills update {name}` updates it"
            ),
            InstallStatus::Declined => format!("`{name}` was not installed"),
        }
    }
}

impl Market<'_> {
    /// Installs what `reference` means. `confirm` receives the plan before anything is installed;
    /// `note` receives progress notes on how the reference was understood.
    ///
    /// # Errors
    /// When the reference is refused, nothing matches it, or several skills match and none was
    /// chosen; when git fails or time runs out; when the skill cannot be written. No partial skill
    /// remains then.
    pub fn install(
        &self,
        reference: &str,
        options: &InstallOptions,
        confirm: &mut Confirm,
        note: &mut Note,
    ) -> Result<Vec<InstalledSkill>> {
        let understood = Reference::parse(reference, options.reading)?;
        self.install_of(&understood, reference, options, confirm, note)
    }

    pub(crate) fn install_of(
        &self,
        reference: &Reference,
        requested: &str,
        options: &InstallOptions,
        confirm: &mut Confirm,
        note: &mut Note,
    ) -> Result<Vec<InstalledSkill>> {
        self.begin()?;
        let staging = self.staging()?;
        let mut fetcher = self.fetcher(&staging);
        let picked = self.pick(&mut fetcher, reference, requested, options, note)?;
        let (snapshot, origin) = (&picked.snapshot, &picked.origin);
        let are_several = picked.chosen.len() > 1;
        let lockfile = Lockfile::read(self.plugin_dir)?;
        let offers = names::offers(&change::skills(self.plugin_dir));
        let mut results = Vec::new();
        let mut free: Vec<(SkillInTree, InstalledName)> = Vec::new();
        let mut seated = HashSet::new();
        for found in picked.chosen {
            let name = self.seat(&found, origin, are_several, options, (&lockfile, &offers))?;
            if self.is_there(&name) {
                let mut already = self.already(&name, &lockfile);
                let entry = lockfile.get(&name);
                already.switch = entry.and_then(|entry| VersionSwitch::between(origin, entry));
                results.push(already);
                continue;
            }
            if !seated.insert(name.clone()) {
                let text = format!("two of the skills would be called `{name}`");
                return Err(Error::new(text).hint("install one of them with `--name`"));
            }
            free.push((found, name));
        }
        plan::bring(snapshot, free.iter().map(|(found, _)| found))?;
        let progress = Progress::new("reading skills", free.len(), self.progress);
        let mut staged = Vec::with_capacity(free.len());
        for (done, (found, name)) in free.into_iter().enumerate() {
            progress.at(done);
            let dir = staging.prepare(&name)?;
            let mut one = plan::stage(snapshot, &found, origin, &name, &dir)?;
            if options.all {
                let planned = Rc::make_mut(&mut one.planned);
                planned.dropped.extend(plan::namesakes(snapshot, &found));
            }
            staged.push(one);
        }
        self.check_signatures(&staging, &mut staged)?;
        for one in &staged {
            permit(&one.planned, options.takes_first_signer)?;
        }
        let plan = Plan {
            chosen: picked.is_choice,
            ..Plan::new(&origin.source, origin.commit.as_deref(), &staged)
        };
        results.extend(self.place(&staging, staged, &plan, confirm)?);
        Ok(results)
    }

    /// Moves staged skills into place, if `confirm` agrees to their plan.
    pub(super) fn place(
        &self,
        staging: &Staging,
        staged: Vec<StagedSkill>,
        plan: &Plan,
        confirm: &mut Confirm,
    ) -> Result<Vec<InstalledSkill>> {
        if staged.is_empty() {
            return Ok(Vec::new());
        }
        if !confirm(plan)? {
            let declined = staged.into_iter();
            return Ok(declined
                .map(|one| self.result(one, InstallStatus::Declined))
                .collect());
        }
        let mut changes = self.changes(staging)?;
        // Another process may just have installed one.
        let is_new = |one: &StagedSkill| !changes.has(&one.entry.name);
        let (new, there): (Vec<_>, Vec<_>) = staged.into_iter().partition(is_new);
        let steps = new.iter().map(|one| SkillChange::staged(&one.entry));
        self.apply(&mut changes, &mut steps.collect::<Vec<_>>())?;
        let there = there.iter();
        let there = there.map(|one| self.already(&one.entry.name, changes.lockfile()));
        let new = new
            .into_iter()
            .map(|one| self.result(one, InstallStatus::New));
        Ok(new.chain(there).collect())
    }

    /// Makes a change as a whole; signers are remembered after it. Returns where in the stash each is
    /// that was moved there.
    ///
    /// # Errors
    /// When somebody has changed a skill meanwhile, or anything cannot be written. Each skill is then
    /// as it was.
    pub(super) fn apply(
        &self,
        changes: &mut Transaction,
        steps: &mut [SkillChange],
    ) -> Result<Vec<Option<String>>> {
        for SkillChange { name, seen, .. } in &*steps {
            if let Some((sha256, entry)) = seen {
                let is_same = Digest::read(&self.dir(name))?.sha256 == *sha256;
                if !is_same || changes.lockfile().get(name) != entry.as_ref() {
                    let text = format!("another command has changed `{name}`");
                    return Err(Error::new(text).hint("try again"));
                }
            }
        }
        let stashed = steps.iter_mut().map(|step| {
            let is_moved = step.stashes && !self.dry_run;
            is_moved.then(|| changes.stash(step)).transpose()
        });
        let stashed = stashed.collect::<Result<_>>()?;
        changes.make(&steps.iter().collect::<Vec<_>>())?;
        if !self.dry_run {
            self.remember_signers(steps.iter().filter_map(SkillChange::proven))?;
        }
        Ok(stashed)
    }

    fn is_there(&self, name: &str) -> bool {
        self.dir(name).symlink_metadata().is_ok()
    }

    /// Chooses the directory of a skill: beside a skill that is offered under its name, never in its
    /// place. If it is there, it is this skill, or one that was put there by hand.
    fn seat(
        &self,
        found: &SkillInTree,
        origin: &Origin,
        are_several: bool,
        options: &InstallOptions,
        (lockfile, offers): (&Lockfile, &OfferedNames),
    ) -> Result<InstalledName> {
        let (source, id) = (&origin.source, origin.id(&found.path));
        let same = || lockfile.with_id(&id);
        let at_ref = |entry: &&LockEntry| entry.rev == origin.rev;
        let installed = same().find(at_ref).or_else(|| same().next());
        if let Some(entry) = installed.filter(|_| options.name.is_none()) {
            return Ok(entry.name.clone());
        }
        let wanted = match &options.name {
            Some(_) if are_several => {
                let text = "`--name` works for one skill, but several would be installed";
                return Err(Error::new(text).hint("choose one of them"));
            }
            name => chosen(name.as_deref(), &found.skill.name)?,
        };
        if same().any(|entry| entry.name == wanted) {
            return Ok(wanted);
        }
        let offered = |name: &InstalledName| offered_name(Path::new(&**name), &found.skill);
        let is_others = |name: &InstalledName| {
            let other = offers.get(&offered(name));
            other.is_some_and(|other| other != name)
        };
        if lockfile.get(&wanted).is_none() && !is_others(&wanted) {
            return Ok(wanted);
        }
        let taken = |name: &InstalledName| {
            let name = offered(name);
            Error::new(format!(
                "a skill `{name}` from somewhere else already exists"
            ))
            .hint("give this one another name with `--name NAME`")
        };
        if options.name.is_some() {
            return Err(taken(&wanted));
        }
        let owner = origin.kind.owner(source);
        let owner = owner.as_deref().and_then(SkillName::from_written);
        let owner = owner.as_ref().map_or("local", SkillName::as_str);
        let beside = InstalledName::parse(&format!("{owner}--{wanted}"))?;
        if self.is_there(&beside) || is_others(&beside) {
            return Err(taken(&beside));
        }
        Ok(beside)
    }

    pub(crate) fn dir(&self, name: &str) -> PathBuf {
        change::skills(self.plugin_dir).join(name)
    }

    pub(crate) fn already(&self, name: &str, lockfile: &Lockfile) -> InstalledSkill {
        let entry = lockfile.get(name);
        InstalledSkill {
            name: name.to_owned(),
            dir: self.dir(name),
            source: entry.map(|entry| entry.source.clone()),
            commit: entry.and_then(|entry| entry.commit.clone()),
            status: InstallStatus::Already,
            ..InstalledSkill::default()
        }
    }

    pub(crate) fn result(&self, staged: StagedSkill, status: InstallStatus) -> InstalledSkill {
        let planned = Rc::unwrap_or_clone(staged.planned);
        InstalledSkill {
            dir: self.dir(&planned.name),
            name: planned.name,
            source: Some(staged.entry.source),
            commit: staged.entry.commit,
            status,
            dropped: planned.dropped,
            warnings: planned.warnings,
            switch: None,
        }
    }
}

/// The directory for a skill that is to be called `name`. If its author uses another name, the
/// directory ends in `--`, so that the catalog takes the name from the directory.
pub fn chosen(name: Option<&str>, own: &SkillName) -> Result<InstalledName> {
    let Some(name) = name else {
        return InstalledName::parse(own.as_str());
    };
    let name = SkillName::from_written(name).ok_or_else(|| {
        let text = format!("`{}` cannot be a skill's name", name.escape_debug());
        Error::new(text).hint("use letters and digits")
    })?;
    let mark = if name == *own { "" } else { "--" };
    InstalledName::parse(&format!("{name}{mark}"))
}
