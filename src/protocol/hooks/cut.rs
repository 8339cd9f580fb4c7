//! Tells the user which skills did not fit into the prompt, once for each set of them.

use sha2::{Digest, Sha256};

use crate::catalog::{Cut, Left};
use crate::run_context::RunContext;
use crate::sys::text::listed;
use crate::sys::{Dir, Durable, EntryName, files, limits, warn};

const TOLD_FILE: EntryName = EntryName::of("told");

/// How many sets are remembered, for users who alternate between projects.
const REMEMBERED: usize = 20;
/// How many names are listed.
const TOLD: usize = 8;

/// One line about the skills that were cut, unless it was shown before.
pub fn tell_once(ctx: &RunContext, cut: &[Cut]) {
    if cut.is_empty() || is_told(ctx, cut) {
        return;
    }
    let told = |is: fn(Left) -> bool, what: &str| {
        let names: Vec<&str> = cut
            .iter()
            .filter(|cut| is(cut.left))
            .map(|cut| cut.name.as_str())
            .collect();
        if names.is_empty() {
            return String::new();
        }
        format!("; {what}: {}", listed(&names, TOLD))
    };
    warn(format_args!(
        "the prompt has no room for every skill's description{}{}; `agent-skills doctor` \
         shows all, and `prompt_chars` in the configuration makes room",
        told(|left| left != Left::Count, "shortened"),
        told(|left| left == Left::Count, "not named"),
    ));
}

/// Whether the user was told already; if not, records it. If recording fails, the user is told
/// again.
fn is_told(ctx: &RunContext, cut: &[Cut]) -> bool {
    let mut digest = Sha256::new();
    for cut in cut {
        digest.update(format!("{} {:?}\n", cut.name, cut.left));
    }
    let digest = format!("{:x}", digest.finalize());
    let store = ctx.store();
    let path = store.dir().join(TOLD_FILE.as_os_str());
    let known = files::read_capped(&path, limits::TOLD_FILE).unwrap_or_default();
    let known = String::from_utf8_lossy(&known).into_owned();
    if known.lines().any(|line| line == digest) {
        return true;
    }
    let kept = known.lines().rev().take(REMEMBERED - 1);
    let mut lines: Vec<&str> = kept.collect();
    lines.reverse();
    lines.push(&digest);
    if let Ok(dir) = Dir::make_anchor(store.dir()) {
        let text = lines.join("\n") + "\n";
        let _ = dir.replace(&TOLD_FILE, text.as_bytes(), 0o600, Durable::No);
    }
    false
}
