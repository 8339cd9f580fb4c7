//! The packages listed next to a script: in the nearest `requirements.txt` or `pyproject.toml`
//! between the script and its skill's root. It only reads.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::sys::{files, limits};

/// The arguments of `uv run` that provide a Python script's packages; `None` if no file near the
/// script lists any.
pub fn python_packages(script: &Path, skill_dir: &Path) -> Option<Vec<OsString>> {
    if let Some(file) = nearest(script, skill_dir, "requirements.txt") {
        return Some(vec!["--with-requirements".into(), file.into()]);
    }
    // uv does not accept a `pyproject.toml` as a list of requirements, and would write an
    // environment and a lockfile into the skill if it treated it as a project.
    let file = nearest(script, skill_dir, "pyproject.toml")?;
    let text = files::read_capped(&file, limits::SCRIPT_HEAD).ok()?;
    let project: toml::Table = toml::from_str(std::str::from_utf8(&text).ok()?).ok()?;
    let packages = project.get("project")?.get("dependencies")?.as_array()?;
    let with = packages.iter().filter_map(toml::Value::as_str);
    let args: Vec<OsString> = with
        .flat_map(|package| ["--with".into(), package.into()])
        .collect();
    (!args.is_empty()).then_some(args)
}

/// The nearest file of that name between a script and its skill's root.
fn nearest(script: &Path, skill_dir: &Path, name: &str) -> Option<PathBuf> {
    // The script's path is canonical; the skill's may not be.
    let root = skill_dir.canonicalize().ok()?;
    let inside = script
        .ancestors()
        .skip(1)
        .take_while(|dir| dir.starts_with(&root));
    inside.map(|dir| dir.join(name)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn skill(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("skill");
        fs::create_dir_all(root.join("scripts")).unwrap();
        for (name, content) in files {
            fs::write(root.join(name), content).unwrap();
        }
        (dir, root)
    }

    fn packages(files: &[(&str, &str)]) -> Option<String> {
        let (_dir, root) = skill(files);
        let args = python_packages(&root.join("scripts/a.py"), &root)?;
        let words: Vec<_> = args.iter().map(|arg| arg.to_string_lossy()).collect();
        Some(words.join(" ").replace(root.to_str().unwrap(), "SKILL"))
    }

    #[test]
    fn the_nearest_list_of_packages_inside_the_skill_counts() {
        let near = ("scripts/requirements.txt", "");
        let far = ("requirements.txt", "");
        let project = (
            "pyproject.toml",
            "[project]\ndependencies = [\"a>=1\", \"b\"]\n",
        );
        for (files, expected) in [
            (
                &[far][..],
                Some("--with-requirements SKILL/requirements.txt"),
            ),
            (
                &[near, far],
                Some("--with-requirements SKILL/scripts/requirements.txt"),
            ),
            (
                &[far, project],
                Some("--with-requirements SKILL/requirements.txt"),
            ),
            (&[project], Some("--with a>=1 --with b")),
            (&[("pyproject.toml", "[project]\nname = \"x\"\n")], None),
            (&[("pyproject.toml", "not toml [")], None),
            (&[("../requirements.txt", "outside")], None),
            (&[], None),
        ] {
            assert_eq!(packages(files).as_deref(), expected, "{files:?}");
        }
    }
}
