//! One command as it was called.

use super::caller::Caller;
use super::options::Common;
use super::screen::Screen;
use crate::facts::Facts;

/// What every command is handed.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// What it is decided and answered on.
    pub facts: &'a Facts,
    /// The options of every command.
    pub common: Common,
    /// Who called it.
    pub caller: Caller,
    /// Where its answer goes.
    pub screen: Screen,
}
