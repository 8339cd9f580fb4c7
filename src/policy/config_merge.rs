//! What may only tighten the user's configuration: a trusted project's `.chibi/agent-skills.toml`,
//! and a policy's minimum settings.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::permission::{Enforce, ScriptScope, Stacking};
use crate::policy::{Config, Floors, ModelInstalls, ScriptReads, Visibility};
use crate::script::Mode;

// Each from loosest to strictest.
const ENFORCE: [Enforce; 3] = [Enforce::Off, Enforce::Warn, Enforce::Restrict];
const STACKING: [Stacking; 4] = [
    Stacking::Union,
    Stacking::Replace,
    Stacking::Ratchet,
    Stacking::Intersect,
];
const SANDBOX: [Mode; 3] = [Mode::Off, Mode::Auto, Mode::Require];
const SCRIPTS: [ScriptScope; 3] = [ScriptScope::Any, ScriptScope::Listed, ScriptScope::Own];
const SCRIPT_READS: [ScriptReads; 2] = [ScriptReads::Note, ScriptReads::Block];
const MODEL_INSTALLS: [ModelInstalls; 3] = [
    ModelInstalls::Any,
    ModelInstalls::Sources,
    ModelInstalls::Off,
];
const VISIBILITY: [Visibility; 4] = [
    Visibility::On,
    Visibility::NameOnly,
    Visibility::User,
    Visibility::Off,
];

/// The keys a project may set; none of them can loosen anything.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProjectConfig {
    enforce: Option<Enforce>,
    stacking: Option<Stacking>,
    pipe_filters: Option<bool>,
    sandbox: Option<Mode>,
    scripts: Option<ScriptScope>,
    script_reads: Option<ScriptReads>,
    model_installs: Option<ModelInstalls>,
    proposals: Option<bool>,
    deny: Vec<String>,
    visibility: BTreeMap<String, Visibility>,
}

impl Config {
    /// The stricter of this configuration and the project's, key by key.
    #[must_use]
    pub fn tightened_by(mut self, project: ProjectConfig) -> Self {
        self.enforce_at_least(project.enforce);
        self.stacking = strictest(&STACKING, self.stacking, project.stacking);
        self.scripts = strictest(&SCRIPTS, self.scripts, project.scripts);
        self.confine(project.sandbox);
        self.script_reads = strictest(&SCRIPT_READS, self.script_reads, project.script_reads);
        self.model_installs =
            strictest(&MODEL_INSTALLS, self.model_installs, project.model_installs);
        if project.pipe_filters == Some(false) {
            self.pipe_filters = Some(false);
        }
        if project.proposals == Some(false) {
            self.proposals = Some(false);
        }
        self.deny.extend(project.deny);
        for (name, wanted) in project.visibility {
            // `on` would show a skill that its author hid.
            if wanted != Visibility::On {
                let own = self.visibility.get(&name).copied();
                let own = own.unwrap_or(Visibility::On);
                self.visibility
                    .insert(name, strictest(&VISIBILITY, own, Some(wanted)));
            }
        }
        self
    }

    /// Raises settings to a policy's minimum.
    #[must_use]
    pub fn raised_to(mut self, floors: Floors) -> Self {
        // The variants of a minimum are in the same order as these.
        let mode = floors.mode.map(|mode| ENFORCE[mode as usize]);
        let stacking = floors.stacking.map(|stacking| STACKING[stacking as usize]);
        self.enforce_at_least(mode);
        self.stacking = strictest(&STACKING, self.stacking, stacking);
        self.confine(floors.sandbox.map(|sandbox| SANDBOX[sandbox as usize]));
        self
    }

    /// Raises enforcement to at least `floor`, for single skills too.
    fn enforce_at_least(&mut self, floor: Option<Enforce>) {
        self.enforce = strictest(&ENFORCE, self.enforce, floor);
        for own in self.enforce_for.values_mut() {
            *own = strictest(&ENFORCE, *own, floor);
        }
    }

    /// Raises confinement to at least `floor`, for single skills too.
    fn confine(&mut self, floor: Option<Mode>) {
        self.sandbox = strictest(&SANDBOX, self.sandbox, floor);
        for skill in self.skills.values_mut() {
            let own = skill.sandbox;
            skill.sandbox = own.map(|own| strictest(&SANDBOX, own, floor));
        }
    }
}

fn strictest<T: Copy + PartialEq>(loosest_first: &[T], own: T, other: Option<T>) -> T {
    let mut strict = loosest_first.iter().rev();
    let found = strict.find(|choice| **choice == own || Some(**choice) == other);
    found.copied().unwrap_or(own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Combining, Confinement, Mode as Enforced};

    #[test]
    fn a_floor_is_never_loosened_and_never_loosens() {
        let modes = [Enforced::Off, Enforced::Warn, Enforced::Restrict];
        for (own, enforce) in ENFORCE.into_iter().enumerate() {
            for (floor, mode) in modes.into_iter().enumerate() {
                let config = Config {
                    enforce,
                    enforce_for: [("x".to_owned(), enforce)].into(),
                    ..Config::default()
                };
                let floors = Floors {
                    mode: Some(mode),
                    ..Floors::default()
                };
                let raised = config.raised_to(floors);
                assert_eq!(raised.enforce, ENFORCE[own.max(floor)]);
                assert_eq!(raised.enforce_for["x"], ENFORCE[own.max(floor)]);
            }
        }
        let combining = [
            Combining::Union,
            Combining::Replace,
            Combining::Ratchet,
            Combining::Intersect,
        ];
        for (own, stacking) in STACKING.into_iter().enumerate() {
            for (floor, combining) in combining.into_iter().enumerate() {
                let config = Config {
                    stacking,
                    ..Config::default()
                };
                let floors = Floors {
                    stacking: Some(combining),
                    ..Floors::default()
                };
                assert_eq!(config.raised_to(floors).stacking, STACKING[own.max(floor)]);
            }
        }
    }

    #[test]
    fn a_floor_confines_scripts() {
        let floors = [Confinement::Off, Confinement::Auto, Confinement::Require];
        for (own, sandbox) in SANDBOX.into_iter().enumerate() {
            for (floor, confinement) in floors.into_iter().enumerate() {
                let config = Config {
                    sandbox,
                    ..Config::default()
                };
                let floors = Floors {
                    sandbox: Some(confinement),
                    ..Floors::default()
                };
                assert_eq!(config.raised_to(floors).sandbox, SANDBOX[own.max(floor)]);
                let loose: Config = toml::from_str("[skills.pdf]\nsandbox = 'off'").unwrap();
                let skills = loose.raised_to(floors).skills;
                assert_eq!(skills["pdf"].sandbox, Some(SANDBOX[floor]));
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
            "tenant = 'x'",
            "[audit]\nsyslog = true",
        ] {
            assert!(
                toml::from_str::<ProjectConfig>(loosening).is_err(),
                "{loosening}"
            );
        }
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
