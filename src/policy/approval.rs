//! Which skills need an administrator's approval, the record of those that were given, and which
//! count.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{fs, io};

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::host::ours;
use crate::policy::{ApprovalReason, DigestCache, Enterprise, Ledger};
use crate::session::snapshot;
use crate::skill::{Runner, Skill};
use crate::sys::stamp::Stamps;
use crate::sys::{UnixMillis, files, limits, tree};
use skill_permission::Restriction;
use skill_permission::explain::Rule;
use skill_permission::vocabulary::{self, Argument, Effect, HostTool};

/// The digest of a skill that is approved as it is now; otherwise whether it was approved before.
///
/// # Errors
/// If it is not approved as it is now.
pub fn approval_of_content(
    approved: &BTreeMap<String, Approvals>,
    skill: &Skill,
    digests: &DigestCache,
) -> Result<String, bool> {
    let of_name = approved.get(skill.name.as_str()).ok_or(false)?;
    let now = content(skill, digests).ok();
    let now = now.filter(|now| of_name.has(now));
    now.ok_or_else(|| of_name.was_for(&skill.dir))
}

/// As [`digest`], by the digests that are kept.
///
/// # Errors
/// As [`digest`].
pub fn content(skill: &Skill, digests: &DigestCache) -> io::Result<String> {
    digests.digested("approval", &skill.dir, || digest_and_stamps(skill))
}

/// The digest that an approval covers: of every file of the skill, wherever it is.
///
/// # Errors
/// If part of it cannot be read, or it exceeds the limits of a skill.
pub fn digest(skill: &Skill) -> io::Result<String> {
    Ok(digest_and_stamps(skill)?.0)
}

fn digest_and_stamps(skill: &Skill) -> io::Result<(String, Stamps)> {
    tree::digest_and_stamps([&skill.dir])
}

/// Why a skill needs an approval; `None` if it needs none. In doubt it needs one.
pub fn approval_reason(skill: &Skill, needs: &BTreeSet<ApprovalReason>) -> Option<&'static str> {
    let reaches_network = |tool: &HostTool| {
        tool.effect == Effect::Execute || tool.keys(&[Argument::Url]).next().is_some()
    };
    let writes = |tool: &HostTool| matches!(tool.effect, Effect::Change | Effect::Execute);
    needs.iter().find_map(|need| match need {
        ApprovalReason::All => Some("it is a skill"),
        ApprovalReason::Scripts if has_scripts(&skill.dir) => Some("it has scripts"),
        ApprovalReason::Network if may(skill, reaches_network) => Some("it may use the network"),
        ApprovalReason::Write if may(skill, writes) => Some("it may write files"),
        _ => None,
    })
}

/// Whether the skill's tool list permits a tool for which `does` holds. An unknown tool may do
/// anything.
fn may(skill: &Skill, does: fn(&HostTool) -> bool) -> bool {
    let kept = snapshot(skill, "");
    let allowed = kept.allowed.as_deref();
    let restriction = Restriction::parse(&kept.name, allowed, &[], &skill.dir, Path::new("/"));
    restriction.allowed().is_none_or(|rules| {
        let names = rules.iter().flat_map(Rule::host_names);
        names.into_iter().any(|name| {
            let name = name.split('(').next().unwrap_or_default();
            vocabulary::find_tool(name).map_or(!ours::FIXED.contains(&name), does)
        })
    })
}

/// Whether `dir` contains anything that can be run, even hidden. An unreadable file counts.
pub fn has_scripts(dir: &Path) -> bool {
    has_scripts_below(dir, 0, &mut 0)
}

fn has_scripts_below(dir: &Path, depth: usize, steps: &mut usize) -> bool {
    let Ok(entries) = files::entries(dir) else {
        return true;
    };
    *steps += entries.len();
    if depth > limits::DIGEST_DEPTH || *steps > limits::WALK_STEPS {
        return true;
    }
    entries.iter().any(|(name, _)| {
        let path = dir.join(name.as_os_str());
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => has_scripts_below(&path, depth + 1, steps),
            Ok(metadata) if metadata.is_file() => !matches!(Runner::at(&path), Ok(None)),
            _ => false,
        }
    })
}

/// The approvals of all skills of one name, by the directory in which each was approved. One counts
/// in any directory, because root approves what is in the users' directories.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Approvals(pub BTreeMap<String, Approval>);

/// One approval.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Approval {
    /// The digest of the approved skill.
    pub digest: String,
    /// The user's name.
    pub by: Option<String>,
    /// In UTC.
    pub time: String,
}

impl Approval {
    /// One that is given now.
    pub fn now(digest: String, by: Option<String>) -> Self {
        let time = UnixMillis::now().to_string();
        Self { digest, by, time }
    }
}

impl Approvals {
    /// Whether a skill with this digest is approved.
    pub fn has(&self, digest: &str) -> bool {
        self.0.values().any(|approval| approval.digest == digest)
    }

    /// Whether the skill in `dir` was approved in some state.
    pub fn was_for(&self, dir: &Path) -> bool {
        self.0.contains_key(&key(dir))
    }
}

impl Ledger<Approvals> {
    /// The approvals that count on this machine: only root's, if root has set up the system
    /// directory; else those recorded in `state`.
    pub fn approvals(enterprise: &Enterprise, state: &Path) -> Self {
        let record = |dir: &Path| Self::for_user(dir.join("approvals.json"));
        if enterprise.is_roots() {
            return record(enterprise.dirs()[0]).for_root();
        }
        record(state)
    }

    /// Approves the skill in `dir`. What was approved of its namesakes stays.
    ///
    /// # Errors
    /// As [`Ledger::put`].
    pub fn approve(&self, name: &str, dir: &Path, approval: Approval) -> Result<()> {
        self.change(|entries| {
            let of_name = entries.entry(name.to_owned()).or_default();
            of_name.0.insert(key(dir), approval);
        })
    }

    /// Takes back the approval of the skill in `dir`, or of all of this name. Returns whether there
    /// was one.
    ///
    /// # Errors
    /// As [`Ledger::put`].
    pub fn revoke(&self, name: &str, dir: Option<&Path>) -> Result<bool> {
        let mut was_there = false;
        self.change(|entries| {
            let Some(of_name) = entries.get_mut(name) else {
                return;
            };
            was_there = dir.is_none_or(|dir| of_name.0.remove(&key(dir)).is_some());
            if dir.is_none() || of_name.0.is_empty() {
                entries.remove(name);
            }
        })?;
        Ok(was_there)
    }
}

fn key(dir: &Path) -> String {
    dir.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(more: &str, files: &[(&str, &str)]) -> (tempfile::TempDir, Skill) {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("x");
        for (path, text) in files {
            let path = dir.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::create_dir_all(&dir).unwrap();
        fs::write(
            dir.join("SKILL.md"),
            format!("---\nname: x\ndescription: d\n{more}\n---\n"),
        )
        .unwrap();
        let skill = Skill::load(&dir).unwrap();
        (root, skill)
    }

    #[test]
    fn where_links_multiply_directories_scripts_are_supposed() {
        let root = tempfile::tempdir().unwrap();
        tree::multiply(root.path());
        assert!(has_scripts(root.path()));
    }

    #[test]
    fn scripts_are_seen_wherever_they_are_hidden() {
        for files in [
            &[("scripts/a.py", "x")][..],
            &[("run", "#!/bin/sh\n")],
            &[("run", "\u{feff}#!/bin/sh\n")],
            &[("nested/SKILL.md", "x"), ("nested/a.sh", "x")],
            &[("node_modules/a.js", "x")],
            &[(".git/hook", "#!/bin/sh")],
        ] {
            let (_root, skill) = skill("", files);
            assert!(
                approval_reason(&skill, &[ApprovalReason::Scripts].into()).is_some(),
                "{files:?}"
            );
        }
        let (_root, plain) = skill("", &[("references/notes.md", "text")]);
        assert_eq!(
            approval_reason(&plain, &[ApprovalReason::Scripts].into()),
            None
        );
    }

    #[test]
    fn what_a_skill_may_do_is_what_its_list_leaves() {
        for (more, network, write) in [
            ("", true, true),
            ("allowed-tools: Read Grep", false, false),
            ("allowed-tools: Read WebFetch", true, false),
            ("allowed-tools: Read Write", false, true),
            ("allowed-tools: Bash(git status)", true, true),
            ("allowed-tools: mcp__docs__search", true, true),
            ("allowed-tools: run_skill_script", false, false),
            ("allowed-tools: ''", false, false),
            ("allowed-tools: '*'", true, true),
            ("allowed-tools:", true, true),
        ] {
            let (_root, skill) = skill(more, &[]);
            assert_eq!(
                approval_reason(&skill, &[ApprovalReason::Network].into()).is_some(),
                network,
                "{more}"
            );
            assert_eq!(
                approval_reason(&skill, &[ApprovalReason::Write].into()).is_some(),
                write,
                "{more}"
            );
            assert!(approval_reason(&skill, &[ApprovalReason::All].into()).is_some());
        }
    }
}
