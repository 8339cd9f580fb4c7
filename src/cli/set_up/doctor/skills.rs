//! Checks for skills that are unreadable, shadowed, cut or changed, and of the links by which other
//! agents find them.

use std::fs;

use super::check::{Check, CheckStatus};
use crate::catalog::roots;
use crate::cli::agents;
use crate::cli::prelude::*;
use crate::sharing::{Link, LinkOutcome, SharedSkills};
use crate::sys::text;

/// The checks of this area.
pub fn checks(facts: &Facts) -> Vec<Check> {
    // First, since it needs the memory of a large catalog for itself.
    let layers = [Layer::Plugin, Layer::Personal].into_iter();
    let mut installed: Vec<_> = layers.flat_map(|layer| installed(facts, layer)).collect();
    let catalog = Catalog::of(facts);
    let mut checks = vec![Check::ok("skills", counted(&catalog))];
    let remedy = "install it where the policy wants it, or ask the administrator";
    let missing = catalog.missing.iter();
    checks.extend(missing.map(|one| Check::fail("required-missing", one.to_string(), remedy)));
    let roots = roots(facts).into_iter();
    let unusable = roots.flat_map(|root| entries(&root.dir));
    let standing = catalog.entries().iter();
    let standing = standing.filter_map(|entry| Some((entry.dir.clone(), standing_of(entry)?)));
    for (dir, mut check) in unusable.chain(standing) {
        // A skill that was installed has a better way out.
        let is_same = |(its, _): &(Option<PathBuf>, Check)| its.as_ref() == Some(&dir);
        if check.outcome == CheckStatus::Fail
            && let Some(at) = installed.iter().position(is_same)
        {
            check.remedy = installed.remove(at).1.remedy;
        }
        checks.push(check);
    }
    checks.extend(SkillReport::for_catalog(facts, &catalog).filter_map(|report| remarks(&report)));
    let config = facts.config().unwrap_or_default();
    let of_agents = SkillReport::of_agents(facts, &catalog);
    if !of_agents.is_empty() {
        let lists = of_agents.iter().filter(|one| one.restricted == Some(true));
        let text = format!(
            "{} in directories of connected agents; {} restricted there",
            text::counted(of_agents.len(), "more is", "more are"),
            text::counted(lists.count(), "is", "are")
        );
        checks.push(Check::ok("skills", text));
    }
    checks.extend(unmeant(&config, &catalog, &of_agents));
    checks.extend(installed.into_iter().map(|(_, check)| check));
    checks
}

fn counted(catalog: &Catalog) -> String {
    let (there, offered) = (catalog.entries().len(), catalog.offered().len());
    let skills = text::counted(there, "skill is", "skills are");
    format!("{offered} of {skills} offered to the model")
}

/// Entries that cannot be opened. The catalog misses broken links, since they are not directories.
fn entries(root: &Path) -> Vec<(PathBuf, Check)> {
    let found = match files::entries(root) {
        Ok(found) => found,
        Err(error) => {
            let error = Error::io("read directory", root, &error);
            let check = Check::from_error("skills-unreadable", &error, "check its permissions");
            return vec![(root.to_owned(), check)];
        }
    };
    let found = found.into_iter().take(limits::CATALOG_ENTRIES);
    let mut paths: Vec<_> = found.map(|(name, _)| root.join(name.as_os_str())).collect();
    paths.sort();
    let odd = paths.iter().filter_map(|path| {
        let shown = path.display();
        if let Ok(to) = fs::read_link(path)
            && !path.exists()
        {
            let to = to.display();
            let text = format!("`{shown}` is a dangling link to `{to}`");
            let remedy = format!("put the directory back, or remove the link: rm {shown}");
            return Some((path.clone(), Check::warn("dangling-link", text, remedy)));
        }
        let is_dir = path.is_dir();
        let error = files::entries(path).err().filter(|_| is_dir)?;
        let error = Error::io("read directory", path, &error);
        let check = Check::from_error("directory-unreadable", &error, "remove it");
        Some((path.clone(), check))
    });
    odd.collect()
}

/// Why a skill is not offered, unless that is intended or another area reports it.
fn standing_of(entry: &Entry) -> Option<Check> {
    let (name, reason) = (entry.name(), entry.reason_not_offered()?);
    let dir = entry.dir.display().to_string();
    let place = if reason.contains(&dir) {
        String::new()
    } else {
        format!(" ({dir})")
    };
    let text = format!("`{name}`{place}: {reason}");
    match entry.withheld() {
        None => {
            let remedy = format!("repair its SKILL.md, or `agent-skills remove {name}`");
            let unreadable_dir = files::entries(&entry.dir).is_err();
            (!unreadable_dir).then(|| Check::fail("skill-unusable", text, remedy))
        }
        Some(WithheldReason::Shadowed) => {
            let remedy = "rename or remove one of the two";
            Some(Check::warn("skill-shadowed", text, remedy))
        }
        Some(WithheldReason::Unapproved) => {
            let remedy = format!("agent-skills approve {}", entry.in_layer());
            Some(Check::warn("skill-unapproved", text, remedy))
        }
        Some(WithheldReason::Unsigned) => {
            let remedy = format!("`agent-skills info {name}` shows who signed it; ask its author");
            Some(Check::warn("skill-unsigned", text, remedy))
        }
        Some(_) => None,
    }
}

fn remarks(report: &SkillReport) -> Option<Check> {
    let found = report.diagnostics.iter();
    let found = found.filter(|found| found.level > Level::Note);
    let mut codes: Vec<&str> = found.map(|found| found.code.as_str()).collect();
    codes.dedup();
    let (name, all) = (&report.name, codes.join(", "));
    let text = format!("`{name}` loads with warnings: {all}");
    let remedy = format!("`agent-skills info {name}` shows details");
    (report.offered && !codes.is_empty()).then(|| Check::warn("skill-odd", text, remedy))
}

/// Settings for single skills that mean none.
fn unmeant(config: &Config, catalog: &Catalog, of_agents: &[SkillReport]) -> Vec<Check> {
    let there = catalog.entries().iter().map(Entry::name);
    let there = there.chain(of_agents.iter().map(|report| report.name.clone()));
    let there = there.filter_map(|name| SkillName::from_written(&name));
    let there: BTreeSet<SkillName> = there.collect();
    let scripts = config.skills.keys().map(|name| ("skills", name));
    let seen = config.visibility.keys().map(|name| ("visibility", name));
    let unmeant = scripts
        .chain(seen)
        .filter(|(_, name)| !there.contains(*name));
    let check = |(table, name)| {
        let text = format!("`{table}.{name}` in the configuration names no existing skill");
        let remedy = "`list` shows the names: correct it, unless another project has it";
        Check::warn("setting-unused", text, remedy)
    };
    unmeant.map(check).collect()
}

/// Whether the skills installed in a layer match its lockfile.
fn installed(facts: &Facts, layer: Layer) -> Vec<(Option<PathBuf>, Check)> {
    let base = layer.base(facts);
    let market = Market {
        progress: watched(&facts.run),
        ..market_at(facts, &base)
    };
    let verified = match market.verify(&[]) {
        Ok(verified) => verified,
        Err(error) => {
            let remedy = "put it back from a backup, or remove it: the skills stay";
            return vec![(None, Check::from_error("lockfile", &error, remedy))];
        }
    };
    let differs = verified.iter().filter(|one| !one.is_well());
    let check = |one: &VerifiedSkill| {
        let dir = layer.dir(facts).join("skills").join(&one.name);
        (Some(dir), differing(facts, layer, one))
    };
    let mut checks: Vec<_> = differs.map(check).collect();
    match signature_problems(&market, &verified) {
        Ok(found) => checks.extend(found.into_iter().map(|fault| {
            let text = format!("`{}`: {}", fault.name, fault.message);
            let check = Check::warn("signature-lapsed", text, fault.remedy);
            (Some(PathBuf::from(fault.path)), check)
        })),
        Err(error) => {
            let error = error.context("signatures could not be checked");
            let remedy = "install the program that it names";
            checks.push((None, Check::from_error("signatures", &error, remedy)));
        }
    }
    checks
}

fn differing(facts: &Facts, layer: Layer, skill: &VerifiedSkill) -> Check {
    let name = &skill.name;
    let scope = match layers_with(facts, name).len() {
        ..2 => String::new(),
        _ => format!(" --layer {}", layer.as_str()),
    };
    if let Some(why) = &skill.why {
        let text = format!("`{name}` cannot be compared with what was installed: {why}");
        let remedy = skill.remedy.as_deref().unwrap_or("check its permissions");
        return Check::fail("skill-changed", text, remedy);
    }
    let files = skill.changed.len() + skill.missing.len() + skill.extra.len();
    let remedy = format!(
        "`agent-skills verify {name}{scope}` names them; \
         `agent-skills verify --fix {name}{scope}` restores it"
    );
    let text = match files {
        0 => {
            let text = format!("`{name}` is in the lockfile, but its directory is missing");
            let remedy = format!("`agent-skills verify --fix {name}{scope}` brings it back");
            return Check::warn("skill-changed", text, remedy);
        }
        files => {
            let differ = text::counted(files, "file differs", "files differ");
            format!("`{name}`: {differ} from what was installed")
        }
    };
    Check::warn("skill-changed", text, remedy)
}

/// The checks of the links by which connected agents find what is installed: only what is wrong.
pub fn links(facts: &Facts) -> Vec<Check> {
    let connected = agents::connected(&facts.run);
    let mut checks = Vec::new();
    for layer in Layer::ALL {
        let its = if layer == Layer::Project {
            &[]
        } else {
            &*connected
        };
        // An unreadable lockfile is told elsewhere.
        let links = agents::share_installed(facts, layer, its, true).unwrap_or_default();
        let links = links.into_iter();
        checks.extend(links.filter_map(|it| unlinked(facts, layer, it)));
        let dangling = SharedSkills::of(facts, layer).map(|shared| shared.remove_dangling(true));
        for link in dangling.and_then(Result::ok).into_iter().flatten() {
            let path = link.path.display().to_string();
            let text = format!("`{path}` links to a skill that is no longer installed");
            let remedy = "`agent-skills doctor --fix` removes the link";
            let again = Facts::new(facts.run.env.clone(), None);
            checks.push(Check::warn("link-dangling", text, remedy).fix(move || {
                let shared = SharedSkills::of(&again, layer);
                shared
                    .map(|shared| shared.remove_dangling(false))
                    .transpose()?;
                Ok(format!("`{path}` was removed"))
            }));
        }
    }
    checks
}

/// The check of one link that a connected agent needs.
fn unlinked(facts: &Facts, layer: Layer, (link, found): (Link, LinkOutcome)) -> Option<Check> {
    let (path, agents) = (link.path.display().to_string(), agents::joined(&link));
    match found {
        LinkOutcome::There => None,
        LinkOutcome::Foreign => Some(Check::warn(
            "link-replaced",
            format!("something else is at `{path}`, where {agents} would look for the skill"),
            "move it away, then `agent-skills doctor --fix` makes the link",
        )),
        LinkOutcome::Made => {
            let text = format!("{agents} would look for a skill at `{path}`, which is missing");
            let remedy = "`agent-skills doctor --fix` makes the link";
            let again = Facts::new(facts.run.env.clone(), None);
            Some(Check::warn("link-missing", text, remedy).fix(move || {
                agents::share_installed(&again, layer, &link.agents, false)?;
                Ok(format!("`{path}` was made"))
            }))
        }
    }
}
