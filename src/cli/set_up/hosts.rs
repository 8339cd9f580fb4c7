//! `hosts`: which hosts this machine has, and how agent-skills is connected to each.

use std::path::Path;

use serde::Serialize;

use super::doctor::ask::ask;
use super::doctor::check::Outcome;
use super::doctor::placement;
use crate::cli::options::Common;
use crate::cli::{Paint, Screen, json};
use crate::error::Result;
use crate::host::program::PROGRAM;
use crate::host::{Protocol, release, tools};
use crate::run_context::RunContext;
use crate::script::find_program;
use crate::skill::one_line;

/// A host, in the format that `--json` documents.
#[derive(Serialize)]
struct Found {
    name: &'static str,
    /// Its program; `null` if it is not on PATH.
    program: Option<String>,
    /// What it says its version is; `null` if it says nothing.
    version: Option<String>,
    /// How it passes data: `stdin` or `environment`; `null` if that is not known.
    protocol: Option<&'static str>,
    /// Its directory, where it looks for plugins.
    home: String,
    /// Where agent-skills is, or has to be.
    plugin: String,
    /// Whether it loads agent-skills from there.
    connected: bool,
    /// What was found there.
    state: String,
    /// The next step, if it is not connected.
    remedy: Option<String>,
    /// Its tools, as it calls them.
    tools: Vec<&'static str>,
}

/// Every host.
///
/// # Errors
/// If it cannot be written as JSON.
pub fn show(ctx: &RunContext, common: Common, screen: Screen) -> Result<String> {
    let all = [chibi(ctx)];
    if common.json {
        return json::list("hosts", &all);
    }
    Ok(all.iter().map(|found| found.render(screen)).collect())
}

fn chibi(ctx: &RunContext) -> Found {
    let program = find_program(PROGRAM, &ctx.env);
    let version = program
        .as_ref()
        .and_then(|program| ask(program, "--version", &ctx.env).ok());
    let protocol = version.as_deref().and_then(release).and_then(Protocol::of);
    let dir = &placement::plugin_dir(ctx);
    let mut checks = placement::of_plugin(ctx);
    let worst = checks.iter().map(|check| check.outcome).max();
    checks.retain(|check| Some(check.outcome) == worst);
    let worst = checks.into_iter().next();
    let connected = worst
        .as_ref()
        .is_some_and(|check| check.outcome != Outcome::Fail);
    let home = dir.ancestors().nth(2).unwrap_or(dir);
    let shown = |path: &Path| path.display().to_string();
    Found {
        name: PROGRAM,
        program: program.as_deref().map(shown),
        version: version.map(|version| version.trim().to_owned()),
        protocol: protocol.map(Protocol::as_str),
        home: shown(home),
        plugin: shown(&dir.join("agent-skills")),
        connected,
        state: worst
            .as_ref()
            .map_or_else(String::new, |check| check.message.clone()),
        remedy: worst.and_then(|check| check.remedy),
        tools: protocol.map(tools::of).unwrap_or_default(),
    }
}

impl Found {
    fn render(&self, screen: Screen) -> String {
        let mut text = screen.paint(self.name, Paint::Bold) + "\n";
        let program = match (&self.program, &self.version) {
            (None, _) => "not found on PATH".to_owned(),
            (Some(program), None) => format!("{program}, which does not say its version"),
            (Some(program), Some(version)) => format!("{program} ({version})"),
        };
        let data = match self.protocol {
            Some("stdin") => Protocol::Stdin.way(),
            Some(_) => Protocol::Environment.way(),
            None => "not known without its version",
        };
        let connected = if self.connected { "yes" } else { "no" };
        let remedy = self.remedy.iter().map(|remedy| format!("; {remedy}"));
        let plugin = format!("{connected}: {}{}", self.state, remedy.collect::<String>());
        let tools = format!("{}: {}", self.tools.len(), self.tools.join(", "));
        for (label, value) in [
            ("program", &*program),
            ("data", data),
            ("home", &self.home),
            ("connected", &plugin),
            (
                "tools",
                if self.tools.is_empty() {
                    "not known"
                } else {
                    &tools
                },
            ),
        ] {
            text += &screen.hanging(&format!("  {label:10} "), &one_line(value), 13);
        }
        text
    }
}
