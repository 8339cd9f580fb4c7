//! `scan`: the scan's findings about a skill, which need not be installed.

use crate::cli::prelude::*;

/// Scan a skill for dangerous content
#[derive(Debug, clap::Args)]
pub struct ScanArgs {
    /// A directory, a reference, or the name of an installed skill
    #[arg(required = true, value_name = "TARGET")]
    pub targets: Vec<String>,
    /// Fail on findings of this severity or worse
    #[arg(long, value_name = "SEVERITY")]
    pub fail_on: Option<Severity>,
    /// Use cached data, without the network
    #[arg(long)]
    pub offline: bool,
}

#[derive(Serialize)]
struct ScanReport {
    name: String,
    /// The directory of an installed skill.
    path: Option<String>,
    findings: Vec<ScanFinding>,
}

impl ScanArgs {
    /// The findings; a failure if one is at least as severe as `fail_on`.
    pub fn run(&self, call: CliCall) -> Answer {
        let mut all = Vec::new();
        let mut failed = Outcomes::new(call);
        for target in &self.targets {
            match self.scan(call, target) {
                Ok(scanned) => all.extend(scanned),
                Err(error) => failed.push(target, Err(error)),
            }
        }
        if all.is_empty() && !failed.is_empty() {
            return failed.answer();
        }
        let text = call.answers("skills", &all, || {
            all.iter().map(ScanReport::describe).collect()
        })?;
        let is_whole = failed.is_empty();
        let errors = failed.errors();
        let mut findings = all.iter().flat_map(|one| &one.findings);
        let fails = |level| findings.any(|finding| finding.severity >= level);
        Failure::unless(is_whole && !self.fail_on.is_some_and(fails), text + &errors)
    }

    /// The findings about the skills at a target. What is installed is never looked for in a source.
    fn scan(&self, call: CliCall, target: &str) -> Result<Vec<ScanReport>> {
        let facts = call.facts;
        let catalog = Catalog::naming(facts, target);
        let found = match resolve_name(facts, &catalog, target)? {
            NamedSkill::Installed(entry) => Some((entry.name(), entry.dir.clone())),
            // A path may have many skills below it.
            NamedSkill::Directory(dir)
                if !target.contains('/') && dir.join("SKILL.md").exists() =>
            {
                Some((target.to_owned(), dir))
            }
            NamedSkill::Directory(_) | NamedSkill::Other => None,
        };
        if let Some((name, dir)) = found {
            return Ok(vec![ScanReport {
                name,
                path: Some(dir.display().to_string()),
                findings: scan_directory(&dir),
            }]);
        }
        let scanned = market(call, Layer::Plugin, self.offline).scan(target, &mut note);
        let scanned = scanned.map_err(|error| {
            // A bare name most likely means an installed skill.
            match catalog.nearest(target) {
                Some(name) if !target.contains(['/', '@', ':']) => {
                    error.hint(format!("did you mean the installed `{name}`?"))
                }
                _ => error,
            }
        })?;
        let each = scanned.into_iter().map(|(name, findings)| ScanReport {
            name,
            path: None,
            findings,
        });
        Ok(each.collect())
    }
}

impl ScanReport {
    fn describe(&self) -> String {
        let (name, findings) = (&self.name, count(self.findings.len(), "finding"));
        let at = self.path.as_ref();
        let at = at.map(|path| format!(" in {}", one_line(path)));
        let mut text = format!("{name}: {findings}{}\n", at.unwrap_or_default());
        for finding in &self.findings {
            let _ = writeln!(text, "  {}", finding.summary());
        }
        text
    }
}
