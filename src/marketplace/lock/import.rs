//! Installs what other programs recorded: `skills-lock.json` and `.skill-lock.json` of vercel's
//! `skills`, and `.openskills.json` of openskills (docs/spec/references.md#foreign-lockfiles).

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::marketplace::fetch::tree;
use crate::marketplace::install::InstalledSkill;
use crate::marketplace::prelude::*;
use crate::marketplace::{Confirm, InstallOptions, Market, Note};

/// Whether another program may have written this lockfile, by its name; a directory may hold some.
pub fn is_foreign(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    path.is_dir() || name == OF_SKILL || OF_ALL.iter().any(|known| name == *known)
}

const OF_ALL: [&str; 2] = ["skills-lock.json", ".skill-lock.json"];
const OF_SKILL: &str = ".openskills.json";

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
    ) -> Result<Vec<(String, Result<Vec<InstalledSkill>>)>> {
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
            let text = format!("`{}` is not a lock file of a known format", path.display());
            return Err(Error::new(text).hint(
                "give a skills-lock.json, a .skill-lock.json, an .openskills.json, or a directory of \
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
                let reference = Reference::Readings(vec![reading]);
                self.install_of(&reference, &name, &options, confirm, note)
            });
            (name, outcome)
        };
        Ok(found.into_iter().map(install).collect())
    }
}

fn lock_files(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.to_owned()];
    }
    let mut found: Vec<PathBuf> = OF_ALL.iter().map(|name| path.join(name)).collect();
    found.push(path.join(OF_SKILL));
    let entries = files::entries(path).into_iter().flatten();
    found.extend(entries.map(|(name, _)| path.join(name.as_os_str()).join(OF_SKILL)));
    found.retain(|file| file.is_file());
    found.sort();
    found
}

fn readings(json: &Value, file: &Path) -> Vec<(String, Result<Reading>)> {
    if let Some(skills) = json.get("skills").and_then(Value::as_object) {
        let skills = skills.iter();
        return skills
            .map(|(name, entry)| (name.clone(), reading(name, entry, None)))
            .collect();
    }
    if json.get("source").is_none() {
        return Vec::new();
    }
    let name = file.parent().and_then(Path::file_name).unwrap_or_default();
    let name = name.to_string_lossy().into_owned();
    let reading = reading(&name, json, Some(""));
    vec![(name, reading)]
}

/// The reading of a skill. One without a path is found by its name, unless there is an `otherwise`.
fn reading(name: &str, entry: &Value, otherwise: Option<&str>) -> Result<Reading> {
    let field = |keys: &[&str]| keys.iter().find_map(|key| entry.get(key)?.as_str());
    let source = field(&["source"]).unwrap_or_default();
    let address = field(&["sourceUrl", "repoUrl", "localPath"]).unwrap_or(source);
    let path = field(&["skillPath", "subpath"]).or(otherwise);
    let dir = tree::skill_dir(path.unwrap_or_default());
    let mut reading = match field(&["sourceType"]).unwrap_or("github") {
        "local" => Reading::recorded(SourceKind::Local, address, None, dir)?,
        "well-known" | "wellknown" => Reading::recorded(SourceKind::WellKnown, address, None, dir)?,
        _ => {
            let url = RepoUrl::parse_short(address).or_else(|_| RepoUrl::parse_short(source))?;
            Reading::recorded(SourceKind::Git, url.as_str(), field(&["ref"]), dir)?
        }
    };
    if path.is_none() {
        reading.want = RepositoryPart::Named(name.to_owned());
    }
    Ok(reading)
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
                "a: directory `skills/a` of repository o/r at v1",
                "b: directory `b` of repository https://h.org/x.git"
            ]
        );
        let by_name = json!({"version": 1, "skills": {
            "c": {"source": "o/r", "sourceType": "github", "computedHash": "x"},
        }});
        assert_eq!(shown(&by_name), ["c: skill `c` of repository o/r"]);
        let openskills = json!({"source": "o/r", "sourceType": "git", "subpath": "skills/pdf",
            "repoUrl": "https://github.com/o/r"});
        assert_eq!(
            shown(&openskills),
            ["pdf: directory `skills/pdf` of repository o/r"]
        );
    }

    #[test]
    fn hostile_entries_are_refused_one_by_one() {
        for entry in [
            json!({"source": "ext::sh -c x", "sourceType": "git"}),
            json!({"source": "o/r", "skillPath": "../../x/SKILL.md"}),
            json!({"source": "--upload-pack=x/y"}),
        ] {
            assert!(reading("x", &entry, None).is_err(), "{entry}");
        }
    }
}
