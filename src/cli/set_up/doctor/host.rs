//! Checks whether chibi is installed, how it talks to plugins, and which `agent-skills` a shell
//! finds.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::ask::ask;
use super::check::Check;
use crate::facts::Facts;
use crate::host::program::PROGRAM;
use crate::host::{Protocol, release};
use crate::run_context::RunContext;
use crate::script::find_program;

/// The checks of this area.
pub fn checks(facts: &Facts) -> Vec<Check> {
    let mut checks = vec![host(&facts.run)];
    checks.extend(duplicates(&facts.run));
    checks
}

fn host(run: &RunContext) -> Check {
    let Some(chibi) = find_program(PROGRAM, &run.env) else {
        return Check::warn(
            "host-missing",
            "`chibi` was not found on PATH",
            "install chibi, or put it on PATH, if you use it: `agent-skills hosts` shows other agents",
        );
    };
    let at = chibi.display();
    let version = match ask(&chibi, "--version", &run.env) {
        Ok(answer) => answer,
        Err(why) => {
            let text = format!("`{at} --version` failed: {why}");
            return Check::fail("host-silent", text, "see whether `chibi --version` works");
        }
    };
    let told = version.trim();
    let Some(release) = release(&version) else {
        let text = format!("`{at}` does not say which release it is: `{told}`");
        let remedy = "plugins work with chibi 0.4 and later";
        return Check::warn("host-unknown", text, remedy);
    };
    let Some(generation) = Protocol::of(release) else {
        let text = format!("`{at}` is {told}, which loads no such plugins");
        return Check::fail("host-old", text, "install chibi 0.4 or later");
    };
    let text = format!("{told} ({at}) passes data {}", generation.way());
    if generation == Protocol::Stdin || run.env.path("CHIBI_HOME").is_none() {
        return Check::ok("host", text);
    }
    Check::warn(
        "host-home",
        format!("{text}, and looks in ~/.chibi whatever CHIBI_HOME says"),
        "install into ~/.chibi: `CHIBI_HOME= ./install.sh`",
    )
}

/// Every `agent-skills` on the path, if they differ.
fn duplicates(run: &RunContext) -> Option<Check> {
    let mut seen = BTreeSet::new();
    let mut shown: Vec<String> = Vec::new();
    for dir in std::env::split_paths(run.env.os("PATH")?) {
        let program = run.env.cwd.join(dir).join("agent-skills");
        if runnable(&program).is_some_and(|target| seen.insert(target)) {
            shown.push(format!("`{}`", program.display()));
        }
    }
    match &*shown {
        [] => None,
        [one] => Some(Check::ok("path", format!("a shell runs {one}"))),
        _ => Some(Check::warn(
            "path-duplicates",
            format!("PATH has several agent-skills: {}", shown.join(", ")),
            "a shell runs the first: remove the others, or make them links to it",
        )),
    }
}

fn runnable(path: &Path) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let metadata = path.metadata().ok()?;
    let is_program = metadata.is_file() && metadata.permissions().mode() & 0o111 != 0;
    path.canonicalize().ok().filter(|_| is_program)
}
