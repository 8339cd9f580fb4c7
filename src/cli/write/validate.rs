//! `validate`: checks for skill authors.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::findings;
use crate::author::{self, Finding, Findings, Format};
use crate::catalog::Catalog;
use crate::cli::describe::printable;
use crate::cli::named::{Meant, meant, tell_which};
use crate::cli::{Answer, Common, Failure, watched};
use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::run_context::real;
use crate::skill::{Level, find_skill_file, unified_diff};
use crate::sys::text::quoted;
use crate::sys::{Durable, Progress, files, limits, tell};

/// Check skills and suggest remedies (exit 1 if there is an error)
#[derive(Debug, clap::Args)]
pub struct Validate {
    /// Skill directories, SKILL.md files, directories that contain skills, or names of installed skills
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Apply safe fixes and show the difference
    #[arg(long)]
    pub fix: bool,
    /// The format of the report
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}

impl Validate {
    /// The report; a failure if a skill has an error.
    pub fn run(&self, facts: &Facts, common: Common) -> Answer {
        let mut report = Findings {
            skills: 0,
            findings: Vec::new(),
        };
        let installed = Catalog::of(facts);
        let compared = findings::Installed::new(&installed);
        let mut seen = BTreeSet::new();
        for path in &self.paths {
            // Show the path as it was given.
            let mut dirs = author::skills_at(path);
            if dirs.is_empty() {
                match by_name(facts, path)? {
                    Some(dir) => dirs.push(dir),
                    None => report.findings.push(no_skill(path)),
                }
            }
            let progress = Progress::new("checking skills", dirs.len(), watched(&facts.run));
            for (done, dir) in dirs.into_iter().enumerate() {
                progress.at(done);
                if !seen.insert(real(&dir)) {
                    continue;
                }
                if self.fix {
                    fix(&dir, common)?;
                }
                report.skills += 1;
                let found = findings::lint(facts, &dir, &compared);
                report.findings.extend(found);
            }
        }
        let format = if common.json && self.format == Format::Text {
            Format::Json
        } else {
            self.format
        };
        let text = author::render(&report, format);
        Failure::unless(report.count(Level::Error) == 0, text)
    }
}

/// The directory of the installed skill of this name.
fn by_name(facts: &Facts, written: &Path) -> Result<Option<PathBuf>> {
    let Some(name) = written.to_str() else {
        return Ok(None);
    };
    let catalog = Catalog::naming(facts, name);
    Ok(match meant(facts, &catalog, name)? {
        Meant::Installed(entry) => {
            if entry.is_concealed() {
                let text = format!(
                    "`{}` comes with a project that is not trusted",
                    quoted(name)
                );
                return Err(Error::new(text).hint("give its directory to look at it all the same"));
            }
            tell_which(name, &entry.dir);
            Some(entry.dir.clone())
        }
        Meant::Directory(_) | Meant::Other => None,
    })
}

fn no_skill(path: &Path) -> Finding {
    let shown = path.display();
    let (code, message) = if path.is_dir() {
        let message = format!("neither `{shown}` nor a directory below it has a SKILL.md");
        ("no-skill-file", message)
    } else if path.exists() {
        let message = format!("`{shown}` is neither a directory nor a SKILL.md");
        ("no-path", message)
    } else {
        ("no-path", format!("`{shown}` does not exist"))
    };
    Finding::new(code, shown.to_string(), (1, 1), &message)
}

/// Applies the safe fixes to a skill's file and shows the difference.
fn fix(dir: &Path, common: Common) -> Result<()> {
    let Some(file) = find_skill_file(dir) else {
        return Ok(());
    };
    let metadata = file
        .symlink_metadata()
        .map_err(|error| Error::io("read", &file, &error))?;
    // The target of a link belongs to another skill or program.
    let Ok(bytes) = files::read_capped(&file, limits::SKILL_FILE) else {
        return Ok(());
    };
    let (Ok(text), true) = (String::from_utf8(bytes), metadata.is_file()) else {
        return Ok(());
    };
    if let Some(fixed) = author::fix(&real(dir), &text) {
        let mode = metadata.permissions().mode() & 0o777;
        if !common.dry_run {
            files::replace(&file, fixed.as_bytes(), mode, Durable::Yes).map_err(|error| {
                error.hint("nothing was changed; check the directory's permissions")
            })?;
        }
        let name = file.display().to_string();
        let diff = unified_diff((&name, &name), &text, &fixed);
        tell(format_args!("{}", printable(&diff)));
    }
    Ok(())
}
