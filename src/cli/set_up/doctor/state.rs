//! Checks that the state file can be written and read. Otherwise every call is refused while a
//! skill may be active (docs/spec/restriction.md#fail-closed).

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::check::Check;
use crate::facts::Facts;
use crate::run_context::RunContext;
use crate::sys::process::effective_user;
use crate::sys::text::counted;
use crate::sys::{Durable, EntryName, files};

/// The checks of this area.
pub fn checks(facts: &Facts) -> Vec<Check> {
    let dir = facts.state().to_owned();
    let mut checks = vec![writing(&facts.run, &dir)];
    checks.push(match facts.store().health() {
        Ok(sessions) => {
            let recorded = counted(sessions, "session is", "sessions are");
            Check::ok("state", format!("{recorded} recorded"))
        }
        Err(why) => unreadable(facts.store().path(), &why.to_string()),
    });
    checks
}

fn writing(run: &RunContext, dir: &Path) -> Check {
    let shown = dir.display();
    if !dir.exists() {
        return Check::ok("state-place", format!("`{shown}` is created when needed"));
    }
    let probe = dir.join(EntryName::from_static("doctor").temporary().as_os_str());
    let written = files::replace(&probe, b"x", 0o600, Durable::No);
    // It does not exist if it could not be written.
    let _ = files::remove(&probe);
    match written {
        Err(error) => {
            let text = format!("the state cannot be written: {error}");
            let remedy = format!("check permissions and free space of {shown}");
            Check::fail("state-place", text, remedy)
        }
        Ok(()) if dir != run.dirs.plugin => {
            let text = format!(
                "the plugin directory cannot be written, so the state is kept in `{shown}`"
            );
            let plugin = run.dirs.plugin.display();
            let remedy = format!("chown or chmod {plugin}, if that is not meant");
            Check::warn("state-place", text, remedy)
        }
        Ok(()) => Check::ok("state-place", format!("the state is kept in `{shown}`")),
    }
}

fn unreadable(file: &Path, why: &str) -> Check {
    let text = format!("{why}; only reading is allowed until the next prompt");
    let is_anothers = |found: &Metadata| ![effective_user(), 0].contains(&found.uid());
    let remedy = if file.metadata().is_ok_and(|found| is_anothers(&found)) {
        let shown = file.display();
        format!("let its owner remove it, or `sudo rm {shown}`")
    } else {
        "`agent-skills deactivate` ends whatever it had active, and begins a new one".to_owned()
    };
    Check::fail("state", text, remedy)
}
