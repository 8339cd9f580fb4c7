//! Here-documents as the scan reads them: a plain delimiter, and a body up to a line that is only
//! the delimiter.

use super::variables::is_name_char;
use super::{Rejection, accepted_expansions};

/// macOS's `sh` is bash 3.2, which looks for the end of `$(…)` without recognising here-documents.
const OLD_BASH: bool = cfg!(target_os = "macos");

/// A here-document whose body has not started.
#[derive(Debug)]
pub struct PendingHeredoc {
    delimiter: String,
    quoted: bool,
    strips_tabs: bool,
    /// At how many levels the operator was.
    pub depth: usize,
}

impl PendingHeredoc {
    /// Reads `<<EOF`, `<<-EOF`, `<<'EOF'` and similar; also returns the width.
    ///
    /// # Errors
    /// For a delimiter that shells could read in different ways.
    pub fn read(text: &str, depth: usize) -> Result<(Self, usize), Rejection> {
        let strips_tabs = text.starts_with("<<-");
        let after = &text[2 + usize::from(strips_tabs)..];
        let word = after.trim_start_matches([' ', '\t']);
        let quote = word.chars().next().filter(|c| matches!(c, '\'' | '"'));
        let inside = quote.map_or(word, |_| &word[1..]);
        let length = inside.find(|c| !is_name_char(c)).unwrap_or(inside.len());
        let rest = &inside[length..];
        let rest = quote.map_or(Some(rest), |quote| rest.strip_prefix(quote));
        let ends = |rest: &str| {
            rest.is_empty() || rest.starts_with([' ', '\t', '\n', ';', '&', '|', ')', '<', '>'])
        };
        match rest {
            Some(rest) if length > 0 && ends(rest) => {
                let pending = Self {
                    delimiter: inside[..length].to_owned(),
                    quoted: quote.is_some(),
                    strips_tabs,
                    depth,
                };
                Ok((pending, text.len() - rest.len()))
            }
            _ => Rejection::err("<<", "this here-document's delimiter is not a plain word"),
        }
    }

    /// The body at the start of `text` as the command receives it, and its width including the line
    /// that ends it.
    ///
    /// # Errors
    /// If no line ends it, if some parser could end it at another line, or if an unquoted body
    /// expands more than plain variables.
    pub fn body(&self, text: &str, zsh: bool) -> Result<(String, usize), Rejection> {
        let mut width = 0;
        let mut content = String::new();
        for line in text.split_inclusive('\n') {
            width += line.len();
            let mut bare = line.strip_suffix('\n').unwrap_or(line);
            if self.strips_tabs {
                bare = bare.trim_start_matches('\t');
            }
            if bare == self.delimiter {
                let body = &text[..width - line.len()];
                if OLD_BASH && self.depth > 0 && !old_bash_agrees(body) {
                    let why = "old shells end the substitution inside this here-document";
                    return Rejection::err("<<", why);
                }
                return Ok((content, width));
            }
            // Inside parentheses bash ends it at a line that continues with `)`, and some versions
            // at any line with this prefix. The parser always ignores trailing blanks.
            let is_close = self.depth > 0 || bare.trim_end() == self.delimiter;
            if is_close && bare.starts_with(&self.delimiter) {
                let why = "a line of a here-document begins with its delimiter";
                return Rejection::err("<<", why);
            }
            content.push_str(bare);
            content.push('\n');
            if !self.quoted {
                accepted_expansions::plain_variables_only(bare, zsh)?;
                if bare.ends_with('\\') {
                    return Rejection::err("<<", "a here-document's line ends in a backslash");
                }
            }
        }
        Rejection::err("<<", "a here-document has no end")
    }
}

/// Whether a body cannot end the enclosing substitution: it has no quotes and its parentheses are
/// balanced.
fn old_bash_agrees(body: &str) -> bool {
    let mut depth = 0_usize;
    body.chars().all(|c| {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return false,
            ')' => depth -= 1,
            _ => {}
        }
        !matches!(c, '\'' | '"' | '`' | '\\')
    }) && depth == 0
}

/// For a here-document that some shell could begin or end elsewhere.
pub fn unclear_heredoc() -> Rejection {
    const WHY: &str = "the here-document's beginning or end is unclear";
    Rejection::new("<<", WHY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_that_old_bash_ends_early_are_refused() {
        assert!(old_bash_agrees("fix(parser): all of it\n\n- more\n"));
        for body in [")\" ; rm x", "it's", "(", "a) (b", "`x`", "\\"] {
            assert!(!old_bash_agrees(body), "{body}");
        }
    }

    #[test]
    fn plain_delimiters_are_read_with_their_width() {
        let width = |text: &str| PendingHeredoc::read(text, 0).map(|(_, width)| width).ok();
        assert_eq!(width("<<E\n"), Some(3));
        assert_eq!(width("<<- 'EOF' | x"), Some(9));
        for text in [
            "<<",
            "<<\\E\n",
            "<<$x\n",
            "<<'E F'\n",
            "<<E$x\n",
            "<<''\n",
            "<<'E\n",
            "<<E-x\n",
        ] {
            assert_eq!(width(text), None, "{text}");
        }
    }

    #[test]
    fn a_body_ends_at_the_line_that_is_the_delimiter() {
        let width = |operator: &str, body: &str| {
            let (pending, _) = PendingHeredoc::read(operator, 0).unwrap();
            let read = pending.body(body, false).ok();
            read.map(|(_, width)| width)
        };
        assert_eq!(width("<<E\n", "a\nE\nb"), Some(4));
        assert_eq!(width("<<-E\n", "a\n\tE\nb"), Some(5));
        assert_eq!(width("<<'E'\n", "$(x)\nE"), Some(6));
        for body in [
            "a\n E\n",
            "a\nE \n",
            "a\nE \nb\nE\n",
            "$(x)\nE\n",
            "`x`\nE\n",
            "a\\\nE\n",
            "",
        ] {
            assert_eq!(width("<<E\n", body), None, "{body}");
        }
    }
}
