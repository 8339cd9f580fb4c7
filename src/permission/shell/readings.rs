//! Parses each command line of a decision once, for the effects, grants and denials that all need
//! it.

use std::cell::RefCell;
use std::rc::Rc;

use super::Rejection;
use super::names::Variables;
use super::read::{Reading, read};
use crate::host::shell::Shell;
use crate::permission::places::Places;
use crate::permission::steps::Steps;

/// Command lines beyond this number, nested ones included, are parsed again.
const MOST: usize = 16;
/// Characters compared per step.
const PER_STEP: usize = 64;

/// The command lines read for a decision.
pub struct Readings<'a> {
    /// The steps left for the decision.
    pub steps: &'a Steps,
    /// The host's shell and where it starts.
    pub places: &'a Places,
    /// What is known about that shell's variables.
    pub variables: Variables<'a>,
    cached: RefCell<Vec<Cached>>,
}

struct Cached {
    text: String,
    shell: Shell,
    with_variables: bool,
    reading: Rc<Result<Reading, Rejection>>,
}

impl<'a> Readings<'a> {
    /// Nothing is read yet.
    pub fn new(steps: &'a Steps, places: &'a Places, variables: Variables<'a>) -> Self {
        Self {
            steps,
            places,
            variables,
            cached: RefCell::default(),
        }
    }

    /// What `shell` would do with a text; `with_variables` replaces variables whose values are
    /// known.
    pub fn read(
        &self,
        text: &str,
        shell: Shell,
        with_variables: bool,
    ) -> Rc<Result<Reading, Rejection>> {
        // Elsewhere they make no difference.
        let with_variables = with_variables && (text.contains(['$', '~']) || text.contains("for"));
        self.steps.spend(1 + text.len() / PER_STEP);
        let is_same = |cached: &&Cached| {
            (cached.shell, cached.with_variables) == (shell, with_variables) && cached.text == text
        };
        if let Some(cached) = self.cached.borrow().iter().find(is_same) {
            return Rc::clone(&cached.reading);
        }
        let variables = if with_variables {
            self.variables
        } else {
            Variables::default()
        };
        let reading = Rc::new(read(text, shell, variables, self.steps));
        let mut cached = self.cached.borrow_mut();
        if cached.len() < MOST {
            cached.push(Cached {
                text: text.to_owned(),
                shell,
                with_variables,
                reading: Rc::clone(&reading),
            });
        }
        reading
    }
}
