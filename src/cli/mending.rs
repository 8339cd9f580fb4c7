//! Whether this process may repair a damaged record of what is active, and the question before it
//! does. Who asks is not known without the record, and a model could have damaged it: its second
//! copy and every process above this one must tell that no host runs it.

use std::io::IsTerminal;

use super::caller::{Caller, in_a_call, is_by_host, only_for_people};
use super::consent::agrees;
use super::options::Common;
use crate::error::{Error, Result};
use crate::host::program::{PROGRAM, may_be_host};
use crate::run_context::RunContext;
use crate::script::find_program;
use crate::session::Mending;
use crate::sys::process::ProcessId;
use crate::sys::text::{backticked, distinct};
use crate::sys::{eprint, visible};

/// How the record may be repaired by a person at a terminal; `None` if it is not damaged.
///
/// # Errors
/// When it is, and it is not certain that a person asks.
pub fn may_mend(ctx: &RunContext, caller: Caller, command: &str) -> Result<Option<Mending>> {
    let is_theirs = !is_by_host(ctx, caller) && !in_a_call(ctx);
    let Err((file, _)) = ctx.store().health() else {
        return Ok(None);
    };
    if !is_theirs || !std::io::stdin().is_terminal() {
        return Err(only_for_people(ctx, command));
    }
    let file = file.display();
    mending(ctx).map_err(|error| error.context(format!("`{file}` cannot be repaired here")))
}

/// As [`may_mend`], wherever the input comes from.
///
/// # Errors
/// As [`may_mend`].
pub fn mending(ctx: &RunContext) -> Result<Option<Mending>> {
    if ctx.store().health().is_ok() {
        return Ok(None);
    }
    let refused = |program: &str| {
        let text = format!("{program} runs this shell");
        let way_out = "end that host, and do this in a terminal that was not opened below it";
        Err(Error::new(text).hint(way_out))
    };
    let Some(above) = ProcessId::whole_ancestry() else {
        return refused("a program that the system does not show");
    };
    let programs = [find_program(PROGRAM, &ctx.env), ctx.env.exe.clone()];
    for process in &above {
        let names = process.names();
        let is_host = names.iter().any(|name| may_be_host(name))
            || programs.iter().flatten().any(|it| process.runs(it));
        // Every process has a name, if it is not gone.
        if is_host || names.is_empty() {
            let name = names.first().map(|name| name.to_string_lossy());
            let name = visible(&name.unwrap_or_default());
            return refused(&format!("`{name}` (process {})", process.pid));
        }
    }
    ctx.store().mending(&above)
}

/// What the repair itself ends.
pub const ENDS: &str = "What became active after that copy was written ends, with what it \
    restricts. Running conversations that are not in the copy may only read until their next \
    prompt.";

/// Says what this command ends besides what it names, asks, and repairs; only says it in a dry run.
/// Returns what was repaired; `None` if nothing is damaged.
///
/// # Errors
/// When the person does not agree or cannot be asked, and when the repair is refused or fails.
pub fn mend(
    ctx: &RunContext,
    caller: Caller,
    common: Common,
    ends: &str,
    question: &str,
) -> Result<Option<Mending>> {
    let Some(mending) = mending(ctx)? else {
        return Ok(None);
    };
    let known = distinct(mending.known(None).into_iter().map(|it| it.skill));
    let known = match known.len() {
        0 => "nothing is".to_owned(),
        1 => format!("{} is", backticked(&known, "")),
        _ => format!("{} are", backticked(&known, ", ")),
    };
    let (file, why, copy) = (mending.file.display(), &mending.why, mending.copy.display());
    eprint(format_args!(
        "`{file}` cannot be read: {why}.\nIts second copy, in `{copy}`, takes its place; there {known} \
         active.\n{ends}\n"
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
