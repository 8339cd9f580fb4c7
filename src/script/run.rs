//! What runs: a skill's script, one of our own commands, or a command of an agent, confined as a
//! skill's scripts are (docs/guide.md#confined-commands). Everything is checked and prepared before
//! anything is started, also whether what a skill declares that its scripts need is there
//! (`metadata.openclaw` and its older names, docs/spec/skills.md#fields). It resolves no skill and
//! checks no permission.

use super::prelude::*;
use std::convert::Infallible;

use serde_json::Value;

use super::environment::{self, PassEnv, Variables, is_never_passed};
use super::exec;
use super::interpreter::{self, find, system_install};
use crate::skill::{Fields, Skill};
use crate::sys::{variables, warn};

/// A script to run.
#[derive(Debug, Clone, Copy)]
pub struct ScriptRequest<'a> {
    /// The skill it is part of; its directory is absolute.
    pub skill: &'a Skill,
    /// Its absolute path, already resolved to a file of the skill.
    pub script: &'a Path,
    /// How the caller wrote it.
    pub label: &'a str,
    /// Its working directory, absolute; `None` for an empty directory of its own.
    pub workdir: Option<&'a Path>,
    /// Its arguments, passed unchanged.
    pub args: &'a [String],
    /// Its standard input; empty means none.
    pub stdin: &'a [u8],
    /// Variables added to its environment.
    pub env: &'a [(String, String)],
    /// What was configured for its skill.
    pub settings: &'a ScriptSettings,
    /// How long it may run and be waited for, and its owner.
    pub limits: &'a RunLimits,
    /// The environment of this process.
    pub base: &'a Env,
}

/// Runs a script until it ends, reaches its limit, or becomes a job. Unless it became one, nothing
/// it started remains when this returns.
///
/// # Errors
/// When it cannot be started: no interpreter, a bad argument or variable, a missing working
/// directory, not a regular file. A script that fails is an outcome, not an error.
pub fn run(request: &ScriptRequest) -> Result<ScriptRun> {
    let began = Instant::now();
    let RunLimits { jobs, .. } = request.limits;
    let skill = request.skill;
    let confinement = request.settings.confinement.clone();
    let confinement = confinement.tightened_by(&skill.fields);
    let needs_temp = request.workdir.is_none() || confinement.mode != SandboxMode::Off;
    with_id(jobs, |id| {
        let temp = needs_temp.then(|| jobs.temp(id)).transpose()?;
        let temp = temp.as_deref();
        let workdir = request.workdir.or(temp).unwrap_or(&skill.dir);
        let (process, mut notes) = prepare(request, &confinement, workdir, temp)?;
        let task = Task {
            process: &process,
            label: request.label,
            skill: Some(skill.name.as_str()),
            stdin: request.stdin,
            id,
            limits: request.limits,
            began,
        };
        let mut ran = task.run()?;
        ran.outcome.notes.append(&mut notes);
        Ok(ran)
    })
}

/// Runs what may become the job with this new id. If it does not, nothing is left of it.
fn with_id(jobs: &Jobs, run: impl FnOnce(&JobId) -> Result<ScriptRun>) -> Result<ScriptRun> {
    let id = JobId::random()?;
    let ran = run(&id);
    if !matches!(&ran, Ok(ran) if ran.release.is_some()) {
        jobs.remove(&id);
    }
    ran
}

/// Runs one of our own commands, which may take longer than a call, as a person would, but without
/// a terminal: `args` are the words after the program's name, `env` is added to our environment.
///
/// # Errors
/// When it cannot be started. A command that fails is an outcome, not an error.
pub fn run_command(
    base: &Env,
    args: &[String],
    env: &[(String, String)],
    limits: &RunLimits,
) -> Result<ScriptRun> {
    let program = base.exe.as_deref().ok_or_else(|| {
        Error::new("the program agent-skills was not found")
            .hint("tell the user to install it again")
    })?;
    let mut all: Variables = variables::for_others(base).collect();
    all.extend(env.iter().map(|(name, value)| (name.into(), value.into())));
    let process = ProcessSpec::new(program, args.iter().map(OsString::from), all, &base.cwd)?;
    with_id(&limits.jobs, |id| {
        let task = Task {
            process: &process,
            label: args.first().map_or("agent-skills", String::as_str),
            skill: None,
            stdin: &[],
            id,
            limits,
            began: Instant::now(),
        };
        task.run()
    })
}

/// What to execute, and remarks on what the script will lack.
fn prepare(
    request: &ScriptRequest,
    confinement: &Confinement,
    workdir: &Path,
    temp: Option<&Path>,
) -> Result<(ProcessSpec, Vec<String>)> {
    let (skill, label, base) = (request.skill, request.label, request.base);
    let project_dir = &base.cwd.join(base.project_root());
    let interpreter = interpreter::choose(request.script, &skill.dir, label, base)?;
    let entered = workdir.join(".").metadata();
    let choose = "choose another workdir: skill, project or temp";
    entered.map_err(|source| Error::io("enter", workdir, &source).hint(choose))?;
    let own = [
        ("SKILL_NAME", skill.name.as_str().as_ref()),
        ("SKILL_DIR", skill.dir.as_os_str()),
        ("PROJECT_DIR", project_dir.as_os_str()),
        ("PWD", workdir.as_os_str()),
    ];
    let pass = &request.settings.pass_env;
    let mut env = environment::for_script(base, pass, own, temp, request.env)?;
    let mut notes = unmet_needs(&skill.fields, skill.name.as_str(), base, &env);
    let places = temp.map(|temp| SandboxInputs {
        skill_dir: &skill.dir,
        project_dir,
        temp,
        interpreter: &interpreter.program,
        confinement,
        base,
    });
    let build = |places: SandboxInputs| places.sandbox(label, Kernel::at_hand(), &mut notes);
    let sandbox = places.map(build).transpose()?.flatten();
    if sandbox.is_some() {
        environment::without_git_configuration(base, &mut env);
    }
    let args = request.args.iter().map(OsString::from);
    let args = interpreter.args.into_iter().chain(args);
    let mut process = ProcessSpec::new(&interpreter.program, args, env, workdir)?;
    let names = request.env.iter().map(|(name, _)| name.as_str());
    if let Some(name) = environment::first_unnamed(&skill.dir, names) {
        let text = format!("`{name}` cannot be set in `env`: no file of the skill names it");
        return Err(Error::new(text).hint("leave it out, or pass the value as an argument"));
    }
    process.sandbox = sandbox;
    Ok((process, notes))
}

/// The keys of `metadata` that may hold the block.
const BLOCKS: [&str; 4] = ["openclaw", "clawdbot", "clawdis", "moltbot"];

/// What is missing, one sentence each. Programs are searched on the host's `PATH`, variables in the
/// script's environment.
pub fn unmet_needs(fields: &Fields, skill: &str, base: &Env, given: &Variables) -> Vec<String> {
    // Some authors write the metadata as JSON text.
    let parsed = |text: &str| serde_json::from_str(text).unwrap_or_default();
    let metadata = match fields.value("metadata") {
        Some(Value::String(text)) => parsed(text),
        Some(other) => other.clone(),
        None => Value::Null,
    };
    let Some(block) = BLOCKS.iter().find_map(|key| metadata.get(key)) else {
        return Vec::new();
    };
    let requires = |key: &str| texts(block.pointer(&format!("/requires/{key}")));
    let is_missing = |name: &&str| find(name, base).is_none();
    // Of each of these one has to be there.
    let one_of = requires("bins").into_iter().map(|name| vec![name]);
    let one_of = one_of.chain([requires("anyBins")]);
    let lacking = one_of.filter(|names| !names.is_empty() && names.iter().all(is_missing));
    let needs = lacking.map(|names| {
        let which = match names.len() {
            1 => "which was not",
            _ => "none of which was",
        };
        let (names, how) = (names.join("` or `"), system_install(names[0]));
        format!("the skill needs `{names}`, {which} found on PATH: {how}")
    });
    let mut unmet: Vec<String> = needs.collect();
    let variables = [requires("env"), texts(block.get("primaryEnv"))].concat();
    let withheld = distinct(variables.into_iter()).into_iter();
    let withheld = withheld.filter(|name| !given.contains_key(OsStr::new(name)));
    unmet.extend(withheld.map(|name| without(skill, name, base.os(name).is_some())));
    unmet
}

fn without(skill: &str, name: &str, is_set: bool) -> String {
    let setting = format!("`pass_env = [\"{name}\"]` for the skill `{skill}`");
    if is_never_passed(name) {
        format!("the skill needs the variable `{name}`, which is the host's own and never passed")
    } else if is_set {
        format!(
            "the skill needs the variable `{name}`, which was not passed on because its name looks \
             like a secret's or is not listed: the setting {setting} passes it"
        )
    } else {
        format!(
            "the skill needs the variable `{name}`, which is not set: the user can set it before \
             starting chibi; if its name looks like a secret's, the setting {setting} passes it on"
        )
    }
}

/// One string or a list of them.
fn texts(value: Option<&Value>) -> Vec<&str> {
    let items = match value {
        Some(Value::Array(items)) => items.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    let texts = items.iter().filter_map(Value::as_str);
    texts.filter(|text| !text.is_empty()).collect()
}

/// Confines this process and executes a command in it: the program, by name or path, with its arguments,
/// `words`. It may use the paths of `skill`, whose scripts have this confinement, and change the
/// project; both directories are absolute.
///
/// # Errors
/// When it cannot be executed, or not be confined as it has to be.
pub fn run_confined(
    words: &[OsString],
    skill: &Skill,
    confinement: &Confinement,
    project_dir: &Path,
    jobs: &Jobs,
    base: &Env,
) -> Result<Infallible> {
    let label = words.first().cloned().unwrap_or_default();
    let label = label.to_string_lossy();
    let program = interpreter::find(&label, base).ok_or_else(|| {
        let text = format!("`{}` was not found on PATH", label.escape_debug());
        Error::new(text).hint("write its whole path, or install it")
    })?;
    let mut confinement = confinement.clone().tightened_by(&skill.fields);
    // Whoever calls this wants it confined.
    confinement.mode = confinement.mode.max(SandboxMode::Auto);
    let temp = jobs.shared_temp(&skill.dir)?;
    let places = SandboxInputs {
        skill_dir: &skill.dir,
        project_dir,
        temp: &temp,
        interpreter: &program,
        confinement: &confinement,
        base,
    };
    let mut notes = Vec::new();
    let sandbox = places.sandbox(&label, Kernel::at_hand(), &mut notes)?;
    for note in &notes {
        warn(format_args!("{note}"));
    }
    let vars = base.vars().map(|(k, v)| (k.to_owned(), v.to_owned()));
    let mut env: Variables = vars.collect();
    if sandbox.is_some() {
        environment::keep_files_in(&temp, &mut env);
        environment::without_git_configuration(base, &mut env);
    }
    let args = words.iter().skip(1).cloned();
    let process = ProcessSpec::new(&program, args, env, &base.cwd)?;
    let entered = sandbox.as_ref().map_or(Ok(()), Sandbox::enter);
    entered.map_err(|errno| {
        let why = std::io::Error::from_raw_os_error(errno);
        Error::new(format!(
            "`{label}` was not run: it could not be confined: {why}"
        ))
        .hint("tell the user: `agent-skills doctor` says what this system can confine")
    })?;
    signals::restore_pipe();
    let errno = exec::execute(&process.args, &process.env);
    let why = std::io::Error::from_raw_os_error(errno);
    Err(Error::io("execute", &program, &why))
}

/// Seconds a script may take altogether, unless configured.
const SCRIPT_SECONDS: f64 = 120.0;

/// The settings of one skill's scripts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScriptSettings {
    /// Which of the host's variables they get.
    pub pass_env: PassEnv,
    /// How they are confined (Linux).
    pub confinement: Confinement,
    /// Seconds each may take altogether.
    pub timeout: TimeLimit,
}

/// A configurable number of seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct TimeLimit(Duration);

impl Default for TimeLimit {
    fn default() -> Self {
        Self(Duration::from_secs_f64(SCRIPT_SECONDS))
    }
}

impl TryFrom<f64> for TimeLimit {
    type Error = String;

    /// A limit in seconds, unless they are zero, less, or more than can be configured.
    fn try_from(seconds: f64) -> Result<Self, String> {
        let most = limits::SCRIPT_SECONDS_MOST;
        if seconds > 0.0 && seconds <= most {
            return Ok(Self(Duration::from_secs_f64(seconds)));
        }
        Err(format!(
            "{seconds} is not a number of seconds above 0 and up to {most}"
        ))
    }
}

impl From<TimeLimit> for f64 {
    fn from(limit: TimeLimit) -> Self {
        limit.0.as_secs_f64()
    }
}

impl TimeLimit {
    /// The limit as a duration.
    pub fn duration(self) -> Duration {
        self.0
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
    let most = most.as_secs_f64();
    if asked.is_nan() || asked <= 0.0 || asked > most {
        let text = format!("`timeout_secs` must be above 0 and at most {most}, not {asked}");
        return Err(Error::new(text).hint("give a number within that, or leave it out"));
    }
    // A limit rounded to zero would end every script before it begins.
    Ok(Duration::from_secs_f64(asked).max(Duration::from_millis(1)))
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod needs_tests {
    use super::*;
    use serde_json::json;
    use std::path::Path;

    fn unmet_by(block: &Value, base: &Env, given: &Variables) -> Vec<String> {
        let metadata = json!({ "metadata": block });
        let fields = Fields(metadata.as_object().unwrap().clone());
        unmet_needs(&fields, "pdf", base, given)
    }

    fn unmet(block: &Value, set: &[(&str, &str)], given: &[&str]) -> Vec<String> {
        let base = Env::new(
            set.iter().copied().chain([("PATH", "/no/such")]),
            Path::new("/"),
        );
        let given: Variables = given.iter().map(|name| (name.into(), "x".into())).collect();
        unmet_by(block, &base, &given)
    }

    #[test]
    fn missing_programs_are_named_with_an_install_command() {
        let block = json!({"openclaw": {
            "requires": {"bins": ["jq"], "anyBins": ["a", "b"]},
        }});
        for block in [&block, &json!(block.to_string())] {
            let unmet = unmet(block, &[], &[]);
            assert!(unmet[0].contains("`jq`") && unmet[0].contains("`sudo apt install jq`"));
            assert!(unmet[1].contains("`a` or `b`"), "{unmet:?}");
        }
    }

    #[test]
    fn what_is_there_is_not_spoken_of() {
        let here = Env::from_process();
        let block = json!({"clawdbot": {"requires": {"bins": ["sh"], "anyBins": ["no", "sh"]}}});
        for block in [
            block,
            json!(null),
            json!("text"),
            json!({"openclaw": null}),
            json!([1]),
        ] {
            let unmet = unmet_by(&block, &here, &Variables::new());
            assert_eq!(unmet, Vec::<String>::new(), "{block}");
        }
    }

    #[test]
    fn a_withheld_variable_comes_with_the_setting_for_it() {
        let block = json!({"moltbot": {"requires": {"env": ["A_TOKEN", "B"]}, "primaryEnv": "B"}});
        let text = unmet(&block, &[("A_TOKEN", "1")], &["B"]);
        assert_eq!(text.len(), 1);
        assert!(text[0].contains("`A_TOKEN`") && text[0].contains("pass_env = [\"A_TOKEN\"]"));
        let text = unmet(&block, &[], &[]);
        assert!(
            text[0].contains("not set") && text[1].contains("`B`"),
            "{text:?}"
        );
        let own = json!({"openclaw": {"requires": {"env": "CHIBI_API_KEY"}}});
        assert!(unmet(&own, &[("CHIBI_API_KEY", "1")], &[])[0].contains("never passed"));
    }
}

#[cfg(test)]
mod settings_tests {
    use super::*;
    use crate::script::SandboxMode;

    #[test]
    fn nothing_chosen_is_the_documented_defaults() {
        let settings = ScriptSettings::default();
        assert_eq!(settings.timeout.duration(), Duration::from_mins(2));
        assert_eq!(settings.pass_env, PassEnv::NotSecret);
        assert_eq!(settings.confinement.mode, SandboxMode::Off);
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
    fn what_is_not_possible_is_an_error_that_says_what_is() {
        for bad in [121.0, 1e300, f64::INFINITY, 0.0, -0.0, -1.0, f64::NAN] {
            let error = time_limit(Some(bad), MOST).unwrap_err().to_string();
            assert!(error.contains("above 0 and at most 120, not"), "{error}");
        }
    }
}
