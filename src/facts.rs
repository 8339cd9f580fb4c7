//! What a call is decided on: the environment, and what has been read of the user's and the
//! administrator's files.

use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;

use crate::error::Result;
use crate::host::Protocol;
use crate::run_context::{Calling, RunContext};
use crate::sys::Env;

/// What a call is decided on.
#[derive(Debug, Clone)]
pub struct Facts {
    /// The environment of the run.
    pub run: RunContext,
    known: RefCell<Vec<Rc<dyn Any>>>,
}

impl Facts {
    /// The facts of a call.
    pub fn new(env: Env, protocol: Option<Protocol>) -> Self {
        Self::of(RunContext::new(env, protocol))
    }

    /// The facts of a call of another agent, in the directory and session that the call names.
    pub fn of_agent(env: Env, calling: Calling) -> Self {
        Self::of(RunContext::of_agent(env, calling))
    }

    /// The facts of a call in this environment.
    pub fn of(run: RunContext) -> Self {
        let known = RefCell::default();
        Self { run, known }
    }

    /// The run's only value of this type, computed on first use. For what has to be read from disk
    /// and stays the same during a call.
    pub fn once<T: 'static>(&self, make: impl FnOnce() -> T) -> Rc<T> {
        self.known().unwrap_or_else(|| {
            let value = Rc::new(make());
            self.known.borrow_mut().push(value.clone());
            value
        })
    }

    /// As [`Facts::once`]. A failure is not kept.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn try_once<T: 'static>(&self, make: impl FnOnce() -> Result<T>) -> Result<Rc<T>> {
        match self.known() {
            Some(value) => Ok(value),
            None => make().map(|value| self.once(|| value)),
        }
    }

    /// The value of this type, if [`Facts::once`] has computed it.
    pub fn known<T: 'static>(&self) -> Option<Rc<T>> {
        let known = self.known.borrow();
        known.iter().find_map(|value| value.clone().downcast().ok())
    }
}
