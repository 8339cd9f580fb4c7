//! Matches a pattern's characters against a command's. Only this file knows what a `*` may match.

/// Separates two words; the shell module refuses commands that contain it.
pub const BREAK: char = '\u{1}';
/// Text known only at run time: `$x`, `$(…)`, a brace expansion.
pub const DYNAMIC: char = '\u{2}';
/// Marks an assignment that a pattern must spell out; no `*` matches across it.
pub const ASSIGNMENT: char = '\u{3}';
/// Part of a file name known only at run time: a glob, a number.
pub const NAME_PART: char = '\u{4}';
/// The home directory, which `~` before a slash means in a pattern.
pub const HOME: char = '\u{5}';

/// One part of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token {
    /// This character.
    Char(char),
    /// `*`: any text, including word breaks.
    Any,
    /// `*` after a `/`, or in an assignment or option with something after it: as [`Token::Any`],
    /// but the rest of that word must not lead upwards.
    Below,
    /// `*` in double quotes: as [`Token::Below`], and no further than its word.
    Within,
}

/// Turns each `*` after a `/` in its word into [`Token::Below`], and each in an assignment or option
/// with something after it. `open` says whether further words may follow.
pub fn confine_stars(tokens: &mut [Token], open: bool) {
    let mut words = tokens
        .split_mut(|token| *token == Token::Char(BREAK))
        .peekable();
    while let Some(word) = words.next() {
        let followed = open || words.peek().is_some();
        let mut confined = followed && (word.first() == Some(&Token::Char('-')) || assigns(word));
        for token in word {
            confined |= *token == Token::Char('/');
            if confined && *token == Token::Any {
                *token = Token::Below;
            }
        }
    }
}

fn assigns(word: &[Token]) -> bool {
    let is_name = |token: &&Token| matches!(token, Token::Char(c) if c.is_ascii_alphanumeric() || *c == '_' || *c == ASSIGNMENT);
    let name = word.iter().take_while(is_name).count();
    name > 0 && word.get(name) == Some(&Token::Char('='))
}

/// Whether a word is a path that names another file from another directory: it has a slash not
/// preceded by a root, home or address, or a script's extension.
pub fn is_relative_path(word: &[Token]) -> bool {
    const SCRIPTS: [&str; 19] = [
        ".py", ".sh", ".js", ".ts", ".mjs", ".cjs", ".rb", ".pl", ".php", ".lua", ".bash", ".zsh",
        ".r", ".R", ".ps1", ".jar", ".tcl", ".awk", ".exe",
    ];
    let char_of = |token: &Token| match token {
        Token::Char(c) => *c,
        Token::Any | Token::Below | Token::Within => '*',
    };
    let text: String = word.iter().map(char_of).collect();
    let text = text.rsplit('=').next().unwrap_or_default();
    match text.split_once('/') {
        // `npx @scope/tool` names a package.
        Some((before, _)) => {
            !(before.is_empty()
                || before == HOME.to_string()
                || before.ends_with(':')
                || before.starts_with('@'))
        }
        None => SCRIPTS.iter().any(|end| text.ends_with(end)),
    }
}

/// Whether a path component is, or may become, `..`; also after `=`, `:`, `,` or an option letter.
fn leads_upwards(component: &str) -> bool {
    component.contains(DYNAMIC)
        || component.split(['=', ':', ',']).any(|part| {
            let part = part.strip_prefix('-').map_or(part, |option| {
                option.find('.').map_or(option, |dot| &option[dot..])
            });
            part == ".." || part.starts_with('.') && part.contains(NAME_PART)
        })
}

/// Whether the path component around (or beginning at) byte `at` leads upwards.
fn is_upwards_at(text: &str, at: usize) -> bool {
    let ends = ['/', BREAK];
    let start = text[..at].rfind(ends).map_or(0, |before| before + 1);
    let end = text[at..].find(ends).map_or(text.len(), |after| at + after);
    leads_upwards(text[start..end].trim_start_matches(ASSIGNMENT))
}

/// Whether `pattern` followed by `ending` matches all of `text`. Backtracks only to the last `*`,
/// which suffices for wildcards and bounds the work by pattern × text.
pub fn matches(pattern: &[Token], ending: &[Token], text: &str) -> bool {
    let token = |at: usize| pattern.iter().chain(ending).nth(at).copied();
    let is_known = |c: char| c != DYNAMIC && c != NAME_PART;
    let (mut at, mut here) = (0, 0);
    let mut last: Option<Star> = None;
    loop {
        match (token(at), text[here..].chars().next()) {
            (None, None) => return true,
            (Some(star @ (Token::Any | Token::Below | Token::Within)), _) => {
                let confined = star != Token::Any;
                let begins_option =
                    || text[here..].starts_with('-') && !text[..here].ends_with(|c| c != BREAK);
                if star == Token::Within && begins_option() {
                    return false;
                }
                if confined && is_upwards_at(text, here) {
                    return false;
                }
                at += 1;
                last = Some(Star {
                    after: at,
                    match_end: here,
                    confined,
                    ends: if star == Token::Within {
                        BREAK
                    } else {
                        ASSIGNMENT
                    },
                });
            }
            (Some(Token::Char(wanted)), Some(c)) if wanted == c && is_known(c) => {
                at += 1;
                here += c.len_utf8();
            }
            _ => match last.as_mut().and_then(|star| star.extend(text)) {
                Some(next) => (at, here) = next,
                None => return false,
            },
        }
    }
}

struct Star {
    /// The index of the atom after it.
    after: usize,
    /// The byte where its match ends.
    match_end: usize,
    /// Whether that is still inside the word in which it must not lead upwards.
    confined: bool,
    /// What it never reaches beyond an assignment.
    ends: char,
}

impl Star {
    /// Extends the match by one character, if allowed: the atom and the byte that come next.
    fn extend(&mut self, text: &str) -> Option<(usize, usize)> {
        let mut rest = text[self.match_end..].chars();
        let c = rest
            .next()
            .filter(|c| *c != ASSIGNMENT && *c != self.ends)?;
        self.match_end += c.len_utf8();
        self.confined &= c != BREAK;
        let climbs = self.confined && c == '/' && is_upwards_at(text, self.match_end);
        (!climbs).then_some((self.after, self.match_end))
    }
}

/// Whether atoms can match text in which [`DYNAMIC`] and [`NAME_PART`] mean any text.
pub fn may_match(tokens: &[Token], text: impl Iterator<Item = char>) -> bool {
    let unknown = |c: char| c == DYNAMIC || c == NAME_PART;
    let mut reached = vec![false; tokens.len() + 1];
    reached[0] = true;
    for c in text {
        let mut next = vec![false; tokens.len() + 1];
        for at in 0..=tokens.len() {
            let skipped = unknown(c) && at > 0 && next[at - 1];
            match tokens.get(at) {
                _ if unknown(c) => next[at] = reached[at] || skipped,
                Some(Token::Any | Token::Below | Token::Within) if reached[at] => {
                    next[at] = true;
                    reached[at + 1] = true;
                }
                Some(Token::Char(wanted)) if reached[at] && *wanted == c => next[at + 1] = true,
                _ => {}
            }
        }
        reached = next;
    }
    let is_star = |token: &Token| !matches!(token, Token::Char(_));
    (0..=tokens.len()).any(|at| reached[at] && tokens[at..].iter().all(is_star))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_text_may_match_any_pattern() {
        let pattern = [Token::Char('a'), Token::Any, Token::Char('b')];
        let match_end = |text: &str| may_match(&pattern, text.chars());
        assert!(match_end("ab") && match_end("axb") && match_end("ab\u{2}") && match_end("\u{2}"));
        assert!(match_end("a\u{4}") && match_end("\u{2}b"));
        assert!(!match_end("ac") && !match_end("b\u{2}") && !match_end("a"));
    }
}
