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

/// A damaged record that may be repaired. There is none without the checks in [`Store::mending`].
#[derive(Debug)]
pub struct Mending {
    /// What is damaged.
    pub file: PathBuf,
    /// Why it cannot be read.
    pub why: String,
    /// What takes its place.
    pub copy: PathBuf,
    known: Rc<State>,
}

impl Mending {
    /// What is active according to the second copy, in one conversation or in all.
    pub fn known(&self, context: Option<&str>) -> Vec<Ended> {
        forget(&mut State::clone(&self.known), context)
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

    fn sound_copy(&self) -> Result<(&Path, Rc<State>)> {
        let unknown = |why: String| {
            let text = format!("what was active is not known from its second copy either: {why}");
            Error::new(text).hint(
                "end every running host; the next prompt in chibi begins a new record, and \
                 `agent-skills deactivate` then ends what is left",
            )
        };
        let Some((copy, known)) = self.record.second_copy() else {
            return Err(unknown("there is no place for one".to_owned()));
        };
        let shown = copy.display();
        match known {
            Ok(Some(known)) if !known.holds_nothing() => Ok((copy, known)),
            Ok(Some(_)) => Err(unknown(format!("`{shown}` says that nothing was"))),
            Ok(None) => Err(unknown(format!("`{shown}` is missing"))),
            Err(why) => Err(unknown(format!("`{shown}` cannot be read ({why})"))),
        }
    }
}
