//! Trust is about files under their names: the files beside the skills cannot be exchanged for each
//! other by renaming them.

use std::fs;
use std::path::PathBuf;

use crate::Host;
use crate::host::write_at;
use crate::layers::is_offered;
use crate::trust_ways::evil;

fn skills(host: &Host) -> PathBuf {
    host.project().join(".claude/skills")
}

/// A project with these files beside its skill, which its user trusts.
fn trusted(beside: &[(&str, &str)]) -> Host {
    let host = Host::stdin();
    evil(&skills(&host));
    for (path, text) in beside {
        write_at(skills(&host).join(path), text);
    }
    host.succeeds(&["trust", "--yes"]);
    assert!(is_offered(&host, "evil"));
    host
}

/// What is renamed, in order.
type Renames = &'static [(&'static str, &'static str)];

#[test]
fn renaming_what_is_beside_the_skills_asks_again() {
    let files: &[_] = &[("common.sh", "good"), ("common.sh.orig", "bad")];
    let dirs: &[_] = &[("lib/x.sh", "good"), ("lib.old/x.sh", "bad")];
    let mixed: &[_] = &[("lib/x.sh", "good"), ("x.sh", "bad")];
    let cases: [(&[(&str, &str)], Renames); 5] = [
        (
            files,
            &[("common.sh", "A.sh"), ("common.sh.orig", "common.sh")],
        ),
        (files, &[("common.sh.orig", "z.sh")]),
        (dirs, &[("lib", "a"), ("lib.old", "lib")]),
        (dirs, &[("lib.old", "lib.older")]),
        (mixed, &[("x.sh", "lib/y.sh")]),
    ];
    for (beside, renames) in cases {
        let host = trusted(beside);
        for (from, to) in renames {
            fs::rename(skills(&host).join(from), skills(&host).join(to)).unwrap();
        }
        assert!(!is_offered(&host, "evil"), "{renames:?}");
        host.succeeds(&["trust", "--yes"]);
        assert!(is_offered(&host, "evil"), "{renames:?}");
    }
}
