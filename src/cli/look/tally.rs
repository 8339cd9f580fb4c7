//! Counts that whoever writes events cannot make grow without bound.

use std::collections::{BTreeMap, HashSet, VecDeque};

use crate::skill::shown_name;
use crate::sys::hash;
use crate::sys::text::shorten;

/// Names that are counted each for itself; what comes later is counted together.
pub const NAMES: usize = 1000;
/// The longest name, in characters. Longer ones are cut, and count together if they begin alike.
const NAME: usize = 120;
/// How many of the latest identities are remembered, 8 bytes each.
const REMEMBERED: usize = 65_536;

/// A value for each of a bounded number of names, and one for all others.
#[derive(Debug)]
pub struct Tally<T> {
    /// By name, as it is shown.
    pub named: BTreeMap<String, T>,
    /// Of the names for which there was no room.
    pub others: Option<T>,
}

impl<T> Default for Tally<T> {
    fn default() -> Self {
        Self {
            named: BTreeMap::new(),
            others: None,
        }
    }
}

impl<T: Default> Tally<T> {
    /// The value of `name`.
    pub fn of(&mut self, name: &str) -> &mut T {
        let is_plain = name.len() <= NAME && name.bytes().all(|byte| byte.is_ascii_graphic());
        if is_plain && self.named.contains_key(name) {
            return self.named.entry(name.to_owned()).or_default();
        }
        let shown = if is_plain {
            name.to_owned()
        } else {
            shorten(&shown_name(name), NAME)
        };
        if self.named.len() >= NAMES && !self.named.contains_key(&shown) {
            return self.others.get_or_insert_default();
        }
        self.named.entry(shown).or_default()
    }

    /// Makes room for a name, whatever else is counted before it.
    pub fn reserve(&mut self, name: &str) {
        self.named
            .entry(shorten(&shown_name(name), NAME))
            .or_default();
    }

    /// All names with their values, those without room of their own last.
    pub fn rows(&self) -> impl Iterator<Item = (&str, &T)> {
        let named = self
            .named
            .iter()
            .map(|(name, value)| (name.as_str(), value));
        named.chain(self.others.iter().map(|others| ("(others)", others)))
    }
}

/// What was seen lately.
#[derive(Debug, Default)]
pub struct Seen {
    known: HashSet<u64>,
    order: VecDeque<u64>,
}

impl Seen {
    /// Whether this is new, or was seen so long ago that it is not remembered.
    pub fn is_new(&mut self, identity: &str) -> bool {
        let hash = hash(identity.as_bytes());
        if !self.known.insert(hash) {
            return false;
        }
        self.order.push_back(hash);
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invented_names_are_counted_together_and_lose_nothing() {
        let mut tally: Tally<u64> = Tally::default();
        for number in 0..NAMES * 3 {
            *tally.of(&format!("junk-{number}")) += 1;
            *tally.of("junk-0") += 1;
        }
        tally.reserve("installed");
        *tally.of("installed") += 1;
        assert_eq!(tally.named.len(), NAMES + 1);
        assert_eq!(tally.named["installed"], 1);
        assert_eq!(tally.rows().map(|(_, count)| count).sum::<u64>(), 6001);
        *tally.of(&"x".repeat(500)) += 1;
        assert_eq!(tally.others, Some(2001));
    }

    #[test]
    fn only_the_latest_identities_are_remembered() {
        let mut seen = Seen::default();
        assert!(seen.is_new("a") && !seen.is_new("a"));
        for number in 0..REMEMBERED {
            assert!(seen.is_new(&number.to_string()));
        }
        assert!(seen.is_new("a"));
        assert_eq!(
            (seen.known.len(), seen.order.len()),
            (REMEMBERED, REMEMBERED)
        );
    }
}
