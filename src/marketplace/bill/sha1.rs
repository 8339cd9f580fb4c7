//! SHA-1, because SPDX 2.3 demands it of every file (clauses 7.9 and 8.4). Nothing else relies on it:
//! what a bill says of a file is its SHA-256.

use super::identity::hex;

const START: [u32; 5] = [
    0x6745_2301,
    0xefcd_ab89,
    0x98ba_dcfe,
    0x1032_5476,
    0xc3d2_e1f0,
];

/// The digest in hexadecimal.
pub fn sha1(bytes: &[u8]) -> String {
    let bits = (bytes.len() as u64).wrapping_mul(8);
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    padded.resize(padded.len().next_multiple_of(64), 0);
    if padded.len() - bytes.len() < 9 {
        padded.resize(padded.len() + 64, 0);
    }
    let end = padded.len() - 8;
    padded[end..].copy_from_slice(&bits.to_be_bytes());
    let state = padded.chunks_exact(64).fold(START, block);
    hex(&state.map(u32::to_be_bytes).concat())
}

fn block(state: [u32; 5], bytes: &[u8]) -> [u32; 5] {
    let mut words = [0; 80];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(4)) {
        *word = bytes
            .iter()
            .fold(0, |word, byte| word << 8 | u32::from(*byte));
    }
    for at in 16..80 {
        let mixed = words[at - 3] ^ words[at - 8] ^ words[at - 14] ^ words[at - 16];
        words[at] = mixed.rotate_left(1);
    }
    let mut now = state;
    for (round, word) in words.into_iter().enumerate() {
        let [first, x, y, z, last] = now;
        let (mixed, key) = match round {
            0..20 => (x & y | !x & z, 0x5a82_7999),
            20..40 => (x ^ y ^ z, 0x6ed9_eba1),
            40..60 => (x & y | x & z | y & z, 0x8f1b_bcdc),
            _ => (x ^ y ^ z, 0xca62_c1d6_u32),
        };
        let sum = [mixed, last, key, word].into_iter();
        let sum = sum.fold(first.rotate_left(5), u32::wrapping_add);
        now = [sum, first, x.rotate_left(30), y, z];
    }
    std::array::from_fn(|at| state[at].wrapping_add(now[at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of FIPS 180-2, and one of each length around the end of a block as `sha1sum` has it.
    #[test]
    fn the_digests_are_those_of_the_standard() {
        let many = vec![b'a'; 1_000_000];
        for (bytes, digest) in [
            (&b""[..], "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
            (b"abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (&many[..55], "c1c8bbdc22796e28c0e15163d20899b65621d65a"),
            (&many[..56], "c2db330f6083854c99d4b5bfb6e8f29f201be699"),
            (&many[..63], "03f09f5b158a7a8cdad920bddc29b81c18a551f5"),
            (&many[..64], "0098ba824b5c16427bd7a1122a5a442a25ec644d"),
            (&many, "34aa973cd4c4daa4f61eeb2bdbad27316534016f"),
        ] {
            assert_eq!(sha1(bytes), digest, "{}", bytes.len());
        }
    }
}
