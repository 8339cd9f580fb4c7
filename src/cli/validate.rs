//! `validate`, `read-properties` and `to-prompt`: checks and output for skill authors.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::author_args::Validate;
use super::caller::Failure;
use super::findings;
use crate::author::{self, Finding, Findings, strict};
use crate::catalog::Catalog;
use crate::error::{Error, Result};
use crate::run_context::RunContext;
use crate::skill::unified_diff;
use crate::sys::{eprint, files, limits};

/// The report; a failure if a skill has an error.
pub fn validate(ctx: &RunContext, validate: &Validate) -> Result<String, Failure> {
    let mut report = Findings {
        skills: 0,
        findings: Vec::new(),
    };
    let installed = if validate.strict {
        Catalog::default()
    } else {
        ctx.catalog()
    };
    let mut seen = BTreeSet::new();
    for path in &validate.paths {
        // Show the path as it was given.
        let dirs = author::skills_at(path);
        if dirs.is_empty() {
            report
                .findings
                .extend(no_skill(path, validate.strict, &installed));
        }
        for dir in dirs {
            if !seen.insert(dir.canonicalize().unwrap_or_else(|_| dir.clone())) {
                continue;
            }
            if validate.fix {
                fix(&dir)?;
            }
            report.skills += 1;
            report.findings.extend(if validate.strict {
                author::judge_strictly(&dir)
            } else {
                findings::of_skill(ctx, &dir, &installed)
            });
        }
    }
    let text = author::render(&report, validate.format.into())?;
    if report.has_errors() {
        return Err(Failure::Answered(text));
    }
    Ok(text)
}

fn no_skill(path: &Path, strictly: bool, installed: &Catalog) -> Vec<Finding> {
    if strictly {
        return author::judge_strictly(path);
    }
    let shown = path.display();
    let (code, message) = if !path.exists() {
        let entry = path.to_str().and_then(|name| installed.by_name(name));
        let known = entry.map(|entry| {
            let dir = entry.dir.display();
            format!("; the installed skill of this name is in `{dir}`")
        });
        let known = known.unwrap_or_default();
        ("no-path", format!("`{shown}` does not exist{known}"))
    } else if path.is_dir() {
        (
            "no-skill-file",
            format!("neither `{shown}` nor a directory below it has a SKILL.md"),
        )
    } else {
        (
            "no-path",
            format!("`{shown}` is neither a directory nor a SKILL.md"),
        )
    };
    vec![Finding::new(code, shown.to_string(), (1, 1), &message)]
}

/// Applies the safe fixes to a skill's file and shows the difference.
fn fix(dir: &Path) -> Result<()> {
    let Some(file) = strict::find_skill_md(dir) else {
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
    let own = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    if let Some(fixed) = author::fix(&own, &text) {
        let mode = metadata.permissions().mode() & 0o777;
        files::replace_file(&file, fixed.as_bytes(), mode).map_err(|error| {
            error.hint("nothing was changed; check the directory's permissions")
        })?;
        let name = file.display().to_string();
        let diff = unified_diff((&name, &name), &text, &fixed);
        eprint(format_args!("{}", super::consent::printable(&diff)));
    }
    Ok(())
}

/// The properties of a skill, byte for byte as the reference tool prints them.
pub fn read_properties(path: &Path) -> Result<String> {
    Ok(strict::read_properties(&skill_dir(path)?)?.to_json() + "\n")
}

/// The catalog block of skills, byte for byte as the reference tool prints it.
pub fn to_prompt(paths: &[PathBuf]) -> Result<String> {
    let dirs: Vec<PathBuf> = paths
        .iter()
        .map(|path| skill_dir(path))
        .collect::<Result<_>>()?;
    Ok(strict::to_prompt(&dirs)? + "\n")
}

fn skill_dir(path: &Path) -> Result<PathBuf> {
    fs::metadata(path).map_err(|error| {
        Error::io("open", path, &error).hint("give a skill's directory or its SKILL.md")
    })?;
    Ok(match path.parent() {
        Some(dir) if strict::is_skill_file(path) && dir.as_os_str().is_empty() => {
            PathBuf::from(".")
        }
        Some(dir) if strict::is_skill_file(path) => dir.to_owned(),
        _ => path.to_owned(),
    })
}
