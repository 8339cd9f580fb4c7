//! The report about an installed skill, in the format that `--json` documents (docs/json.md).

use crate::cli::prelude::*;

use crate::activation::{added_entries, unmet, why_not_added};
use crate::catalog::{Disclosure, InstalledEntries};
use crate::policy::CONFIGURATION;
use crate::run_context::CallingAgent;
use crate::session::{ActiveSkill, Session, snapshot};
use crate::sharing::{self, Link};
use crate::skill::{rules, tokens};

/// One skill directory, offered or not.
#[derive(Debug, Serialize)]
pub struct SkillReport {
    /// The skill's name, or its directory's if it could not be loaded.
    pub name: String,
    /// The tool that activates it; `null` if it is not offered, or only in another agent.
    pub tool: Option<String>,
    /// As its author wrote it.
    pub description: Option<String>,
    /// As its author wrote it.
    pub version: Option<String>,
    /// Its directory.
    pub path: String,
    /// Its layer: `enterprise`, `personal`, `project` or `plugin`.
    pub layer: &'static str,
    /// Its source; `null` if it was put there by hand.
    pub source: Option<String>,
    /// The installed commit.
    pub commit: Option<String>,
    /// Whether source and commit are only what the project itself says.
    pub claimed: bool,
    /// Whether its files differ from those installed.
    pub changed: bool,
    /// The working copy it is a link to.
    pub linked_to: Option<String>,
    /// The agents besides chibi that find it, by our links or in their own directories.
    pub agents: Vec<AgentLink>,
    /// Whether the model is told about it.
    pub offered: bool,
    /// The code of the diagnostic that keeps it from being offered.
    pub not_offered: Option<String>,
    /// The same in a few words.
    #[serde(skip)]
    pub why: Option<&'static str>,
    /// Its cost; `null` if it could not be loaded.
    pub tokens: Option<Tokens>,
    /// Whether it restricts what may be called; `null` if it was not read.
    pub restricted: Option<bool>,
    /// Its restriction; `null` if it has none, or was not read.
    pub restriction: Option<RestrictionReport>,
    /// Its diagnostics.
    pub diagnostics: Vec<Remark>,
}

/// A diagnostic, or a remark on an entry of a tool list.
#[derive(Debug, Serialize)]
pub struct Remark {
    /// Its code.
    pub code: String,
    /// Its severity.
    pub level: Level,
    /// Its text.
    pub message: String,
}

impl From<Diagnostic> for Remark {
    fn from(found: Diagnostic) -> Self {
        Self {
            code: found.code(),
            level: found.level(),
            message: found.to_string(),
        }
    }
}

/// The approximate token cost of a skill's texts.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Tokens {
    /// Name and description, in every prompt.
    pub description: usize,
    /// Instructions, once it is activated.
    pub instructions: usize,
}

/// A skill's tool lists.
#[derive(Debug, Serialize)]
pub struct RestrictionReport {
    /// `allowed-tools` as written; `null` if only denials restrict, also beside a `*`.
    pub allowed: Option<Vec<String>>,
    /// What the user's configuration adds to them.
    pub added: Vec<String>,
    /// `disallowed-tools` as written.
    pub denied: Vec<String>,
    /// Each entry that allows, as parsed.
    pub rules: Vec<String>,
    /// Each entry that denies, as parsed.
    pub denials: Vec<String>,
}

impl SkillReport {
    /// The reports about a whole catalog, in its order. Through the host, only what a model may
    /// know.
    pub fn for_catalog<'a>(facts: &'a Facts, catalog: &'a Catalog) -> impl Iterator<Item = Self> {
        let mut reporter = Reporter::new(facts, catalog);
        let disclosure = Disclosure::new(catalog);
        let (count, show) = (catalog.entries().len(), watched(&facts.run));
        let progress = Progress::new("reading skills", count, show);
        let report = move |(done, entry)| {
            progress.at(done);
            let mut report = reporter.report(entry);
            let offered = entry.offered();
            let cut = offered.and_then(|offered| disclosure.cut.get(&offered.skill.name));
            report.diagnostics.extend(cut.cloned().map(Remark::from));
            report
        };
        let entries = catalog.entries().iter();
        let told = entries.filter(|entry| is_told(&facts.run, entry));
        told.enumerate().map(report)
    }

    /// The reports about skills that connected agents have in directories of their own, and the
    /// catalog has not; each once, with all agents that find it there.
    pub fn of_agents(facts: &Facts, catalog: &Catalog) -> Vec<Self> {
        let ours = catalog.entries().iter();
        // `None` for those of the catalog, else where the report is.
        let mut seen: BTreeMap<PathBuf, Option<usize>> =
            ours.map(|entry| (real(&entry.dir), None)).collect();
        let mut found: Vec<Self> = Vec::new();
        for agent in connected(&facts.run) {
            let its = in_agent(facts, agent);
            let catalog = Catalog::of(&its);
            let mut reporter = Reporter::new(&its, &catalog);
            for entry in catalog.entries() {
                let place = real(&entry.dir);
                match seen.get(&place) {
                    Some(None) => {}
                    Some(&Some(at)) => found[at].agents.extend(reporter.report(entry).agents),
                    None => {
                        seen.insert(place, Some(found.len()));
                        found.push(reporter.report(entry));
                    }
                }
            }
        }
        found
    }

    /// Its source, short enough for a table.
    pub fn origin(&self) -> String {
        if self.agents.iter().any(|finds| finds.link == self.path) {
            return format!("{}'s own", agent_names(&self.agents));
        }
        if let Some(to) = &self.linked_to {
            return format!("linked to {to}");
        }
        let source = self.source.as_deref().unwrap_or_default();
        let shown = source.trim_start_matches("https://");
        let shown = shown.trim_start_matches("github.com/");
        format!("{}{}", self.says(), shown.trim_end_matches(".git"))
    }

    /// What stands before a source that is only claimed.
    pub fn says(&self) -> &'static str {
        if self.claimed { "says it is from " } else { "" }
    }

    /// The highest level of its diagnostics.
    pub fn worst(&self) -> Option<Level> {
        self.diagnostics.iter().map(|found| found.level).max()
    }
}

/// Reports about skills of one catalog, with what is read once for all of them.
pub struct Reporter<'a> {
    facts: &'a Facts,
    catalog: &'a Catalog,
    /// What the lockfiles say.
    pub origins: InstalledEntries,
    links: BTreeMap<PathBuf, Vec<Link>>,
    names: ToolNames,
}

impl<'a> Reporter<'a> {
    /// Nothing is reported yet.
    pub fn new(facts: &'a Facts, catalog: &'a Catalog) -> Self {
        Self {
            facts,
            catalog,
            origins: InstalledEntries::default(),
            links: sharing::links(facts),
            names: ToolNames::of(facts),
        }
    }

    /// The report about one directory of the catalog.
    pub fn report(&mut self, entry: &Entry) -> SkillReport {
        let (facts, catalog) = (self.facts, self.catalog);
        let skill = entry.disclosed();
        let of_skill = |skill| unmet(facts, catalog, skill, |_| false);
        let unmet = skill.into_iter().flat_map(of_skill);
        let found = entry.diagnostics().into_iter().chain(unmet);
        let mut diagnostics: Vec<Remark> = found.map(Remark::from).collect();
        let restriction =
            skill.and_then(|skill| restriction(facts, skill, self.names, &mut diagnostics));
        // The content of an untrusted project's skills is shown to nobody.
        let is_told = entry.layer != Layer::Project || skill.is_some();
        let origin = self.origins.said(facts, entry).filter(|_| is_told);
        let claimed = origin.is_some() && entry.layer == Layer::Project;
        let changed = origin.is_some_and(|origin| is_changed(facts, &entry.dir, origin));
        let link = std::fs::read_link(&entry.dir).ok();
        let why = entry.not_offered();
        if changed {
            diagnostics.push(Diagnostic::ChangedSince.into());
        }
        SkillReport {
            name: entry.name(),
            tool: entry.tool.clone().filter(|_| facts.run.agent.is_none()),
            description: skill.and_then(|skill| skill.description.clone()),
            version: skill.and_then(|skill| skill.fields.version()),
            path: entry.dir.display().to_string(),
            layer: entry.layer.as_str(),
            source: origin.map(|origin| origin.source.clone()),
            commit: origin.and_then(|origin| origin.commit.clone()),
            claimed,
            changed,
            linked_to: link.map(|to| to.display().to_string()),
            agents: match &facts.run.agent {
                None => agents_finding(&self.links, &entry.dir),
                Some(calling) => vec![AgentLink {
                    agent: calling.agent.as_str(),
                    link: entry.dir.display().to_string(),
                }],
            },
            offered: entry.tool.is_some(),
            not_offered: why.as_ref().map(Diagnostic::code),
            why: why.and_then(|why| why.in_short()),
            tokens: skill.and_then(cost),
            restricted: skill.map(|_| restriction.is_some()),
            restriction,
            diagnostics,
        }
    }
}

/// What is seen where a connected agent looks for skills.
pub fn in_agent(facts: &Facts, agent: Agent) -> Facts {
    Facts::of_agent(facts.run.env.clone(), CallingAgent::of(agent))
}

/// Whether the caller may know of the skill.
pub fn is_told(run: &RunContext, entry: &Entry) -> bool {
    run.protocol.is_none() || entry.is_for_models()
}

/// The skill as it would be recorded when it is activated, and its restriction.
pub fn restriction_of(run: &RunContext, skill: &Skill) -> (ActiveSkill, Restriction) {
    let active = snapshot(skill, "");
    let (allowed, root) = (active.allowed.as_deref(), run.env.project_root());
    let parsed = Restriction::parse(&active.name, allowed, &active.denied, &skill.dir, &root);
    (active, parsed)
}

/// A session in which only this skill is active.
pub fn session_with(skill: &Skill) -> Session {
    Session {
        activated: vec![snapshot(skill, "")],
        ..Session::default()
    }
}

/// Whether the files of an installed skill differ from its lockfile entry.
fn is_changed(facts: &Facts, dir: &Path, origin: &LockEntry) -> bool {
    let base = dir.parent().and_then(Path::parent);
    // Use this entry; a lookup would read the lockfile once per skill.
    let compared =
        base.and_then(|base| market_at(facts, &base_at(facts, base)).compare(origin).ok());
    compared.is_some_and(|one| one.state == InstallState::Changed)
}

fn restriction(
    facts: &Facts,
    skill: &Skill,
    names: ToolNames,
    diagnostics: &mut Vec<Remark>,
) -> Option<RestrictionReport> {
    let (active, parsed) = restriction_of(&facts.run, skill);
    let (name, dir) = (&*active.name, &*skill.dir);
    let config = facts.config().unwrap_or_default();
    let added = match parsed.allowed() {
        Some(_) => added_entries(facts, &config, name, dir),
        None => &[],
    };
    let parsed = parsed.adding(CONFIGURATION, added, &facts.run.env.project_root());
    let ignored = why_not_added(facts, name, dir);
    diagnostics.extend(ignored.map(|why| Remark {
        code: "entries-not-added".to_owned(),
        level: Level::Warning,
        message: format!("`skills.{name}.allow` in the configuration is ignored: {why}"),
    }));
    diagnostics.extend(parsed.notes.iter().map(|note| Remark {
        code: note.code.to_owned(),
        level: rules::level(note.code),
        message: note.message.clone(),
    }));
    let shown = |rules: &[Rule]| rules.iter().map(|rule| shown_rule(rule, names)).collect();
    let allowed = parsed.allowed();
    parsed.is_restricted().then(|| RestrictionReport {
        rules: allowed.map(shown).unwrap_or_default(),
        denials: shown(&parsed.denied),
        allowed: active.allowed.filter(|_| allowed.is_some()),
        added: added.to_owned(),
        denied: active.denied,
    })
}

/// An entry as parsed, with its source where that is not the skill.
fn shown_rule(rule: &Rule, names: ToolNames) -> String {
    let shown = match names {
        ToolNames::Chibi => rule.to_string(),
        ToolNames::Written => rule.cited.rule.clone(),
    };
    match &*rule.cited.source {
        CONFIGURATION => format!("{shown} (from {CONFIGURATION})"),
        _ => shown,
    }
}

/// `None` if its instructions cannot be read.
fn cost(skill: &Skill) -> Option<Tokens> {
    let description = skill.description.as_deref().unwrap_or_default();
    Some(Tokens {
        description: tokens(skill.name.as_str()) + tokens(description),
        instructions: tokens(&skill.body().ok()?),
    })
}

/// A diagnostic on one line.
pub fn remark_line(found: &Remark) -> String {
    let level = found.level.as_str();
    format!("{level}: {} ({})", one_line(&found.message), found.code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::Env;

    /// Deletes the lockfile after the first skill: the second one still gets its content.
    #[test]
    fn a_lockfile_is_read_once_and_not_once_for_each_skill() {
        let home = tempfile::tempdir().unwrap();
        let names = ["a", "b"];
        let entry = |name: &&str| {
            let dir = home.path().join("skills").join(name);
            std::fs::create_dir_all(&dir).unwrap();
            let text = format!("---\nname: {name}\ndescription: d\n---\nBody\n");
            std::fs::write(dir.join("SKILL.md"), text).unwrap();
            serde_json::json!({
                "id": name, "name": name, "source": "https://github.com/o/r", "kind": "git",
                "requested": "o/r", "ref": null, "commit": null, "path": name, "tree": null,
                "sha256": "0", "files": {}, "license": null,
            })
        };
        let entries: Vec<_> = names.iter().map(entry).collect();
        let lockfile = home.path().join("skills.lock.json");
        let text = serde_json::json!({"version": 1, "skills": entries}).to_string();
        std::fs::write(&lockfile, text).unwrap();
        let env = Env::new([("AGENT_SKILLS_HOME", home.path())], Path::new("/"));
        let facts = Facts::new(env, None);
        let catalog = Catalog::of(&facts);
        let mut reporter = Reporter::new(&facts, &catalog);
        for name in names {
            let entry = catalog.by_name(name).unwrap();
            let report = reporter.report(entry);
            assert_eq!(report.source.as_deref(), Some("https://github.com/o/r"));
            assert!(report.changed, "{name}");
            let _ = std::fs::remove_file(&lockfile);
        }
    }
}
