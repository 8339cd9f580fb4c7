//! Runs a skill's hooks: `pre` at its activation, `post` after its end. They run only if the user
//! approved the skill in its current state, with the limits and the sandbox of its other scripts.

use std::time::{Duration, Instant};

use crate::activation::prelude::*;
use crate::script::{self, Jobs, RunLimits, ScriptOutcome, ScriptRequest, ScriptRun};

/// All scripts that run after one activation; several activations share [`HOOKS_TOTAL`].
const POST_HOOKS: Duration = Duration::from_secs(10);
/// All `post` scripts that one hook of the host runs. The last may begin after 10 seconds and, even
/// if it has to be killed, ends long before the host gives up.
const HOOKS_TOTAL: Duration = Duration::from_secs(20);
/// What the model is shown of the output of a skill's hooks, meant to be a line or two.
const HOOK_OUTPUT_CHARS: usize = 4000;

/// Runs the `pre` hooks of a newly activated skill, unless this activation has run them already,
/// and stops them at `until`. Returns what the model must know.
///
/// # Errors
/// If a script cannot run or fails. The skill is then no longer active, unless it was so before.
pub fn run_pre_hooks(facts: &Facts, skill: &Skill, until: Instant) -> Result<Option<String>> {
    let hooks = Hooks::parse(&skill.fields);
    if hooks.is_empty() {
        return Ok(None);
    }
    let digest = match approved_hooks(facts, skill) {
        Ok(digest) => digest,
        Err(unapproved) => return Ok(Some(unapproved)),
    };
    let session = facts.session().unwrap_or_default();
    let record = HookRecord {
        owner: session.owner(facts.key(), &skill.dir),
        skill: skill.name.to_string(),
        dir: skill.dir.clone(),
        digest,
        owes: !hooks.post.is_empty(),
    };
    let pre = || {
        if !record.begin(facts.state())? {
            return Ok(None);
        }
        run_all(facts, skill, "pre", &hooks.pre, until).inspect_err(|_| {
            if let Some(taken) = record.take(facts.state()) {
                taken.done();
            }
        })
    };
    pre().map_err(|error| {
        let (key, dir) = (facts.key(), skill.dir.to_string_lossy());
        let ended = facts
            .store()
            .change(key, |session| Ok(in_session(key, session.withdraw(&dir))))
            .unwrap_or_else(|error| {
                // The skill stays active, which is safe.
                warn(format_args!("{error}"));
                Vec::new()
            });
        let (what, next) = if ended.is_empty() {
            (
                "was already active",
                "its restrictions stay in force; tell the user",
            )
        } else {
            (
                "was not activated",
                "it is not in force: do the task without it, or tell the user",
            )
        };
        facts.record_ends(ended);
        Error::caused(format!("the skill `{}` {what}", skill.name), error).hint(next)
    })
}

/// Runs the `post` hooks of activations that have ended; with `session_ends`, this session's count
/// as ended. Skips those that another process is running, or for which no time is left in a call
/// that `began` then.
pub fn run_post_hooks(facts: &Facts, session_ends: bool, began: Instant) {
    let own = facts.key();
    for record in HookRecord::all(facts.state()) {
        let is_over = session_ends && record.owner == own.as_str()
            || facts.store().is_over(&record.owner, &record.dir);
        if !is_over {
            continue;
        }
        if record.owes && began.elapsed() + POST_HOOKS > HOOKS_TOTAL {
            return;
        }
        let Some(taken) = record.take(facts.state()) else {
            continue;
        };
        if record.owes
            && let Err(error) = run_owed(facts, &record)
        {
            warn(format_args!(
                "the `post` hook of the skill `{}` failed: {}",
                record.skill,
                one_line(&error.to_string())
            ));
        }
        taken.done();
    }
}

fn run_owed(facts: &Facts, record: &HookRecord) -> Result<()> {
    let changed =
        || Error::new("the skill has changed or is no longer approved, so it was not run");
    let mut skill = Skill::load(&record.dir).map_err(|_| changed())?;
    // Where two skills share a name, one is installed under another name than its author's.
    skill.parsed.name = crate::skill::SkillName::from_written(&record.skill).ok_or_else(changed)?;
    if approved_hooks(facts, &skill).ok().as_ref() != Some(&record.digest) {
        return Err(changed());
    }
    let post = Hooks::parse(&skill.fields).post;
    let until = Instant::now() + POST_HOOKS;
    run_all(facts, &skill, "post", &post, until).map(|_| ())
}

/// Runs scripts one after the other until one fails or `until` is reached. Returns their output.
fn run_all(
    facts: &Facts,
    skill: &Skill,
    hook: &str,
    scripts: &[String],
    until: Instant,
) -> Result<Option<String>> {
    let mut printed = String::new();
    for script in scripts {
        let shown = one_line(script);
        let left = until.saturating_duration_since(Instant::now());
        let failed = |why: &str| {
            let why = shorten(why, HOOK_OUTPUT_CHARS);
            Error::new(format!("its `{hook}` hook `{shown}` failed: {why}"))
        };
        if left.is_zero() {
            return Err(failed("there was no time left for it"));
        }
        let ran = || -> Result<ScriptRun> {
            let settings = facts.config()?.script(skill.name.as_str());
            script::run(&ScriptRequest {
                skill,
                script: &SkillPath::parse(script, &skill.dir)?.resolve(&skill.dir)?,
                label: script,
                workdir: Some(&skill.dir),
                args: &[],
                stdin: &[],
                env: &[],
                settings: &settings,
                // A hook never becomes a job: nobody could manage it.
                limits: &run_limits(facts, settings.timeout.duration().min(left), None),
                base: &facts.run.env,
            })
        };
        let outcome = ran().map_err(|error| failed(&error.to_string()))?.outcome;
        let event = Event::new("script")
            .with("skill", skill.name.as_str())
            .with("hook", hook)
            .with("script", script.as_str());
        facts.record(with_outcome(event, &outcome));
        if outcome.exit_code() != Some(0) {
            return Err(failed(&outcome.text()));
        }
        printed.push_str(&outcome.stdout.text);
    }
    let printed = printed.trim();
    Ok((!printed.is_empty()).then(|| {
        format!(
            "Output of its `{hook}` hook:\n{}",
            shorten(printed, HOOK_OUTPUT_CHARS)
        )
    }))
}

/// The owner of this call's jobs: the conversation, which the host's next process continues, or else
/// this host process.
pub fn owner(facts: &Facts) -> String {
    match facts.session().ok().and_then(|session| session.context) {
        Some(conversation) => format!("conversation:{conversation}"),
        None => format!("session:{}", facts.key().as_str()),
    }
}

/// What a script in this call may take and be waited for.
pub fn run_limits(facts: &Facts, limit: Duration, wait: Option<Duration>) -> RunLimits {
    RunLimits {
        limit,
        wait,
        jobs: Jobs::of(&facts.run),
        owner: owner(facts),
        host: facts.key().host(facts.run.protocol),
    }
}

/// The audit event of a script, with how it ended.
pub fn with_outcome(event: Event, outcome: &ScriptOutcome) -> Event {
    event
        .with("exit_code", outcome.exit_code())
        .with("signal", outcome.signal())
        .with("timed_out", outcome.timed_out())
        .with("duration_ms", millis(outcome.duration))
}

/// What an activation will say about its hooks, without running them: a message for the model, or a
/// placeholder for their output.
pub fn hooks_ahead(facts: &Facts, skill: &Skill) -> Option<String> {
    let hooks = Hooks::parse(&skill.fields);
    if hooks.is_empty() {
        return None;
    }
    match approved_hooks(facts, skill) {
        Ok(_) if hooks.pre.is_empty() => None,
        Ok(_) => Some(format!(
            "(The output of {} goes here.)",
            hooks.pre.join(", ")
        )),
        Err(unapproved) => Some(unapproved),
    }
}

/// The note about a skill that became active without a call of its tool.
pub fn hooks_wait(skill: &Skill) -> Option<&'static str> {
    let has_hooks = !Hooks::parse(&skill.fields).is_empty();
    has_hooks.then_some("This skill has hooks, which run only when its tool is called.")
}

/// The digest of a skill whose hooks the user approved in its current state, or else what the
/// model is told.
fn approved_hooks(facts: &Facts, skill: &Skill) -> Result<String, String> {
    let record = Ledger::approvals(facts.enterprise(), facts.state());
    let approved = record.entries().unwrap_or_default();
    approval_current(&approved, skill, &DigestCache::default()).map_err(|changed| {
        let since = if changed { " since it changed" } else { "" };
        let catalog = Catalog::of(facts);
        let entry = catalog.in_dir(&skill.dir);
        let name = entry.map_or_else(|| skill.name.to_string(), Entry::in_layer);
        format!(
            "This skill has hooks, which did not run: they are not approved{since}. The user can \
             review them and run `agent-skills approve {name}`."
        )
    })
}

/// Whether an offered skill has a `post` hook, approved or not.
pub fn may_have_post_hooks(catalog: &Catalog) -> bool {
    with_post_hooks(catalog).next().is_some()
}

/// Whether an offered skill has an approved `post` hook.
pub fn has_post_hooks(facts: &Facts, catalog: &Catalog) -> bool {
    with_post_hooks(catalog).any(|skill| approved_hooks(facts, skill).is_ok())
}

fn with_post_hooks(catalog: &Catalog) -> impl Iterator<Item = &Skill> {
    let offered = catalog.offered().into_iter();
    let skills = offered.map(|offered| offered.skill);
    skills.filter(|skill| !Hooks::parse(&skill.fields).post.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::limits;

    #[test]
    fn the_host_is_answered_in_time() {
        // Stopping waits for the script, and one second longer for its supervisor.
        let stopping = limits::REAP + Duration::from_secs(1);
        let patience = Duration::from_secs(limits::HOST_CALL_SECONDS);
        assert!(limits::PRE_HOOKS + stopping < patience);
        assert!(HOOKS_TOTAL + stopping < patience);
        assert!(POST_HOOKS * 2 <= HOOKS_TOTAL);
    }
}
