//! The repair of a damaged record of what is active, and the question before it.

use super::caller::Caller;
use super::consent::agrees;
use super::options::Common;
use crate::error::{Error, Result};
use crate::run_context::RunContext;
use crate::session::Mending;
use crate::sys::eprint;
use crate::sys::text::{backticked, distinct};

/// What the repair itself ends.
pub const ENDS: &str = "What is not in that record ends, with what it restricts. Running \
    conversations that are not in it may only read until their next prompt.";

/// Says what this command ends besides what it names, asks, and repairs; only says it in a dry run.
/// Returns what was repaired; `None` if nothing is damaged.
///
/// # Errors
/// When the person does not agree or cannot be asked, and when the repair fails.
pub fn mend(
    ctx: &RunContext,
    caller: Caller,
    common: Common,
    ends: &str,
    question: &str,
) -> Result<Option<Mending>> {
    let Some(mending) = ctx.store().mending() else {
        return Ok(None);
    };
    let known = distinct(mending.known(None).into_iter().map(|it| it.skill));
    let known = match known.len() {
        0 => "nothing is".to_owned(),
        1 => format!("{} is", backticked(&known, "")),
        _ => format!("{} are", backticked(&known, ", ")),
    };
    let (file, why) = (mending.file.display(), &mending.why);
    let place = match &mending.copy {
        Some(copy) => {
            let copy = copy.display();
            format!("Its second copy, in `{copy}`, takes its place; there {known} active.")
        }
        None => "It has no second copy that can be used, so a new one begins.".to_owned(),
    };
    eprint(format_args!(
        "`{file}` cannot be read: {why}.\n{place}\n{ends}\n"
    ));
    if common.dry_run {
        return Ok(Some(mending));
    }
    if !common.yes {
        if caller != (Caller::Person { terminal: true }) {
            return Err(Error::new("there is no terminal to ask at").hint("`--yes` agrees"));
        }
        if !agrees(question) {
            return Err(Error::new("nothing was repaired"));
        }
    }
    ctx.store().mend(&mending)?;
    Ok(Some(mending))
}
