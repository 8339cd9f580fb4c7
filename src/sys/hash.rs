//! Hashes that compare texts where a collision does no harm.

use std::hash::{DefaultHasher, Hasher};

/// The hash is the same in every process of one build, and meaningless to another build. For short
/// runs it is faster than SHA-256 or CRC, whose detection of CPU features costs more than hashing.
pub fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}
