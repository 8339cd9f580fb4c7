//! Lists of names, each kept as one text: a table of `&str` needs a relocation for every name when
//! the program starts.

/// Names separated by blanks.
#[derive(Debug, Clone, Copy)]
pub struct Names {
    text: &'static str,
    /// A bit for each name, by which most others are told apart without reading the text.
    bits: [u64; WORDS],
}

const WORDS: usize = 8;

/// Texts without blanks that are only gone through, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Words(pub &'static str);

impl Words {
    /// Each of them.
    pub fn iter(self) -> impl Iterator<Item = &'static str> {
        self.0.split_ascii_whitespace()
    }

    /// Whether this is one of them.
    pub fn has(self, text: &str) -> bool {
        self.iter().any(|one| one == text)
    }
}

impl Names {
    /// A list, whose bits the compiler computes.
    pub const fn new(text: &'static str) -> Self {
        let bytes = text.as_bytes();
        let mut bits = [0; WORDS];
        let (mut begin, mut at) = (0, 0);
        while at <= bytes.len() {
            if at == bytes.len() || bytes[at].is_ascii_whitespace() {
                if at > begin {
                    let bit = bit(bytes, begin, at);
                    bits[bit / 64] |= 1 << (bit % 64);
                }
                begin = at + 1;
            }
            at += 1;
        }
        Self { text, bits }
    }

    /// Whether a name is in the list.
    pub fn has(&self, name: &str) -> bool {
        let bytes = name.as_bytes();
        let bit = match bytes {
            [] => return false,
            bytes => bit(bytes, 0, bytes.len()),
        };
        self.bits[bit / 64] & 1 << (bit % 64) != 0
            && self.text.split_ascii_whitespace().any(|one| one == name)
    }

    /// Whether a text begins with one of the names.
    pub fn has_beginning_of(&self, text: &str) -> bool {
        let mut names = self.text.split_ascii_whitespace();
        names.any(|name| text.starts_with(name))
    }

    /// Whether no name is in it.
    pub const fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

/// Where the bit of the name between these places is.
const fn bit(bytes: &[u8], begin: usize, end: usize) -> usize {
    let (first, middle) = (
        bytes[begin] as usize,
        bytes[usize::midpoint(begin, end)] as usize,
    );
    let last = bytes[end - 1] as usize;
    (first * 31 + middle * 7 + last * 131 + (end - begin) * 61) % (64 * WORDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_of_a_list_is_found_and_no_other() {
        const LIST: Names = Names::new("git [ -C  \n a.b\té");
        for name in ["git", "[", "-C", "a.b", "é"] {
            assert!(LIST.has(name), "{name}");
        }
        for name in ["", " ", "gi", "it", "git [", "C", "A.b", "e"] {
            assert!(!LIST.has(name), "{name}");
        }
        assert!(Names::new("").is_empty() && !Names::new("").has(""));
    }
}
