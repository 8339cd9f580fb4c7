//! Another version of an installed skill: in its place, or beside it.

use std::fs;

use serde_json::json;

use crate::host::Has;
use crate::market_origins::entry;
use crate::market_sources::skill;
use crate::market_updates::{body, installed, write};
use crate::policy::{policy_file, under};
use crate::repository::{git, rev};

#[test]
fn an_install_at_another_ref_switches_to_it_if_agreed() {
    let (host, _hub, dir) = installed("acme/skills@pdf#v1");
    let new = skill("pdf").replace("Body", "New body");
    write(&dir, "skills/pdf/SKILL.md", &new);
    git(&dir, &["tag", "v2"]);
    let old = body(&host);
    let other = "acme/skills@pdf#v2";
    let told = host.fails(&["install", other]);
    told.has("it is installed at v1, not v2");
    let way_out = format!("`agent-skills install {other} --yes` switches it");
    told.has(&way_out);
    for same in ["acme/skills@pdf#v1", "acme/skills@pdf"] {
        host.succeeds(&["install", same]);
    }
    assert_eq!(
        (body(&host), &entry(&host)["ref"]),
        (old.clone(), &json!("refs/tags/v1"))
    );
    host.succeeds(&["install", other, "--yes"]);
    assert_eq!(body(&host), new);
    assert_eq!(entry(&host)["ref"], "refs/tags/v2");
    assert_eq!(entry(&host)["requested"], other);
    // Back, over a change made by hand, which is kept.
    let file = host.plugin_dir().join("skills/pdf/SKILL.md");
    fs::write(&file, new + "Mine.\n").unwrap();
    host.succeeds(&["install", "acme/skills@pdf#v1", "--yes"])
        .has("your changes are kept in");
    assert_eq!(
        (body(&host), &entry(&host)["ref"]),
        (old, &json!("refs/tags/v1"))
    );
}

/// What decides about an install decides about a switch.
#[test]
fn a_policy_and_a_forks_commit_forbid_a_switch() {
    let (host, _hub, dir) = installed("acme/skills@pdf#v1");
    let old = body(&host);
    let new = skill("pdf").replace("Body", "New body");
    git(&dir, &["checkout", "-q", "-b", "fork"]);
    write(&dir, "skills/pdf/SKILL.md", &new);
    let fork = rev(&dir, "HEAD");
    git(&dir, &["checkout", "-q", "main"]);
    git(&dir, &["branch", "-q", "-D", "fork"]);
    let reference = format!("acme/skills@pdf#{fork}");
    let to_fork = ["install", &reference, "--yes"];
    for ran in [host.unattended(&to_fork), host.person(&to_fork[..2])] {
        assert_eq!(ran.status, 1, "{ran:?}");
        ran.stderr.has("not in any branch");
        assert_eq!(body(&host), old);
    }
    host.succeeds(&to_fork);
    let host = under(host, "");
    assert_eq!(body(&host), new, "a person at a terminal may");
    let back = ["install", "acme/skills@pdf#v1", "--yes"];
    for policy in [
        "[sources]\nblock = [\"github.com/acme/*\"]\n",
        "[sources]\nallow = [\"github.com/other/*\"]\n",
    ] {
        fs::write(policy_file(&host), policy).unwrap();
        host.fails(&back).has("a policy");
        assert_eq!(body(&host), new);
    }
}

#[test]
fn a_second_version_stands_beside_the_first_by_another_name() {
    let (host, _hub, dir) = installed("acme/skills@pdf#v1");
    let new = skill("pdf").replace("Body", "New body");
    write(&dir, "skills/pdf/SKILL.md", &new);
    git(&dir, &["tag", "v2"]);
    let old = body(&host);
    let beside = ["install", "acme/skills@pdf#v2", "--name", "pdf2"];
    host.succeeds(&beside);
    let second = host.plugin_dir().join("skills/pdf2--/SKILL.md");
    assert_eq!(fs::read_to_string(&second).unwrap(), new);
    assert_eq!(body(&host), old);
    host.succeeds(&beside).has("already installed");
    // Each follows its own tag, and what is meant by its tag is the one that has it.
    host.succeeds(&["install", "acme/skills@pdf#v2"])
        .has("`pdf2` is already");
    host.succeeds(&["update"]);
    fs::remove_dir_all(second.parent().unwrap()).unwrap();
    host.succeeds(&["install"]);
    assert_eq!(
        (fs::read_to_string(&second).unwrap(), body(&host)),
        (new, old)
    );
}
