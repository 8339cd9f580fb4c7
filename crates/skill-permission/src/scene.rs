//! A test scene: skills, policy and settings, and the calls made in it.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use super::active_restrictions::RestrictionInputs;
use super::call::{OurTool, ToolCall};
use super::decide::{Decision, Outcome, decide};
use super::path::fake::Links;
use super::places::{ProtectedPaths, ProtectedPlaces, RuleDirectories};
use super::restriction::Restriction;
use super::settings::Settings;
use crate::vocabulary::{Language, Shell};

/// Skills activated one after the other, and the user's settings.
#[derive(Default)]
pub struct Scene {
    pub restrictions: Vec<Restriction>,
    policy: Vec<Restriction>,
    settings: Settings,
    mcp_tools: BTreeSet<String>,
    links: Links,
    shell: Shell,
    working_dir: Option<&'static str>,
    cdpath: bool,
    reads_by_shell: bool,
}

fn own(list: &[&str]) -> Vec<String> {
    list.iter().map(|entry| (*entry).to_owned()).collect()
}

/// The activation of a skill in a directory of its name.
pub fn activating(name: &str) -> OurTool<'_> {
    let dir = Path::new(name);
    OurTool::Skill { name, dir }
}

pub fn scene() -> Scene {
    Scene::default()
}

impl Scene {
    pub fn skill(self, name: &str, allowed: Option<&str>, denied: &[&str]) -> Self {
        self.skill_in("/skills/s", name, allowed, denied)
    }

    pub fn skill_in(
        mut self,
        dir: &str,
        name: &str,
        allowed: Option<&str>,
        denied: &[&str],
    ) -> Self {
        let allowed = allowed.map(|list| vec![list.to_owned()]);
        self.restrictions.push(Restriction::parse(
            name,
            allowed.as_deref(),
            &own(denied),
            Path::new(dir),
            Path::new("/p"),
        ));
        self
    }

    /// Another skill has replaced the last one.
    pub fn replaced(mut self) -> Self {
        let last = self.restrictions.pop().map(Restriction::replaced);
        self.restrictions.extend(last);
        self
    }

    /// A policy has the last one in force.
    pub fn binding(mut self) -> Self {
        let last = self.restrictions.pop().map(Restriction::binding);
        self.restrictions.extend(last);
        self
    }

    pub fn active(self, list: &str) -> Self {
        self.skill("pdf", Some(list), &[])
    }

    pub fn policy(mut self, denied: &[&str]) -> Self {
        let policy = Restriction::policy("policy", &own(denied), Path::new("/p"));
        self.policy.push(policy);
        self
    }

    pub fn with(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self
    }

    pub fn shell(mut self, language: Language, persists: bool) -> Self {
        self.shell = Shell { language, persists };
        self
    }

    pub fn mcp(mut self, tool: &str) -> Self {
        self.mcp_tools.insert(tool.to_owned());
        self
    }

    /// Links of the file system; a link to itself is a directory.
    pub fn on(mut self, links: &[(&'static str, &'static str)]) -> Self {
        self.links = Links(links.to_vec());
        self
    }

    /// Runs the host process in this directory instead of the project root.
    pub fn in_directory(mut self, working_dir: &'static str) -> Self {
        self.working_dir = Some(working_dir);
        self
    }

    /// In a host whose tools for reading are the shell's own programs.
    pub fn reading_by_shell(mut self) -> Self {
        self.reads_by_shell = true;
        self
    }

    /// Sets `CDPATH` in the environment of the host's shell.
    pub fn with_cdpath(mut self) -> Self {
        self.cdpath = true;
        self
    }

    pub fn scoped<T>(&self, ask: impl FnOnce(&RestrictionInputs) -> T) -> T {
        let places = RuleDirectories {
            project_root: "/p".into(),
            starts_elsewhere: false,
            has_startup_files: false,
            working_dir: self.working_dir.unwrap_or("/p").into(),
            home: Some("/h".into()),
            environment: Some(BTreeSet::from(["PATH", "HOME", "PAGER"].map(str::to_owned))),
            shell: self.shell,
            cdpath: self.cdpath,
            reads_by_shell: self.reads_by_shell,
            protected: ProtectedPlaces::found_by(|| ProtectedPaths {
                places: vec!["/h/.chibi".into(), "/skills/s".into()],
                roots: vec!["/p/.claude/skills".into()],
                deciding: Vec::new(),
            }),
            executable: Some("/h/.chibi/plugins/agent-skills/agent-skills".into()),
            path: vec!["/bin".into(), "/h/bin".into()],
        };
        ask(&RestrictionInputs {
            restrictions: self.restrictions.clone(),
            policy_deny: self.policy.clone(),
            settings: self.settings.clone(),
            places,
            mcp_tools: self.mcp_tools.clone(),
        })
    }

    pub fn decide(&self, tool: &str, ours: Option<OurTool>, arguments: &Value) -> Decision {
        let call = ToolCall {
            tool,
            arguments,
            ours,
            meant: &[],
        };
        self.scoped(|scope| decide(scope, &call, &self.links))
    }

    pub fn allows(&self, tool: &str, arguments: &Value) -> bool {
        self.decide(tool, None, arguments).allows()
    }

    pub fn allows_ours(&self, tool: &str, ours: OurTool) -> bool {
        self.decide(tool, Some(ours), &json!({})).allows()
    }

    pub fn runs(&self, command: &str) -> bool {
        self.allows("shell_exec", &json!({ "command": command }))
    }

    pub fn refusal(&self, tool: &str, arguments: &Value) -> String {
        match self.decide(tool, None, arguments).outcome {
            Outcome::Blocked(refusal) => refusal.message(),
            allowed => panic!("{tool} {arguments} is allowed: {allowed:?}"),
        }
    }
}
