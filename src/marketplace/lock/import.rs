//! Installs what the lockfiles of other programs list: `skills-lock.json` and `.skill-lock.json` of
//! vercel's `skills`, and `.openskills.json` of openskills
//! (docs/spec/references.md#foreign-lockfiles).

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::{Error, Result};
use crate::marketplace::fetch::tree;
use crate::marketplace::install::Installed;
use crate::marketplace::reference::{Kind, Reading, Reference, RepoUrl};
use crate::marketplace::{Confirm, InstallOptions, Market, Note};
use crate::sys::{files, limits};

/// The result for one skill of a foreign lockfile.
#[derive(Debug)]
pub struct Imported {
    /// Its name there.
    pub name: String,
    /// What was installed, or why nothing was.
    pub outcome: Result<Vec<Installed>>,
}

impl Market<'_> {
    /// Installs the skills of a foreign lockfile, or of the lockfiles in a directory. If one fails,
    /// the others are still installed.
    ///
    /// # Errors
    /// When no supported lockfile is found.
    pub fn import_lock(
        &self,
        path: &Path,
        confirm: &mut Confirm,
        note: &mut Note,
    ) -> Result<Vec<Imported>> {
        let path = self.env.cwd.join(path);
        let mut found = Vec::new();
        for file in lock_files(&path) {
            let bytes = files::read_capped(&file, limits::LOCKFILE);
            let bytes = bytes.map_err(|error| Error::io("read", &file, &error))?;
            let json: Value = serde_json::from_slice(&bytes).map_err(|error| {
                Error::caused(format!("`{}` is not JSON", file.display()), error)
                    .hint("repair it, or give another file")
            })?;
            found.extend(readings(&json, &file));
        }
        if found.is_empty() {
            let text = format!("`{}` is no lock file that is understood", path.display());
            return Err(Error::new(text).hint(
                "give a skills-lock.json, a .skill-lock.json, an .openskills.json or a directory of \
                 skills that have one",
            ));
        }
        let install = |(name, reading): (String, Result<Reading>)| {
            let options = InstallOptions::default();
            let outcome = reading.and_then(|reading| {
                if self.leads_out(&reading.place) {
                    let text = format!("{reading} is outside the project");
                    return Err(Error::new(text).hint("if you want it, install it from there"));
                }
                let requested = reading.to_string();
                let reference = Reference::Readings(vec![reading]);
                self.install_of(&reference, &requested, &options, confirm, note)
            });
            Imported { name, outcome }
        };
        Ok(found.into_iter().map(install).collect())
    }
}

fn lock_files(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.to_owned()];
    }
    let names = ["skills-lock.json", ".skill-lock.json", ".openskills.json"];
    let mut found: Vec<PathBuf> = names.iter().map(|name| path.join(name)).collect();
    let entries = files::entries(path).into_iter().flatten();
    found.extend(entries.map(|(name, _)| path.join(name.as_os_str()).join(".openskills.json")));
    found.retain(|file| file.is_file());
    found.sort();
    found
}

fn readings(json: &Value, file: &Path) -> Vec<(String, Result<Reading>)> {
    if let Some(skills) = json.get("skills").and_then(Value::as_object) {
        let skills = skills.iter();
        return skills
            .map(|(name, entry)| (name.clone(), vercel(entry)))
            .collect();
    }
    let name = file.parent().and_then(Path::file_name).unwrap_or_default();
    let name = name.to_string_lossy().into_owned();
    let source = json.get("source");
    source
        .map(|_| (name, openskills(json)))
        .into_iter()
        .collect()
}

fn vercel(entry: &Value) -> Result<Reading> {
    let field = |name: &str| entry.get(name).and_then(Value::as_str);
    let source = field("source").unwrap_or_default();
    let address = field("sourceUrl").unwrap_or(source);
    let path = tree::skill_dir(field("skillPath").unwrap_or_default());
    match field("sourceType").unwrap_or("github") {
        "local" => Reading::recorded(Kind::Local, address, None, path),
        "well-known" | "wellknown" => Reading::recorded(Kind::WellKnown, address, None, path),
        _ => {
            let url = RepoUrl::parse_short(address).or_else(|_| RepoUrl::parse_short(source))?;
            Reading::recorded(Kind::Git, url.as_str(), field("ref"), path)
        }
    }
}

fn openskills(entry: &Value) -> Result<Reading> {
    let field = |name: &str| entry.get(name).and_then(Value::as_str);
    let path = field("subpath").unwrap_or_default();
    match field("localPath") {
        Some(dir) if field("sourceType") == Some("local") => {
            Reading::recorded(Kind::Local, dir, None, path)
        }
        _ => {
            let address = field("repoUrl").or(field("source")).unwrap_or_default();
            let url = RepoUrl::parse_short(address)?;
            Reading::recorded(Kind::Git, url.as_str(), None, path)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn both_formats_become_readings() {
        let shown = |json: &Value| -> Vec<String> {
            let readings = readings(json, Path::new("/s/pdf/.openskills.json"));
            readings
                .into_iter()
                .map(|(name, reading)| format!("{name}: {}", reading.unwrap()))
                .collect()
        };
        let vercel = json!({"version": 3, "skills": {
            "a": {"source": "o/r", "sourceType": "github", "skillPath": "skills/a/SKILL.md", "ref": "v1"},
            "b": {"source": "h", "sourceType": "git", "sourceUrl": "https://h.org/x.git", "skillPath": "b"},
        }});
        assert_eq!(
            shown(&vercel),
            [
                "a: `skills/a` of repository o/r at v1",
                "b: `b` of repository https://h.org/x.git"
            ]
        );
        let openskills = json!({"source": "o/r", "sourceType": "git", "subpath": "skills/pdf",
            "repoUrl": "https://github.com/o/r"});
        assert_eq!(shown(&openskills), ["pdf: `skills/pdf` of repository o/r"]);
    }

    #[test]
    fn hostile_entries_are_refused_one_by_one() {
        for entry in [
            json!({"source": "ext::sh -c x", "sourceType": "git"}),
            json!({"source": "o/r", "skillPath": "../../x/SKILL.md"}),
            json!({"source": "--upload-pack=x/y"}),
        ] {
            assert!(vercel(&entry).is_err(), "{entry}");
        }
    }
}
