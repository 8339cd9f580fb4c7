//! Repairs a record whose first copy is damaged: the second copy takes its place, if there is one that
//! can be read; else it begins anew (docs/sessions.md#a-damaged-record).

use std::path::PathBuf;
use std::rc::Rc;

use super::Store;
use super::active::Ended;
use super::contexts::Contexts;
use super::state::{Reset, State};
use super::store::forget;
use crate::error::Result;

/// A damaged record, and what takes its place.
#[derive(Debug)]
pub struct Mending {
    /// What is damaged.
    pub file: PathBuf,
    /// Why it cannot be read.
    pub why: String,
    /// The directory of the copy that takes its place; `None` if there is no sound one.
    pub copy: Option<PathBuf>,
    known: Rc<State>,
}

impl Mending {
    /// What is active according to the second copy, in one conversation or in all.
    pub fn known(&self, context: Option<&str>) -> Vec<Ended> {
        forget(&mut State::clone(&self.known), context, &[])
    }
}

impl Store {
    /// How a damaged record is repaired; `None` if it is not damaged.
    pub fn mending(&self) -> Option<Mending> {
        let (file, why) = self.health().err()?;
        let (copy, known) = self.sound_copy().unzip();
        Some(Mending {
            file,
            why: why.to_string(),
            copy,
            known: known.unwrap_or_else(|| {
                Rc::new(State {
                    contexts: Contexts::lost(),
                    ..State::default()
                })
            }),
        })
    }

    /// Replaces the damaged record. What is not known then counts as [`State::may_have_lost`]: those
    /// sessions stay closed until their next prompt.
    ///
    /// # Errors
    /// When the record cannot be locked in time or written.
    pub fn mend(&self, mending: &Mending) -> Result<()> {
        self.change(|state, unreadable| {
            if unreadable.is_some() {
                *state = State {
                    reset: Some(Reset::now()),
                    ..State::clone(&mending.known)
                };
            }
            Ok(())
        })
    }

    /// The second copy's directory, and what it says.
    fn sound_copy(&self) -> Option<(PathBuf, Rc<State>)> {
        let copy = self.record.second.as_ref()?;
        let known = copy.read_anew().ok()??;
        let dir = copy.path().parent()?.to_owned();
        Some((dir, known)).filter(|(_, known)| !known.holds_nothing())
    }
}
