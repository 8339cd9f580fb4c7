//! `trust`: whether a project's skills and configuration take effect; what of them is trusted, or
//! would be, and what has changed since.

use std::ffi::OsStr;

use super::abilities::{abilities, below};
use crate::cli::prelude::*;
use crate::policy;
use crate::policy::{SeenPart, TrustChecker, has_no_shared_files, is_skills_directory, parts_of};

/// Trust a project's skills and configuration as they are now
#[derive(Debug, clap::Args)]
pub struct TrustArgs {
    /// A directory of the project; the working directory if omitted
    pub dir: Option<PathBuf>,
    /// Only this skill, by its directory's name; repeatable
    #[arg(long, value_name = "NAME")]
    pub skill: Vec<String>,
    /// Stay trusted after changes
    #[arg(long, conflicts_with = "skill")]
    pub always: bool,
    /// Stop trusting them
    #[arg(long, conflicts_with = "always")]
    pub revoke: bool,
    /// Only list what is trusted, and what has changed since
    #[arg(long, conflicts_with_all = ["dir", "always", "skill", "revoke"])]
    pub list: bool,
}

impl TrustArgs {
    /// Trusts the parts, or lists what is trusted.
    pub fn run(&self, call: CliCall) -> Answer {
        if self.list {
            Ok(trusted(call)?)
        } else if self.revoke {
            self.revoke(call)
        } else {
            self.trust(call)
        }
    }

    /// Trusts every directory from the given one up to the project's root that contributes
    /// something, or only the given skills in them, as the person who is asked has seen them.
    fn trust(&self, call: CliCall) -> Answer {
        if let Some(file) = call.facts.policies()?.forbids_projects() {
            let file = file.display();
            let text = format!("the policy `{file}` forbids skills that come with a project");
            return Err(Error::new(text)
                .hint("ask the administrator of this machine")
                .into());
        }
        if let (true, Some((file, _))) = (self.always, call.facts.policies()?.scan_block()) {
            let file = file.display();
            let text = format!("the policy `{file}` requires that each change is scanned");
            return Err(Error::new(text).hint("leave out `--always`").into());
        }
        let mut outcomes = Outcomes::new(call);
        for (holder, parts) in self.here(call.facts)? {
            let name = holder.display().to_string();
            match self.trust_parts(call, &holder, parts) {
                Ok((text, unread)) => {
                    outcomes.push(&name, Ok(text));
                    for (part, error) in unread {
                        let error = error.context("not trusted");
                        outcomes.push(&part.display().to_string(), Err(error));
                    }
                }
                Err(error) => outcomes.push(&name, Err(error)),
            }
        }
        outcomes.answer()
    }

    /// Returns what to say, and the parts that cannot be read and are not trusted.
    fn trust_parts(
        &self,
        call: CliCall,
        holder: &Path,
        parts: Vec<PathBuf>,
    ) -> Result<(String, Vec<(PathBuf, Error)>)> {
        let shown = one_line(&holder.display().to_string());
        let seen = SeenPart::all(parts, watched(&call.facts.run));
        let is_all = self.skill.is_empty();
        let look = TrustPreview::new(call.facts, holder, &seen, is_all, call.screen)?;
        if call.common.dry_run {
            let text = format!("would trust `{shown}`, as it is now:\n{}", look.full_text());
            return Ok((text, Vec::new()));
        }
        if look.is_same && !self.always {
            let text = format!("`{shown}` is trusted already, as it is now\n");
            return Ok((text, Vec::new()));
        }
        let how = if self.always {
            "now and after every change"
        } else {
            "as it is now"
        };
        if self.always || seen.iter().any(SeenPart::is_readable) {
            let screenful = format!(
                "`{shown}` contains:\n{}",
                look.brief(&call.command_with(Some("--dry-run")))
            );
            let undone = format!("`{shown}` was not trusted");
            call.to_agree(&screenful, &format!("Trust it {how}?"), &undone)?;
        }
        let text = if call.asks() {
            format!("`{shown}` is trusted, {how}\n")
        } else {
            format!("`{shown}` is trusted, {how}:\n{}", look.full_text())
        };
        let unread = if self.always {
            Ledger::trusted(call.facts.state()).trust_always(holder)?;
            Vec::new()
        } else {
            Ledger::trusted(call.facts.state()).trust_seen(holder, seen, !self.skill.is_empty())?
        };
        let event = Event::new("trust")
            .with("path", holder.display().to_string())
            .with("always", self.always);
        call.facts.record(event.with("skill", self.listed_names()));
        Ok((text, unread))
    }

    /// Ends trust in them.
    fn revoke(&self, call: CliCall) -> Answer {
        let (from, names) = (self.dir(call.facts), self.listed_names());
        let mut outcomes = Outcomes::new(call);
        for holder in call.facts.run.project_holders(&from) {
            let mut parts = self.within(&holder);
            // The other skills there stay trusted, together with the files next to them.
            parts.retain(|part| !is_skills_directory(part));
            let only = names.is_some().then_some(&*parts);
            let path = holder.display().to_string();
            let part = names.as_ref().map(|names| one_line(names) + " in ");
            let part = part.unwrap_or_default();
            if !Ledger::trusted(call.facts.state()).distrust(&holder, only, call.common.dry_run)? {
                continue;
            }
            let shown = one_line(&path);
            if call.common.dry_run {
                let text = format!("would no longer trust {part}`{shown}`\n");
                outcomes.push(&path, Ok(text));
                continue;
            }
            let text = format!("{part}`{shown}` is no longer trusted\n");
            outcomes.push(&path, Ok(text));
            let event = Event::new("untrust").with("path", path);
            call.facts.record(event.with("skill", names.clone()));
        }
        if outcomes.is_empty() {
            let text = format!("`{}` was not trusted", from.display());
            return Err(Error::new(text)
                .hint("`agent-skills trust --list` shows what is trusted")
                .into());
        }
        outcomes.answer()
    }

    /// The named skills, for a message or the log; `None` for all.
    fn listed_names(&self) -> Option<String> {
        (!self.skill.is_empty()).then(|| self.skill.join(", "))
    }

    /// The directory as an absolute path.
    fn dir(&self, facts: &Facts) -> PathBuf {
        let (cwd, dir) = (&facts.run.env.cwd, self.dir.as_ref());
        dir.map_or_else(|| cwd.clone(), |dir| cwd.join(dir))
    }

    /// The parts of `holder`; with a skill, also the files next to it.
    fn within(&self, holder: &Path) -> Vec<PathBuf> {
        let all = parts_of(holder);
        if self.skill.is_empty() {
            return all;
        }
        let is_named = |part: &&PathBuf| {
            let name = part.file_name().and_then(OsStr::to_str).unwrap_or_default();
            !is_skills_directory(part) && self.skill.iter().any(|skill| skill == name)
        };
        let mut parts: Vec<PathBuf> = all.iter().filter(is_named).cloned().collect();
        let places = parts.iter().filter_map(|part| part.parent());
        let places: Vec<PathBuf> = places.map(Path::to_owned).collect();
        parts.extend(all.into_iter().filter(|part| places.contains(part)));
        parts
    }

    /// The directories that contribute something, each with its parts.
    fn here(&self, facts: &Facts) -> Result<Vec<(PathBuf, Vec<PathBuf>)>> {
        let from = self.dir(facts);
        let from = from
            .canonicalize()
            .map_err(|source| Error::io("look at", &from, &source))?;
        // Another project than that of the working directory has another root.
        let mut holders = facts.run.project_holders(&from);
        if !holders.iter().any(|holder| from.starts_with(holder)) {
            holders = vec![from.clone()];
        }
        holders.retain(|holder| !parts_of(holder).is_empty());
        if holders.is_empty() {
            let text = format!("`{}` has no skills and no configuration", from.display());
            return Err(Error::new(text).hint(
                "they belong in .chibi/skills, .agents/skills, .claude/skills and \
                 .chibi/agent-skills.toml",
            ));
        }
        let there: Vec<PathBuf> = holders.iter().flat_map(|holder| parts_of(holder)).collect();
        let with_parts = holders.into_iter().map(|holder| {
            let parts = self.within(&holder);
            (holder, parts)
        });
        let found = with_parts.filter(|(_, parts)| !parts.is_empty());
        let found: Vec<_> = found.collect();
        let is_there = |name: &&String| {
            let mut parts = found.iter().flat_map(|(_, parts)| parts);
            parts.any(|part| part.ends_with(name))
        };
        if let Some(name) = self.skill.iter().find(|name| !is_there(name)) {
            let names = there.iter().filter_map(|part| part.file_name()?.to_str());
            let near = did_you_mean(name, names);
            let name = one_line(name);
            let text = format!("the project has no skill in a directory `{name}`");
            let all = || "`agent-skills list --long` shows their directories".to_owned();
            return Err(Error::new(text).hint(near.unwrap_or_else(all)));
        }
        Ok(found)
    }
}

/// The parts that are described before the question; of more, only the dry run tells.
const SHOWN: usize = 10;

/// What of a project a person is asked about.
struct TrustPreview {
    /// Each part that is new, changed or gone; first those with severe findings.
    parts: Vec<String>,
    /// Those that are as before.
    kept: usize,
    /// Whether there is nothing to ask: all is trusted as it is.
    pub is_same: bool,
}

impl TrustPreview {
    /// Looks at these parts of `holder`; `is_all` says whether they are all it has.
    ///
    /// # Errors
    /// When a policy refuses what the scan finds in one of them.
    pub fn new(
        facts: &Facts,
        holder: &Path,
        seen: &[SeenPart],
        is_all: bool,
        screen: Screen,
    ) -> Result<Self> {
        let policies = facts.policies()?;
        let trusts = TrustChecker::new(Ledger::trusted(facts.state()), &policies);
        let is_blocking = policies.scan_block().is_some();
        // Further in than what is inside, which a name could look like otherwise.
        let below = |told: String| screen.hanging("  ", &told, 6);
        let names = ToolNames::of(facts);
        let (mut parts, mut severe, mut kept) = (Vec::new(), Vec::new(), 0);
        for part in seen.iter().filter(|part| !is_nothing(&part.path)) {
            match trusts.of_seen(holder, part) {
                _ if !part.is_readable() => {
                    parts.push(below(part_line(holder, &part.path, "it cannot be read")));
                }
                policy::Trust::Given if !is_blocking => kept += 1,
                state => {
                    let (inside, worst) = inside(part, screen, names);
                    permits_findings(&policies, "trusted", &worst).map_err(|error| {
                        error.context(one_line(&part.path.display().to_string()))
                    })?;
                    if state == policy::Trust::Given {
                        kept += 1;
                        continue;
                    }
                    let is_severe = worst.as_ref().is_some_and(is_severe);
                    let list = if is_severe { &mut severe } else { &mut parts };
                    list.push(below(state_line(holder, &part.path, &state, "new")) + &inside);
                }
            }
        }
        if is_all {
            let gone = trusts.gone(holder);
            let gone = gone.iter().map(|path| part_line(holder, path, "gone"));
            parts.extend(gone.map(below));
        }
        parts.splice(..0, severe);
        let is_same = parts.is_empty() && !trusts.is_always(holder);
        Ok(Self {
            parts,
            kept,
            is_same,
        })
    }

    /// A screenful; `command` shows all.
    pub fn brief(&self, command: &str) -> String {
        let rest = match self.parts.len().saturating_sub(SHOWN) {
            0 => String::new(),
            rest => format!("  and {rest} more: `agent-skills {command}` shows them\n"),
        };
        let shown: String = self.parts.iter().take(SHOWN).map(String::as_str).collect();
        shown + &rest + &self.kept()
    }

    /// All of it.
    pub fn full_text(&self) -> String {
        self.parts.concat() + &self.kept()
    }

    fn kept(&self) -> String {
        match self.kept {
            0 => String::new(),
            kept => format!("  {} as before\n", counted(kept, "is", "are")),
        }
    }
}

/// What is in a part, and the worst finding of the scan there.
fn inside(part: &SeenPart, screen: Screen, names: ToolNames) -> (String, Option<ScanFinding>) {
    let files = part.files();
    let (lines, worst) = if is_skills_directory(&part.path) {
        (vec![count(files.len(), "file")], None)
    } else if part.path.is_dir() {
        abilities(&part.path, &files, names)
    } else {
        (Vec::new(), None)
    };
    (below(lines, "    ", screen), worst)
}

/// Whether a part is a skills directory in which there is nothing beside the skills.
fn is_nothing(part: &Path) -> bool {
    is_skills_directory(part) && has_no_shared_files(part)
}

/// One line about a part that is not trusted as it is.
fn state_line(holder: &Path, part: &Path, state: &policy::Trust, missing: &str) -> String {
    let state = match state {
        policy::Trust::Given => "as before".to_owned(),
        policy::Trust::Missing => missing.to_owned(),
        policy::Trust::Outdated(changed) if changed.is_empty() => "changed since".to_owned(),
        policy::Trust::Outdated(changed) => format!("changed since: {}", changed.join(", ")),
    };
    part_line(holder, part, &state)
}

fn part_line(holder: &Path, part: &Path, state: &str) -> String {
    let path = part.strip_prefix(holder).unwrap_or(part);
    let what = if is_skills_directory(part) {
        "/ (beside the skills)"
    } else {
        ""
    };
    let (path, state) = (shown_name(&path.display().to_string()), shown_name(state));
    format!("{path}{what}: {state}")
}

/// `trust --list`: every trusted directory with its current state.
///
/// # Errors
/// If the record cannot be read.
fn trusted(call: CliCall) -> Result<String> {
    let record = Ledger::trusted(call.facts.state());
    let policies = call.facts.policies().unwrap_or_default();
    let (mut listed, mut text) = (Vec::new(), String::new());
    for (path, recorded) in record.entries()? {
        let trusts = TrustChecker::new(record.clone(), &policies);
        let holder = Path::new(&path);
        let mut parts = parts_of(holder);
        parts.retain(|part| !is_nothing(part));
        let states = parts.iter().filter_map(|part: &PathBuf| {
            let state = trusts.of_part(holder, part);
            (state != policy::Trust::Given).then(|| state_line(holder, part, &state, "not trusted"))
        });
        let gone = trusts.gone(holder);
        let gone = gone.iter().map(|path| part_line(holder, path, "gone"));
        let differs: Vec<String> = states.chain(gone).collect();
        let always = recorded.is_always();
        let shown = if always { "  always" } else { "" };
        text.extend([&*one_line(&path), shown, "\n"]);
        text.extend(differs.iter().map(|line| format!("  {line}\n")));
        // Whether it stays trusted whatever changes, and what is not trusted as it is now.
        listed.push(json!({"path": path, "always": always, "differs": differs}));
    }
    call.answers_or("projects", &listed, "No project is trusted.\n", || text)
}
