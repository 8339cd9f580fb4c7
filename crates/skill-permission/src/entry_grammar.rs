//! The grammar of an `allowed-tools` list (docs/spec/restriction.md#grammar): where entries begin
//! and end, and which are malformed. Does not know what a name or pattern means.

/// Whether a list allows or denies. Doubt is resolved to the safe side, which differs between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// `allowed-tools`.
    Allow,
    /// `disallowed-tools`, configuration and policy.
    Deny,
}

/// One entry as its author wrote it: `NAME` or `NAME(body)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolEntry {
    /// The whole entry, for messages.
    pub written: String,
    /// The part before the parenthesis, or what it may have meant.
    pub name: String,
    /// The text in the parentheses, if there are any, or what is wrong with the entry.
    pub body: Result<Option<String>, EntryError>,
}

/// A code and a message about an entry that cannot match.
pub type EntryError = (&'static str, &'static str);

const UNBALANCED: EntryError = ("unbalanced", "a parenthesis or quote is not closed");
const EMPTY: EntryError = ("empty-pattern", "the parentheses are empty");
const CONTROL: EntryError = ("control-character", "it has control characters");
/// The flaw of an entry whose name is none.
pub const NOT_A_NAME: EntryError = ("not-a-name", "it is neither `NAME` nor `NAME(pattern)`");
const TRAILING: EntryError = ("trailing-text", "text follows the closing parenthesis");

/// Splits a list at whitespace and commas outside parentheses and quotes.
///
/// `Bash (git:*)` is read as `Bash(git:*)`: split in two, it would grant every command. A comment, and
/// the bullet before an entry of a Markdown list (`* Read`), are entries with a flaw.
pub fn split(list: &str) -> Vec<ToolEntry> {
    let mut entries = Vec::new();
    let mut rest = list.trim_start_matches(separates);
    while !rest.is_empty() {
        if let Some(end) = comment_end(rest).or_else(|| bullet_end(rest)) {
            entries.push(ToolEntry {
                written: rest[..end].trim_end().to_owned(),
                name: String::new(),
                body: Err(NOT_A_NAME),
            });
            rest = rest[end..].trim_start_matches(separates);
            continue;
        }
        let (token, mut after) = rest.split_at(token_end(rest));
        let after_blanks = after.trim_start_matches(char::is_whitespace);
        let detached = !token.ends_with(')') && after_blanks.starts_with('(');
        if detached {
            let (body, next) = after_blanks.split_at(token_end(after_blanks));
            entries.push(entry(&format!("{token}{body}")));
            after = next;
        } else if let Some(inside) = unquoted(token) {
            entries.extend(split(inside));
        } else {
            entries.push(entry(token));
        }
        rest = after.trim_start_matches(separates);
    }
    entries
}

/// Where the comment at the start of `text` ends, if there is one.
fn comment_end(text: &str) -> Option<usize> {
    let end = if text.starts_with("<!--") {
        text.find("-->").map(|at| at + "-->".len())
    } else if text.starts_with('#') {
        text.find(['\n', '\r'])
    } else {
        return None;
    };
    Some(end.unwrap_or(text.len()))
}

/// Where the bullet at the start of `text` ends, if there is one with an entry behind it. A `*` that
/// stands alone means every tool.
fn bullet_end(text: &str) -> Option<usize> {
    let after = text.strip_prefix('*')?;
    let entry = after.trim_start();
    let is_bullet = entry.len() < after.len() && !entry.is_empty() && !entry.starts_with(',');
    is_bullet.then_some(1)
}

fn separates(c: char) -> bool {
    c == ',' || c.is_whitespace()
}

/// Where the token at the start of `text` ends; the end of the text if something is not closed.
fn token_end(text: &str) -> usize {
    let mut chars = text.char_indices().zip(depths(text));
    let end = chars.find(|((_, c), (depth, _))| *depth == 0 && separates(*c));
    end.map_or(text.len(), |((at, _), _)| at)
}

/// The inside of a token that is quoted as a whole.
fn unquoted(token: &str) -> Option<&str> {
    let quote = token.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let inside = token[1..].strip_suffix(quote)?;
    (!inside.contains(['\'', '"'])).then_some(inside)
}

fn entry(written: &str) -> ToolEntry {
    let (name, pattern) = match written.find('(') {
        Some(open) => (&written[..open], Some(&written[open..])),
        None => (written, None),
    };
    ToolEntry {
        written: written.to_owned(),
        name: name.to_owned(),
        body: well_formed(name, pattern).map(|body| body.map(str::to_owned)),
    }
}

fn well_formed<'a>(name: &str, pattern: Option<&'a str>) -> Result<Option<&'a str>, EntryError> {
    let text = pattern.unwrap_or_default();
    if name.chars().chain(text.chars()).any(char::is_control) {
        return Err(CONTROL);
    }
    if name.contains(['\'', '"', ')'])
        || !text.is_empty() && depths(text).last() != Some((0, false))
    {
        return Err(UNBALANCED);
    }
    if !is_name(name) {
        return Err(NOT_A_NAME);
    }
    let Some(pattern) = pattern else {
        return Ok(None);
    };
    let body = pattern[1..].strip_suffix(')').ok_or(TRAILING)?;
    // The first parenthesis is closed before the last character.
    if depths(pattern).position(|(depth, _)| depth == 0) != Some(pattern.chars().count() - 1) {
        return Err(TRAILING);
    }
    match body.trim() {
        "" => Err(EMPTY),
        body => Ok(Some(body)),
    }
}

/// Whether `name` can be the name of a tool. A bare `*` can be; the grammar does not interpret it.
pub fn is_name(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || "_-.:/*".contains(c);
    let ends = |c: char| !".:/".contains(c);
    let begins = |c: char| c.is_ascii_alphanumeric();
    name == "*" || name.starts_with(begins) && name.chars().all(is_letter) && name.ends_with(ends)
}

/// Open parentheses and quotes after each character, and whether there was a `)` too many.
fn depths(text: &str) -> impl Iterator<Item = (usize, bool)> {
    let (mut depth, mut excess) = (0_usize, false);
    let mut quote = None;
    text.chars().map(move |c| {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') if depth == 0 => excess = true,
            (None, ')') => depth -= 1,
            _ => {}
        }
        (depth + usize::from(quote.is_some()), excess)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(list: &str) -> Vec<String> {
        split(list)
            .into_iter()
            .map(|ToolEntry { name, body, .. }| match body {
                Ok(None) => name,
                Ok(Some(body)) => format!("{name}<{body}>"),
                Err((code, _)) => format!("!{code}"),
            })
            .collect()
    }

    #[test]
    fn lists_are_split_into_entries() {
        let table: &[(&str, &[&str])] = &[
            ("", &[]),
            (" , ", &[]),
            ("Read", &["Read"]),
            ("Read, Write,Edit", &["Read", "Write", "Edit"]),
            ("Read Write\n  Edit", &["Read", "Write", "Edit"]),
            ("Bash(git:*) Read", &["Bash<git:*>", "Read"]),
            (
                "Bash(git log *), Bash(npm run test:*)",
                &["Bash<git log *>", "Bash<npm run test:*>"],
            ),
            ("Bash(a, b)", &["Bash<a, b>"]),
            ("Bash(echo (x))", &["Bash<echo (x)>"]),
            ("Bash(echo \")\":*) Read", &["Bash<echo \")\":*>", "Read"]),
            ("\"Bash(git:*)\", 'Read'", &["Bash<git:*>", "Read"]),
            ("'Read Write'", &["Read", "Write"]),
            ("Task (for subagents)", &["Task<for subagents>"]),
            ("Bash (git:*)", &["Bash<git:*>"]),
            (
                "WebFetch(domain: linear.app)",
                &["WebFetch<domain: linear.app>"],
            ),
            (
                "mcp__a__b mcp_x* stitch*:* MCP/documentation",
                &["mcp__a__b", "mcp_x*", "stitch*:*", "MCP/documentation"],
            ),
            ("*", &["*"]),
            ("*, Read", &["*", "Read"]),
            ("Read, *", &["Read", "*"]),
            (
                "* Read\n* Bash(git:*)",
                &["!not-a-name", "Read", "!not-a-name", "Bash<git:*>"],
            ),
            (
                "Read <!-- Bash and Write are not allowed --> Grep",
                &["Read", "!not-a-name", "Grep"],
            ),
            ("Read <!-- not Bash", &["Read", "!not-a-name"]),
            ("Read\n# not Bash\nGrep", &["Read", "!not-a-name", "Grep"]),
            (
                "- Read - Write",
                &["!not-a-name", "Read", "!not-a-name", "Write"],
            ),
            (
                "Read | Write ...",
                &["Read", "!not-a-name", "Write", "!not-a-name"],
            ),
            ("Bash()", &["!empty-pattern"]),
            ("Bash( )", &["!empty-pattern"]),
            ("Bash(git", &["!unbalanced"]),
            ("Bash(git:*) Bash(rm Read", &["Bash<git:*>", "!unbalanced"]),
            ("Bash)", &["!unbalanced"]),
            ("Bash(a))", &["!unbalanced"]),
            ("Bash(don't) Read", &["!unbalanced"]),
            ("Bash(a)b", &["!trailing-text"]),
            ("Bash(a)(b)", &["!trailing-text"]),
            ("Bash(a\u{1}b)", &["!control-character"]),
            ("Lire\u{e9}", &["!not-a-name"]),
            ("(x)", &["!not-a-name"]),
            ("a*b", &["a*b"]),
        ];
        for (list, expected) in table {
            assert_eq!(&read(list), expected, "{list}");
        }
    }
}
