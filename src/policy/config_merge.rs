//! Tightens the user's configuration, never loosens it: by a trusted project's
//! `.chibi/agent-skills.toml`, and where a policy requires a skill.

use serde::Deserialize;

use crate::permission::{Enforce, ScriptScope, Stacking};
use crate::policy::config::{Enabled, SkillSettings};
use crate::policy::file::denials;
use crate::policy::floors::Floors;
use crate::policy::skill_names::by_skill;
use crate::policy::{BySkill, Config, ModelInstalls, ScriptReads, Visibility};
use crate::script::Mode;
use crate::skill::SkillName;

/// The keys that a project may set. None of them can loosen anything.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProjectConfig {
    enforce: Option<Enforce>,
    stacking: Option<Stacking>,
    sandbox: Option<Mode>,
    scripts: Option<ScriptScope>,
    script_reads: Option<ScriptReads>,
    model_installs: Option<ModelInstalls>,
    proposals: Enabled,
    #[serde(deserialize_with = "denials")]
    deny: Vec<String>,
    #[serde(deserialize_with = "by_skill")]
    visibility: BySkill<Visibility>,
}

impl Config {
    /// This configuration with each key as strict as the project's, if that is stricter.
    #[must_use]
    pub fn tightened_by(mut self, project: ProjectConfig) -> Self {
        let floors = Floors {
            mode: project.enforce,
            stacking: project.stacking,
            sandbox: project.sandbox,
            scripts: project.scripts,
            script_reads: project.script_reads,
            model_installs: project.model_installs,
            proposals: project.proposals,
            ..Floors::default()
        };
        self = floors.tighten(self, false);
        self.deny.extend(project.deny);
        for (name, wanted) in project.visibility {
            // `on` would show a skill that its author hides, and hiding what the user has always on
            // would lift its restriction.
            if wanted != Visibility::On && !self.uses_skill(&name) {
                let own = self.visibility.entry(name).or_insert(wanted);
                *own = wanted.max(*own);
            }
        }
        self
    }

    /// Whether a skill of this name may be one that `uses_skills` names in any context: by its name
    /// or its tool's, with or without a layer or an owner.
    fn uses_skill(&self, name: &SkillName) -> bool {
        let is_it = |part: &str| SkillName::from_written(part).as_ref() == Some(name);
        let means = |written: &str| {
            let parts: Vec<&str> = written.split(['/', '@']).collect();
            let tools = parts.iter().filter_map(|part| part.strip_prefix("skill_"));
            let joined = |a: &str, b: &str| is_it(&format!("{a}-{b}"));
            let pairs = parts.windows(2);
            is_it(written)
                || parts.iter().copied().chain(tools).any(is_it)
                || pairs
                    .into_iter()
                    .any(|pair| joined(pair[0], pair[1]) || joined(pair[1], pair[0]))
        };
        self.uses_skills.names().any(means)
    }

    /// Takes back what loosens the skill of this name, which a policy requires.
    pub fn hold(&mut self, name: &SkillName) {
        self.required.insert(name.clone());
        let (sandbox, network) = (self.sandbox, self.network);
        let Some(own) = self.skills.get_mut(name) else {
            return;
        };
        *own = SkillSettings {
            sandbox: own.sandbox.map(|own| own.max(sandbox)),
            network: own.network.map(|own| own.max(network)),
            ..SkillSettings::default()
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_makes_nothing_looser() {
        let strict: Config = toml::from_str(
            "enforce = 'restrict'\nstacking = 'intersect'\nscripts = 'own'\nscript_reads = 'block'\n\
             model_installs = 'off'\nsandbox = 'require'\ndeny = ['Bash(rm:*)']\n[visibility]\npdf = 'off'",
        )
        .unwrap();
        let loose: ProjectConfig = toml::from_str(
            "enforce = 'off'\nstacking = 'replace'\nscripts = 'any'\nscript_reads = 'note'\n\
             model_installs = 'any'\nsandbox = 'off'\n[visibility]\npdf = 'on'\nother = 'on'",
        )
        .unwrap();
        assert_eq!(strict.clone().tightened_by(loose), strict);
        for loosening in [
            "always_allowed = ['x']",
            "create_skill = true",
            "[skills.pdf]\nallow = ['Read']",
            "tenant = 'x'",
            "[audit]\noutput_bytes = 1",
        ] {
            assert!(
                toml::from_str::<ProjectConfig>(loosening).is_err(),
                "{loosening}"
            );
        }
    }

    #[test]
    fn a_project_hides_nothing_that_is_always_on() {
        for written in [
            "house",
            "House",
            "skill_house",
            "personal/house",
            "acme/house",
            "house@acme",
        ] {
            let own = format!("[uses_skills]\nops = ['{written}']\n[visibility]\nhouse = 'user'");
            let own: Config = toml::from_str(&own).unwrap();
            let hides = "[visibility]\nhouse = 'off'\nother = 'off'";
            let both = own.tightened_by(toml::from_str(hides).unwrap());
            assert_eq!(both.visibility["house"], Visibility::User, "{written}");
            assert_eq!(both.visibility["other"], Visibility::Off);
        }
        let beside: Config = toml::from_str("uses_skills = {'*' = ['house@acme']}").unwrap();
        let hides = toml::from_str("[visibility]\nacme-house = 'off'").unwrap();
        assert!(beside.tightened_by(hides).visibility.is_empty());
    }

    #[test]
    fn a_project_makes_things_stricter() {
        let wanted = "enforce = 'restrict'\ndeny = ['WebFetch']\n[visibility]\npdf = 'user'";
        let own: Config =
            toml::from_str("enforce = 'off'\n[visibility]\npdf = 'name-only'").unwrap();
        let both = own.tightened_by(toml::from_str(wanted).unwrap());
        assert_eq!((both.enforce, both.deny.len()), (Enforce::Restrict, 1));
        assert_eq!(both.visibility["pdf"], Visibility::User);
    }
}
