//! Catalogs for tests.

use std::fs;

use super::Catalog;

pub const PDF: &str = "---\nname: pdf\ndescription: d\n---\n";

/// A new directory with these skills, and its catalog.
pub fn catalog(skills: &[(&str, &str)]) -> (tempfile::TempDir, Catalog) {
    let root = tempfile::tempdir().unwrap();
    for (dir, text) in skills {
        fs::create_dir(root.path().join(dir)).unwrap();
        fs::write(root.path().join(dir).join("SKILL.md"), text).unwrap();
    }
    let catalog = Catalog::scan(root.path());
    (root, catalog)
}
