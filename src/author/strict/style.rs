//! YAML features that strictyaml forbids: flow style, anchors, aliases, tags, tabs before a value,
//! and sibling mappings with different indentation. One pass over any text; it finds what is
//! forbidden in valid YAML, and values are not interpreted.

/// What is forbidden, and the offset in bytes.
pub type Forbidden = (&'static str, usize);

/// Checks `yaml` for forbidden features.
///
/// # Errors
/// The first forbidden feature.
pub fn check(yaml: &str) -> Result<(), Forbidden> {
    let mut walk = Walk {
        yaml,
        at: 0,
        open: Vec::new(),
    };
    while walk.at < yaml.len() {
        walk.line()?;
    }
    Ok(())
}

struct Open {
    column: usize,
    is_list: bool,
    /// The column of the first mapping that is a value of this collection.
    inner: Option<usize>,
}

struct Walk<'a> {
    yaml: &'a str,
    at: usize,
    open: Vec<Open>,
}

impl Walk<'_> {
    fn rest(&self) -> &str {
        &self.yaml[self.at..]
    }

    fn next_line(&mut self) {
        let end = self.rest().find('\n').map_or(self.rest().len(), |n| n + 1);
        self.at += end;
    }

    /// Moves past one line and the continuation lines of its value.
    fn line(&mut self) -> Result<(), Forbidden> {
        let start = self.at;
        self.at += indent(self.rest());
        let rest = self.rest();
        if rest.is_empty() || rest.starts_with(['\n', '\r', '#']) || rest.starts_with("...") {
            self.next_line();
            return Ok(());
        }
        loop {
            let column = self.at - start;
            let rest = self.rest();
            let Some(first) = rest.chars().next() else {
                return Ok(());
            };
            match first {
                '\r' | '\n' | '#' => break,
                '\t' => return Err(("tab where spaces are wanted", self.at)),
                '[' | '{' => return Err(("flow style (`[…]`, `{…}`)", self.at)),
                '&' => return Err(("anchor (`&`)", self.at)),
                '*' => return Err(("alias (`*`)", self.at)),
                '!' => return Err(("tag (`!`)", self.at)),
                '-' | '?' | ':' if is_space(rest[1..].chars().next()) => {
                    if first == '-' {
                        self.enter(column, true)?;
                    }
                    self.at += 1;
                    self.skip_spaces();
                }
                '|' | '>' => {
                    self.next_line();
                    self.skip_deeper(true);
                    return Ok(());
                }
                '"' | '\'' => {
                    let end = self.at + quoted(rest);
                    if !self.key(end, column)? {
                        self.at = end;
                        break;
                    }
                }
                _ => {
                    let end = self.at + plain(rest);
                    if !self.key(end, column)? {
                        self.close(column);
                        self.next_line();
                        self.skip_deeper(false);
                        return Ok(());
                    }
                }
            }
        }
        self.next_line();
        Ok(())
    }

    /// Treats the text up to `end` as a key if a colon follows, and moves to its value.
    fn key(&mut self, end: usize, column: usize) -> Result<bool, Forbidden> {
        let after = self.yaml[end..].trim_start_matches(' ');
        let value = after.strip_prefix(':');
        let Some(value) = value.filter(|value| is_space(value.chars().next())) else {
            return Ok(false);
        };
        self.enter(column, false)?;
        self.at = self.yaml.len() - value.len();
        self.skip_spaces();
        Ok(true)
    }

    fn skip_spaces(&mut self) {
        self.at += indent(self.rest());
    }

    /// Closes the collections that cannot contain a scalar at `column`.
    fn close(&mut self, column: usize) {
        while self.open.last().is_some_and(|open| open.column > column) {
            self.open.pop();
        }
    }

    /// Opens the collection at `column`, unless it is open.
    fn enter(&mut self, column: usize, is_list: bool) -> Result<(), Forbidden> {
        self.close(column);
        // A list may start in the column of its key; the next key ends it.
        let ends_list = |open: &Open| open.is_list && open.column == column && !is_list;
        if self.open.last().is_some_and(ends_list) {
            self.open.pop();
        }
        let same = |open: &Open| open.is_list == is_list && open.column == column;
        if self.open.last().is_some_and(same) {
            return Ok(());
        }
        if let Some(above) = self.open.last_mut().filter(|above| !above.is_list)
            && !is_list
            && *above.inner.get_or_insert(column) != column
        {
            return Err(("mappings that are indented differently", self.at));
        }
        self.open.push(Open {
            column,
            is_list,
            inner: None,
        });
        Ok(())
    }

    /// Moves past lines indented deeper than the open collection. A comment ends a plain value, but
    /// not a block of text.
    fn skip_deeper(&mut self, block: bool) {
        while self.at < self.yaml.len() {
            let rest = self.rest();
            let open = self.open.last();
            let inside = open.is_none_or(|open| indent(rest) > open.column);
            let text = rest.trim_start_matches([' ', '\t']);
            let blank = text.starts_with(['\n', '\r']);
            let comment = !block && rest.trim_start().starts_with('#');
            if !blank && (!inside || comment) {
                return;
            }
            self.next_line();
        }
    }
}

fn indent(text: &str) -> usize {
    text.len() - text.trim_start_matches(' ').len()
}

fn is_space(c: Option<char>) -> bool {
    c.is_none_or(|c| c.is_ascii_whitespace())
}

fn quoted(text: &str) -> usize {
    let bytes = text.as_bytes();
    let quote = bytes[0];
    let mut at = 1;
    while at < bytes.len() {
        // Two single quotes are an escaped one.
        let doubled = quote == b'\'' && bytes[at..].starts_with(b"\'\'");
        if doubled || (quote == b'"' && bytes[at] == b'\\') {
            at += 1;
        } else if bytes[at] == quote {
            return at + 1;
        }
        at += 1;
    }
    text.len()
}

/// The length, on its first line, of the plain text that starts here, up to a colon or a comment.
fn plain(text: &str) -> usize {
    let line = text.split('\n').next().unwrap_or_default();
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        let colon = c == ':' && is_space(line[at + 1..].chars().next());
        if colon || (c == '#' && before.is_whitespace()) {
            return at;
        }
        before = c;
    }
    line.len()
}
