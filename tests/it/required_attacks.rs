//! What was tried against required skills: to loosen one, to make it count as missing, or to put
//! another in its place.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::Host;
use crate::always_on::prompt_in;
use crate::host::Has;
use crate::layers::{self, is_offered, layer_dir, put};
use crate::policy::under;
use crate::required_skills::{ANYWHERE, lock_must, with_must};

#[test]
fn nothing_loosens_what_is_always_in_force() {
    let policy = "[skills]\nrequire = [{name = 'must', in_force = 'always'}]\n";
    let list = json!({"command": "ls"});
    for stacking in ["replace", "intersect"] {
        let host = under(Host::stdin(), policy)
            .skill("free", "", "body")
            .skill("other", "allowed-tools: Bash(ls:*)", "body");
        let dir = layer_dir(&host, "enterprise");
        put(&dir, "must", "allowed-tools: Read", "enterprise");
        host.config(format!(
            "stacking = '{stacking}'\nenforce = 'off'\nalways_allowed = ['shell_exec']\n\
                 [uses_skills]\n'*' = ['free']\n[skills.must]\nallow = ['Bash(ls:*)']\n"
        ));
        host.starts();
        prompt_in(&host, "ops");
        host.blocks("shell_exec", &list);
        for name in ["free", "other"] {
            host.activates(name);
            host.blocks("shell_exec", &list);
        }
    }
}

#[test]
fn only_policies_keep_a_required_skill_from_use() {
    let policy = "[skills]\nrequire = ['must']\n";
    let host = under(Host::stdin(), policy).skill("free", "disallowed-tools: Skill(must)", "body");
    put(&layer_dir(&host, "enterprise"), "must", "", "enterprise");
    host.config("deny = ['Skill(must)']");
    host.starts();
    host.activates("free");
    host.allows("skill_must", &json!({}));
    let denied = format!("{policy}[tools]\ndeny = ['Skill(must)']\n");
    layers::policy(&host, denied);
    host.blocks("skill_must", &json!({}));
}

#[test]
fn a_mistake_closes_wherever_a_skill_is_required() {
    let host = under(Host::stdin(), "[skills]\nrequire = ['must']\n");
    put(&layer_dir(&host, "enterprise"), "must", "", "enterprise");
    let list = json!({"command": "ls"});
    host.starts();
    host.allows("shell_exec", &list);
    host.config("[visibilty]\n");
    host.starts();
    host.blocks("shell_exec", &list);
    host.allows("file_head", &json!({"path": "x"}));
}

#[test]
fn a_lockfile_that_others_brought_is_a_claim() {
    let host = under(Host::stdin(), ANYWHERE);
    let agents = host.home().join(".agents");
    put(&agents.join("skills"), "must", "", "elsewhere");
    lock_must(&agents);
    assert!(!is_offered(&host, "must"));
    // Another name for a directory of ours is no other place.
    fs::remove_dir_all(&agents).unwrap();
    let host = with_must(host, ANYWHERE);
    fs::create_dir_all(&agents).unwrap();
    symlink(host.skills_dir(), agents.join("skills")).unwrap();
    assert!(is_offered(&host, "must"));
}

#[test]
fn a_changed_skill_is_not_the_one_that_is_required() {
    let host = with_must(Host::stdin(), ANYWHERE);
    assert!(is_offered(&host, "must"));
    fs::write(host.skills_dir().join("must/from.txt"), "changed").unwrap();
    assert!(!is_offered(&host, "must"));
    let policy = host.person(&["policy"]);
    assert_eq!(policy.status, 1, "{policy:?}");
    let said = policy.stdout.split_whitespace().collect::<Vec<_>>();
    let said = said.join(" ");
    said.has("changed since it was installed");
    // It is still the one that may not be lost.
    let told = host.fails(&["remove", "--layer", "plugin", "--yes", "must"]);
    told.has("requires the skill `must`");
}
