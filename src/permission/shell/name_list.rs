//! Lists of names, each kept as one text: a table of `&str` needs a relocation for every name when
//! the program starts.

/// Names separated by blanks.
#[derive(Clone, Copy)]
pub struct Names(pub &'static str);

impl Names {
    /// Whether a name is in the list.
    pub fn has(self, name: &str) -> bool {
        self.0.split_ascii_whitespace().any(|one| one == name)
    }
}
