//! `audit ship`: sends what is new in the audit log to collectors.

use std::fmt::Write as _;

use crate::cli::options::Common;
use crate::cli::{Answer, Failure, json};
use crate::run_context::RunContext;
use crate::shipping::{Shipment, ship};
use crate::sys::text::count;

/// Says, for each collector, what it got; a negative answer if one did not take all.
pub fn run(ctx: &RunContext, common: Common) -> Answer {
    let shipments = ship(ctx, common.dry_run)?;
    let text = if common.json {
        json::list("collectors", &shipments)?
    } else {
        shipments.iter().map(line).collect()
    };
    if shipments.iter().any(|one| one.error.is_some()) {
        return Err(Failure::Answered(text));
    }
    Ok(text)
}

fn line(one: &Shipment) -> String {
    let events = |number: u64| count(usize::try_from(number).unwrap_or(usize::MAX), "event");
    let mut text = format!("{}: {} sent", one.to, events(one.sent));
    if one.sent > 0 && !one.confirmed {
        text.push_str(" (syslog cannot confirm that they arrived)");
    }
    if one.again > 0 {
        let _ = write!(text, ", of which it may have had {} before", one.again);
    }
    if one.lost > 0 {
        let _ = write!(text, ", {} lost", one.lost);
    }
    if one.waiting > 0 {
        let _ = write!(text, ", {} kept", one.waiting);
    }
    text.push('\n');
    for note in &one.notes {
        let _ = writeln!(text, "  {note}");
    }
    if let Some(error) = &one.error {
        let _ = writeln!(text, "  {error}");
    }
    if let Some(hint) = &one.hint {
        let _ = writeln!(text, "  hint: {hint}");
    }
    text
}
