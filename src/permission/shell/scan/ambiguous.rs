//! What shells read differently within a word.

use crate::permission::shell::Fault;

/// Whether a byte of this character is a blank in some shell's locale.
pub fn may_be_blank(c: char) -> bool {
    !c.is_ascii()
        && c.encode_utf8(&mut [0; 4])
            .bytes()
            .any(|byte| byte == 0x85 || byte == 0xa0)
}

/// Refuses brackets not closed within their word. For the parser, an array subscript, and any
/// bracket in `[[ … ]]`, continues across blanks and quotes, which moves word boundaries.
pub fn brackets_close(text: &str) -> Result<(), Fault> {
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            ' ' | '\t' | '\n' | '\'' | '"' | '\\' | '$' | '`' | '(' | ')' | '<' | '>' | '|'
            | '&' | ';' => break,
            _ => {}
        }
        if depth == 0 {
            return Ok(());
        }
    }
    Fault::refuse("[", "a bracket is not closed in its word; quote it")
}
