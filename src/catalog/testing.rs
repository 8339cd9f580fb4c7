//! Catalogs for tests.

use std::fs;
use std::path::Path;

use super::Catalog;
use crate::facts::Facts;
use crate::sys::Env;

pub const PDF: &str = "---\nname: pdf\ndescription: d\n---\n";

/// The context of a run whose every directory is in `dir`.
pub fn context(dir: &Path) -> Facts {
    let vars = ["AGENT_SKILLS_HOME", "HOME", "CHIBI_PROJECT_ROOT"].map(|name| (name, dir));
    Facts::new(Env::new(vars, dir), None)
}

/// A new plugin directory with these skills, and its catalog.
pub fn catalog(skills: &[(&str, &str)]) -> (tempfile::TempDir, Catalog) {
    let root = tempfile::tempdir().unwrap();
    for (dir, text) in skills {
        let dir = root.path().join("skills").join(dir);
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("SKILL.md"), text).unwrap();
    }
    let catalog = Catalog::of(&context(root.path()));
    (root, catalog)
}
