//! Repairs a record whose first copy is damaged: the second copy, if it can be relied on, takes its
//! place. Only what is above this process, and that copy, tell whether a model asks for it: it could
//! have done the damage (docs/sessions.md#a-damaged-record).

use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::Store;
use super::active::Ended;
use super::state::{Reset, State};
use super::store::forget;
use crate::error::{Error, Result};
use crate::sys::process::ProcessId;

/// The way out without a sound copy.
const NEXT_PROMPT: &str = "end chibi wherever it runs; its next prompt begins a new record";

/// A damaged record that may be repaired. There is none without the checks in [`Store::mending`].
#[derive(Debug)]
pub struct Mending {
    /// What is damaged.
    pub file: PathBuf,
    /// Why it cannot be read.
    pub why: String,
    /// The directory of the copy that takes its place.
    pub copy: PathBuf,
    known: Rc<State>,
}

impl Mending {
    /// What is active according to the second copy, in one conversation or in all.
    pub fn known(&self, context: Option<&str>) -> Vec<Ended> {
        forget(&mut State::clone(&self.known), context, &[])
    }
}

impl Store {
    /// How a damaged record may be repaired by a process below those `above`; `None` if it is not
    /// damaged.
    ///
    /// # Errors
    /// When the second copy is not there, cannot be read or says nothing, which whoever did the
    /// damage could also have done; or when it says that one of those `above` is a host.
    pub fn mending(&self, above: &[ProcessId]) -> Result<Option<Mending>> {
        let Err((file, why)) = self.health() else {
            return Ok(None);
        };
        let (copy, known) = self.sound_copy()?;
        if self.has_host_among(&known, above) {
            return Err(Error::new("a host in a conversation runs this shell")
                .hint("end that host, and do this in a terminal of your own"));
        }
        let (copy, why) = (copy.to_owned(), why.to_string());
        Ok(Some(Mending {
            file,
            why,
            copy,
            known,
        }))
    }

    /// Puts the second copy in the place of the first. What it does not know counts as
    /// [`State::may_have_lost`]: those sessions stay closed until their next prompt.
    ///
    /// # Errors
    /// When the copy has changed since, or the record cannot be locked in time or written.
    pub fn mend(&self, mending: &Mending) -> Result<()> {
        self.change(|state, unreadable| {
            if unreadable.is_some() {
                let (_, known) = self.sound_copy()?;
                if known != mending.known {
                    return Err(Error::new("what is active changed meanwhile").hint("try again"));
                }
                *state = State {
                    reset: Some(Reset::now()),
                    ..State::clone(&known)
                };
            }
            Ok(())
        })
    }

    /// The second copy's directory, and what it says.
    fn sound_copy(&self) -> Result<(&Path, Rc<State>)> {
        let refused = |why: &str| Err(Error::new(why).hint(NEXT_PROMPT));
        let Some(copy) = &self.record.second else {
            return refused("there is no place for a second copy");
        };
        let place = copy.path().parent().unwrap_or(copy.path());
        let refused = |why| refused(&format!("its second copy, in `{}`, {why}", place.display()));
        match copy.read_anew() {
            Ok(Some(known)) if !known.holds_nothing() => Ok((place, known)),
            Ok(Some(_)) => refused("says that nothing was active".to_owned()),
            Ok(None) => refused("is missing".to_owned()),
            Err(why) => refused(format!("cannot be read: {why}")),
        }
    }
}
