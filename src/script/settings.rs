//! What an administrator or a user can configure about scripts: plain data with defaults. It does
//! not know where the values come from.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::pass_env::PassEnv;
use super::sandbox::{Mode, Network};
use crate::error::Error;
use crate::sys::{Env, limits};

/// Seconds a script may take altogether, unless configured.
const SCRIPT_SECONDS: f64 = 120.0;

/// All settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Which of the host's variables scripts get.
    pub pass_env: PassEnv,
    /// Whether scripts are confined (Linux).
    pub sandbox: Mode,
    /// What network access a confined script has.
    pub network: Network,
    /// Additional paths that a confined script may write.
    pub allowed_paths: Vec<PathBuf>,
    /// Seconds a script may take altogether.
    pub timeout: Limit,
    /// Seconds after which a call returns and the script continues as a job.
    pub call_seconds: CallSeconds,
    /// Overrides for single skills, by name.
    pub skills: BTreeMap<String, SkillSettings>,
}

/// Settings of one skill; unset ones are those of all skills.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SkillSettings {
    /// See [`Settings::pass_env`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass_env: Option<PassEnv>,
    /// See [`Settings::sandbox`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Mode>,
    /// See [`Settings::network`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// See [`Settings::allowed_paths`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_paths: Option<Vec<PathBuf>>,
    /// See [`Settings::timeout`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Limit>,
}

/// A configurable number of seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit(Duration);

/// How long a call waits, by the host's protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CallSeconds {
    /// Up to chibi 0.6, which waits for ever: until the end, unless configured.
    pub environment: Option<Limit>,
    /// From chibi 0.7, which kills a call after 30 seconds and loses its answer.
    pub stdin: Option<Limit>,
}

impl Default for Limit {
    fn default() -> Self {
        Self(Duration::from_secs_f64(SCRIPT_SECONDS))
    }
}

impl Default for CallSeconds {
    fn default() -> Self {
        let stdin = Duration::from_secs(limits::HOST_CALL_SECONDS);
        Self {
            environment: None,
            stdin: Some(Limit(stdin)),
        }
    }
}

impl Limit {
    /// A limit in seconds; `None` for zero, less, or more than can be configured.
    pub fn of_seconds(seconds: f64) -> Option<Self> {
        let possible = seconds > 0.0 && seconds <= limits::SCRIPT_SECONDS_MOST;
        possible.then(|| Self(Duration::from_secs_f64(seconds)))
    }

    /// The limit as a duration.
    pub fn duration(self) -> Duration {
        self.0
    }
}

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0.as_secs_f64())
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let seconds = f64::deserialize(deserializer)?;
        Self::of_seconds(seconds).ok_or_else(|| {
            let most = limits::SCRIPT_SECONDS_MOST;
            serde::de::Error::custom(format!(
                "{seconds} is not a number of seconds above 0 and up to {most}"
            ))
        })
    }
}

impl Settings {
    /// Applies the environment: `AGENT_SKILLS_CALL_SECONDS` is how long a call waits under either
    /// protocol.
    #[must_use]
    pub fn with_env(mut self, env: &Env) -> Self {
        let seconds = env.text("AGENT_SKILLS_CALL_SECONDS");
        let seconds = seconds.and_then(|text| Limit::of_seconds(text.trim().parse().ok()?));
        if seconds.is_some() {
            self.call_seconds = CallSeconds {
                environment: seconds,
                stdin: seconds,
            };
        }
        self
    }

    /// The effective settings of one skill, with every field set.
    pub fn for_skill(&self, name: &str) -> SkillSettings {
        let own = self.skills.get(name).cloned().unwrap_or_default();
        SkillSettings {
            pass_env: own.pass_env.or_else(|| Some(self.pass_env.clone())),
            sandbox: own.sandbox.or(Some(self.sandbox)),
            network: own.network.or(Some(self.network)),
            allowed_paths: own
                .allowed_paths
                .or_else(|| Some(self.allowed_paths.clone())),
            timeout: own.timeout.or(Some(self.timeout)),
        }
    }
}

/// The limit for `timeout_secs`, at most `most`, which is also the default.
///
/// # Errors
/// When it is zero, negative, not a number, or more than `most`.
pub fn time_limit(timeout_secs: Option<f64>, most: Duration) -> Result<Duration, Error> {
    let Some(asked) = timeout_secs else {
        return Ok(most);
    };
    let hint = format!(
        "give more than 0 and at most {}, or leave it out",
        most.as_secs_f64()
    );
    if asked.is_nan() || asked <= 0.0 {
        let text = format!("`timeout_secs` must be a positive number of seconds, not {asked}");
        return Err(Error::new(text).hint(hint));
    }
    if asked > most.as_secs_f64() {
        let text = format!("`timeout_secs` {asked} is more than a script may take");
        return Err(Error::new(text).hint(hint));
    }
    // A limit rounded to zero would end every script before it begins.
    Ok(Duration::from_secs_f64(asked).max(Duration::from_millis(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use std::path::Path;

    fn parsed(value: Value) -> Result<Settings, String> {
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    #[test]
    fn nothing_chosen_is_the_documented_defaults() {
        let settings = parsed(json!({})).unwrap();
        assert_eq!(settings, Settings::default());
        assert_eq!(settings.timeout.duration(), Duration::from_mins(2));
        assert_eq!(settings.call_seconds.environment, None);
        assert_eq!(settings.call_seconds.stdin, Limit::of_seconds(25.0));
        assert_eq!(settings.pass_env, PassEnv::NotSecret);
        assert_eq!(settings.sandbox, Mode::Off);
    }

    #[test]
    fn a_skill_differs_in_what_is_said_for_it() {
        let settings = parsed(json!({
            "timeout": 10, "sandbox": "auto", "pass_env": "all",
            "skills": {"pdf": {"timeout": 0.5, "pass_env": ["A"], "network": "restricted"}},
        }))
        .unwrap();
        let pdf = settings.for_skill("pdf");
        assert_eq!(pdf.timeout, Limit::of_seconds(0.5));
        assert_eq!(pdf.pass_env, Some(PassEnv::Named(vec!["A".to_owned()])));
        assert_eq!(
            (pdf.sandbox, pdf.network),
            (Some(Mode::Auto), Some(Network::Restricted))
        );
        let other = settings.for_skill("other");
        assert_eq!(
            (other.timeout, other.network),
            (Limit::of_seconds(10.0), Some(Network::Open))
        );
    }

    #[test]
    fn what_is_not_possible_is_refused() {
        for bad in [
            json!({"timeout": 0}),
            json!({"timeout": -1}),
            json!({"timeout": 1e9}),
            json!({"sandbox": "on"}),
            json!({"pass_env": "none"}),
            json!({"pass_env": [1]}),
            json!({"time_out": 1}),
        ] {
            assert!(parsed(bad.clone()).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_environment_says_how_long_a_call_waits() {
        let with = |value| {
            let env = Env::new([("AGENT_SKILLS_CALL_SECONDS", value)], Path::new("/"));
            Settings::default().with_env(&env).call_seconds
        };
        let half = Limit::of_seconds(0.5);
        assert_eq!((with("0.5").environment, with("0.5").stdin), (half, half));
        for odd in ["", "x", "-1", "0", "inf"] {
            assert_eq!(with(odd), CallSeconds::default(), "{odd}");
        }
    }

    const MOST: Duration = Duration::from_mins(2);

    #[test]
    fn what_is_asked_for_is_granted_up_to_the_most() {
        let granted = |asked| time_limit(asked, MOST).unwrap();
        assert_eq!(granted(None), MOST);
        assert_eq!(granted(Some(2.0)), Duration::from_secs(2));
        assert_eq!(granted(Some(0.5)), Duration::from_millis(500));
        assert_eq!(granted(Some(1e-300)), Duration::from_millis(1));
        assert_eq!(granted(Some(120.0)), MOST);
    }

    #[test]
    fn more_than_possible_is_an_error_that_says_what_is() {
        for huge in [121.0, 1e300, f64::INFINITY] {
            let error = time_limit(Some(huge), MOST).unwrap_err();
            assert!(
                error.to_string().contains("more than a script may take"),
                "{error}"
            );
            assert!(error.next_step().unwrap().contains("at most 120"));
        }
    }

    #[test]
    fn zero_negative_and_no_number_are_errors() {
        for bad in [0.0, -0.0, -1.0, f64::NAN, f64::NEG_INFINITY] {
            let error = time_limit(Some(bad), MOST).unwrap_err();
            assert!(
                error.to_string().contains("positive number of seconds"),
                "{error}"
            );
        }
    }
}
