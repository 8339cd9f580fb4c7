//! The budget of one decision. All code that reads or compares text or queries the file system
//! deducts its cost, so that time is bounded whatever the input (docs/spec/restriction.md#time).
//! Code that finds the budget spent stops and may return anything; the caller in `decide.rs` then
//! refuses the call.

use std::cell::Cell;

/// The steps of one decision. A step is at most 75 ns of work, such as one character parsed outside
/// substitutions.
#[derive(Debug)]
pub struct Steps {
    /// `None` once more was requested than was left.
    left: Cell<Option<usize>>,
}

impl Steps {
    /// The budget of a decision: less than 50 ms even on a slow machine.
    pub const LIMIT: usize = 400_000;

    /// Deducts `work`, and returns whether the budget sufficed. If it did not, nothing is left.
    pub fn spend(&self, work: usize) -> bool {
        let left = self.left.get().and_then(|left| left.checked_sub(work));
        self.left.set(left);
        left.is_some()
    }

    /// Whether more was requested than was left.
    pub fn are_spent(&self) -> bool {
        self.left.get().is_none()
    }
}

impl Default for Steps {
    fn default() -> Self {
        Self {
            left: Cell::new(Some(Self::LIMIT)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exhausted_budget_stays_exhausted() {
        let steps = Steps::default();
        assert!(steps.spend(Steps::LIMIT) && !steps.are_spent());
        assert!(!steps.spend(1) && !steps.spend(0) && steps.are_spent());
    }
}
