//! Tells the user which skills did not fit into the prompt, once for each set of them.

use crate::catalog::Cut;
use crate::run_context::RunContext;
use crate::skill::Diagnostic;
use crate::sys::text::listed;
use crate::sys::{EntryName, warn};

const TOLD: EntryName = EntryName::from_static("told");

/// How many names are listed.
const LISTED: usize = 8;

/// One line about the skills that were cut, unless it was shown before.
pub fn tell_once(ctx: &RunContext, cut: &[Cut]) {
    let set = cut
        .iter()
        .map(|cut| format!("{} {:?}\n", cut.name, cut.why));
    let set: Vec<String> = set.collect();
    if cut.is_empty() || ctx.seen(TOLD).before(&set.concat()) {
        return;
    }
    let told = |is_named: bool, what: &str| {
        let cut = cut.iter();
        let cut = cut.filter(|cut| (cut.why != Diagnostic::NameOmitted) == is_named);
        let names: Vec<&str> = cut.map(|cut| cut.name.as_str()).collect();
        if names.is_empty() {
            return String::new();
        }
        format!("; {what}: {}", listed(&names, LISTED))
    };
    warn(format_args!(
        "the prompt has no room for every skill's description{}{}; `agent-skills doctor` \
         shows all, and `prompt_chars` in the configuration makes room",
        told(true, "shortened"),
        told(false, "not named"),
    ));
}
