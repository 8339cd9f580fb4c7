//! Puts a staged skill in the place of an installed one.

use std::io;

use crate::error::Error;
use crate::sys::{Dir, EntryName};

/// The replaced skill, if the system cannot exchange two directories. The move is then two renames,
/// of which recovery undoes the first if the second was not made.
pub static OLD: EntryName = EntryName::from_static("old");

/// In one step where the system can, else in two; the old skill is then in `aside`.
///
/// # Errors
/// When neither can be moved; the old skill is then where it was.
pub fn exchange(within: &Dir, skills: &Dir, target: &EntryName, aside: &Dir) -> io::Result<()> {
    if within.exchange(target, skills, target)? {
        return Ok(());
    }
    skills.rename(target, aside, &OLD)?;
    within.rename(target, skills, target).inspect_err(|_| {
        // Errors here do not matter: the first one is reported.
        let _ = aside.rename(&OLD, skills, target);
    })
}

/// The failure to move the skill at `target`.
pub fn not_moved(skills: &Dir, target: &EntryName, error: &io::Error) -> Error {
    let error = skills.error("move the skill to", target, error);
    error.hint("check the permissions of the skills directory")
}
