//! Tightens the user's configuration, never loosens it: by a trusted project's
//! `.chibi/agent-skills.toml` and by a policy's minimum settings.

use serde::Deserialize;

use crate::host::agent;
use crate::permission::{Deactivate, Enforce, ScriptScope, Stacking};
use crate::policy::config::Enabled;
use crate::policy::config_floors::tighten;
use crate::policy::file::denials;
use crate::policy::skill_names::by_skill;
use crate::policy::{
    BySkill, Config, Floors, ModelInstalls, ScriptReads, SkillSettings, Visibility,
};
use crate::script::Mode;
use crate::skill::SkillName;

/// The keys that a project may set. None of them can loosen anything.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProjectConfig {
    enforce: Option<Enforce>,
    stacking: Option<Stacking>,
    pipe_filters: Enabled,
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
        // Settings for single skills are tightened too.
        for own in self.enforce_for.values_mut().chain([&mut self.enforce]) {
            tighten(own, project.enforce);
        }
        let single = self.skills.values_mut();
        let single = single.filter_map(|skill| skill.sandbox.as_mut());
        for own in single.chain([&mut self.sandbox]) {
            tighten(own, project.sandbox);
        }
        tighten(&mut self.stacking, project.stacking);
        tighten(&mut self.scripts, project.scripts);
        tighten(&mut self.script_reads, project.script_reads);
        tighten(&mut self.model_installs, project.model_installs);
        self.pipe_filters.0 &= project.pipe_filters.0;
        self.proposals.0 &= project.proposals.0;
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

    /// This configuration with each setting raised to the policy's minimum.
    #[must_use]
    pub fn raised_to(self, floors: Floors) -> Self {
        let mut raised = self.tightened_by(ProjectConfig {
            enforce: floors.mode,
            stacking: floors.stacking,
            sandbox: floors.sandbox,
            ..ProjectConfig::default()
        });
        if floors.mode.is_some_and(|mode| mode > Enforce::Off) {
            raised.pin();
        }
        if !floors.permits_added_entries() {
            for own in raised.skills.values_mut() {
                // Shown as empty: the policy decides that nothing is added.
                own.allow = own.allow.take().map(|_| Vec::new());
            }
        }
        raised
    }

    /// Takes back what loosens the skill of this name, which a policy requires.
    pub fn hold(&mut self, name: &SkillName) {
        self.enforce_for.insert(name.clone(), Enforce::Restrict);
        let (sandbox, network) = (self.sandbox, self.network);
        let Some(own) = self.skills.get_mut(name) else {
            return;
        };
        *own = SkillSettings {
            sandbox: own.sandbox.map(|own| own.max(sandbox)),
            network: own.network.map(|own| own.max(network)),
            timeout: own.timeout,
            ..SkillSettings::default()
        };
    }

    /// Takes back what would widen decisions beyond the defaults: a policy that enforces means that
    /// restrictions restrict. Every key is named, so that a new one needs a decision here.
    fn pin(&mut self) {
        let Self {
            stacking,
            scripts,
            always_allowed,
            deactivate,
            model_installs,
            // Raised to the policy's minimum.
            enforce: _,
            enforce_for: _,
            // These can only tighten a decision.
            pipe_filters: _,
            deny: _,
            scope: _,
            max_active: _,
            script_reads: _,
            proposals: _,
            create_skill: _,
            // Where a person must be, and for whom: not what a call may do.
            unattended: _,
            tenant: _,
            environment: _,
            // Which skills there are, and how many are told of.
            claude_skills: _,
            project_over_personal: _,
            max_tools: _,
            prompt_chars: _,
            visibility: _,
            uses_skills: _,
            uses_skills_chars: _,
            catalog: _,
            audit: _,
            // How permitted scripts run, for which `sandbox` has a minimum of its own.
            pass_env: _,
            sandbox: _,
            network: _,
            allowed_paths: _,
            script_seconds: _,
            call_seconds: _,
            // What it adds to a list, `Floors::permits_added_entries` decides.
            skills: _,
            // Each file's requirements apply on their own.
            signing: _,
            hosts,
        } = self;
        for host in hosts.values_mut() {
            host.mode = host.mode.map(agent::Mode::at_least_restricting);
        }
        always_allowed.clear();
        *deactivate = Deactivate::default();
        tighten(stacking, Some(Stacking::default()));
        tighten(scripts, Some(ScriptScope::default()));
        tighten(model_installs, Some(ModelInstalls::default()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_floor_is_never_loosened_and_never_loosens() {
        let modes = [Enforce::Off, Enforce::Warn, Enforce::Restrict];
        for (own, enforce) in modes.into_iter().enumerate() {
            for (floor, mode) in modes.into_iter().enumerate() {
                let mut config: Config = toml::from_str("enforce_for = {x = 'off'}").unwrap();
                (config.enforce, *config.enforce_for.get_mut("x").unwrap()) = (enforce, enforce);
                let floors = Floors {
                    mode: Some(mode),
                    ..Floors::default()
                };
                let raised = config.raised_to(floors);
                assert_eq!(raised.enforce, modes[own.max(floor)]);
                assert_eq!(raised.enforce_for["x"], modes[own.max(floor)]);
            }
        }
        let all = [
            Stacking::Union,
            Stacking::Replace,
            Stacking::Ratchet,
            Stacking::Intersect,
        ];
        for (own, stacking) in all.into_iter().enumerate() {
            for (floor, least) in all.into_iter().enumerate() {
                let config = Config {
                    stacking,
                    ..Config::default()
                };
                let floors = Floors {
                    stacking: Some(least),
                    ..Floors::default()
                };
                assert_eq!(config.raised_to(floors).stacking, all[own.max(floor)]);
            }
        }
    }

    #[test]
    fn a_policy_that_enforces_pins_what_would_widen() {
        let text = "always_allowed = [\"*\"]\nscripts = \"any\"\ndeactivate = \"model\"\n\
                    stacking = \"union\"\nmodel_installs = \"any\"\ndeny = [\"Write\"]";
        let own: Config = toml::from_str(text).unwrap();
        for (mode, is_pinned) in [
            (None, false),
            (Some(Enforce::Off), false),
            (Some(Enforce::Warn), true),
            (Some(Enforce::Restrict), true),
        ] {
            let floors = Floors {
                mode,
                ..Floors::default()
            };
            let kept = Config {
                deny: own.deny.clone(),
                ..Config::default()
            };
            let expected = if is_pinned { kept } else { own.clone() };
            assert_eq!(own.clone().raised_to(floors), expected, "{mode:?}");
        }
        let strict = Config {
            stacking: Stacking::Intersect,
            model_installs: ModelInstalls::Off,
            ..Config::default()
        };
        let floors = Floors {
            mode: Some(Enforce::Restrict),
            ..Floors::default()
        };
        assert_eq!(strict.clone().raised_to(floors), strict);
    }

    #[test]
    fn a_policy_decides_whether_entries_are_added() {
        let own: Config = toml::from_str("[skills.pdf]\nallow = ['Read']").unwrap();
        let added = |text: &str| {
            let floors = toml::from_str(text).unwrap();
            own.clone().raised_to(floors).added_entries("pdf").len()
        };
        for (text, count) in [
            ("", 1),
            ("mode = 'off'", 1),
            ("mode = 'warn'", 0),
            ("mode = 'restrict'", 0),
            ("mode = 'restrict'\noverrides = true", 1),
            ("overrides = false", 0),
        ] {
            assert_eq!(added(text), count, "{text}");
        }
    }

    #[test]
    fn a_floor_confines_scripts() {
        let modes = [Mode::Off, Mode::Auto, Mode::Require];
        for (own, sandbox) in modes.into_iter().enumerate() {
            for (floor, least) in modes.into_iter().enumerate() {
                let config = Config {
                    sandbox,
                    ..Config::default()
                };
                let floors = Floors {
                    sandbox: Some(least),
                    ..Floors::default()
                };
                assert_eq!(config.raised_to(floors).sandbox, modes[own.max(floor)]);
                let loose: Config = toml::from_str("[skills.pdf]\nsandbox = 'off'").unwrap();
                let skills = loose.raised_to(floors).skills;
                assert_eq!(skills["pdf"].sandbox, Some(least));
            }
        }
    }

    #[test]
    fn a_project_makes_nothing_looser() {
        let strict: Config = toml::from_str(
            "enforce = 'restrict'\nstacking = 'intersect'\nscripts = 'own'\nscript_reads = 'block'\n\
             model_installs = 'off'\npipe_filters = false\nsandbox = 'require'\ndeny = ['Bash(rm:*)']\n[visibility]\npdf = 'off'",
        )
        .unwrap();
        let loose: ProjectConfig = toml::from_str(
            "enforce = 'off'\nstacking = 'union'\nscripts = 'any'\nscript_reads = 'note'\n\
             model_installs = 'any'\npipe_filters = true\nsandbox = 'off'\n[visibility]\npdf = 'on'\nother = 'on'",
        )
        .unwrap();
        assert_eq!(strict.clone().tightened_by(loose), strict);
        for loosening in [
            "always_allowed = ['x']",
            "project_over_personal = true",
            "claude_skills = true",
            "create_skill = true",
            "[skills.pdf]\nallow = ['Read']",
            "tenant = 'x'",
            "[audit]\npath = 'x'",
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
