//! What one decision may cost. Everything that reads text, compares it or asks the file system
//! takes off what it costs, so that time follows from the code and not from the input
//! (docs/spec/restriction.md#time). Whoever finds nothing left stops and may answer anything: a
//! decision whose steps were spent is refused as a whole, in one place.

use std::cell::Cell;

/// Steps of one decision. A step is at most the work of 75 ns, such as one character that the
/// parser reads outside of substitutions.
#[derive(Debug)]
pub struct Steps {
    left: Cell<usize>,
    spent: Cell<bool>,
}

impl Steps {
    /// What a decision may cost, so that it takes less than 50 ms on a slow machine too.
    pub const LIMIT: usize = 400_000;

    /// Takes this much off, if there is as much. When there is not, nothing is left.
    pub fn spend(&self, work: usize) -> bool {
        let left = self.left.get().checked_sub(work);
        self.left.set(left.unwrap_or(0));
        self.spent.set(self.spent.get() || left.is_none());
        !self.spent.get()
    }

    /// Whether more was asked for than there was.
    pub fn are_spent(&self) -> bool {
        self.spent.get()
    }
}

impl Default for Steps {
    fn default() -> Self {
        Self {
            left: Cell::new(Self::LIMIT),
            spent: Cell::new(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_refused_once_is_never_given_again() {
        let steps = Steps::default();
        assert!(steps.spend(Steps::LIMIT) && !steps.are_spent());
        assert!(!steps.spend(1) && !steps.spend(0) && steps.are_spent());
    }
}
