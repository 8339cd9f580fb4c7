//! The packages listed next to a script: in the nearest `requirements.txt`, `pyproject.toml` or
//! `package.json` between the script and its skill's root. It only reads.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::sys::{files, limits};

/// Lockfiles of Node's package managers, and the command that installs what they list.
const INSTALLERS: [(&str, &str); 5] = [
    ("bun.lock", "bun install"),
    ("bun.lockb", "bun install"),
    ("pnpm-lock.yaml", "pnpm install"),
    ("yarn.lock", "yarn install"),
    ("package-lock.json", "npm ci"),
];

/// A list of Python packages.
pub const REQUIREMENTS: &str = "requirements.txt";

/// The arguments of `uv run` that provide a Python script's packages; `None` if no file near the
/// script lists any.
pub fn python_packages(script: &Path, skill_dir: &Path) -> Option<Vec<OsString>> {
    if let Some(file) = nearest(script, skill_dir, REQUIREMENTS) {
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

/// If the packages of a script's `package.json` are not installed: its directory, and the command
/// that installs them.
pub fn node_packages_missing(script: &Path, skill_dir: &Path) -> Option<(PathBuf, &'static str)> {
    let file = nearest(script, skill_dir, "package.json")?;
    let dir = file.parent()?;
    if dir.join("node_modules").exists() {
        return None;
    }
    let mut installers = INSTALLERS.iter();
    let found = installers.find(|(lockfile, _)| dir.join(lockfile).is_file());
    Some((
        dir.to_owned(),
        found.map_or("npm install", |(_, command)| command),
    ))
}

/// The nearest file of that name between a script and its skill's root.
pub fn nearest(script: &Path, skill_dir: &Path, name: &str) -> Option<PathBuf> {
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

    #[test]
    fn node_packages_are_missing_until_they_are_installed() {
        let missing = |files: &[(&str, &str)]| {
            let (_dir, root) = skill(files);
            node_packages_missing(&root.join("scripts/a.js"), &root).map(|(_, command)| command)
        };
        assert_eq!(missing(&[]), None);
        assert_eq!(missing(&[("package.json", "{}")]), Some("npm install"));
        let with = |lock| missing(&[("package.json", "{}"), (lock, "")]);
        assert_eq!(with("package-lock.json"), Some("npm ci"));
        assert_eq!(with("pnpm-lock.yaml"), Some("pnpm install"));
        assert_eq!(with("yarn.lock"), Some("yarn install"));
        assert_eq!(with("bun.lock"), Some("bun install"));
        assert_eq!(with("node_modules"), None);
    }
}
