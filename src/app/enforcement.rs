//! From what a session has active to the scope that a decision is made in.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{App, Config, announce};
use crate::error::{Error, Result};
use crate::governance::Policies;
use crate::host::alias::{self, Capability};
use crate::host::{ours, tools};
use crate::permission::{OurTool, Places, Resolve, Restriction, Scope, Settings};
use crate::request::{RunSkillScript, ToolCall, ToolUse};
use crate::session::{ActiveSkill, Session};
use crate::skill::{Skill, ToolList};
use crate::sys::remark;

/// Owns what a [`Scope`] borrows.
#[derive(Debug)]
pub struct Enforcement {
    restrictions: Vec<Restriction>,
    denials: Vec<Restriction>,
    settings: Settings,
    places: Places,
    mcp_tools: BTreeSet<String>,
}

impl Enforcement {
    /// What is in force in a session.
    ///
    /// # Errors
    /// When a policy or the configuration denies something that has no meaning.
    pub fn of(app: &App, config: &Config, policies: &Policies, session: &Session) -> Result<Self> {
        let activated = &session.activated;
        let project_root = app.env.project_root();
        let parse = |skill: &ActiveSkill| {
            let dir = Path::new(&skill.dir);
            let allowed = skill.allowed.as_deref();
            Restriction::parse(&skill.name, allowed, &skill.denied, dir, &project_root)
        };
        let mut denied = Vec::new();
        for (file, entries) in policies.denied_tools() {
            let source = format!("the policy {}", file.display());
            denied.push(denials(&source, entries, &project_root)?);
        }
        if !activated.is_empty() {
            denied.push(denials("the configuration", &config.deny, &project_root)?);
        }
        // Every place whose skills the model is told of, and what lies elsewhere by a link.
        let roots = app.roots(config).into_iter().map(|root| root.dir);
        let roots: Vec<PathBuf> = roots.collect();
        let mut private: Vec<PathBuf> = roots.iter().flat_map(|dir| linked(dir)).collect();
        private.extend(roots);
        private.extend(app.dirs.state_places(&app.env));
        Ok(Self {
            restrictions: activated.iter().map(parse).collect(),
            denials: denied,
            settings: config.permission(),
            places: Places {
                home: app.env.home(),
                plugin_dir: app.dirs.plugin.clone(),
                skill_dirs: activated
                    .iter()
                    .map(|skill| PathBuf::from(&skill.dir))
                    .collect(),
                private,
                cdpath: app.env.os("CDPATH").is_some_and(|path| !path.is_empty()),
                project_root,
            },
            mcp_tools: session.mcp_tools.clone(),
        })
    }

    /// The scope of a decision.
    pub fn scope(&self) -> Scope<'_> {
        Scope {
            restrictions: &self.restrictions,
            policy_deny: &self.denials,
            settings: &self.settings,
            places: &self.places,
            mcp_tools: &self.mcp_tools,
        }
    }
}

/// The entries of a directory that are links.
fn linked(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let is_link = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_symlink());
    entries.filter(is_link).map(|entry| entry.path()).collect()
}

/// Denials that no skill brought. One that has no meaning might have been meant to deny anything.
fn denials(source: &str, denied: &[String], project_root: &Path) -> Result<Restriction> {
    let deny = |entries: &[String]| Restriction::policy(source, entries, project_root);
    let means_nothing = |entry: &&String| deny(std::slice::from_ref(entry)).denied().is_empty();
    match denied.iter().find(means_nothing) {
        None => Ok(deny(denied)),
        Some(entry) => Err(
            Error::new(format!("{source} denies `{entry}`, which is no tool"))
                .hint("correct it; until then only reading is allowed"),
        ),
    }
}

/// A skill as the session remembers it.
pub fn snapshot(skill: &Skill, tool: &str) -> ActiveSkill {
    let allowed = match skill.fields.allowed_tools() {
        ToolList::Absent | ToolList::Null => None,
        ToolList::Listed(entries) => Some(entries),
    };
    ActiveSkill {
        name: skill.name.to_string(),
        tool: tool.to_owned(),
        dir: skill.dir.display().to_string(),
        digest: skill.digest.clone(),
        // Some authors list clients under `tools`; a list that names no tool is no restriction.
        allowed: allowed
            .filter(|entries| !skill.fields.tools_are_ambiguous() || names_a_tool(entries)),
        denied: skill.fields.disallowed_tools(),
    }
}

/// Puts a skill in force in this call's session, unless it is already.
///
/// # Errors
/// When that cannot be recorded and there is something to enforce.
pub fn put_in_force(app: &App, skill: &Skill, tool: &str) -> Result<()> {
    let (store, key) = (app.store(), app.session());
    let snapshot = snapshot(skill, tool);
    let before = store.session(&key);
    let last = before
        .as_ref()
        .ok()
        .and_then(|session| session.activated.last());
    if last == Some(&snapshot) {
        return Ok(());
    }
    let harmless =
        !snapshot.is_restricted() && before.is_ok_and(|session| !session.is_restricted());
    match store.activate(&key, snapshot) {
        // With nothing to enforce, a state that cannot be written is no reason to refuse.
        Err(error) if harmless => {
            remark(format_args!("{error}"));
            Ok(())
        }
        result => result.map(|_| ()),
    }?;
    app.record_activation(skill);
    announce(skill);
    Ok(())
}

fn names_a_tool(entries: &[String]) -> bool {
    let words = entries
        .iter()
        .flat_map(|entry| entry.split([' ', ',', '(', '\n']));
    words.into_iter().any(|word| {
        Capability::of(word).is_some()
            || tools::find(word).is_some()
            || alias::programs(word).is_some()
            || ours::FIXED.contains(&word)
            || word.starts_with("skill_")
            || word.starts_with("mcp__")
    })
}

/// Which of our own tools a call is for, unless it activates a skill. What a call asks for is read
/// as its tool will read it: anything else would be a way round the decision.
pub fn our_tool(used: &ToolUse) -> Option<OurTool<'_>> {
    let text = |key: &str| used.arguments.get(key).and_then(serde_json::Value::as_str);
    let parsed = || ToolCall::parse(&used.tool, Ok(used.arguments.clone())).ok();
    match used.tool.as_str() {
        ours::DIRECT => Some(OurTool::Direct),
        ours::MARKETPLACE => Some(OurTool::Marketplace {
            action: match parsed() {
                Some(ToolCall::Command(words)) => words.first().and_then(|verb| looking(verb)),
                _ => None,
            },
        }),
        ours::READ_FILE => Some(OurTool::ReadSkillFile {
            skill: text("skill"),
        }),
        ours::RUN_SCRIPT => Some(match parsed() {
            Some(ToolCall::RunSkillScript(RunSkillScript::Job(_))) => OurTool::Job,
            _ => OurTool::RunSkillScript {
                skill: text("skill"),
            },
        }),
        _ => None,
    }
}

/// The verbs that only look, as the permission room calls them.
fn looking(verb: &str) -> Option<&'static str> {
    match verb.replace('-', "_").as_str() {
        "list" => Some("list"),
        "list_installed" => Some("list_installed"),
        "info" => Some("info"),
        "search" => Some("search"),
        "search_installed" => Some("search_installed"),
        _ => None,
    }
}

/// The file system's answer to where a path leads.
#[derive(Debug)]
pub struct OnDisk;

impl Resolve for OnDisk {
    fn canonical(&self, path: &Path) -> PathBuf {
        let mut rest: Vec<OsString> = Vec::new();
        let mut existing = path.to_owned();
        loop {
            if let Ok(mut canonical) = existing.canonicalize() {
                canonical.extend(rest.iter().rev());
                return canonical;
            }
            match (existing.file_name().map(ToOwned::to_owned), existing.pop()) {
                (Some(name), true) => rest.push(name),
                // A `..` behind something that does not exist leads nowhere that could be named.
                _ => return path.to_owned(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_resolved_as_far_as_it_exists() {
        let root = tempfile::tempdir().unwrap();
        let real = root.path().canonicalize().unwrap();
        std::fs::create_dir(root.path().join("a")).unwrap();
        std::os::unix::fs::symlink("a", root.path().join("link")).unwrap();
        assert_eq!(
            OnDisk.canonical(&root.path().join("link/new/file")),
            real.join("a/new/file")
        );
        assert_eq!(OnDisk.canonical(Path::new("/")), Path::new("/"));
        assert_eq!(
            OnDisk.canonical(Path::new("/no-such/../x")),
            Path::new("/no-such/../x")
        );
    }

    #[test]
    fn a_list_of_clients_names_no_tool() {
        let own = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
        assert!(!names_a_tool(&own(&["claude-code", "codex"])));
        assert!(names_a_tool(&own(&["claude-code", "Bash(git:*)"])));
    }
}
