//! `config.toml` in the plugin directory: its keys, and their values for the rooms that use them.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::host::agent::{Agent, Mode};
use crate::permission::{Deactivate, Enforce, ScriptScope, Settings, Stacking, mistaken_grant};
use crate::policy::file::denials;
use crate::policy::skill_names::by_skill;
use crate::policy::{ByContext, BySkill, SkillGlob, SourceSigning};
use crate::script::{self, Confinement, Limit, Network, PassEnv};
use crate::signing::Requirement;
use crate::skill::SkillName;

/// Skills active at the same time, unless configured. The instructions of more contradict each
/// other.
const ACTIVE_SKILLS: NonZeroUsize = NonZeroUsize::new(5).unwrap();

/// How decisions name the user's configuration as the source of a rule.
pub const CONFIGURATION: &str = "the configuration";

/// The user's configuration. An absent key has its default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a key of the configuration"
)]
pub struct Config {
    /// `restrict` (default), `warn` or `off`: what happens to a call that a skill does not allow.
    pub enforce: Enforce,
    /// `replace` (default) or `intersect`: how two active skills combine.
    pub stacking: Stacking,
    /// `own` (default), `listed` or `any`: whose scripts a restricted skill may run.
    pub scripts: ScriptScope,
    /// Tools that no restriction forbids, by name.
    pub always_allowed: Vec<String>,
    /// What is denied while any skill is active, in the grammar of `allowed-tools`.
    #[serde(deserialize_with = "denials")]
    pub deny: Vec<String>,
    /// `prompt` (default) or `context`: how long an activation lasts.
    pub scope: Lifetime,
    /// The maximum number of active skills; 5 by default.
    pub max_active: MaxActive,
    /// `user` (default) or `model`: who may end a restriction.
    pub deactivate: Deactivate,
    /// `note` (default) or `block`: what happens when a script of the active skill is read instead
    /// of run.
    pub script_reads: ScriptReads,
    /// `sources` (default), `any` or `off`: what a model may install without asking the user.
    pub model_installs: ModelInstalls,
    /// Whether a model may propose changes to skills, about which the user decides; `true` by
    /// default.
    pub proposals: Enabled,
    /// Whether it may propose new skills too; `true` by default.
    pub create_skill: Enabled,
    /// Whether commands without a terminal may decide for the user; `false` by default.
    pub unattended: bool,
    /// The owner of this machine, for skills with a `scope` and for the audit log.
    pub tenant: Option<String>,
    /// The purpose of this machine, for skills with a `scope` and for the audit log.
    pub environment: Option<String>,
    /// Who sees a skill, by name.
    #[serde(deserialize_with = "by_skill")]
    pub visibility: BySkill<Visibility>,
    /// By context, the skills that are active from the start, in this order.
    pub uses_skills: ByContext,
    /// By context, names or globs of the skills that it sees; a context without an entry sees all.
    pub catalog: ByContext<SkillGlob>,
    /// The audit log.
    pub audit: AuditConfig,
    /// Which of the host's variables scripts receive: `"all"` or a list of names; by default all
    /// that do not look like secrets.
    pub pass_env: PassEnv,
    /// `off` (default), `auto` or `require`: whether scripts are confined (Linux).
    pub sandbox: script::Mode,
    /// The network access of a confined script.
    pub network: Network,
    /// The total seconds a script may run; 120 by default.
    pub script_seconds: Limit,
    /// What differs for single skills, by name.
    #[serde(deserialize_with = "by_skill")]
    pub skills: BySkill<SkillSettings>,
    /// How skills have to be signed.
    pub signing: Signing,
    /// What the hooks of other agents do, by agent.
    pub hosts: BTreeMap<Agent, HostSettings>,
    /// Whether filters such as `| head -20` are allowed without a rule; only a policy says that they
    /// are not.
    #[serde(skip)]
    pub pipe_filters: Enabled,
    /// The skills that policies require, which always restrict.
    #[serde(skip)]
    pub required: BTreeSet<SkillName>,
}

/// Settings that differ for one skill; unset ones are those of all skills.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SkillSettings {
    /// Entries added to the skill's own `allowed-tools`, in its grammar; for a skill without a list
    /// they mean nothing.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "grants")]
    pub allow: Option<Vec<String>>,
    /// `pass_env` for its scripts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass_env: Option<PassEnv>,
    /// `sandbox` for its scripts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<script::Mode>,
    /// `network` for its scripts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// Where else its confined scripts may write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_paths: Option<Vec<PathBuf>>,
}

/// How the user's skills have to be signed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Signing {
    /// `none` (default), `known` or `listed`: how every skill has to be signed.
    pub require: Requirement,
    /// What differs for sources, by their addresses, which may have `*`.
    pub sources: BTreeMap<String, SourceSigning>,
}

/// What the hooks of an agent do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HostSettings {
    /// `restrict` (default), `grant`, `both` or `ask`: what a skill's list means there.
    pub mode: Option<Mode>,
}

/// How many skills may be active.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MaxActive(pub NonZeroUsize);

impl Default for MaxActive {
    fn default() -> Self {
        Self(ACTIVE_SKILLS)
    }
}

/// A flag that is `true` if the key is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Enabled(pub bool);

impl Default for Enabled {
    fn default() -> Self {
        Self(true)
    }
}

/// What is installed when a model asks for it without the user, loosest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelInstalls {
    /// Any skill.
    Any,
    /// Skills of the configured sources.
    #[default]
    Sources,
    /// None.
    Off,
}

/// What happens when a script of the active skill is read instead of run, loosest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScriptReads {
    /// It is read, and the result says how to run it.
    #[default]
    Note,
    /// It is refused, and the refusal says how to run it.
    Block,
}

/// How long an activation lasts, loosest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lifetime {
    /// As long as the host process in which it began, which is one prompt.
    #[default]
    Prompt,
    /// As long as the conversation, across any number of prompts.
    Context,
}

/// Who sees a skill, most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Visibility {
    /// The model, even if the author excluded it.
    On,
    /// The model, but only the name.
    NameOnly,
    /// People only.
    User,
    /// Nobody.
    Off,
}

/// The audit log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AuditConfig {
    /// Bytes of each script's output that are recorded; 0 by default.
    pub output_bytes: usize,
}

impl Config {
    /// The settings for running the scripts of a skill.
    pub fn script(&self, skill: &str) -> script::Settings {
        let own = self.skills.get(skill).cloned().unwrap_or_default();
        script::Settings {
            pass_env: own.pass_env.unwrap_or_else(|| self.pass_env.clone()),
            confinement: Confinement {
                mode: own.sandbox.unwrap_or(self.sandbox),
                network: own.network.unwrap_or(self.network),
                allowed_paths: own.allowed_paths.unwrap_or_default(),
            },
            timeout: self.script_seconds,
        }
    }

    /// The entries that the user adds to the skill's own tool list. Whose skill of this name they
    /// count for is not decided here.
    pub fn added_entries(&self, skill: &str) -> &[String] {
        let own = self.skills.get(skill);
        own.and_then(|own| own.allow.as_deref()).unwrap_or_default()
    }

    /// The settings for permission decisions.
    pub fn permission(&self) -> Settings {
        Settings {
            enforce: self.enforce,
            required: self.required.iter().map(SkillName::to_string).collect(),
            stacking: self.stacking,
            pipe_filters: self.pipe_filters.0,
            scripts: self.scripts,
            always_allowed: self.always_allowed.clone(),
            deactivate: self.deactivate,
            proposals: self.takes_proposals(),
            new_skills: self.takes_new_skills(),
        }
    }

    /// Whether a model may propose changes.
    pub fn takes_proposals(&self) -> bool {
        self.proposals.0
    }

    /// Whether a model may propose new skills.
    pub fn takes_new_skills(&self) -> bool {
        self.takes_proposals() && self.create_skill.0
    }
}

/// Entries that grant, in the grammar of `allowed-tools`. One that can grant nothing is a mistake in the file.
fn grants<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<Vec<String>>, D::Error> {
    let written = Vec::deserialize(deserializer)?;
    match mistaken_grant(&written) {
        None => Ok(Some(written)),
        Some(why) => Err(D::Error::custom(format!(
            "`allow` has a mistake: {}",
            why.escape_debug()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Result<Config, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_skill_differs_in_what_is_said_for_it() {
        let text = "sandbox = 'auto'\nscript_seconds = 10\n\
                    [skills.pdf]\npass_env = ['A']\nnetwork = 'restricted'";
        let config = config(text).unwrap();
        let (all, pdf) = (config.script("other"), config.script("pdf"));
        assert_eq!(all.pass_env, PassEnv::NotSecret);
        assert_eq!(all.confinement.network, Network::Open);
        assert_eq!(pdf.pass_env, PassEnv::Named(vec!["A".to_owned()]));
        assert_eq!(pdf.confinement.network, Network::Restricted);
        assert_eq!(pdf.confinement.mode, script::Mode::Auto);
        assert_eq!(pdf.timeout, all.timeout);
    }

    #[test]
    fn what_is_not_possible_is_refused() {
        for bad in [
            "script_seconds = 0",
            "script_seconds = -1",
            "script_seconds = 1e9",
            "max_active = 0",
            "[skills.pdf]\nsandbox = 'on'",
            "[skills.pdf]\npass_env = 'none'",
            "[skills.pdf]\npass_env = [1]",
            "[skills.pdf]\nscript_seconds = 1",
            "[skills.pdf]\nallow = 'Read'",
        ] {
            assert!(config(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_added_entry_that_grants_nothing_is_a_mistake() {
        let read = |entry: &str| config(&format!("[skills.pdf]\nallow = [{entry:?}]"));
        for (entry, part) in [
            ("Bash(git", "not closed"),
            ("Bash()", "the parentheses are empty"),
            ("Read Bash(git", "not closed"),
            ("|", "neither"),
            (" ", "names no tool"),
            ("WebFetch(domain:*x*)", "domain"),
        ] {
            let error = read(entry).unwrap_err();
            assert!(error.contains("`allow` has a mistake"), "{entry}: {error}");
            assert!(error.contains(part), "{entry}: {error}");
        }
        for entry in [
            "Bash(npx:*)",
            "Read, Write(out/**)",
            "my_tool",
            "ExitPlanMode",
        ] {
            let config = read(entry).unwrap();
            assert_eq!(config.added_entries("pdf"), [entry]);
            assert!(config.added_entries("other").is_empty());
        }
    }
}
