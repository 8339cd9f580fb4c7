//! Why a collector did not take events, which says what may be sent again.

use crate::error::Error;
use crate::marketplace::{Class, Failure};

/// Why events were not taken.
#[derive(Debug)]
pub enum Untaken {
    /// The collector got none of them.
    Unsent(Error),
    /// It may have got them: what it said, if anything, did not arrive.
    Unknown(Error),
    /// They are too many, or not what it takes.
    Unfit(Error),
}

/// Why a program could not be run to its end: one that is missing has sent nothing.
pub fn untaken(failure: Failure, could_not: impl Fn(Error) -> Error) -> Untaken {
    let is_missing = failure.class == Class::Missing;
    let why = could_not(failure.into());
    if is_missing {
        Untaken::Unsent(why)
    } else {
        Untaken::Unknown(why)
    }
}
