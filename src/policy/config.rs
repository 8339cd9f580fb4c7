//! `config.toml` in the plugin directory: its keys, and their values for the rooms that use them.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::host::agent::{Agent, Mode};
use crate::permission::{Deactivate, Enforce, ScriptScope, Settings, Stacking};
use crate::policy::file::denials;
use crate::policy::skill_names::by_skill;
use crate::policy::{ByContext, BySkill, SigningRules, SkillGlob, SkillSettings};
use crate::script::{self, CallSeconds, Confinement, Limit, Network, PassEnv};

/// Skills with a tool of their own, unless configured: models take at most 128 tools, and the host
/// and other plugins have theirs.
const SKILL_TOOLS: usize = 32;
/// Characters of the catalog in the system prompt, unless configured: about 3,000 tokens.
const PROMPT_CHARS: usize = 12_000;
/// Characters of the always-on skills in one context, unless configured: about 10,000 tokens in
/// every system prompt. 99 % of real skills have less than 39,000 bytes.
const ALWAYS_ON_CHARS: usize = 40_000;
/// Skills active at the same time, unless configured. The instructions of more contradict each
/// other.
const ACTIVE_SKILLS: usize = 5;
/// One audit log before it is rotated, unless configured; 10 MiB are about 25,000 events.
const AUDIT_FILE: usize = 10 * 1024 * 1024;

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
    /// The same for single skills, by name.
    #[serde(deserialize_with = "by_skill")]
    pub enforce_for: BySkill<Enforce>,
    /// `replace` (default), `ratchet`, `intersect` or `union`: how two active skills combine.
    pub stacking: Stacking,
    /// Whether filters such as `| head -20` are allowed without a rule; `true` by default.
    pub pipe_filters: Enabled,
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
    pub max_active: Count<{ ACTIVE_SKILLS }, NonZeroUsize>,
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
    /// Whether `~/.claude/skills` belongs to the personal layer; `false` by default.
    pub claude_skills: bool,
    /// Whether a project's skill precedes a personal one of its name; `false` by default.
    pub project_over_personal: bool,
    /// Up to this many skills get a tool each; beyond it, one tool serves all. 32 by default.
    pub max_tools: Count<{ SKILL_TOOLS }>,
    /// Characters of the prompt in which skills are listed; 12,000 by default.
    pub prompt_chars: Count<{ PROMPT_CHARS }>,
    /// Who sees a skill, by name.
    #[serde(deserialize_with = "by_skill")]
    pub visibility: BySkill<Visibility>,
    /// By context, the skills that are active from the start, in this order.
    pub uses_skills: ByContext,
    /// The limit for all their instructions in characters; 40,000 by default.
    pub uses_skills_chars: Count<{ ALWAYS_ON_CHARS }>,
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
    /// Additional paths that a confined script may write to.
    pub allowed_paths: Vec<PathBuf>,
    /// The total seconds a script may run; 120 by default.
    pub script_seconds: Limit,
    /// Seconds after which a call answers and its script becomes a job, by host generation.
    pub call_seconds: CallSeconds,
    /// What differs for single skills, by name.
    #[serde(deserialize_with = "by_skill")]
    pub skills: BySkill<SkillSettings>,
    /// How skills have to be signed.
    pub signing: SigningRules,
    /// What the hooks of other agents do, by agent.
    pub hosts: BTreeMap<Agent, HostSettings>,
}

/// What the hooks of an agent do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HostSettings {
    /// `restrict` (default), `grant`, `both` or `ask`: what a skill's list means there.
    pub mode: Option<Mode>,
}

/// A number; `DEFAULT` if the key is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Count<const DEFAULT: usize, T = usize>(pub T);

impl<const DEFAULT: usize> Default for Count<DEFAULT> {
    fn default() -> Self {
        Self(DEFAULT)
    }
}

impl<const DEFAULT: usize> Default for Count<DEFAULT, NonZeroUsize> {
    fn default() -> Self {
        Self(NonZeroUsize::new(DEFAULT).unwrap_or(NonZeroUsize::MIN))
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
    /// Bytes after which the log is rotated; 10 MiB by default.
    pub max_bytes: Count<{ AUDIT_FILE }>,
    /// A file that also gets every event.
    pub path: Option<PathBuf>,
}

impl Config {
    /// The settings for running the scripts of a skill.
    pub fn script(&self, skill: &str) -> script::Settings {
        let all = script::Settings {
            pass_env: self.pass_env.clone(),
            confinement: Confinement {
                mode: self.sandbox,
                network: self.network,
                allowed_paths: self.allowed_paths.clone(),
            },
            timeout: self.script_seconds,
        };
        let own = self.skills.get(skill).cloned();
        own.unwrap_or_default().over(all)
    }

    /// The entries that the user adds to the skill's own tool list. Whose skill of this name they
    /// count for is not decided here.
    pub fn added_entries(&self, skill: &str) -> &[String] {
        let own = self.skills.get(skill);
        own.and_then(|own| own.allow.as_deref()).unwrap_or_default()
    }

    /// The settings for permission decisions.
    pub fn permission(&self) -> Settings {
        let each = self.enforce_for.iter();
        Settings {
            enforce: self.enforce,
            enforce_for: each.map(|(name, own)| (name.to_string(), *own)).collect(),
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
