//! Catalogs for tests.

use std::fs;

use super::Catalog;

pub const PDF: &str = "---\nname: pdf\ndescription: d\n---\n";

/// The catalog of a new directory that contains these skills.
pub fn catalog(skills: &[(&str, &str)]) -> (tempfile::TempDir, Catalog) {
    let root = tempfile::tempdir().unwrap();
    for (dir, text) in skills {
        fs::create_dir(root.path().join(dir)).unwrap();
        fs::write(root.path().join(dir).join("SKILL.md"), text).unwrap();
    }
    let catalog = Catalog::scan(root.path());
    (root, catalog)
}
