//! `run_skill_script`: runs a bundled script and answers its output.

use std::path::PathBuf;
use std::time::Duration;

use crate::app::App;
use crate::app::usable;
use crate::error::Result;
use crate::governance::Event;
use crate::request::{Protocol, RunSkillScript, WorkDir};
use crate::response::Response;
use crate::script::{self, Outcome, Request};
use crate::skill::{Skill, SkillPath};
use crate::sys::limits;

/// Runs the script, within what this host waits for.
pub fn run_skill_script(app: &App, call: &RunSkillScript) -> Response {
    run(app, call).map_or_else(|error| Response::failure(&error), Response::text)
}

fn run(app: &App, call: &RunSkillScript) -> Result<String> {
    let catalog = app.catalog_naming(&call.skill);
    let skill = usable(&catalog, &call.skill)?;
    let script = resolve(skill, &call.script)?;
    let project_dir = app.env.project_root();
    let most = match app.protocol {
        Some(Protocol::Stdin) => limits::HOST_CALL_SECONDS,
        _ => limits::SCRIPT_SECONDS,
    };
    let limit = script::time_limit(call.timeout_secs, Duration::from_secs(most))?;
    let env: Vec<_> = call
        .env
        .iter()
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    let outcome = script::run(&Request {
        script: &script,
        label: &call.script,
        skill_name: skill.name.as_str(),
        skill_dir: &skill.dir,
        project_dir: &project_dir,
        workdir: match call.workdir {
            WorkDir::Skill => &skill.dir,
            WorkDir::Project => &project_dir,
        },
        args: &call.args,
        stdin: call.stdin.as_bytes(),
        env: &env,
        limit: limit.limit,
        base: &app.env,
    })?;
    app.record(event(app, call, &outcome));
    let note = limit
        .note
        .map(|note| format!("\n[{note}]"))
        .unwrap_or_default();
    Ok(outcome.text() + &note)
}

/// What is written down about a run.
fn event(app: &App, call: &RunSkillScript, outcome: &Outcome) -> Event {
    let shown = app.own_config().unwrap_or_default().audit.output_bytes;
    let text = outcome.text();
    let output = &text[..text.floor_char_boundary(shown)];
    Event::new("script")
        .with("skill", call.skill.as_str())
        .with("script", call.script.as_str())
        .with("args", call.args.clone())
        .with("exit_code", outcome.exit_code)
        .with("signal", outcome.signal)
        .with("timed_out", outcome.timed_out)
        .with(
            "duration_ms",
            u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX),
        )
        .with("output", (!output.is_empty()).then_some(output))
}

/// The script's real path. A bare name may also mean a file in `scripts/`, where most are.
fn resolve(skill: &Skill, written: &str) -> Result<PathBuf> {
    let path = SkillPath::parse(written, &skill.dir)?;
    path.resolve(&skill.dir).or_else(|error| {
        let in_scripts = SkillPath::parse(&format!("scripts/{written}"), &skill.dir);
        in_scripts
            .and_then(|path| path.resolve(&skill.dir))
            .map_err(|_| error)
    })
}
