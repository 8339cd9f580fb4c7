//! What may take longer than the host waits, in a process of its own, which becomes a job when the
//! host's time is up (docs/hosts.md#time-limits): `run_skill_script`, which runs a bundled
//! script and returns its output, or the new output of a job; and commands that access the network.

use std::borrow::Cow;

use crate::policy::script_wait;
use crate::protocol::prelude::*;
use crate::script::{self, JobId, Jobs, ScriptOutcome, ScriptRequest, ScriptRun};

/// How long a script may take unmentioned.
const SLOW: Duration = Duration::from_secs(2);
/// The verbs that access the network.
const LONG: [&str; 2] = ["install", "update"];

/// Starts a script, or waits for or stops a job.
///
/// # Errors
/// If there is no such skill, script or job, or the script cannot run.
pub fn run_skill_script(facts: &Facts, call: &RunSkillScript) -> Result<Response> {
    match call {
        RunSkillScript::Start(start) => run(facts, start),
        RunSkillScript::Job { job, stop } => look_after(facts, job, *stop),
    }
}

fn run(facts: &Facts, call: &StartScript) -> Result<Response> {
    let skill = meant_skill(facts, call.skill.as_deref())?;
    let script = script_path(&skill.dir, &call.script)?;
    let settings = facts.config()?.script(skill.name.as_str());
    let workdir = match &*call.workdir {
        "temp" => None,
        "skill" => Some(skill.dir.clone()),
        "project" => Some(facts.run.env.project_root()),
        inside => Some(SkillPath::parse(inside, &skill.dir)?.resolve_dir(&skill.dir)?),
    };
    let env: Vec<_> = call.env.clone().into_iter().collect();
    let limit = script::time_limit(call.timeout_secs, settings.timeout.duration())?;
    let wait = if call.background {
        Some(Duration::ZERO)
    } else {
        script_wait(&facts.run)
    };
    let ran = script::run(&ScriptRequest {
        skill: &skill,
        script: &script,
        label: &call.script,
        workdir: workdir.as_deref(),
        args: &call.args,
        stdin: &input(facts, call)?,
        env: &env,
        settings: &settings,
        limits: &run_limits(facts, limit, wait),
        base: &facts.run.env,
    })?;
    let event = Event::new("script")
        .with("skill", skill.name.as_str())
        .with("script", call.script.as_str())
        .with("args", call.args.clone())
        .with("job", ran.outcome.job().map(ToString::to_string));
    record(facts, event, &ran.outcome);
    let what = one_line(&format!("`{}` of the skill `{}`", call.script, skill.name));
    let job = ran.outcome.job().map(JobId::as_str);
    if let Some(line) = slow(&what, job, ran.outcome.duration) {
        warn(format_args!("{line}"));
    }
    let text = ran.outcome.text();
    Ok(answer(ran, text))
}

/// The line for the person, who only sees that a script was called: that it took long, or goes on.
fn slow(what: &str, job: Option<&str>, took: Duration) -> Option<String> {
    match job {
        Some(job) => Some(format!(
            "{what} continues as a job: `agent-skills jobs --follow {job}` shows it"
        )),
        None => (took > SLOW).then(|| format!("{what} took {} s", took.as_secs())),
    }
}

/// What the script reads. A file of the project is opened in it, so that no link leads out.
fn input<'a>(facts: &Facts, call: &'a StartScript) -> Result<Cow<'a, [u8]>> {
    let Some(written) = &call.stdin_file else {
        return Ok(call.stdin.as_bytes().into());
    };
    let root = facts.run.env.project_root();
    let path = SkillPath::parse(written, &root);
    let (_, file, about) = path.and_then(|path| path.open(&root)).map_err(|_| {
        let written = quoted(written);
        let text = format!("`stdin_file`: the project has no file `{written}`");
        Error::new(text).hint("give its path in the project, or the text as `stdin`")
    })?;
    let bytes = files::read_file_capped(&file, about.len(), limits::RESOURCE_FILE);
    let bytes = bytes.map_err(|error| Error::io("read", Path::new(written), &error));
    bytes.map(Cow::Owned)
}

/// The answer. Writing it releases a new job: one whose id nobody received ends with this process.
fn answer(ran: ScriptRun, text: String) -> Response {
    let response = Response::text(text);
    match ran.release {
        Some(release) => response.once_written(|| release.release()),
        None => response,
    }
}

fn look_after(facts: &Facts, id: &str, stop: bool) -> Result<Response> {
    let job = Jobs::of(&facts.run).find(id, &owner(facts))?;
    if stop {
        job.stop()?;
    } else {
        let wait = script_wait(&facts.run);
        let wait = wait.unwrap_or(Duration::from_secs_f64(limits::SCRIPT_SECONDS_MOST));
        job.wait(Instant::now() + wait)?;
    }
    let outcome = job.unseen_output()?;
    if outcome.ended().is_some() {
        let event = Event::new("job")
            .with("skill", job.record.skill.clone())
            .with("script", job.record.label.as_str())
            .with("job", id);
        record(facts, event, &outcome);
    }
    Ok(Response::text(outcome.text()).once_written(move || {
        if let Err(error) = job.mark_seen(outcome.seen()) {
            warn(format_args!("{error}"));
        }
    }))
}

fn record(facts: &Facts, event: Event, outcome: &ScriptOutcome) {
    let shown = facts.own_config().unwrap_or_default().audit.output_bytes;
    facts.record(with_outcome(event, outcome).with_text("output", &outcome.text(), shown));
}

/// The script's real path. A bare name may also mean a file in `scripts/`, where most scripts are.
///
/// # Errors
/// If the skill in `dir` has no such file.
pub fn script_path(dir: &Path, written: &str) -> Result<PathBuf> {
    let path = SkillPath::parse(written, dir)?;
    path.resolve(dir).or_else(|error| {
        let in_scripts = SkillPath::parse(&format!("scripts/{written}"), dir);
        let in_scripts = in_scripts.and_then(|path| path.resolve(dir));
        in_scripts.map_err(|_| error)
    })
}

/// The answer of a command that may take long, on a host with a time limit; `None` for any other
/// command or host.
pub fn long_command(facts: &Facts, words: &[String]) -> Option<Result<Response>> {
    let verb = words.iter().find(|word| !word.starts_with('-'));
    let is_long = verb.is_some_and(|verb| LONG.contains(&verb.as_str()));
    let wait = script_wait(&facts.run)?;
    is_long.then(|| run_command(facts, words, wait))
}

fn run_command(facts: &Facts, words: &[String], wait: Duration) -> Result<Response> {
    let home = facts.run.dirs.plugin.display().to_string();
    let env = [
        ("AGENT_SKILLS_HOME".to_owned(), home),
        (ours::BY_HOST.to_owned(), "1".to_owned()),
    ];
    let limits = run_limits(facts, Duration::from_secs(limits::GIT_SECONDS), Some(wait));
    let ran = script::run_command(&facts.run.env, words, &env, &limits)?;
    let text = match ran.outcome.exit_code() {
        // With these, standard output is the answer as the host's call would give it.
        Some(0..=2) => ran.outcome.stdout.text.clone(),
        // Another failure, or a job.
        _ => ran.outcome.text(),
    };
    Ok(answer(ran, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_took_long_or_goes_on_is_told() {
        let line = |job, millis| slow("`a.sh`", job, Duration::from_millis(millis));
        assert_eq!(line(None, 1999), None);
        assert_eq!(line(None, 3100).as_deref(), Some("`a.sh` took 3 s"));
        let told = line(Some("x7"), 0).unwrap();
        assert!(
            told.contains("continues as a job: `agent-skills jobs --follow x7`"),
            "{told}"
        );
    }
}
