//! Catalogs for tests.

use std::fs;
use std::path::Path;

use super::{Admission, Catalog, Layer, Order, Root};

pub const PDF: &str = "---\nname: pdf\ndescription: d\n---\n";

/// The catalog of one directory whose skills are all shown.
pub fn one_root(dir: &Path) -> Catalog {
    let root = Root {
        layer: Layer::Plugin,
        dir: dir.to_owned(),
    };
    Catalog::scan(&[root], Order::default(), &|_, _| Admission::Shown)
}

/// The catalog of a new directory with these skills.
pub fn catalog(skills: &[(&str, &str)]) -> (tempfile::TempDir, Catalog) {
    let root = tempfile::tempdir().unwrap();
    for (dir, text) in skills {
        fs::create_dir(root.path().join(dir)).unwrap();
        fs::write(root.path().join(dir).join("SKILL.md"), text).unwrap();
    }
    let catalog = one_root(root.path());
    (root, catalog)
}
